import { DAY_MS } from '../../../src/lib/time';
import { perpsWorld } from '../../../src/sandbox/simulator/perps';
import { inTransaction } from '../../../src/db/transaction';
import { lockRollups } from '../../../src/venues/perps/rollups/rebuild';
import { tellSmart } from '../../../src/venues/perps/rollups/smart-hours';
import { testDatabase } from '../../support/database';
import { loadAtOnce } from '../../support/world';
import { type Fact, factsOf, figuresOf, groupBy, tripsOf } from './reckoning';
import { type RawFill, type Row, fillsOf, totals, tradeRows } from './recount';
import { windowAt } from './shared-world';
import { loadScores } from './small-world';
import { type TestDatabase, ask } from './support';

// A store of fourteen months, over two years' ends and a February: windows that begin and end within months of any length, and hold whole ones between.

const START = new Date('2025-10-20T00:00:00Z');
const END = new Date('2027-01-03T00:00:00Z');
const NOWS = ['2026-11-18T13:37:21.450Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z', '2027-01-02T23:59:59.999Z'].map(
  (at) => new Date(at),
);
const WINDOWS = ['30d', '90d', '365d', 'all'];
/** A run of long ago, and the newest one, of which sums are told. */
const RUNS = ['2026-02-28', '2027-01-01'] as const;
const CASES = NOWS.flatMap((now) => WINDOWS.map((timeframe) => [timeframe, now] as const));

let db: TestDatabase;
let fills: RawFill[];
let facts: Fact[];
let smart: Set<string>;
beforeAll(async () => {
  const pages = [...perpsWorld({ seed: 3, size: 400, start: START }).pages(START, END)];
  fills = fillsOf(pages);
  facts = factsOf(fills);
  const byUse = [...groupBy(facts, ({ user }) => user)].sort(([, a], [, b]) => b.length - a.length).map(([user]) => user);
  smart = new Set(byUse.filter((_, place) => place % 3 === 0));
  db = await testDatabase();
  await loadAtOnce(db.pool, 'perps', pages);
  for (const day of RUNS) await loadScores(db.pool, day, Object.fromEntries([...smart].map((user) => [user, 90])));
  await inTransaction(db.pool, async (client) => {
    await lockRollups(client);
    await tellSmart(client, RUNS[1]);
  });
});
afterAll(() => db.drop());

test('the store is worth asking', () => {
  expect(new Set(fills.map(({ time }) => new Date(time).toISOString().slice(0, 7))).size).toBe(16);
  expect(fills.length).toBeGreaterThan(3_000);
});

test.each(CASES)('platform/stats of %s at %s', async (timeframe, now) => {
  const [from, to] = windowAt(timeframe, now);
  const { data } = await ask(db, 'perps/platform/stats', { timeframe }, now);
  expect(data).toEqual({ ...totals(fills, from, to, timeframe === 'all' ? null : 2 * from - to, smart), timeframe });
});

test('what a series of a coin that nobody trades any more suggests has buckets that are not too many of it', async () => {
  const later = new Date(END.getTime() + 100 * DAY_MS);
  const asked = { coin: facts[0]?.coin, timeframe: '30d', bucket_size: '1h' };
  const refused = ask(db, 'perps/trades/long-short-ratio', asked, later);
  await expect(refused).rejects.toMatchObject({ code: 'empty_result', context: { suggestion: { timeframe: 'all', bucket_size: '12h' } } });
  await ask(db, 'perps/trades/long-short-ratio', { ...asked, timeframe: 'all', bucket_size: '12h' }, later);
});

/** At the last of them nothing has been traded for more than a year. */
test.each([...NOWS, new Date(END.getTime() + 500 * DAY_MS)])(
  'trades/feed at %s: pages neither repeat nor skip rows of any month',
  async (now) => {
    const { coin } = facts[0] as Fact;
    const seen: Row[] = [];
    let cursor: string | null = null;
    do {
      const page: { data: Row[]; meta: { next_cursor: string | null } } = await ask(
        db,
        'perps/trades/feed',
        { coin, limit: 97, cursor },
        now,
      );
      seen.push(...page.data);
      cursor = page.meta.next_cursor;
    } while (cursor !== null);
    expect(seen.length).toBeGreaterThan(200);
    expect(seen).toEqual(tradeRows(fills, { from: 0, to: now.getTime(), coin }));
  },
);

const FIGURES = ['total_pnl', 'total_volume', 'total_trades', 'winning_trades', 'roi_pct', 'net_pnl', 'closing_trades', 'profit_factor', 'sharpe', 'max_drawdown_usd', 'active_days', 'top_coin'] as const; // prettier-ignore

test.each(CASES)('traders/leaderboard of %s at %s', async (timeframe, now) => {
  const known = facts.filter(({ time }) => time < now.getTime());
  const trips = groupBy(tripsOf(known), ({ user }) => user);
  const wanted = [...groupBy(known, ({ user }) => user)]
    .flatMap(([trader, own]) => {
      const figures = figuresOf(own, trips.get(trader) ?? [], ...windowAt(timeframe, now));
      return figures === null
        ? []
        : [{ trader, ...Object.fromEntries(FIGURES.map((name) => [name, figures[name]])) } as { trader: string; total_volume: number }];
    })
    .sort((a, b) => b.total_volume - a.total_volume || (a.trader < b.trader ? -1 : 1));
  const { data } = await ask(
    db,
    'perps/traders/leaderboard',
    { timeframe, sort_by: 'volume', min_trades: 1, include_bots: true, limit: 20 },
    now,
  );
  expect(data).toMatchObject(wanted.slice(0, 20));
});
