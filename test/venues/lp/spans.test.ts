import { type Database, openDatabase } from '../../../src/db/client';
import { type Sql, sqlOver } from '../../../src/db/sql';
import { earlierTiles, volumeSince } from '../../../src/venues/lp/queries/earlier-volume';
import { openEnded } from '../../../src/venues/lp/queries/open-ends';
import { withoutEmpty } from '../../../src/venues/lp/queries/segments';
import { swapsIn, typeFlowsIn, typeSwapsIn } from '../../../src/venues/lp/queries/span';
import { hourSpanOf, spanOf, spanOfBuckets } from '../../../src/venues/lp/queries/window-span';
import { randomOf } from '../../../src/sandbox/simulator/world';
import { testDatabase } from '../../support/database';
import { loadAtOnce } from '../../support/world';
import { type Between, eventsIn, exact, factsOf, swapTotals, total, type WorldFacts } from './oracle';
import { START, simulated } from './world';

// Windows of all lengths, from within a quarter of an hour to days, told by rollups and their edges, beside the same by the facts alone.

const MINUTE = 60_000;
const BAR = 15 * MINUTE;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAYS = 4;

describe('spans of a simulated world', () => {
  let store: Awaited<ReturnType<typeof testDatabase>>;
  let db: Database;
  let facts: WorldFacts;
  let newest: number;

  beforeAll(async () => {
    store = await testDatabase();
    await loadAtOnce(store.pool, 'lp', simulated(40_000, DAYS).pages);
    db = await openDatabase(store.url);
    facts = await factsOf(store.pool);
    newest = Math.max(...facts.swaps.map(({ at }) => at), ...facts.events.map(({ at }) => at));
  });
  afterAll(async () => {
    await db.close();
    await store.drop();
  });

  /** As questions send their statements. */
  const asked = (): Sql =>
    openEnded(
      withoutEmpty(sqlOver(db), async () => newest),
      async () => newest,
    );

  const random = randomOf(5, 'windows');
  const at = (step: number): number => START.getTime() + Math.floor((random() * DAYS * DAY) / step) * step;
  const LENGTHS = [MINUTE, 10 * MINUTE, BAR, 40 * MINUTE, HOUR, 5 * HOUR, DAY, 2 * DAY];
  const windows = LENGTHS.flatMap((length) =>
    [1, 1, BAR, HOUR].map((step): Between => {
      const from = at(step);
      return { from, to: from + Math.ceil((length * (0.5 + random())) / step) * step };
    }),
  );
  // Nothing happened at their end or later.
  const open = [-1, 7 * MINUTE].flatMap((after) =>
    [MINUTE, 10 * MINUTE, 20 * MINUTE, ...LENGTHS].map((length): Between => {
      const to = START.getTime() + DAYS * DAY + after;
      return { from: to - length, to };
    }),
  );
  const dates = ({ from, to }: Between): { from: Date; to: Date } => ({ from: new Date(from), to: new Date(to) });
  const words = ({ from, to }: Between): string => `${new Date(from).toISOString()} to ${new Date(to).toISOString()}`;

  test.each([...windows, ...open].map((window) => [words(window), window] as const))('from %s', async (_words, window) => {
    for (const span of [spanOf(dates(window)), hourSpanOf(dates(window)), spanOfBuckets(dates(window), '12h')]) {
      const swaps = await asked().query<{ pool: string; usd: string | null; swaps: number }>(
        {
          name: 'swaps',
          text: `SELECT pool_address AS pool, sum(usd) AS usd, sum(swaps)::int AS swaps FROM (${swapsIn(1)}) s GROUP BY pool_address HAVING sum(swaps) > 0 OR sum(usd) > 0 ORDER BY pool_address COLLATE "C"`,
        },
        span,
      );
      const own = [...swapTotals(facts, window)].filter(([, { swaps, usd }]) => swaps > 0 || usd > 0n).sort(([a], [b]) => (a < b ? -1 : 1));
      expect(swaps.map(({ pool, usd, swaps: n }) => [pool, exact(usd ?? '0'), n])).toEqual(
        own.map(([pool, { usd, swaps: n }]) => [pool, usd, n]),
      );
      const [types] = await asked().query<{ n: number; usd: string }>(
        { name: 'types', text: `SELECT coalesce(sum(swaps), 0)::int AS n, coalesce(sum(usd), 0) AS usd FROM (${typeSwapsIn(1)}) s` },
        span,
      );
      expect([types?.n, exact(types?.usd ?? '')]).toEqual([
        own.reduce((sum, [, { swaps: n }]) => sum + n, 0),
        total(own.map(([, { usd }]) => usd)),
      ]);
      const [flows] = await asked().query<{ n: number; usd: string }>(
        {
          name: 'flows',
          text: `SELECT coalesce(sum(deposits + withdrawals + claims), 0)::int AS n, coalesce(sum(deposit_usd + withdraw_usd + claim_usd), 0) AS usd FROM (${typeFlowsIn(1)}) f`,
        },
        span,
      );
      const events = eventsIn(facts, window);
      expect([flows?.n, exact(flows?.usd ?? '')]).toEqual([events.length, total(events.map(({ usd }) => usd))]);
    }
  });

  test.each(windows.map((window) => [words(window), window] as const))(
    'what was swapped from a length before on, from %s',
    async (_words, window) => {
      const length = window.to - window.from;
      const earlier = [{ from: window.from - length, to: window.from }];
      const rows = await asked().query<{ pool: string; usd: string | null }>(
        {
          name: 'since',
          text: `SELECT pool_address AS pool, usd FROM (${volumeSince('earlier', 1)}) v WHERE $6::timestamptz[] IS NOT NULL AND usd <> 0 ORDER BY pool_address COLLATE "C"`,
        },
        earlierTiles(earlier.map(dates), dates(window)),
      );
      const own = [...swapTotals(facts, { from: window.from - length, to: window.to })]
        .filter(([, { usd }]) => usd > 0n)
        .sort(([a], [b]) => (a < b ? -1 : 1));
      expect(rows.map(({ pool, usd }) => [pool, exact(usd ?? '0')])).toEqual(own.map(([pool, { usd }]) => [pool, usd]));
    },
  );
});
