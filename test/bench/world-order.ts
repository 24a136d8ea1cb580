import type { Pool, PoolClient } from 'pg';
import { fillEmptied } from '../../src/db/indexes';
import { inTransaction } from '../../src/db/transaction';

/** What tells when a row was written, the surest first. */
const TIMES = ['timestamp', 'bar', 'minute', 'quarter', 'hour', 'day', 'at', 'last_at', 'closed_at', 'since'];
/** Smaller tables are read as a whole, however they lie. */
const SMALL = 3_000;

const TABLES = `
SELECT class.relname AS name, class.relispartition AS is_part, time.name AS "time",
  (SELECT string_agg(quote_ident(attname), ', ' ORDER BY array_position(indkey::int[], attnum::int)) FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
    WHERE indrelid = class.oid AND indisprimary) AS key
FROM pg_class AS class CROSS JOIN LATERAL (
  SELECT attname::text AS name FROM pg_attribute WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attname::text = ANY ($1) ORDER BY array_position($1, attname::text) LIMIT 1
) AS time
WHERE class.relkind = 'r' AND class.relnamespace = 'public'::regnamespace AND class.reltuples >= ${SMALL}
  AND NOT EXISTS (SELECT 1 FROM pg_stats WHERE schemaname = 'public' AND tablename = class.relname AND attname = time.name AND correlation > 0.95)
ORDER BY class.reltuples`;

interface Table {
  name: string;
  is_part: boolean;
  time: string;
  key: string | null;
}

/**
 * Lays the rows of all tables in the order of time, as they lie where pages were read for a month. A load at once leaves them in the order of their keys: what is asked of one key lies
 * together then, which it never does on a server, and the planner counts a stretch of time dearer than it is there. Tables must be analyzed.
 */
export async function layInTime(pool: Pool, tell: (line: string) => void): Promise<void> {
  const { rows } = await pool.query<Table>(TABLES, [TIMES]);
  for (const table of rows) {
    tell(`${table.name}: laid in the order of time`);
    await inTransaction(pool, (client) => lay(client, table), "SET LOCAL work_mem = '256MB'");
  }
  await pool.query('VACUUM ANALYZE');
}

async function lay(client: PoolClient, { name, is_part, time, key }: Table): Promise<void> {
  await client.query(`CREATE TEMP TABLE held ON COMMIT DROP AS SELECT * FROM ${name} ORDER BY "${time}"${key === null ? '' : `, ${key}`}`);
  await client.query(`TRUNCATE ${name}`);
  const fill = (): Promise<unknown> => client.query(`INSERT INTO ${name} SELECT * FROM held`);
  // A partition's indexes are its parent's.
  if (is_part) await fill();
  else await fillEmptied(client, [name], async () => void (await fill()));
}
