import type { PoolClient } from 'pg';

// A partitioned table's index is told as one of the parent alone; made of the whole table, it is made of every partition.
const INDEXES = `
SELECT CASE WHEN k.oid IS NULL THEN format('DROP INDEX %s', indexrelid::regclass) ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', indrelid::regclass, conname) END AS forget,
  CASE WHEN k.oid IS NULL THEN replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')
    ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', indrelid::regclass, conname, pg_get_constraintdef(k.oid)) END AS make
FROM pg_index LEFT JOIN pg_constraint k ON conindid = indexrelid AND contype = 'p'
WHERE indrelid = $1::regclass AND ($2 OR k.oid IS NULL) ORDER BY indexrelid::regclass::text`;

/**
 * Runs `fill` without the secondary indexes of those of the tables that hold no rows, and makes these again from all rows at once, which costs a
 * fraction of writing them row by row; all inside the client's transaction. Tables with rows keep theirs: dropping locks readers out, of empty tables too.
 * Without `keys` either, which pays where rows do not come in their order; a key that is written twice is an error at the end then.
 */
export async function fillEmptied(client: PoolClient, tables: readonly string[], fill: () => Promise<void>, keys = false): Promise<void> {
  const again: string[] = [];
  for (const table of tables) {
    const { rowCount } = await client.query(`SELECT 1 FROM ${table} LIMIT 1`);
    if (rowCount !== 0) continue;
    const { rows } = await client.query<{ forget: string; make: string }>(INDEXES, [table, keys]);
    for (const { forget, make } of rows) {
      await client.query(forget);
      again.push(make);
    }
  }
  await fill();
  for (const make of again) await client.query(make);
}

/**
 * Tells the planner how many rows tables hold, each named with the columns it is told more of. Rows that a transaction wrote nobody else counts: where autovacuum
 * looks at the table meanwhile it seems to hold next to none, and what joins it is planned for one row.
 */
export async function analyze(client: PoolClient, tables: readonly string[]): Promise<void> {
  await client.query(`ANALYZE ${tables.join(', ')}`);
}

/** The same by a tenth of the rows that are usually looked at, for what is about to be read once: how many rows and groups there are is seen by few. */
export async function analyzeRoughly(client: PoolClient, tables: readonly string[]): Promise<void> {
  await client.query(
    `SET LOCAL default_statistics_target = 10; ANALYZE ${tables.join(', ')}; SET LOCAL default_statistics_target TO DEFAULT`,
  );
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
