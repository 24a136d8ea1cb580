import type { Pool } from 'pg';
import { LONG_WORK, inTransaction } from '../../../../src/db/transaction';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { type CrowdScope, type CrowdSide, listCrowdSides } from '../../../../src/venues/prediction/queries/crowds';
import { forgetCrowdsOf } from '../../../../src/venues/prediction/rollups/crowd-due';
import { loadOverlay } from '../../../../src/venues/prediction/rollups/positions-as-of';
import { rebuildPositions } from '../../../../src/venues/prediction/rollups/positions-rebuild';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { tellCrowds } from '../../../../src/venues/prediction/rollups/told-crowds';
import { score } from '../../../../src/venues/prediction/scoring/job';
import { testDatabase } from '../../../support/database';
import { loadPart } from '../support';
import { countOf, sqlOf } from './untold';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const after = (days: number): Date => new Date(start.getTime() + days * DAY);

/** As the sums must be, from positions and scores alone: of wallets with five trades ever, the outcome that cost more than all others of the market. */
const FROM_POSITIONS = `WITH held AS (
  SELECT p.*, s.score FROM pm_position p JOIN pm_wallet_score s ON s.wallet = p.wallet AND s.day = $1::date
  WHERE p.status = 'open' AND p.shares > 0 AND p.paid_shares > 0 AND (SELECT sum(trades) FROM pm_position o WHERE o.wallet = p.wallet) >= 5
)
SELECT bound AS max_score, condition_id, token_id, count(*)::int AS wallets, sum(cost - others)::float8 AS net_usdc, sum(score)::float8 AS scores, sum(paid_shares)::float8 AS paid_shares, sum(paid_usdc)::float8 AS paid_usdc
FROM (
  SELECT h.*, COALESCE((SELECT sum(o.cost) FROM held o WHERE o.wallet = h.wallet AND o.condition_id = h.condition_id AND o.token_id <> h.token_id), 0) AS others FROM held h
) AS one JOIN generate_series(0, 59) AS bound ON score <= bound WHERE cost > others GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;
const KEPT = `SELECT max_score, condition_id, token_id, wallets, net_usdc::float8, scores::float8, paid_shares::float8, paid_usdc::float8 FROM pm_crowd ORDER BY 1, 2, 3`;

const EVERY: CrowdScope = { category: null, min_wallets: 1, min_usdc: 0, min_consensus: 0.5 };
const SCOPES: CrowdScope[] = [
  EVERY,
  { ...EVERY, min_wallets: 4 },
  { ...EVERY, min_usdc: 900, min_consensus: 0.8 },
  { ...EVERY, category: 'Politics', min_wallets: 2 },
];

describe('crowds of low scores', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let pool: Pool;
  beforeAll(async () => {
    database = await testDatabase();
    pool = database.pool;
  });
  afterAll(() => database.drop());

  const load = (from: Date, until: Date, part?: (index: number) => boolean): Promise<void> =>
    loadPart(pool, predictionWorld({ seed: 8, size: 12_000, start }).pages(from, until), part);

  /** A run in which nine of ten wallets have a score below 60, some of them whole ones. */
  async function judge(now: Date): Promise<void> {
    await score(pool, now, () => undefined);
    await pool.query(`UPDATE pm_wallet_score SET score = abs(hashtext(wallet)) % 133 / 2.0 WHERE day = $1::date`, [now]);
    await inTransaction(pool, (client) => forgetCrowdsOf(client, now.toISOString().slice(0, 10)));
    await tellCrowds(pool);
  }

  const count = (table: string): Promise<number> => countOf(pool, table);

  /** Sums are what positions and the scores of the day say, once told. */
  async function check(day: string): Promise<void> {
    await tellCrowds(pool);
    const { rows } = await pool.query<Record<string, number>>(FROM_POSITIONS, [day]);
    expect(rows.length).toBeGreaterThan(500);
    const near = (row: Record<string, number>): object =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, name.endsWith('usdc') ? (expect.closeTo(value, 4) as number) : value])); // prettier-ignore
    expect((await pool.query(KEPT)).rows).toEqual(rows.map(near));
    expect(await count('pm_crowd_due')).toBe(0);
  }

  const plain = (amount: string): string => (amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount);
  const told = ({ condition_id, token_id, wallets, ...amounts }: CrowdSide): string =>
    [condition_id, token_id, wallets, ...[amounts.net_usdc, amounts.scores, amounts.paid_shares, amounts.paid_usdc].map(plain)].join(' ');

  async function answers(day: string, now: Date): Promise<string[][]> {
    const sql = sqlOf(pool);
    const as_of = { now, overlay: await loadOverlay(sql, now) };
    const asked = [12, 30, 59].flatMap((max) => SCOPES.map((scope) => listCrowdSides(sql, { day, min: 0, max }, scope, as_of)));
    return (await Promise.all(asked)).map((sides) => sides.map(told).sort());
  }

  /** Answers by what is told are those by all positions. */
  async function compare(day: string, now: Date): Promise<void> {
    const kept = await answers(day, now);
    const { rows } = await pool.query<{ day: string; last_at: Date }>('DELETE FROM pm_crowd_told RETURNING day::text, last_at');
    expect(await answers(day, now)).toEqual(kept);
    await pool.query('INSERT INTO pm_crowd_told (day, last_at) VALUES ($1::date, $2)', [rows[0]?.day, rows[0]?.last_at]);
    expect(kept.every((sides) => sides.length > 0)).toBe(true);
  }

  test('are told for every bound, corrected by whatever writes a position, and answer as all positions do', async () => {
    await load(start, after(20.2), (index) => index % 9 !== 4);
    expect(await count('pm_crowd')).toBe(0);
    await judge(after(20.2));
    await check('2026-02-21');
    await compare('2026-02-21', after(20.2));

    // The late pages, and those that follow: fills, resolutions, sets, conversions; first as corrections, then told.
    await load(start, after(20.2), (index) => index % 9 === 4);
    expect(await count('pm_crowd_due')).toBeGreaterThan(50);
    await compare('2026-02-21', after(20.2));
    await load(after(20.2), after(21));
    await compare('2026-02-21', after(21));
    // As of an instant that later facts are in the store of, of wallets told and not.
    await compare('2026-02-21', after(20.5));
    await check('2026-02-21');
    await compare('2026-02-21', after(21));
    await compare('2026-02-21', after(20.5));

    const removed = await inTransaction(pool, (client) => retractFills(client, { from: after(20), to: after(20.6) }), LONG_WORK);
    expect(removed).toBeGreaterThan(100);
    await compare('2026-02-21', after(21));
    // With so many wallets to correct, all positions are added up: sums that are told wrong change nothing.
    const known = await answers('2026-02-21', after(21));
    await pool.query("INSERT INTO pm_crowd_due (wallet) SELECT 'due' || n FROM generate_series(1, 3001) AS n");
    await pool.query('UPDATE pm_crowd SET net_usdc = 2 * net_usdc');
    expect(await answers('2026-02-21', after(21))).toEqual(known);
    await pool.query("DELETE FROM pm_crowd_due WHERE wallet LIKE 'due%'");
    expect(await answers('2026-02-21', after(21))).not.toEqual(known);
    await pool.query('UPDATE pm_crowd SET net_usdc = net_usdc / 2');
    await check('2026-02-21');
    await inTransaction(pool, (client) => rebuildPositions(client), LONG_WORK);
    expect(await count('pm_crowd')).toBe(0);
    await check('2026-02-21');

    // A newer run takes its place; while one is made again nothing is answered by what it said before.
    await judge(after(21));
    await check('2026-02-22');
    await compare('2026-02-22', after(21));
    await inTransaction(pool, (client) => forgetCrowdsOf(client, '2026-02-21'));
    expect(await count('pm_crowd_told')).toBe(1);
    await score(pool, after(21), () => undefined);
    expect((await pool.query('SELECT day::text FROM pm_crowd_told')).rows).toEqual([{ day: '2026-02-22' }]);
  });

  test('that are told while the run they go by is written anew go by what it then says', async () => {
    const day = (await pool.query<{ day: string }>('SELECT max(day)::text AS day FROM pm_wallet_score')).rows[0]?.day as string;
    await inTransaction(pool, (client) => forgetCrowdsOf(client, day));
    let telling: Promise<void> | undefined;
    await inTransaction(pool, async (client) => {
      await client.query(`UPDATE pm_wallet_score SET score = abs(hashtext(wallet || 'anew')) % 133 / 2.0 WHERE day = $1::date`, [day]);
      await forgetCrowdsOf(client, day);
      telling = tellCrowds(pool);
      // Long enough for who waits for nobody.
      await Promise.race([telling, new Promise((resolve) => setTimeout(resolve, 2_000))]);
    });
    await telling;
    await check(day);
  });

  test('wallets belong to them from five trades on, and no more with fewer', async () => {
    await tellCrowds(pool);
    const { rows } = await pool.query<{ wallet: string; trades: number }>(
      `SELECT wallet, trades FROM pm_told_wallet JOIN pm_crowd_stance USING (wallet) GROUP BY 1, 2 ORDER BY wallet LIMIT 1`,
    );
    const { wallet } = rows[0] as { wallet: string };
    const note = 'INSERT INTO pm_crowd_due (wallet) VALUES ($1) ON CONFLICT DO NOTHING';
    const sidesOf = async (): Promise<number> => (await pool.query('SELECT FROM pm_crowd_stance WHERE wallet = $1', [wallet])).rows.length;
    const before = await sidesOf();
    await pool.query('UPDATE pm_told_wallet SET trades = 4 WHERE wallet = $1', [wallet]);
    await pool.query(note, [wallet]);
    await tellCrowds(pool);
    expect(await sidesOf()).toBe(0);
    await pool.query('UPDATE pm_told_wallet SET trades = 5 WHERE wallet = $1', [wallet]);
    await pool.query(note, [wallet]);
    await tellCrowds(pool);
    expect(await sidesOf()).toBe(before);
    expect(before).toBeGreaterThan(0);
  });
});
