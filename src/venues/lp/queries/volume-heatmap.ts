import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { bucketOf, type BucketSize, intervalOf } from './buckets';
import { days, type Filter, flowPartsIn, flowsIn, hourSpanOf, spanOf, swapPartsIn, swapsIn } from './span';

export interface HeatmapArgs {
  group_by: 'pool' | 'action';
  /** Null: both. */
  pool_type: PoolType | null;
  window: Window;
  bucket_size: BucketSize;
  /** Pools. */
  limit: number;
}

/** Numeric columns are decimal text, counts numbers. */
export interface HeatmapRow {
  action: 'deposit' | 'withdraw' | 'swap' | 'claim' | 'all';
  bucket: Date;
  pool_type: PoolType;
  /** Null when rows are actions. */
  pool_address: string | null;
  volume_usd: string;
  event_count: number;
  pct_of_bucket: string | null;
  unpriced: number;
  swaps: number;
}

const SHARE = '100 * volume_usd / nullif(sum(volume_usd) OVER (PARTITION BY bucket), 0) AS pct_of_bucket';

const ofTop: Filter = (alias) => `AND ${alias}.pool_address IN (SELECT pool_address FROM top)`;

/**
 * Pools with swap volume, most first; shares are of all such pools. A whole UTC day is a bucket by itself, and needs no adding up: with shorter ones a
 * span has none.
 */
const POOLS: Statement = {
  name: 'lp_heatmap_pools',
  text: `
WITH swapped AS MATERIALIZED (
  SELECT s.* FROM (
    SELECT h.pool_address, h.day AS bucket, true AS is_day, h.usd, h.swaps, h.unpriced FROM lp_pool_day h WHERE ${days(1)}
    UNION ALL SELECT pool_address, ${bucketOf('hour', 8)}, false, usd, swaps, unpriced FROM (${swapPartsIn(1)}) s
  ) s WHERE $7::text IS NULL OR s.pool_address IN (SELECT pool_address FROM lp_pool WHERE pool_type = $7)
), whole AS (SELECT bucket, sum(usd) AS usd FROM swapped GROUP BY bucket
), top AS MATERIALIZED (
  SELECT pool_address FROM swapped GROUP BY pool_address HAVING sum(usd) > 0 OR sum(swaps) > 0 ORDER BY coalesce(sum(usd), 0) DESC, pool_address LIMIT $9
), cells AS (
  SELECT pool_address, bucket, usd, swaps, unpriced FROM swapped s WHERE is_day ${ofTop('s')}
  UNION ALL SELECT pool_address, bucket, sum(usd), sum(swaps), sum(unpriced) FROM swapped s WHERE NOT is_day ${ofTop('s')} GROUP BY pool_address, bucket
), events AS (
  SELECT h.pool_address, h.day AS bucket, h.deposits + h.withdrawals + h.claims AS n FROM lp_flow_day h WHERE ${days(1)} ${ofTop('h')}
  UNION ALL SELECT pool_address, ${bucketOf('hour', 8)}, sum(deposits + withdrawals + claims) FROM (${flowPartsIn(1, ofTop)}) e GROUP BY 1, 2
)
SELECT 'all' AS action, bucket, p.pool_type, pool_address, c.volume_usd, (c.swaps + c.n)::int AS event_count, 100 * c.volume_usd / nullif(w.usd, 0) AS pct_of_bucket,
  c.unpriced::int, c.swaps::int
FROM (
  SELECT pool_address, bucket, coalesce(c.usd, 0) AS volume_usd, coalesce(c.swaps, 0) AS swaps, coalesce(c.unpriced, 0) AS unpriced, coalesce(e.n, 0) AS n
  FROM cells c FULL JOIN events e USING (pool_address, bucket)
) c JOIN lp_pool p USING (pool_address) LEFT JOIN whole w USING (bucket)
WHERE c.volume_usd > 0 OR c.swaps > 0 OR c.n > 0 ORDER BY bucket, c.volume_usd DESC, pool_address`,
};

// What has no value is known of all three together: the first of them that happened carries it.
const ACTIONS: Statement = {
  name: 'lp_heatmap_actions',
  text: `
WITH cells AS (
  SELECT a.action, ${bucketOf('e.hour', 8)} AS bucket, e.pool_type, sum(a.usd) AS volume_usd, sum(a.n) AS event_count, sum(a.unpriced) AS unpriced, 0 AS swaps
  FROM (${flowsIn(1)}) e
  CROSS JOIN LATERAL (VALUES ('deposit', e.deposits, e.deposit_usd, CASE WHEN e.deposits > 0 THEN e.unpriced ELSE 0 END),
    ('withdraw', e.withdrawals, e.withdraw_usd, CASE WHEN e.deposits = 0 AND e.withdrawals > 0 THEN e.unpriced ELSE 0 END),
    ('claim', e.claims, e.claim_usd, CASE WHEN e.deposits + e.withdrawals = 0 THEN e.unpriced ELSE 0 END)) AS a(action, n, usd, unpriced)
  WHERE $7::text IS NULL OR e.pool_type = $7 GROUP BY 1, 2, 3
  UNION ALL SELECT 'swap', ${bucketOf('s.hour', 8)}, p.pool_type, coalesce(sum(s.usd), 0), sum(s.swaps), sum(s.unpriced), sum(s.swaps)
  FROM (${swapsIn(1)}) s JOIN lp_pool p ON p.pool_address = s.pool_address WHERE $7::text IS NULL OR p.pool_type = $7 GROUP BY 1, 2, 3
)
SELECT action, bucket, pool_type, NULL::text AS pool_address, volume_usd, event_count::int, pct_of_bucket, unpriced::int, swaps::int
FROM (SELECT c.*, ${SHARE} FROM cells c WHERE event_count > 0 OR volume_usd > 0) c ORDER BY bucket, volume_usd DESC, action, pool_type`,
};

/** Cells in which anything happened, oldest bucket first, most volume first in each. */
export function listHeatmap(sql: Sql, { group_by, pool_type, window, bucket_size, limit }: HeatmapArgs): Promise<HeatmapRow[]> {
  const span = bucket_size === '1d' ? spanOf(window) : hourSpanOf(window);
  const values = [...span, pool_type, intervalOf(bucket_size)];
  return group_by === 'pool' ? sql.query<HeatmapRow>(POOLS, [...values, limit]) : sql.query<HeatmapRow>(ACTIONS, values);
}
