import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { inEdges, named, ofType } from './span';
import { spanOf } from './window-span';

export interface OperatorShareArgs {
  /** Null: both. */
  pool_type: PoolType | null;
  window: Window;
  /** Programs and fee payers of the operator. */
  accounts: readonly string[];
}

/** Of one pool type, or of all (`pool_type` null). Numeric columns are decimal text, counts numbers. */
export interface OperatorShareRow {
  pool_type: PoolType | null;
  /** Events whose transaction was read; only these can be attributed. */
  total_events: number;
  operator_events: number;
  total_volume_usd: string;
  operator_volume_usd: string;
  operator_share_pct: string | null;
  operator_event_share_pct: string | null;
  unique_operator_lps: number;
  unknown_events: number;
  unpriced: number;
}

/** Rows (pool_type, happened, events, usd, unpriced) of the edges of the window: all events, and of those whose transaction was read what lp_known_hour tells. */
const EDGES = inEdges(
  1,
  ({ bars, facts }) => `
  SELECT pool_type, deposits + withdrawals + claims, known, known_usd, known_unpriced FROM lp_type_bar h WHERE ${bars('h')} ${ofType(7)('h')}
  UNION ALL SELECT pool_type, 1, (fee_payer IS NOT NULL)::int, CASE WHEN fee_payer IS NOT NULL AND kind <> 'claim' THEN usd END, (fee_payer IS NOT NULL AND usd IS NULL)::int
  FROM lp_event e WHERE ${facts('e')} ${ofType(7)('e')}`,
).join('');

// Whose accounts count is configuration: the operator's events are facts, found by the accounts; everybody's are rollups, but for the edges of the window.
const KNOWN = `
edges AS MATERIALIZED (
  SELECT NULL::text AS pool_type, 0 AS happened, 0 AS events, NULL::numeric AS usd, 0 AS unpriced WHERE false ${EDGES}
), known AS (
  SELECT pool_type, sum(events) AS events, sum(moved_usd) AS usd, sum(unpriced) AS unpriced FROM (
    SELECT pool_type, events, moved_usd, unpriced FROM lp_known_hour h WHERE ${named(1)} AND h.hour >= $3 AND h.hour < $4 ${ofType(7)('h')}
    UNION ALL SELECT pool_type, events, usd, unpriced FROM edges
  ) k GROUP BY pool_type
), operated AS MATERIALIZED (
  SELECT pool_type, owner, usd, kind <> 'claim' AS moved FROM lp_event
  WHERE "timestamp" >= $1 AND "timestamp" < $2 AND fee_payer IS NOT NULL AND (fee_payer = ANY($8::text[]) OR programs && $8::text[]) AND ($7::text IS NULL OR pool_type = $7)
)`;

const SHARE: Statement = {
  name: 'lp_operator_share',
  text: `
WITH ${KNOWN}, happened AS (
  SELECT pool_type, sum(events) AS events FROM (
    SELECT pool_type, deposits + withdrawals + claims AS events FROM lp_type_hour h WHERE h.hour >= $3 AND h.hour < $4 ${ofType(7)('h')}
    UNION ALL SELECT pool_type, happened FROM edges
  ) h GROUP BY pool_type
), theirs AS (
  SELECT pool_type, count(*) AS events, coalesce(sum(usd) FILTER (WHERE moved), 0) AS usd, count(DISTINCT owner) AS owners FROM operated GROUP BY GROUPING SETS ((pool_type), ())
), totals AS (
  SELECT h.pool_type, sum(coalesce(k.events, 0))::int AS total_events, sum(coalesce(k.usd, 0)) AS total_volume_usd,
    sum(h.events - coalesce(k.events, 0))::int AS unknown_events, sum(coalesce(k.unpriced, 0))::int AS unpriced
  FROM happened h LEFT JOIN known k ON k.pool_type = h.pool_type GROUP BY GROUPING SETS ((h.pool_type), ())
)
SELECT t.*, coalesce(o.events, 0)::int AS operator_events, coalesce(o.usd, 0) AS operator_volume_usd, coalesce(o.owners, 0)::int AS unique_operator_lps,
  100 * coalesce(o.usd, 0) / nullif(t.total_volume_usd, 0) AS operator_share_pct, 100 * coalesce(o.events, 0)::numeric / nullif(t.total_events, 0) AS operator_event_share_pct
FROM totals t LEFT JOIN theirs o ON o.pool_type IS NOT DISTINCT FROM t.pool_type WHERE t.total_events + t.unknown_events > 0`,
};

/** What of the events and volume of a window went through the operator; no rows when nothing happened. */
export function listOperatorShares(sql: Sql, { pool_type, window, accounts }: OperatorShareArgs): Promise<OperatorShareRow[]> {
  return sql.query<OperatorShareRow>(SHARE, [...spanOf(window), pool_type, accounts]);
}

const VOLUME_SHARE: Statement = {
  name: 'lp_operator_volume_share',
  text: `
WITH ${KNOWN}
SELECT 100 * coalesce((SELECT sum(usd) FILTER (WHERE moved) FROM operated), 0) / nullif((SELECT sum(usd) FROM known), 0) AS pct`,
};

/** Percent, decimal text, of the volume of a window that went through the operator; null without any. */
export async function findVolumeShare(sql: Sql, { pool_type, window, accounts }: OperatorShareArgs): Promise<string | null> {
  const [row] = await sql.query<{ pct: string | null }>(VOLUME_SHARE, [...spanOf(window), pool_type, accounts]);
  return row?.pct ?? null;
}
