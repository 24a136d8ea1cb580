import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { bucketOf, type BucketSize, intervalOf } from './buckets';
import { bornAt } from './pools-trending';
import { feeRate, feeRateFlag, flowsIn, hourSpanOf, spanOf, swapsIn } from './span';

/** Numeric columns are decimal text, counts numbers. */
export interface FeeTotalsRow {
  total_fees_claimed: string;
  claims: number;
  unpriced: number;
  unique_claimers: number;
  avg_claim_usd: string | null;
  claim_concentration_hhi: string | null;
  volume_usd: string | null;
  swaps: number;
  fee_rate_pct: string | null;
  fee_rate_flag: string | null;
  fee_rate_adjusted_pct: string | null;
  fees_per_1k_liquidity_day: string | null;
}

const ofPool = (alias: string): string => `AND ${alias}.pool_address = $7`;

/** Claims are facts of one pool, found along its key. */
const CLAIMS = `SELECT owner, "timestamp", usd FROM lp_event WHERE pool_address = $7 AND "timestamp" >= $1 AND "timestamp" < $2 AND kind = 'claim'`;

const TOTALS: Statement = {
  name: 'lp_fee_analysis',
  text: `
WITH claims AS (${CLAIMS}),
owners AS (SELECT owner, sum(usd) AS usd FROM claims WHERE owner IS NOT NULL GROUP BY owner),
swaps AS (SELECT sum(usd) AS usd, sum(fee_usd) AS fee_usd, coalesce(sum(swaps), 0)::int AS n FROM (${swapsIn(1, 0, ofPool)}) s),
settled AS (SELECT sum(usd) AS usd, sum(fee_usd) AS fee_usd FROM (${swapsIn(8, 0, ofPool)}) s)
SELECT coalesce(c.usd, 0) AS total_fees_claimed, c.n AS claims, c.unpriced, (SELECT count(*) FROM owners)::int AS unique_claimers, c.usd / nullif(c.n - c.unpriced, 0) AS avg_claim_usd,
  (SELECT sum((o.usd / nullif(t.usd, 0)) ^ 2) FROM owners o, (SELECT sum(usd) AS usd FROM owners) t) AS claim_concentration_hhi,
  s.usd AS volume_usd, s.n AS swaps, r.rate AS fee_rate_pct, ${feeRateFlag('p', 'r.rate', '$2')} AS fee_rate_flag,
  CASE WHEN p.created_at IS NOT NULL THEN ${feeRate('a.fee_usd', 'a.usd')} END AS fee_rate_adjusted_pct,
  1000 * s.fee_usd / nullif((SELECT avg(h.liquidity_usd) FROM lp_liquidity_hour h WHERE h.pool_address = $7 AND h.hour >= $1 AND h.hour < $2), 0)
    / nullif(extract(epoch FROM $2::timestamptz - greatest($1::timestamptz, least(p.created_at, ${bornAt('$7')})))::numeric / 86400, 0) AS fees_per_1k_liquidity_day
FROM lp_pool p, swaps s CROSS JOIN LATERAL (SELECT ${feeRate('s.fee_usd', 's.usd')} AS rate) r, settled a,
  (SELECT count(*)::int AS n, count(*) FILTER (WHERE usd IS NULL)::int AS unpriced, sum(usd) AS usd FROM claims) c
WHERE p.pool_address = $7`,
};

export interface FeeArgs {
  pool_address: string;
  window: Window;
  /** The window without the first day of the pool's life. */
  settled: Window;
}

/** Claims and generated fees of a pool in a window. */
export async function getFeeTotals(sql: Sql, { pool_address, window, settled }: FeeArgs): Promise<FeeTotalsRow> {
  return (await sql.query<FeeTotalsRow>(TOTALS, [...spanOf(window), pool_address, ...spanOf(settled)]))[0] as FeeTotalsRow;
}

export interface FeeBucketRow {
  bucket: Date;
  fees_claimed: string;
  claims: number;
  volume_usd: string | null;
  fee_rate_pct: string | null;
}

const SERIES: Statement = {
  name: 'lp_fee_series',
  keyed: true,
  text: `
SELECT bucket, coalesce(e.usd, 0) AS fees_claimed, coalesce(e.n, 0)::int AS claims, s.usd AS volume_usd, ${feeRate('s.fee_usd', 's.usd')} AS fee_rate_pct
FROM (SELECT ${bucketOf('hour', 8)} AS bucket, sum(usd) AS usd, sum(fee_usd) AS fee_usd FROM (${swapsIn(1, 0, ofPool)}) s GROUP BY 1) s
FULL JOIN (SELECT ${bucketOf('hour', 8)} AS bucket, sum(claim_usd) AS usd, sum(claims) AS n FROM (${flowsIn(1, ofPool)}) e GROUP BY 1) e USING (bucket) ORDER BY bucket`,
};

/** Buckets in which something was claimed, swapped or moved. */
export function listFeeBuckets(sql: Sql, pool_address: string, window: Window, size: BucketSize): Promise<FeeBucketRow[]> {
  return sql.query<FeeBucketRow>(SERIES, [...(size === '1d' ? spanOf(window) : hourSpanOf(window)), pool_address, intervalOf(size)]);
}

export interface ClaimerRow {
  owner: string;
  fees_claimed: string;
  claims: number;
  share_pct: string;
  avg_hours_between_claims: number | null;
}

const CLAIMERS: Statement = {
  name: 'lp_fee_claimers',
  keyed: true,
  text: `
WITH claims AS (SELECT owner, "timestamp", usd FROM lp_event WHERE pool_address = $3 AND "timestamp" >= $1 AND "timestamp" < $2 AND kind = 'claim')
SELECT owner, coalesce(sum(usd), 0) AS fees_claimed, count(*)::int AS claims, coalesce(100 * sum(usd) / nullif((SELECT sum(usd) FROM claims), 0), 0) AS share_pct,
  (extract(epoch FROM max("timestamp") - min("timestamp")) / 3600 / nullif(count(*) - 1, 0))::float8 AS avg_hours_between_claims
FROM claims
WHERE owner IS NOT NULL GROUP BY owner ORDER BY fees_claimed DESC, claims DESC, owner LIMIT $4`,
};

/** Owners by fees claimed in a window. */
export function listClaimers(sql: Sql, pool_address: string, window: Window, limit: number): Promise<ClaimerRow[]> {
  return sql.query<ClaimerRow>(CLAIMERS, [window.from, window.to, pool_address, limit]);
}
