import type { PoolClient } from 'pg';

// A partitioned table's index is told as one of the parent alone; made of the whole table, it is made of every partition.
const SECONDARY = `
SELECT indexrelid::regclass::text AS name, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') AS definition
FROM pg_index WHERE indrelid = $1::regclass AND NOT indisprimary ORDER BY 1`;

/**
 * Runs `fill` without the secondary indexes of those of the tables that hold no rows, and makes these again from all rows at once, which costs a
 * fraction of writing them row by row; all inside the client's transaction. Tables with rows keep theirs: dropping would lock their readers out.
 */
export async function fillEmptied(client: PoolClient, tables: readonly string[], fill: () => Promise<void>): Promise<void> {
  const again: string[] = [];
  for (const table of tables) {
    const { rowCount } = await client.query(`SELECT FROM ${table} LIMIT 1`);
    if (rowCount !== 0) continue;
    const { rows } = await client.query<{ name: string; definition: string }>(SECONDARY, [table]);
    for (const { name, definition } of rows) {
      await client.query(`DROP INDEX ${name}`);
      again.push(definition);
    }
  }
  await fill();
  for (const definition of again) await client.query(definition);
}
