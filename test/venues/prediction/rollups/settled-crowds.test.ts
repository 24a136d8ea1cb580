import type { Pool } from 'pg';
import type { Sql } from '../../../../src/db/sql';
import { LONG_WORK, inTransaction } from '../../../../src/db/transaction';
import { END } from '../../../../src/lib/timeframe';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { listRunDays } from '../../../../src/venues/prediction/queries/score-runs';
import { type SettledScope, countFaded } from '../../../../src/venues/prediction/queries/settled-crowds';
import { rebuildPositions } from '../../../../src/venues/prediction/rollups/positions-rebuild';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { forgetSettled, noteJudged, tellSettled } from '../../../../src/venues/prediction/rollups/told-settled';
import { score } from '../../../../src/venues/prediction/scoring/job';
import { testDatabase } from '../../../support/database';
import { NOW, iso, market, now as noon, score as scoreBy, trade } from '../small-world';
import { loadPart, loadRecords } from '../support';
import { countOf, sqlOf } from './untold';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const after = (days: number): Date => new Date(start.getTime() + days * DAY);
const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

const TIMERS = ['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const; // prettier-ignore

const SCOPES: SettledScope[] = [0, 12, 30, 59].flatMap((max_score) => [
  { max_score, min_wallets: 1, min_usdc: 0 },
  { max_score, min_wallets: 3, min_usdc: 40.5 },
]);

describe('crowds of resolved markets', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let pool: Pool;
  beforeAll(async () => {
    database = await testDatabase();
    pool = database.pool;
    // What is late is late by the facts: a machine whose clock is behind them tells the same.
    jest.useFakeTimers({ now: start, doNotFake: [...TIMERS] });
  });
  afterAll(async () => {
    jest.useRealTimers();
    await database.drop();
  });

  const load = (from: number, until: number, part?: (index: number) => boolean): Promise<void> =>
    loadPart(pool, predictionWorld({ seed: 8, size: 12_000, start }).pages(after(from), after(until)), part);

  const count = (table: string): Promise<number> => countOf(pool, table);

  /** A run in which nine of ten wallets have a score below 60, another in each. */
  async function judge(now: Date): Promise<void> {
    await score(pool, now, () => undefined);
    await pool.query(`UPDATE pm_wallet_score SET score = abs(hashtext(wallet || day)) % 133 / 2.0 WHERE day = $1::date`, [dayOf(now)]);
    await inTransaction(pool, (client) => noteJudged(client, dayOf(now)));
    await pool.query('ANALYZE pm_wallet_score');
  }

  async function answers(now: Date): Promise<string[]> {
    const sql = sqlOf(pool);
    const days = await listRunDays(sql, now);
    const found = await Promise.all(SCOPES.map((scope) => countFaded(sql, days, scope, now)));
    return found.flatMap((tenths, index) => tenths.map((row) => [index, row.tenth, row.markets, row.faded].join(' ')).sort());
  }

  /** The same where nothing is told: all of it from positions, scores and hours. */
  async function fromPositions(now: Date): Promise<string[]> {
    await pool.query(
      'BEGIN; CREATE TABLE kept_due AS SELECT * FROM pm_settled_due; CREATE TABLE kept_crowd AS SELECT * FROM pm_settled_crowd; COMMIT',
    );
    await inTransaction(pool, forgetSettled);
    const found = await answers(now);
    await pool.query(`BEGIN; DELETE FROM pm_settled_due; INSERT INTO pm_settled_due SELECT * FROM kept_due; INSERT INTO pm_settled_crowd SELECT * FROM kept_crowd;
      DROP TABLE kept_due, kept_crowd; COMMIT`);
    return found;
  }

  /** Answers are what positions say before what is due is told, and after. */
  async function check(now: Date, { due }: { due: boolean }): Promise<void> {
    expect((await count('pm_settled_due')) > 0).toBe(due);
    const expected = await fromPositions(now);
    expect(await answers(now)).toEqual(expected);
    await tellSettled(pool);
    expect(await count('pm_settled_due')).toBe(0);
    expect(await answers(now)).toEqual(expected);
  }

  test('are what positions and scores say, whatever was told of them before', async () => {
    await load(0, 18);
    await pool.query('ANALYZE');
    expect(await answers(after(18))).toEqual([]);
    for (const day of [18, 15, 8]) await judge(after(day));
    await check(after(18), { due: true });
    expect((await answers(after(18))).length).toBeGreaterThan(20);
    expect(await answers(after(14))).toEqual(await fromPositions(after(14)));
    expect((await answers(after(14))).length).toBeGreaterThan(5);
    await check(after(18), { due: false });

    // Markets that end, and who redeems.
    await load(18, 19);
    await check(after(19), { due: true });
    // Who was known when a market ended is decided by what its wallets did elsewhere: taken back, and read late.
    expect(await inTransaction(pool, (client) => retractFills(client, { from: after(2), to: after(2.5) }), LONG_WORK)).toBeGreaterThan(50);
    await check(after(19), { due: true });
    await load(2, 2.5);
    await check(after(19), { due: true });

    // A run of a day between two others judges what the one before it did.
    const before = await answers(after(19));
    await judge(after(11));
    await check(after(19), { due: true });
    expect(await answers(after(19))).not.toEqual(before);
    const judged = await answers(after(19));
    await score(pool, after(13), () => undefined);
    await check(after(19), { due: false });
    expect(await answers(after(19))).not.toEqual(judged);
    expect((await listRunDays(sqlOf(pool), END)).length).toBe(5);

    // What is told needs neither scores nor positions. Of a connection's reads those of a second before are still counted.
    const [positions, told, scores] = await inTransaction(pool, async (client) => {
      const reads = async (): Promise<number[]> =>
        (
          await client.query<{ read: number }>(
            `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables WHERE relname IN ('pm_settled_crowd', 'pm_wallet_score', 'pm_position') ORDER BY relname`,
          )
        ).rows.map(({ read }) => read);
      const before = await reads();
      const sql: Sql = { query: async (statement, values) => (await client.query({ ...statement, values: [...values] })).rows };
      await countFaded(sql, [dayOf(after(8))], SCOPES[7] as SettledScope, after(19));
      return (await reads()).map((read, place) => read - (before[place] as number)) as [number, number, number];
    });
    // The planner itself looks at the ends of an index.
    expect(Math.max(positions, scores)).toBeLessThan(20);
    expect(told).toBeGreaterThan(20);

    await inTransaction(pool, (client) => rebuildPositions(client), LONG_WORK);
    expect(await count('pm_settled_crowd')).toBe(0);
    await check(after(19), { due: true });
  });
});

