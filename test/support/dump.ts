import type { Pool } from 'pg';
import type { VenueName } from '../../src/lib/venue-name';

const PREFIXES = { prediction: ['pm_'], perps: ['perp_'], lp: ['lp_', 'dca_', 'token_price'] };

/** What is noted for a job, by whichever of two feeds comes second. */
const NOTES = ['pm_follow_due'];

/** A venue's tables by which two stores are compared: facts and what is kept up to date from them; what jobs write is empty in both. */
export async function keptTables(pool: Pool, venue: VenueName): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND EXISTS (SELECT FROM unnest($1::text[]) AS prefix WHERE starts_with(relname, prefix)) ORDER BY 1`,
    [PREFIXES[venue]],
  );
  return rows.map(({ name }) => name).filter((name) => !NOTES.includes(name));
}

/** Every row of the tables as text, in order: what two stores that hold the same have in common, to the last digit. */
export async function dumpOf(pool: Pool, tables: readonly string[]): Promise<Record<string, string[]>> {
  const dumped: Record<string, string[]> = {};
  for (const table of tables) {
    const { rows } = await pool.query<{ row: string }>(`SELECT to_jsonb(kept)::text AS row FROM ${table} AS kept ORDER BY 1`);
    // 1.50 and 1.5 are one number.
    dumped[table] = rows.map(({ row }) => row.replace(/(\.\d*?)0+(?=[,}\]])/g, '$1').replace(/\.(?=[,}\]])/g, '')).sort();
  }
  return dumped;
}

/** The first rows that only one of the stores has, by table: empty when they agree. */
export function differencesOf(
  a: Record<string, string[]>,
  b: Record<string, string[]>,
): Record<string, { only_a: string[]; only_b: string[] }> {
  const differing: Record<string, { only_a: string[]; only_b: string[] }> = {};
  for (const table of Object.keys(a)) {
    const [left, right] = [a[table] ?? [], b[table] ?? []];
    const [inLeft, inRight] = [new Set(left), new Set(right)];
    const only_a = left.filter((row) => !inRight.has(row)).slice(0, 3);
    const only_b = right.filter((row) => !inLeft.has(row)).slice(0, 3);
    if (only_a.length + only_b.length > 0 || left.length !== right.length) differing[table] = { only_a, only_b };
  }
  return differing;
}
