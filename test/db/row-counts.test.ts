import { rowCounts } from '../../src/db/row-counts';
import { type TestDatabase, testDatabase } from '../support/database';

describe('how much is in the store', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await testDatabase();
    await db.pool.query('CREATE TABLE many (n int) PARTITION BY RANGE (n)');
    for (const from of [0, 10])
      await db.pool.query(`CREATE TABLE many_${from} PARTITION OF many FOR VALUES FROM (${from}) TO (${from + 10})`);
    await db.pool.query('INSERT INTO many SELECT generate_series(0, 13)');
  });
  afterAll(() => db.drop());
  const glance = () => rowCounts(db.pool, ['many', 'lp_pool'], 60_000);

  test('is counted where it is little, and as the statistics of all partitions say where it is much', async () => {
    expect(await glance()).toEqual({ many: 14, lp_pool: 0 });
    await db.pool.query('ANALYZE many');
    expect(await glance()).toEqual({ many: 14, lp_pool: 0 });
    await db.pool.query("UPDATE pg_class SET reltuples = 700000 WHERE relname IN ('many_0', 'many_10')");
    expect(await glance()).toEqual({ many: 1_400_000, lp_pool: 0 });
  });

  test('is not waited for: a table that somebody holds ends the count in time, in the database as well', async () => {
    const holder = await db.pool.connect();
    await holder.query('BEGIN; LOCK TABLE lp_pool IN ACCESS EXCLUSIVE MODE');
    await expect(rowCounts(db.pool, ['lp_pool'], 200)).rejects.toThrow('no answer within 200 ms');
    const { rows } = await holder.query("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'");
    expect(rows).toEqual([]);
    await holder.query('ROLLBACK');
    holder.release();
  });
});
