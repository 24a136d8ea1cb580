import type { Pool } from 'pg';
import { withDeadline } from '../lib/deadline';
import { runCancellable } from './cancel';

/** Tables of more rows are not counted for a glance: it takes a second a few millions. */
const MANY = 1_000_000;

/** What the last ANALYZE of each partition saw; nothing where there was none. */
const ESTIMATE = `
SELECT t.name AS "table", coalesce(sum(greatest(c.reltuples, 0)), 0)::float8 AS n
FROM unnest($1::text[]) AS t(name) CROSS JOIN LATERAL pg_partition_tree(t.name::regclass) AS part JOIN pg_class AS c ON c.oid = part.relid
WHERE part.isleaf GROUP BY t.name`;

/**
 * Rows by table, for people: counted up to a million, estimated beyond. Throws a TimeoutError after `patience_ms` milliseconds, and what
 * is still counted then ends in the database as well.
 */
export function rowCounts(db: Pool, tables: readonly string[], patience_ms: number): Promise<Record<string, number>> {
  const ask = (signal: AbortSignal): Promise<Record<string, number>> =>
    runCancellable(db, signal, async (client) => {
      const { rows: estimates } = await client.query<{ table: string; n: number }>(ESTIMATE, [tables]);
      const counted: Record<string, number> = {};
      for (const table of tables) {
        const estimate = estimates.find((row) => row.table === table)?.n ?? 0;
        counted[table] = estimate > MANY ? estimate : await countOf(client, table);
      }
      return counted;
    });
  return withDeadline(patience_ms, ask);
}

async function countOf(client: Pick<Pool, 'query'>, table: string): Promise<number> {
  const { rows } = await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${table}`);
  return Number(rows[0]?.n);
}
