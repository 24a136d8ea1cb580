import type { PoolClient } from 'pg';
import { savePools, saveTokens } from '../../../src/venues/lp/store/catalogue';
import { barePool, type PoolRow } from '../../../src/venues/lp/store/rows';
import { testDatabase } from '../../support/database';
import { until } from '../../support/feeds';

// Feeds of one venue write at the same time: what one of them learns of a pool must survive the other's older view of it.

let db: Awaited<ReturnType<typeof testDatabase>>;
let first: PoolClient;
let second: PoolClient;
beforeAll(async () => {
  db = await testDatabase();
  [first, second] = [await db.pool.connect(), await db.pool.connect()];
});
afterAll(async () => {
  for (const client of [first, second]) client.release();
  await db.drop();
});

/** Runs both in transactions of their own; the second one begins while the first one's is open, and goes on when it ends. */
async function overlapping(one: (client: PoolClient) => Promise<unknown>, other: (client: PoolClient) => Promise<unknown>): Promise<void> {
  const { rows } = await second.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  for (const client of [first, second]) await client.query('BEGIN');
  await one(first);
  const waiting = other(second);
  await until(async () => {
    const found = await db.pool.query("SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'", [rows[0]?.pid]);
    return found.rows.length === 1;
  }, 'the second transaction waits for the first');
  await first.query('COMMIT');
  await waiting;
  await second.query('COMMIT');
}

const pool = (more: Partial<PoolRow>): PoolRow => ({ ...barePool('pool', 'damm_v2'), ...more });
const RESERVES = { reserve_x: '7', reserve_y: '9', reserve_at: new Date('2026-03-02T10:00:00Z') };

test('reserves that the chain tells while the catalogue is read', async () => {
  await savePools(first, [pool({ reserve_x: '1', reserve_y: '1', reserve_at: new Date('2026-03-01T00:00:00Z') })]);
  await overlapping(
    (client) => savePools(client, [pool(RESERVES)]),
    (client) => savePools(client, [pool({ catalogued: true, name: 'A-B', as_of: new Date('2026-03-02T10:00:01Z'), tvl_usd: '5' })]),
  );
  const { rows } = await db.pool.query('SELECT name, tvl_usd::text, reserve_x::text, reserve_y::text, reserve_at FROM lp_pool');
  expect(rows).toEqual([{ name: 'A-B', tvl_usd: '5', ...RESERVES }]);
});

test('the decimals of a token that two feeds tell of', async () => {
  await saveTokens(first, [{ mint: 'mint', symbol: null, name: null, decimals: null, quality: 0 }]);
  await overlapping(
    (client) => saveTokens(client, [{ mint: 'mint', symbol: 'ABC', name: null, decimals: 6, quality: 2 }]),
    (client) => saveTokens(client, [{ mint: 'mint', symbol: 'abc', name: null, decimals: null, quality: 1 }]),
  );
  const { rows } = await db.pool.query('SELECT symbol, decimals, quality FROM lp_token');
  expect(rows).toEqual([{ symbol: 'ABC', decimals: 6, quality: 2 }]);
});
