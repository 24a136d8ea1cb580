import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';

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

/** Facts, not rollups: whose accounts count is configuration. */
const SHARE: Statement = {
  name: 'lp_operator_share',
  text: `
SELECT s.*, 100 * operator_volume_usd / nullif(total_volume_usd, 0) AS operator_share_pct, 100 * operator_events::numeric / nullif(total_events, 0) AS operator_event_share_pct FROM (
  SELECT pool_type, count(*) FILTER (WHERE known)::int AS total_events, count(*) FILTER (WHERE operated)::int AS operator_events,
    coalesce(sum(usd) FILTER (WHERE known AND moved), 0) AS total_volume_usd, coalesce(sum(usd) FILTER (WHERE operated AND moved), 0) AS operator_volume_usd,
    count(DISTINCT owner) FILTER (WHERE operated)::int AS unique_operator_lps, count(*) FILTER (WHERE NOT known)::int AS unknown_events,
    count(*) FILTER (WHERE known AND usd IS NULL)::int AS unpriced
  FROM (
    SELECT pool_type, owner, usd, kind <> 'claim' AS moved, fee_payer IS NOT NULL AS known, fee_payer IS NOT NULL AND (fee_payer = ANY($4::text[]) OR coalesce(programs && $4::text[], false)) AS operated
    FROM lp_event WHERE "timestamp" >= $1 AND "timestamp" < $2 AND ($3::text IS NULL OR pool_type = $3)
  ) e GROUP BY GROUPING SETS ((pool_type), ())
) s WHERE total_events + unknown_events > 0`,
};

/** What of the events and volume of a window went through the operator; no rows when nothing happened. */
export function listOperatorShares(sql: Sql, { pool_type, window, accounts }: OperatorShareArgs): Promise<OperatorShareRow[]> {
  return sql.query<OperatorShareRow>(SHARE, [window.from, window.to, pool_type, accounts]);
}
