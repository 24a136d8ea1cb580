import type { Pool } from 'pg';
import { eventsUntil } from '../../workers/feed-store';

/** Newest event seen and time up to which sources have been loaded. */
export const freshness = (db: Pool): ReturnType<typeof eventsUntil> => eventsUntil(db, 'lp');

const FACT_TABLES = [
  'lp_event',
  'lp_swap',
  'lp_position_event',
  'lp_reward',
  'dca_event',
  'lp_volume_hour',
  'token_price',
  'lp_pool',
  'lp_token',
] as const;

/** Rows kept, by table. */
export async function counts(db: Pool): Promise<Record<string, number>> {
  const selects = FACT_TABLES.map((table) => `SELECT '${table}' AS "table", count(*) AS n FROM ${table}`);
  const { rows } = await db.query<{ table: string; n: string }>(selects.join(' UNION ALL '));
  return Object.fromEntries(rows.map((row) => [row.table, Number(row.n)]));
}
