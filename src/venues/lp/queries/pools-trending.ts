import type { Sql, Statement } from '../../../db/sql';
import { SPIKE } from '../../../lib/spike';
import { leastShown } from '../../../lib/statistics';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { feeRate, feeRateFlag, flowsIn, ownerCounts, smartCounts, spanOf, swapsIn } from './span';

export interface PoolsTrendingArgs {
  /** Null: both. */
  pool_type: PoolType | null;
  window: Window;
  /** Windows of equal length before it, newest first: none for `all`, else seven. */
  earlier: readonly Window[];
  min_volume_usd: number;
  limit: number;
}

/** Numeric columns are decimal text, counts numbers. */
export interface TrendingPoolRow {
  pool_address: string;
  volume_usd: string;
  volume_change_pct: string | null;
  volume_spike_multiplier: string | null;
  fees_usd: string | null;
  fee_rate_pct: string | null;
  fee_rate_flag: string | null;
  event_count: number;
  unique_lps: number;
  smart_lp_count: number;
  unpriced: number;
  swaps: number;
}

/** First instant of any fact of the pool. */
export const bornAt = (pool: string): string => `least(
  (SELECT h.first_at FROM lp_pool_day h WHERE h.pool_address = ${pool} ORDER BY h.day LIMIT 1),
  (SELECT h.first_at FROM lp_flow_day h WHERE h.pool_address = ${pool} ORDER BY h.day LIMIT 1))`;

/**
 * Volume spike: (V + 1000) / (mean of the earlier windows that end after the pool's first fact + 1000). What is counted of the ranked pools is counted once
 * for all: a join that expects one row of them would count it again for each.
 */
function trending(windows: number): Statement {
  const spans = Array.from({ length: windows + 1 }, (_, k) => swapsIn(1 + 6 * k, k));
  const next = 7 + 6 * windows;
  const earlier = Array.from({ length: windows }, (_, i) => `(${i + 1}, $${6 * i + 8}::timestamptz)`);
  return {
    name: `lp_pools_trending_${windows}`,
    text: `
WITH swaps AS (${spans.join('\nUNION ALL ')}),
volumes AS (
  SELECT pool_address, k, sum(usd) AS usd, sum(fee_usd) AS fee_usd, sum(swaps) AS swaps, sum(unpriced) AS unpriced FROM swaps GROUP BY pool_address, k
), scope AS (
  SELECT p.pool_address, p.pool_type, p.created_at, v.usd AS volume_usd, v.fee_usd AS fees_usd, v.swaps, v.unpriced
  FROM volumes v JOIN lp_pool p ON p.pool_address = v.pool_address
  WHERE v.k = 0 AND ($${next}::text IS NULL OR p.pool_type = $${next}) AND v.usd >= $${next + 1}::numeric AND (v.usd > 0 OR v.swaps > 0)
), born AS MATERIALIZED (SELECT pool_address, ${bornAt('scope.pool_address')} AS born FROM scope
), earlier AS MATERIALIZED (
  SELECT s.pool_address, count(*) AS n, sum(coalesce(v.usd, 0)) AS usd, sum(v.usd) FILTER (WHERE w.k = 1) AS previous
  FROM born s
  JOIN (${windows === 0 ? 'SELECT 1 AS k, NULL::timestamptz AS ends WHERE false' : `VALUES ${earlier.join(', ')}`}) w(k, ends) ON w.ends > s.born
  LEFT JOIN volumes v ON v.pool_address = s.pool_address AND v.k = w.k
  GROUP BY s.pool_address
), ranked AS (
  SELECT s.*, 100 * (s.volume_usd - e.previous) / nullif(e.previous, 0) AS volume_change_pct,
    CASE WHEN e.n >= ${SPIKE.fewest} THEN (s.volume_usd + ${SPIKE.usd}) / (e.usd / e.n + ${SPIKE.usd}) END AS volume_spike_multiplier,
    ${feeRate('s.fees_usd', 's.volume_usd')} AS fee_rate_pct
  FROM scope s LEFT JOIN earlier e ON e.pool_address = s.pool_address
  ORDER BY volume_spike_multiplier DESC NULLS LAST, s.volume_usd DESC, s.pool_address LIMIT $${next + 2}
), provided AS MATERIALIZED (
  SELECT pool_address, sum(deposits + withdrawals + claims) AS n FROM (${flowsIn(1, (alias) => `AND ${alias}.pool_address IN (SELECT pool_address FROM ranked)`)}) e GROUP BY pool_address
), owners AS MATERIALIZED (${ownerCounts('ranked', 1, 2)}), smart AS MATERIALIZED (${smartCounts('ranked', 1, 2)})
SELECT r.pool_address, r.volume_usd, r.volume_change_pct, r.volume_spike_multiplier, r.fees_usd, r.fee_rate_pct, ${feeRateFlag('r', 'r.fee_rate_pct', '$2')} AS fee_rate_flag,
  (r.swaps + coalesce(p.n, 0))::int AS event_count, coalesce(o.n, 0)::int AS unique_lps, coalesce(s.n, 0)::int AS smart_lp_count, r.unpriced::int, r.swaps::int
FROM ranked r LEFT JOIN provided p ON p.pool_address = r.pool_address LEFT JOIN owners o ON o.pool_address = r.pool_address LEFT JOIN smart s ON s.pool_address = r.pool_address
ORDER BY r.volume_spike_multiplier DESC NULLS LAST, r.volume_usd DESC, r.pool_address`,
  };
}

const STATEMENTS = { alone: trending(0), compared: trending(SPIKE.windows) };

/** Pools by volume spike, each once; those too young for one follow by volume. */
export function listTrendingPools(
  sql: Sql,
  { pool_type, window, earlier, min_volume_usd, limit }: PoolsTrendingArgs,
): Promise<TrendingPoolRow[]> {
  const statement = earlier.length === 0 ? STATEMENTS.alone : STATEMENTS.compared;
  return sql.query<TrendingPoolRow>(statement, [...[window, ...earlier].flatMap(spanOf), pool_type, leastShown(min_volume_usd), limit]);
}
