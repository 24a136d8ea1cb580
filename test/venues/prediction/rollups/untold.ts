import type { Pool } from 'pg';
import type { Sql } from '../../../../src/db/sql';

/** Statements over this pool. */
export const sqlOf = (pool: Pool): Sql => ({
  query: async (statement, values) => (await pool.query({ ...statement, values: values as unknown[] })).rows,
});

/** How many rows a table has. */
export const countOf = async (pool: Pool, table: string): Promise<number> =>
  (await pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`)).rows[0]?.n ?? -1;

/** Asks as things are told of wallets, and again with nothing told of any; expects the same. */
export async function expectSameUntold(pool: Pool, answers: () => Promise<unknown>): Promise<void> {
  const kept = await answers();
  await pool.query('CREATE TABLE aside AS SELECT * FROM pm_told_wallet');
  await pool.query('DELETE FROM pm_told_wallet');
  expect(kept).toEqual(await answers());
  await pool.query('INSERT INTO pm_told_wallet SELECT * FROM aside');
  await pool.query('DROP TABLE aside');
}
