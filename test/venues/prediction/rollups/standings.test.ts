import type { Pool } from 'pg';
import { LONG_WORK, inTransaction } from '../../../../src/db/transaction';
import type { Sql } from '../../../../src/db/sql';
import { type Timeframe, windowOf } from '../../../../src/lib/timeframe';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { randomOf } from '../../../../src/sandbox/simulator/world';
import type { EndedMetric } from '../../../../src/venues/prediction/queries/ended-figures';
import { findStandings } from '../../../../src/venues/prediction/queries/standings';
import { type LeaderboardRow, listLeaders } from '../../../../src/venues/prediction/queries/wallet-leaderboard';
import { loadOverlay } from '../../../../src/venues/prediction/rollups/positions-as-of';
import { rebuildPositions } from '../../../../src/venues/prediction/rollups/positions-rebuild';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { STANDING_TIMEFRAMES, tellStandings } from '../../../../src/venues/prediction/rollups/standings';
import { listCategories, moveVolumes } from '../../../../src/venues/prediction/rollups/volumes';
import { testDatabase } from '../../../support/database';
import { loadPart } from '../support';
import { countOf } from './untold';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const start = new Date('2026-02-01T00:00:00Z');
const after = (days: number, hours = 0): Date => new Date(start.getTime() + days * DAY + hours * HOUR + 1);

const sqlOf = (pool: Pool): Sql => ({
  query: async ({ text }, values) => (await pool.query(text, values as unknown[])).rows,
});

interface Ended {
  wallet: string;
  category: string;
  status: string;
  gain: number;
  paid: number;
  closed_at: Date;
}

const METRICS = ['sharpe', 'roi', 'win_rate', 'pnl'] as const;
const ASKED = [null, 'Sports', 'Crypto'].flatMap((category) =>
  METRICS.flatMap((metric) => [1, 5].map((least) => [metric, least, category] as const)),
);

/** Rank of a wallet by its positions, from the definitions: Sharpe ratio and returns that lean to 0, Wilson's lower bound, the sum of gains. */
function rankOf(metric: EndedMetric, ended: readonly Ended[]): number | null {
  const returns = ended.filter(({ paid }) => paid > 0).map(({ gain, paid }) => Math.min(3, Math.max(-1, gain / paid)));
  const n = returns.length;
  const mean = n === 0 ? 0 : returns.reduce((sum, one) => sum + one, 0) / n;
  const deviation = Math.sqrt(returns.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1));
  if (metric === 'sharpe') return n < 10 || !(deviation > 1e-12) ? null : ((mean / deviation) * n) / (n + 20);
  if (metric === 'roi') return (mean * n) / (n + 50);
  if (metric === 'pnl') return ended.reduce((sum, { gain }) => sum + gain, 0);
  const counted = ended.filter(({ status }) => status !== 'voided');
  const [of, z] = [counted.length, 1.645];
  const p = counted.filter(({ gain }) => gain > 0).length / of;
  return Math.max(0, (p + z ** 2 / (2 * of) - z * Math.sqrt((p * (1 - p)) / of + z ** 2 / (4 * of * of))) / (1 + z ** 2 / of));
}

