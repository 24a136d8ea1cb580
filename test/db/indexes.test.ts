import type { Pool } from 'pg';
import { analyzeIndexed, fillEmptied } from '../../src/db/indexes';
import { inTransaction } from '../../src/db/transaction';
import { type TestDatabase, testDatabase } from '../support/database';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.pool.query(
    `CREATE TABLE filled (id int PRIMARY KEY, n int); CREATE INDEX filled_n ON filled (n); INSERT INTO filled VALUES (1, 1);
     CREATE TABLE emptied (id int PRIMARY KEY, n int, said text, told boolean) PARTITION BY RANGE (id);
     CREATE TABLE emptied_1 PARTITION OF emptied FOR VALUES FROM (0) TO (10); CREATE INDEX emptied_n ON emptied (n) WHERE told;
     CREATE TABLE bare (n int); INSERT INTO bare VALUES (1)`,
  );
});
afterAll(() => db.drop());

const indexes = async (of: Pick<Pool, 'query'>): Promise<{ name: string; definition: string }[]> =>
  (
    await of.query<{ name: string; definition: string }>(
      "SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename ~ '^(filled|emptied)' ORDER BY 1",
    )
  ).rows;

test('what is empty is filled without its indexes and has them again, those of its partitions too; what holds rows keeps them', async () => {
  const before = await indexes(db.pool);
  const fill = (failure?: Error): Promise<string[]> =>
    inTransaction(db.pool, async (client) => {
      const during: string[] = [];
      await fillEmptied(client, ['filled', 'emptied'], async () => {
        during.push(...(await indexes(client)).map(({ name }) => name));
        if (failure) throw failure;
        await client.query("INSERT INTO emptied VALUES (1, 1, 'a', true)");
      });
      return during;
    });
  await expect(fill(new Error('broke'))).rejects.toThrow('broke');
  expect(await indexes(db.pool)).toEqual(before);
  expect(await fill()).toEqual(['emptied_1_pkey', 'emptied_pkey', 'filled_n', 'filled_pkey']);
  expect(await indexes(db.pool)).toEqual(before);
  // It holds a row now.
  await db.pool.query('DELETE FROM emptied');
  await db.pool.query("INSERT INTO emptied VALUES (2, 2, 'b', true)");
  expect(await fill()).toContain('emptied_n');
});

test('keys too where it is said: a key that was written twice is told at the end', async () => {
  await db.pool.query('DELETE FROM emptied');
  const before = await indexes(db.pool);
  const fill = (rows: string): Promise<string[]> =>
    inTransaction(db.pool, async (client) => {
      const during: string[] = [];
      const write = async (): Promise<void> => {
        during.push(...(await indexes(client)).map(({ name }) => name));
        await client.query(`INSERT INTO emptied VALUES ${rows} ON CONFLICT DO NOTHING`);
      };
      await fillEmptied(client, ['filled', 'emptied'], write, true);
      return during;
    });
  await expect(fill("(1, 1, 'a', true), (1, 2, 'a', true)")).rejects.toThrow('emptied_1_pkey');
  expect(await fill("(1, 1, 'a', true), (2, 2, 'a', true)")).toEqual(['filled_n', 'filled_pkey']);
  expect(await indexes(db.pool)).toEqual(before);
  await expect(db.pool.query("INSERT INTO emptied VALUES (1, 3, 'b', false)")).rejects.toThrow('emptied_1_pkey');
});

test('the planner is told of columns by which rows are found, and of a table without an index of all', async () => {
  await inTransaction(db.pool, (client) => analyzeIndexed(client, ['emptied', 'bare']));
  const { rows } = await db.pool.query<{ name: string }>(
    "SELECT tablename || '.' || attname AS name FROM pg_stats WHERE tablename IN ('emptied', 'emptied_1', 'bare') ORDER BY 1",
  );
  expect(rows.map(({ name }) => name)).toEqual(
    ['bare.n', ...['emptied', 'emptied_1'].flatMap((table) => ['id', 'n', 'told'].map((column) => `${table}.${column}`))].sort(),
  );
});