/** Resolved markets of the small world on which low scorers were a crowd. */
async function countCrowds(pool: Pool): Promise<number> {
  const days = await listRunDays(sqlOf(pool), noon);
  const tenths = await countFaded(sqlOf(pool), days, { max_score: 30, min_wallets: 1, min_usdc: 0 }, noon);
  return tenths.reduce((sum, { markets }) => sum + markets, 0);
}

test('a resolution that is taken back takes its crowd along', async () => {
  const { pool, drop } = await testDatabase();
  const ago = (days: number): number => NOW - days * 86_400;
  const tell = (days: number, fields: Record<string, unknown>): Promise<unknown> =>
    loadRecords(pool, 'markets.json', [market(1, { updatedAt: iso(ago(days)), ...fields })]);
  const faded = (): Promise<number> => countCrowds(pool);
  await loadRecords(pool, 'trades.json', [1, 2, 3, 4, 5].map((n) => trade(n, 1, 0, 1, 'BUY', 100, 0.5, 5 * 86_400 + n))); // prettier-ignore
  await scoreBy(pool, '2026-03-06', [[1, 20]], 'v');
  await tell(2, { closed: true, closedTime: iso(ago(2)), outcomePrices: '["1", "0"]', umaResolutionStatus: 'resolved' });
  await tellSettled(pool);
  expect([await faded(), await countOf(pool, 'pm_settled_due')]).toEqual([1, 0]);
  await tell(1, {});
  expect(await faded()).toBe(0);
  await tellSettled(pool);
  expect([await faded(), await countOf(pool, 'pm_settled_crowd')]).toEqual([0, 0]);
  await drop();
});

test('where none was a crowd yet a fill that comes late may make one', async () => {
  const { pool, drop } = await testDatabase();
  const faded = (): Promise<number> => countCrowds(pool);
  await loadRecords(pool, 'trades.json', [1, 2, 3, 4].map((n) => trade(n, 1, 0, 1, 'BUY', 100, 0.5, 5 * 86_400 + n))); // prettier-ignore
  await scoreBy(pool, '2026-03-06', [[1, 20]], 'v');
  await loadRecords(pool, 'markets.json', [market(1, { updatedAt: iso(NOW), closed: true, closedTime: iso(NOW - 2 * 86_400), outcomePrices: '["1", "0"]', umaResolutionStatus: 'resolved' })]); // prettier-ignore
  await tellSettled(pool);
  expect(await faded()).toBe(0);
  // The fifth: its wallet was known a day before the end.
  await loadRecords(pool, 'trades.json', [trade(5, 2, 0, 1, 'BUY', 100, 0.5, 3 * 86_400)]);
  expect(await faded()).toBe(1);
  await tellSettled(pool);
  // All that it held of the market is taken back: no position is left that tells of it.
  const [from, to] = [10, 0].map((more) => new Date((NOW - 5 * 86_400 - more) * 1_000)) as [Date, Date];
  expect(await inTransaction(pool, (client) => retractFills(client, { from, to }))).toBe(4);
  expect(await faded()).toBe(0);
  await drop();
});
