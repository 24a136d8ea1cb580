import type { PoolClient } from 'pg';
import { analyzeIndexed } from '../../../db/indexes';
import { isoDay } from '../../../lib/time';

/** Name of the partition of pm_trade that holds a month, told as `2026-01`. */
export const monthTable = (month: string): string => `pm_trade_${month.replace('-', '')}`;

// By time first: facts come by time, so the index grows at its end.
const KEY = '"timestamp", trade_id, condition_id';

/**
 * Makes the table of a month whose facts are filled in before it becomes a partition of pm_trade, in the same transaction (`attachMonths`): with no
 * index but the one that finds duplicates. Indexes made of all rows at once cost a fraction of those that are written row by row.
 */
export async function openMonth(client: PoolClient, table: string): Promise<void> {
  await client.query(
    `CREATE TABLE ${table} (LIKE pm_trade INCLUDING DEFAULTS); ALTER TABLE ${table} ADD CONSTRAINT ${table}_due UNIQUE (${KEY})`,
  );
}

const DUE = String.raw`SELECT relname AS name, make_date(substr(relname, 10, 4)::int, substr(relname, 14, 2)::int, 1)::text AS month FROM pg_class
WHERE relkind = 'r' AND NOT relispartition AND relname ~ '^pm_trade_\d{6}$' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'pm_trade'::regclass)`;

/** Makes partitions of pm_trade of the months that this transaction filled: from now on everybody's statements see them, with all indexes. */
export async function attachMonths(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ name: string; month: string }>(DUE);
  for (const { name, month } of rows) {
    const [year, number] = month.split('-').map(Number) as [number, number];
    const next = isoDay(new Date(Date.UTC(year, number, 1)));
    await client.query(`ALTER TABLE ${name} DROP CONSTRAINT ${name}_due`);
    await client.query(`ALTER TABLE pm_trade ATTACH PARTITION ${name} FOR VALUES FROM ('${month} 00:00+00') TO ('${next} 00:00+00')`);
    await analyzeIndexed(client, [name]);
  }
}
