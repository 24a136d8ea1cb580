import { type Database, openDatabase } from '../../../../src/db/client';
import { DAY_MS } from '../../../../src/lib/time';
import type { TestDatabase } from '../../../support/database';
import { ask } from '../ask';
import { START, storeOf } from '../world';

// What is newest is what happened last, however long ago; and what was told then, where the catalogue has told otherwise since.

const DAYS = 12;
const end = new Date(START.getTime() + DAYS * DAY_MS);
const muchLater = new Date(end.getTime() + 70 * DAY_MS);

let store: TestDatabase;
let db: Database;
beforeAll(async () => {
  store = await storeOf(6_000, DAYS);
  db = await openDatabase(store.url);
});
afterAll(async () => {
  await db.close();
  await store.drop();
});

const one = async <Row>(text: string, values: unknown[] = []): Promise<Row> => (await store.pool.query(text, values)).rows[0] as Row;

test('the price of a pool in which nothing happened for months is the last', async () => {
  const { pool_address } = await one<{ pool_address: string }>(
    'SELECT pool_address FROM lp_swap GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1',
  );
  const priceAt = async (now: Date): Promise<unknown> =>
    (await ask<{ price: unknown }>(db, 'lp/pools/detail', now, { pool_address })).data.price;
  const last = await priceAt(end);
  expect(last).toBeGreaterThan(0);
  expect(await priceAt(muchLater)).toBe(last);
});

test('the newest event of recurring orders is the last, months later too', async () => {
  const { at } = await one<{ at: Date }>('SELECT max("timestamp") AS at FROM dca_event');
  const { data } = await ask<{ last_updated: string }>(db, 'lp/dca/pressure', muchLater, { timeframe: 'all', min_volume_usd: 0 });
  expect(new Date(data.last_updated)).toEqual(at);
});

test('of a pool that the catalogue has told of since, the liquidity is that of the last hour before', async () => {
  const then = new Date(START.getTime() + 8.4 * DAY_MS);
  const { pool_address, usd } = await one<{ pool_address: string; usd: string }>(
    `SELECT p.pool_address, h.liquidity_usd AS usd FROM lp_pool p
     CROSS JOIN LATERAL (SELECT * FROM lp_liquidity_hour h WHERE h.pool_address = p.pool_address AND h.hour <= $1::timestamptz - interval '1 hour' ORDER BY h.hour DESC LIMIT 1) h
     WHERE p.as_of > $1 AND (p.reserve_at IS NULL OR p.reserve_at > $1) AND (p.created_at IS NULL OR p.created_at < $1) AND h.liquidity_usd <> p.tvl_usd ORDER BY 1 LIMIT 1`,
    [then],
  );
  const { data } = await ask<{ liquidity_usd: number }>(db, 'lp/pools/detail', then, { pool_address });
  expect(data.liquidity_usd).toBeCloseTo(Number(usd), 6);
});
