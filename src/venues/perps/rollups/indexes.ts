import type { PoolClient } from 'pg';

const SECONDARY = `
SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = $1::regclass AND NOT indisprimary ORDER BY 1`;

/**
 * Drops the secondary indexes of those of the tables that hold no rows, inside the client's transaction, and returns the statements
 * that make them again: an index made of all rows at once costs a fraction of one that is written row by row. Nobody misses an index
 * of nothing; tables with rows keep theirs, for dropping would lock their readers out.
 */
export async function setIndexesAside(client: PoolClient, tables: readonly string[]): Promise<string[]> {
  const again: string[] = [];
  for (const table of tables) {
    const { rowCount } = await client.query(`SELECT 1 FROM ${table} LIMIT 1`);
    if (rowCount !== 0) continue;
    const { rows } = await client.query<{ name: string; definition: string }>(SECONDARY, [table]);
    for (const { name, definition } of rows) {
      await client.query(`DROP INDEX ${name}`);
      again.push(definition);
    }
  }
  return again;
}