describe('standings', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let pool: Pool;
  beforeEach(async () => {
    database = await testDatabase();
    pool = database.pool;
  });
  afterEach(() => database.drop());

  /** Pages in any order, of the facts before `until` alone. */
  function load(until: Date, part?: (index: number) => boolean): Promise<void> {
    const random = randomOf(5, 'order');
    const pages = [...predictionWorld({ seed: 8, size: 5_000, start }).pages(start, until)]
      .map((page) => ({ page, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ page }) => page);
    return loadPart(pool, pages, part);
  }

  const tell = (now: Date): Promise<void> => tellStandings(pool, now);
  const count = (table: string): Promise<number> => countOf(pool, table);

  async function leaders(
    now: Date,
    timeframe: Timeframe,
    metric: EndedMetric,
    min_trades: number,
    category: string | null,
  ): Promise<LeaderboardRow[]> {
    const overlay = await loadOverlay(sqlOf(pool), now);
    const window = windowOf(timeframe, now);
    return listLeaders(sqlOf(pool), { timeframe, window, now, overlay, category, metric, min_trades, score_day: null, include_bots: true, limit: 40 }); // prettier-ignore
  }

  /** Answers from standings are those of plain positions; tells how many of the windows had standings. */
  async function check(now: Date): Promise<number> {
    const { rows } = await pool.query<Ended & { gain: string; paid: string }>(
      `SELECT wallet, category, status, gain::float8 AS gain, paid_usdc::float8 AS paid, pm_position.closed_at FROM pm_position JOIN pm_market USING (condition_id) WHERE status <> 'open' AND paid_shares > 0 AND last_at < $1`,
      [now],
    );
    let kept = 0;
    for (const timeframe of [...STANDING_TIMEFRAMES, '12h', 'today'] as const) {
      const window = windowOf(timeframe, now);
      if ((await findStandings(sqlOf(pool), { timeframe, window, now })) !== null) kept += 1;
      for (const [metric, min_trades, category] of ASKED) {
        const own = new Map<string, Ended[]>();
        for (const row of rows)
          if (row.closed_at >= window.from && (category ?? row.category) === row.category)
            own.set(row.wallet, [...(own.get(row.wallet) ?? []), row]);
        const ranked = [...own].flatMap(([wallet, ended]) => {
          const counted = ended.filter(({ status }) => status !== 'voided');
          const value = counted.length < min_trades ? null : rankOf(metric, ended);
          return value === null ? [] : [{ wallet, value, counted: counted.length, wins: counted.filter(({ gain }) => gain > 0).length }];
        });
        const values = ranked.map(({ value }) => value).sort((a, b) => b - a);
        const told = await leaders(now, timeframe, metric, min_trades, category);
        expect([timeframe, metric, category, told.length]).toEqual([timeframe, metric, category, Math.min(40, ranked.length)]);
        told.forEach(({ wallet, counted, wins, rank_value }, index) => {
          expect(ranked.find((one) => one.wallet === wallet)).toEqual({ wallet, counted, wins, value: expect.closeTo(rank_value, 6) });
          expect(rank_value).toBeCloseTo(values[index] as number, 6);
        });
      }
    }
    return kept;
  }

  test('rank as positions do, when told and when facts came or left the window since', async () => {
    await load(after(8, 9), (index) => index % 7 !== 3);
    expect(await check(after(8, 9))).toBe(0);
    await tell(after(8, 9));
    for (const category of ['', 'Sports', 'Crypto']) expect(await count(`pm_standing WHERE category = '${category}'`)).toBeGreaterThan(0);
    expect(await count('pm_standing_due')).toBe(0);
    expect(await check(after(8, 9))).toBe(STANDING_TIMEFRAMES.length);
    // Positions leave windows.
    expect(await check(after(8, 14))).toBe(STANDING_TIMEFRAMES.length);
    // Late pages, then newer ones.
    await load(after(8, 9), (index) => index % 7 === 3);
    expect(await count('pm_standing_due')).toBeGreaterThan(20);
    expect(await check(after(8, 14))).toBe(STANDING_TIMEFRAMES.length);
    await load(after(9, 3));
    expect(await check(after(9, 3))).toBe(STANDING_TIMEFRAMES.length);
    await inTransaction(pool, (client) => retractFills(client, { from: after(8), to: after(8, 20) }), LONG_WORK);
    expect(await check(after(9, 3))).toBe(STANDING_TIMEFRAMES.length);
    // A market moves to another category.
    await inTransaction(
      pool,
      async (client) => {
        const ids = (
          await client.query<{ id: string }>("SELECT condition_id AS id FROM pm_market WHERE category = 'Sports' ORDER BY 1 LIMIT 5")
        ).rows;
        const before = await listCategories(client, ids.map(({ id }) => id)); // prettier-ignore
        await client.query("UPDATE pm_market SET category = 'Crypto' WHERE condition_id = ANY ($1)", [[...before.keys()]]);
        await moveVolumes(client, before);
      },
      LONG_WORK,
    );
    expect(await check(after(9, 3))).toBe(STANDING_TIMEFRAMES.length);
    await tell(after(9, 3));
    expect(await check(after(9, 3))).toBe(STANDING_TIMEFRAMES.length);
    // All that a wallet ever did is taken back: no position is left that tells of it.
    const { rows: alone } = await pool.query<{ wallet: string; at: Date }>(
      `SELECT wallet, min("timestamp") AS at FROM pm_trade WHERE wallet IN (SELECT wallet FROM pm_standing) GROUP BY wallet HAVING count(*) = 1 AND bool_and(side = 'BUY') ORDER BY wallet LIMIT 1`,
    );
    const { wallet: one, at } = alone[0] as { wallet: string; at: Date };
    await inTransaction(pool, (client) => retractFills(client, { from: at, to: new Date(at.getTime() + 1) }), LONG_WORK);
    await tell(after(9, 3));
    expect(await count(`pm_standing WHERE wallet = '${one}'`)).toBe(0);
    // A position is in the window that begins as it ended, and in none that begins later.
    const ended = `FROM pm_position WHERE status IN ('closed', 'resolved') AND paid_shares > 0`;
    const { rows } = await pool.query<{ wallet: string; closed_at: Date }>(
      `SELECT wallet, closed_at ${ended} AND closed_at > $1 ORDER BY closed_at LIMIT 1`,
      [after(8, 3)],
    );
    const { wallet, closed_at } = rows[0] as { wallet: string; closed_at: Date };
    await pool.query('INSERT INTO pm_standing_due (wallet) VALUES ($1)', [wallet]);
    for (const begin of [closed_at, new Date(closed_at.getTime() + HOUR)]) {
      await tell(new Date(begin.getTime() + DAY));
      const counted = await pool.query(
        `SELECT (SELECT count(*)::int ${ended} AND wallet = $1 AND closed_at >= $2) AS ended, COALESCE((SELECT counted FROM pm_standing WHERE wallet = $1 AND category = '' AND timeframe = '24h'), 0) AS told`,
        [wallet, begin],
      );
      expect(counted.rows[0].told).toBe(counted.rows[0].ended);
    }
  });

  test('told in steps they are those told at once; a rebuild forgets them; a past instant is none of theirs', async () => {
    await load(after(6));
    await tell(after(6));
    await load(after(7, 5));
    await tell(after(7, 5));
    await tell(after(7, 11));
    const told = async (): Promise<unknown[]> =>
      (
        await pool.query(
          'SELECT timeframe, wallet, category, counted, wins, round(sharpe::numeric, 9) AS sharpe, round(roi::numeric, 9) AS roi, round(win_rate::numeric, 9) AS win_rate, round(pnl::numeric, 6) AS pnl FROM pm_standing ORDER BY 1, 2, 3',
        )
      ).rows;
    const inSteps = await told();
    expect(inSteps.length).toBeGreaterThan(200);
    expect(await count('pm_standing_due')).toBe(0);
    // Nothing is told as of before facts that are in the store, nor as of before it was told last.
    await tell(after(7));
    await tell(after(7, 8));
    expect((await pool.query('SELECT told_at FROM pm_standing_told')).rows).toEqual([{ told_at: after(7, 11) }]);
    expect(await check(after(7, 6))).toBe(0);
    await inTransaction(pool, rebuildPositions, LONG_WORK);
    expect([await count('pm_standing'), await count('pm_standing_told'), await count('pm_standing_due')]).toEqual([0, 0, 0]);
    await tell(after(7, 11));
    expect(await told()).toEqual(inSteps);
  });
});
