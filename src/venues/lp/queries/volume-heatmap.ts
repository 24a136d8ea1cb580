import type { Sql, Statement } from '../../../db/sql';
import { type Window, windowOf } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { bucketOf, type BucketSize, intervalOf } from './buckets';
import {
  days,
  type Filter,
  flowPartsIn,
  hourSpanOf,
  spanOf,
  swapEdgesIn,
  swapHoursIn,
  swapsIn,
  typeFlowsIn,
  wholeSwapsIn,
  wholeSwapsOfLife,
} from './span';

export interface HeatmapArgs {
  group_by: 'pool' | 'action';
  /** Null: both. */
  pool_type: PoolType | null;
  window: Window;
  /** Whether nothing happened before the window. */
  life: boolean;
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

const ofTop: Filter = (alias) => `AND ${alias}.pool_address = ANY(ARRAY(SELECT pool_address FROM top))`;
const ofType: Filter = (alias) => `AND ${alias}.pool_address IN (SELECT pool_address FROM lp_pool WHERE pool_type = $7)`;

const dayRows = (filter: Filter): string =>
  `SELECT h.pool_address, h.day AS bucket, h.usd, h.swaps, h.unpriced FROM lp_pool_day h WHERE ${days(1)} ${filter('h')}`;
const partRows = (filter: Filter): string => `
SELECT pool_address, ${bucketOf('hour', 8)} AS bucket, usd, swaps, unpriced FROM (
  SELECT pool_address, hour, usd, swaps, unpriced FROM (${swapHoursIn(1, filter)}) h UNION ALL SELECT pool_address, hour, usd, swaps, unpriced FROM edges h WHERE true ${filter('h')}
) s`;

/** Rows (bucket, usd) of all pools, which are added up already. */
const ALL_ROWS = `
SELECT ${bucketOf('h.hour', 8)} AS bucket, h.usd FROM lp_swap_hour h WHERE $7::text IS NULL AND h.hour >= $3 AND h.hour < $4
UNION ALL SELECT ${bucketOf('h.hour', 8)}, h.usd FROM edges h`;

/**
 * Pools with swap volume, most first, of all types or of one; shares are of all such pools. They are chosen over the span $10 to $15, the same window
 * by the longest rollups there are. A whole UTC day is a bucket by itself, and needs no adding up: with shorter ones the span $1 to $6 has none.
 */
const pools = (life: boolean, one: boolean): Statement => ({
  name: `lp_heatmap_pools_${Number(life)}${Number(one)}`,
  text: `
WITH edges AS MATERIALIZED (
  SELECT pool_address, hour, sum(usd) AS usd, sum(swaps) AS swaps, sum(unpriced) AS unpriced FROM (${swapEdgesIn(1)}) s GROUP BY pool_address, hour
), top AS MATERIALIZED (
  SELECT t.pool_address, p.pool_type FROM (
    SELECT pool_address FROM (
      SELECT pool_address, usd, swaps FROM (${life ? wholeSwapsOfLife(10) : wholeSwapsIn(10)}) h UNION ALL SELECT pool_address, usd, swaps FROM edges
    ) s ${one ? `WHERE true ${ofType('s')}` : ''} GROUP BY pool_address HAVING sum(usd) > 0 OR sum(swaps) > 0 ORDER BY coalesce(sum(usd), 0) DESC, pool_address LIMIT $9
  ) t JOIN lp_pool p ON p.pool_address = t.pool_address
), whole AS (
  SELECT bucket, sum(usd) AS usd FROM (${one ? `${dayRows(ofType)} UNION ALL ${partRows(ofType)}` : ALL_ROWS}) w GROUP BY bucket
), cells AS (
  ${dayRows(ofTop)} UNION ALL SELECT pool_address, bucket, sum(usd), sum(swaps), sum(unpriced) FROM (${partRows(ofTop)}) s GROUP BY pool_address, bucket
), events AS (
  SELECT h.pool_address, h.day AS bucket, h.deposits + h.withdrawals + h.claims AS n FROM lp_flow_day h WHERE ${days(1)} ${ofTop('h')}
  UNION ALL SELECT pool_address, ${bucketOf('hour', 8)}, sum(deposits + withdrawals + claims) FROM (${flowPartsIn(1, ofTop)}) e GROUP BY 1, 2
)
SELECT 'all' AS action, bucket, t.pool_type, pool_address, c.volume_usd, (c.swaps + c.n)::int AS event_count, 100 * c.volume_usd / nullif(w.usd, 0) AS pct_of_bucket,
  c.unpriced::int, c.swaps::int
FROM (
  SELECT pool_address, bucket, coalesce(c.usd, 0) AS volume_usd, coalesce(c.swaps, 0) AS swaps, coalesce(c.unpriced, 0) AS unpriced, coalesce(e.n, 0) AS n
  FROM cells c FULL JOIN events e USING (pool_address, bucket)
) c JOIN top t USING (pool_address) LEFT JOIN whole w USING (bucket)
WHERE c.volume_usd > 0 OR c.swaps > 0 OR c.n > 0 ORDER BY bucket, c.volume_usd DESC, pool_address`,
});
const POOLS = {
  all: { life: pools(true, false), window: pools(false, false) },
  one: { life: pools(true, true), window: pools(false, true) },
};

// What has no value is known of all three together: the first of them that happened carries it.
const ACTIONS: Statement = {
  name: 'lp_heatmap_actions',
  text: `
WITH cells AS (
  SELECT a.action, ${bucketOf('e.hour', 8)} AS bucket, e.pool_type, sum(a.usd) AS volume_usd, sum(a.n) AS event_count, sum(a.unpriced) AS unpriced, 0 AS swaps
  FROM (${typeFlowsIn(1)}) e
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
export function listHeatmap(sql: Sql, { group_by, pool_type, window, life, bucket_size, limit }: HeatmapArgs): Promise<HeatmapRow[]> {
  const span = bucket_size === '1d' ? spanOf(window) : hourSpanOf(window);
  const values = [...span, pool_type, intervalOf(bucket_size)];
  if (group_by === 'action') return sql.query<HeatmapRow>(ACTIONS, values);
  const statements = pool_type === null ? POOLS.all : POOLS.one;
  return sql.query<HeatmapRow>(life ? statements.life : statements.window, [
    ...values,
    limit,
    ...spanOf(life ? windowOf('all', window.to) : window),
  ]);
}
