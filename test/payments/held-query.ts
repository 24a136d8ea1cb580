import type { Pool } from 'pg';

/** Keeps every query over tables whose names begin with `prefix` waiting, until the returned function is called. */
export async function holdQueries(pool: Pool, prefix: string): Promise<() => Promise<void>> {
  const client = await pool.connect();
  const { rows } = await client.query<{ name: string }>(
    "SELECT quote_ident(relname) AS name FROM pg_class WHERE starts_with(relname, $1) AND relkind IN ('r', 'p') AND NOT relispartition",
    [prefix],
  );
  await client.query('BEGIN');
  await client.query(`LOCK TABLE ${rows.map(({ name }) => name).join(', ')} IN ACCESS EXCLUSIVE MODE`);
  return async () => {
    await client.query('COMMIT');
    client.release();
  };
}
