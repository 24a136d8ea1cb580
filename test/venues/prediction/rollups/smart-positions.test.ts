import type { Pool } from 'pg';
import { LONG_WORK, inTransaction } from '../../../../src/db/transaction';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { listLeanings } from '../../../../src/venues/prediction/queries/leanings';
import { type ScoreBand, listHeldStances, listStances } from '../../../../src/venues/prediction/queries/stances';
import { loadOverlay } from '../../../../src/venues/prediction/rollups/positions-as-of';
import { rebuildPositions } from '../../../../src/venues/prediction/rollups/positions-rebuild';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { forgetSmart } from '../../../../src/venues/prediction/rollups/smart-positions';
import { tellSmartPositions } from '../../../../src/venues/prediction/rollups/told-positions';
import { score } from '../../../../src/venues/prediction/scoring/job';
import { testDatabase } from '../../../support/database';
import { loadPart } from '../support';
import { sqlOf } from './untold';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const after = (days: number): Date => new Date(start.getTime() + days * DAY);

/** As the table must be, from positions and scores alone. */
const FROM_POSITIONS = `SELECT p.condition_id, p.wallet, p.token_id, s.score, p.status = 'open' AS is_open, p.shares,
  CASE WHEN p.status NOT IN ('resolved', 'voided') THEN p.cost WHEN p.last_trade_at > p.settled_at THEN p.shares * p.paid_usdc / p.paid_shares ELSE p.payout_usdc - p.gain_resolution END AS cost,
  p.paid_shares, p.paid_usdc, p.opened_at, p.last_at
FROM pm_position p JOIN pm_wallet_score s ON s.wallet = p.wallet AND s.day = $1::date AND s.score >= 60 WHERE p.paid_shares > 0 ORDER BY 1, 2, 3`;

describe('positions of smart wallets', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let pool: Pool;
  beforeAll(async () => {
    database = await testDatabase();
    pool = database.pool;
  });
  afterAll(() => database.drop());

  const load = (from: Date, until: Date, part?: (index: number) => boolean): Promise<void> =>
    loadPart(pool, predictionWorld({ seed: 8, size: 12_000, start }).pages(from, until), part);

  /** A run in which half of all wallets are smart. */
  async function judge(now: Date): Promise<void> {
    await score(pool, now, () => undefined);
    await pool.query(`UPDATE pm_wallet_score SET score = 45 + abs(hashtext(wallet)) % 100 / 2.0 WHERE day = $1::date`, [now]);
    await tellSmartPositions(pool);
  }

  /** The table is what positions and the scores of the day say; resolves to how many rows it has. */
  async function check(day: string): Promise<number> {
    const kept = await pool.query('SELECT * FROM pm_smart_position ORDER BY condition_id, wallet, token_id');
    const { rows } = await pool.query(FROM_POSITIONS, [day]);
    expect(kept.rows).toEqual(rows);
    return rows.length;
  }

  /** What is asked of the positions of a band, as of an instant. */
  async function answers(band: ScoreBand, now: Date): Promise<object[][]> {
    const sql = sqlOf(pool);
    const as_of = { now, overlay: await loadOverlay(sql, now) };
    await pool.query('ANALYZE');
    const { rows } = await pool.query<{ condition_id: string }>(
      'SELECT condition_id FROM pm_position GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 60',
    );
    const ids = rows.map(({ condition_id }) => condition_id);
    const scope = { category: null, on_one_outcome: 1, on_market: 2 };
    const told = [
      await listStances(sql, ids, band, as_of),
      await listLeanings(sql, ids, band, as_of),
      await listHeldStances(sql, band, scope, as_of),
      await listHeldStances(sql, band, { ...scope, category: 'Politics', on_one_outcome: 2 }, as_of),
    ];
    // Weights are sums of floats, in any order: rows are put in order without them.
    const known = (row: object): string => JSON.stringify({ ...row, weight: undefined });
    return told.map((list) => [...list].sort((a, b) => (known(a) < known(b) ? -1 : 1)));
  }

  /** Answers by what is kept are those by all positions. */
  async function compare(day: string, now: Date): Promise<void> {
    for (const [min, max] of [
      [60, 100],
      [72.5, 90],
    ] as const) {
      const band = { day, min, max };
      const kept = await answers(band, now);
      const run = await pool.query<{ day: string; prior: string }>('DELETE FROM pm_smart_run RETURNING day::text, prior::text');
      const plain = await answers(band, now);
      await pool.query('INSERT INTO pm_smart_run (day, prior) VALUES ($1::date, $2::date)', [run.rows[0]?.day, run.rows[0]?.prior]);
      expect(run.rows.map((row) => row.day)).toEqual(['2026-02-21']);
      expect(kept).toEqual(
        plain.map((list) => list.map((row) => ('weight' in row ? { ...row, weight: expect.closeTo(row.weight as number, 4) } : row))),
      );
      expect(kept.every((list) => list.length > 0)).toBe(true);
    }
  }

  test('are kept by whatever writes a position, and answer as all positions do', async () => {
    await load(start, after(20.2), (index) => index % 9 !== 4);
    expect(await check('2026-02-21')).toBe(0);
    await judge(after(20.2));
    expect(await check('2026-02-21')).toBeGreaterThan(100);
    await compare('2026-02-21', after(20.2));

    // The late pages, and those that follow: fills, resolutions, sets, conversions.
    await load(start, after(20.2), (index) => index % 9 === 4);
    await load(after(20.2), after(21));
    expect(await check('2026-02-21')).toBeGreaterThan(100);
    await compare('2026-02-21', after(21));
    // As of an instant that later facts are in the store of.
    await compare('2026-02-21', after(20.5));

    const removed = await inTransaction(pool, (client) => retractFills(client, { from: after(20), to: after(20.6) }), LONG_WORK);
    expect(removed).toBeGreaterThan(100);
    await check('2026-02-21');
    await inTransaction(pool, (client) => rebuildPositions(client), LONG_WORK);
    expect(await check('2026-02-21')).toBeGreaterThan(100);

    // A newer run takes its place; while one is made again nothing is answered by what it said before.
    await judge(after(21));
    expect(await check('2026-02-22')).toBeGreaterThan(100);
    expect((await pool.query('SELECT day::text FROM pm_smart_run')).rows).toEqual([{ day: '2026-02-22' }]);
    await inTransaction(pool, (client) => forgetSmart(client, '2026-02-22'));
    expect((await pool.query('SELECT FROM pm_smart_run')).rows.length).toBe(0);
    await score(pool, after(21), () => undefined);
    expect((await pool.query('SELECT day::text FROM pm_smart_run')).rows).toEqual([{ day: '2026-02-22' }]);
    await check('2026-02-22');
  });
});
