import type { PoolClient } from 'pg';

// A partitioned table's index is told as one of the parent alone; made of the whole table, it is made of every partition.
const SECONDARY = `
SELECT indexrelid::regclass::text AS name, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') AS definition
FROM pg_index WHERE indrelid = $1::regclass AND NOT indisprimary ORDER BY 1`;

/**
 * Runs `fill` without the secondary indexes of those of the tables that hold no rows, and makes these again from all rows at once, which costs a
 * fraction of writing them row by row; all inside the client's transaction. Tables with rows keep theirs: dropping locks readers out, of empty tables too.
 */
export async function fillEmptied(client: PoolClient, tables: readonly string[], fill: () => Promise<void>): Promise<void> {
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
  await fill();
  for (const definition of again) await client.query(definition);
}

/**
 * Tells the planner how many rows tables hold, each named with the columns it is told more of. Rows that a transaction wrote nobody else counts: where autovacuum
 * looks at the table meanwhile it seems to hold next to none, and what joins it is planned for one row.
 */
export async function analyze(client: PoolClient, tables: readonly string[]): Promise<void> {
  await client.query(`ANALYZE ${tables.join(', ')}`);
}

// What an index's condition reads is told of its dependencies alone.
const INDEXED = `SELECT DISTINCT quote_ident(attname) AS name FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum > 0
WHERE indrelid = $1::regclass AND (attnum = ANY (indkey) OR EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = indexrelid
  AND refclassid = 'pg_class'::regclass AND refobjid = indrelid AND refobjsubid = attnum)) ORDER BY 1`;

/**
 * Tells the planner what the columns hold that indexes of these tables name: those that rows are found, joined and grouped by. All columns of a wide
 * table take several times as long; the server's own autovacuum, which this does not keep from it, gets to the others.
 */
export async function analyzeIndexed(client: PoolClient, tables: readonly string[]): Promise<void> {
  const told: string[] = [];
  for (const table of tables) {
    const { rows } = await client.query<{ name: string }>(INDEXED, [table]);
    told.push(`${table}${rows.length === 0 ? '' : ` (${rows.map(({ name }) => name).join(', ')})`}`);
  }
  await analyze(client, told);
}
