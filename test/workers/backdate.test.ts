import { makeContext } from '../../src/graph/context';
import { perpsWorld } from '../../src/sandbox/simulator/perps';
import { predictionWorld } from '../../src/sandbox/simulator/prediction';
import type { WorldPage } from '../../src/sandbox/simulator/world';
import { perps } from '../../src/venues/perps/index';
import { prediction } from '../../src/venues/prediction/index';
import type { Venue } from '../../src/venues/venue';
import { type BackdatedDay, backdateSignals, listUntold } from '../../src/workers/backdate';
import { recognise } from '../../src/workers/ingest';
import { pageOf } from '../../src/workers/pages';
import { runScores } from '../../src/workers/scores';
import { trackSignals } from '../../src/workers/track';
import { loadPage } from '../support/load-page';
import { testDatabase } from '../support/database';
import { loadAtOnce } from '../support/world';

/** The same world twice: one store was there as each day began, the other was filled at once and told its past afterwards. */

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const mornings = [23, 24, 25].map((day) => new Date(start.getTime() + day * DAY));
const now = new Date(start.getTime() + 26 * DAY + 40_000_000);

type Store = Awaited<ReturnType<typeof testDatabase>>;

async function load({ pool }: Store, venue: Venue, { name, format, records }: WorldPage): Promise<void> {
  const { source, page } = await recognise(venue, pageOf(name, format, records));
  if (source !== null) await loadPage(pool, venue.name, source, page, { progress: () => undefined });
}

describe.each([
  ['prediction', prediction, predictionWorld({ seed: 5, size: 6_000, start }), ['pm_wallet_score', 'pm_insider'], 'wallet', 10],
  ['perps', perps, perpsWorld({ seed: 5, size: 20_000, start }), ['perp_score'], 'trader', 0],
] as const)('signals of %s told after their day', (_name, venue, world, tables, account, least) => {
  let [live, later] = [] as unknown as [Store, Store];
  const days: BackdatedDay[] = [];
  const runs: string[] = [];

  beforeAll(async () => {
    [live, later] = [await testDatabase(), await testDatabase()];
    let from = start;
    for (const to of [...mornings, now]) {
      for (const page of world.pages(from, to)) await load(live, venue, page);
      await runScores(live.pool, venue, to, () => undefined);
      await trackSignals(live.pool, venue, () => makeContext(live, to));
      from = to;
    }
    await loadAtOnce(later.pool, venue.name, world.pages(start, now));
    await runScores(later.pool, venue, now, () => undefined);
    await trackSignals(later.pool, venue, () => makeContext(later, now));
    await backdate();
  });
  afterAll(async () => {
    await live.drop();
    await later.drop();
  });

  const counting: Venue = {
    ...(venue as Venue),
    score: (pool, at, progress) => (runs.push(at.toISOString().slice(0, 10)), (venue as Venue).score!(pool, at, progress)),
  };
  const backdate = (): Promise<void> =>
    backdateSignals(later.pool, counting, (at) => makeContext(later, at), () => now, 3, (day) => days.push(day)); // prettier-ignore
  const both = async (statement: string): Promise<unknown[][]> =>
    Promise.all([live, later].map(async ({ pool }) => (await pool.query(statement)).rows));

  test('scores and tags of each day are those of then', async () => {
    for (const table of tables) {
      const [then, told] = await both(`SELECT * FROM ${table} AS kept ORDER BY day, ${account}, kept::text`);
      expect(then?.length).toBeGreaterThan(10);
      expect(told).toEqual(then);
    }
  });

  test('signals are those of then; marks too, and which were told afterwards is on record', async () => {
    const [then, told] = await both('SELECT * FROM signal ORDER BY day, endpoint, rank');
    expect(then?.length).toBeGreaterThan(least);
    expect(told).toEqual(then);
    const [marks, marked] = await both('SELECT * FROM signal_mark ORDER BY day, endpoint, rank, horizon');
    expect(marks?.length).toBeGreaterThan(least / 2);
    expect(marked).toEqual(marks);
    const [lived, backdated] = await both('SELECT day::text, bool_and(backdated) AS all, bool_or(backdated) AS any, count(*)::int FROM signal_snapshot GROUP BY day ORDER BY day'); // prettier-ignore
    const row = (day: string, told_later: boolean): unknown => ({ day, all: told_later, any: told_later, count: venue.signals?.endpoints.length }); // prettier-ignore
    const dates = [...mornings, now].map((at) => at.toISOString().slice(0, 10));
    expect(lived).toEqual(dates.map((day) => row(day, false)));
    expect(backdated).toEqual(dates.map((day) => row(day, day < '2026-02-27')));
  });

  test('scores of the newest day come first, those of now last', () =>
    expect(runs).toEqual(['2026-02-26', '2026-02-25', '2026-02-24', '2026-02-27']));

  test('every day is told once', async () => {
    expect(days.map(({ day, told, of }) => [day, told, of])).toEqual([['2026-02-24', 1, 3], ['2026-02-25', 2, 3], ['2026-02-26', 3, 3]]); // prettier-ignore
    expect(await listUntold(later.pool, venue, now, 3)).toEqual([]);
    await backdate();
    expect(days).toHaveLength(3);
  });

  test('what sources have not been read up to is not told', async () => {
    const ahead = new Date(now.getTime() + 3 * DAY);
    expect((await listUntold(later.pool, venue, ahead, 4)).map((at) => at.toISOString().slice(0, 10))).toEqual([]);
    // A catalogue has a feed of its own, which goes on while that of the events is cut off.
    for (const source of { prediction: ['live.prediction.markets', 'prediction.markets'], perps: ['live.perps.meta'] }[
      venue.name as 'perps'
    ])
      await later.pool.query(
        "INSERT INTO source_cursor (source, venue, cursor, watermark) VALUES ($1, $2, '{}', $3) ON CONFLICT (source) DO UPDATE SET watermark = $3",
        [source, venue.name, ahead],
      );
    expect(await listUntold(later.pool, venue, ahead, 4)).toEqual([]);
    await later.pool.query('UPDATE source_cursor SET watermark = $1 WHERE venue = $2', [new Date(now.getTime() + DAY), venue.name]);
    expect((await listUntold(later.pool, venue, ahead, 4)).map((at) => at.toISOString().slice(0, 10))).toEqual(['2026-02-28']);
  });
});
