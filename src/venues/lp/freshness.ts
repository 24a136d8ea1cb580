import type { Pool } from 'pg';

/** Newest event seen and time up to which the feeds have been read, over all feeds of the venue. */
export async function freshness(db: Pool): Promise<{ last_event_at: Date | null; watermark: Date | null }> {
  const { rows } = await db.query<{ last_event_at: Date | null; watermark: Date | null }>(
    `SELECT max(last_event_at) AS last_event_at, max(watermark) AS watermark FROM source_cursor WHERE venue = 'lp'`,
  );
  return rows[0] ?? { last_event_at: null, watermark: null };
}

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
