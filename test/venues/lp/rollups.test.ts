import type { Pool } from 'pg';
import { rebuild } from '../../../src/venues/lp/rollups/rebuild';
import { randomOf } from '../../../src/sandbox/simulator/world';
import { testDatabase } from '../../support/database';
import { loadRecords, scoresWritten } from './load';
import { dlmmPoolsPage, SOL_USDC } from './pages';
import { loadPages, simulated } from './world';

const TABLES = [
  'lp_owner_hour',
  'lp_pool_bar',
  'lp_pool_hour',
  'lp_known_hour',
  'lp_flow_hour',
  'lp_flow_quarter',
  'lp_flow_day',
  'lp_flow_month',
  'lp_flow_life',
  'lp_type_bar',
  'lp_type_hour',
  'lp_owner_count',
  'lp_pool_quarter',
  'lp_pool_day',
  'lp_pool_month',
  'lp_pool_life',
  'lp_type_swap_hour',
  'lp_owner_day',
  'lp_owner_pool',
  'lp_owner_life',
  'lp_owner_result',
  'lp_life_day',
  'lp_life_hour',
  'lp_pool_last',
  'lp_smart_day',
  'lp_smart_pool',
  'lp_smart_life',
  'lp_smart_flow_day',
  'lp_smart_flow_hour',
  'lp_smart_last',
  'lp_position_sum',
  'dca_order',
] as const;

/** Every row of the rollups as text, in one order: numeric text shows every digit. */
async function rollups(pool: Pool): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const table of TABLES) {
    const { rows } = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t ORDER BY 1`);
    all[table] = rows.map(({ row }) => row);
  }
  return all;
}

async function rebuilt(pool: Pool): Promise<Record<string, string[]>> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await rebuild(client);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
  return rollups(pool);
}

describe('rollups of a simulated world', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  const { pages } = simulated(6_000, 12);

  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.drop());

  it('are what a rebuild from facts gives, with pages shuffled, repeated and late', async () => {
    const random = randomOf(11, 'order');
    const shuffled = pages.map((page) => ({ page, at: random() })).sort((a, b) => a.at - b.at);
    const order = shuffled.flatMap(({ page, at }) => (at < 0.2 ? [page, page] : [page]));
    await loadPages(db.pool, order.slice(0, order.length / 2));
    await db.pool.query(`INSERT INTO lp_score (owner, day, score, n, wins, version)
      SELECT owner, d.day, CASE WHEN (i + d.step) % 3 = 0 THEN 40 ELSE 60 + i % 40 END, 5, 3, 'test'
      FROM (SELECT owner, row_number() OVER (ORDER BY owner) AS i FROM lp_owner_life WHERE owner <> '' GROUP BY owner) o
      CROSS JOIN (VALUES ('2026-01-03'::date, 0), ('2026-01-07'::date, 1), ('2026-01-08'::date, 2)) d(day, step)`);
    await scoresWritten(db.pool);
    await loadPages(db.pool, order.slice(order.length / 2));
    const incremental = await rollups(db.pool);
    for (const table of TABLES) expect(incremental[table]?.length).toBeGreaterThan(5);
    expect(incremental).toEqual(await rebuilt(db.pool));
  });

  it('hold the sums of the facts', async () => {
    const { rows } = await db.pool.query(`SELECT
      (SELECT sum(deposit_usd + withdraw_usd + claim_usd) FROM lp_owner_hour) = (SELECT sum(usd) FROM lp_event) AS usd,
      (SELECT sum(deposits + withdrawals + claims) FROM lp_owner_hour) = (SELECT count(*) FROM lp_event) AS events,
      (SELECT sum(swaps) FROM lp_pool_hour) = (SELECT count(*) FROM lp_swap) AS swaps,
      (SELECT sum(swaps) FROM lp_pool_bar) = (SELECT count(*) FROM lp_swap) AS bars,
      (SELECT sum(deposits + withdrawals + claims) FROM lp_type_bar) = (SELECT count(*) FROM lp_event) AS types,
      (SELECT sum(known) FROM lp_type_bar) = (SELECT count(*) FROM lp_event WHERE fee_payer IS NOT NULL) AS known,
      (SELECT sum(swaps) FROM lp_pool_quarter) = (SELECT count(*) FROM lp_swap) AS quarters,
      (SELECT sum(usd) FROM lp_type_swap_hour) = (SELECT sum(usd) FROM lp_pool_day) AS hours,
      (SELECT sum(stated_usd) FROM lp_pool_hour) = (SELECT sum(volume_usd) FROM lp_volume_hour) AS stated,
      (SELECT sum(event_count) FROM lp_position_sum) = (SELECT count(*) FROM lp_event WHERE position_address <> '') AS positions`);
    expect(rows[0]).toEqual({
      usd: true,
      events: true,
      swaps: true,
      bars: true,
      types: true,
      known: true,
      quarters: true,
      hours: true,
      stated: true,
      positions: true,
    });
  });
});

test('what is stated of a pool that is not on record counts by its type once it is', async () => {
  const db = await testDatabase();
  try {
    const stated = { timeframe: '1h', data: [{ timestamp: Date.UTC(2026, 2, 10, 9) / 1_000, volume: 50, fees: 2, protocol_fees: 0 }] };
    const types = async (): Promise<unknown[]> =>
      (await db.pool.query('SELECT pool_type, usd::float8 AS usd, fee_usd::float8 AS fee_usd FROM lp_type_swap_hour')).rows;
    await loadRecords(db.pool, `${SOL_USDC}_volume.json`, [stated]);
    expect(await types()).toEqual([{ pool_type: '', usd: 50, fee_usd: 2 }]);
    await loadRecords(db.pool, 'pools.json', [dlmmPoolsPage]);
    expect(await types()).toEqual([{ pool_type: 'dlmm', usd: 50, fee_usd: 2 }]);
    const kept = await rollups(db.pool);
    expect(await rebuilt(db.pool)).toEqual(kept);
  } finally {
    await db.drop();
  }
});
