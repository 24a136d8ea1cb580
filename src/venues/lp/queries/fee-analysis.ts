import type { Sql, Statement } from '../../../db/sql';
import { type BucketSize, intervalOf } from '../../../lib/grid';
import { bucketOf } from '../../../lib/tiles';
import type { Window } from '../../../lib/timeframe';
import { feesPerLiquidityDay } from './liquidity';
import { feeRate, feeRateFlag } from './fee-rate';
import { flowsIn, ofPool, swapsIn, swapsToldBefore } from './span';
import { spanOf, spanOfBuckets } from './window-span';

/** Numeric columns are decimal text, counts numbers. */
export interface FeeTotalsRow {
  total_fees_claimed: string;
  claims: number;
  /** Claims, and swaps, without known USD. */
  unpriced: number;
  unpriced_swaps: number;
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

const claimOf = (pool: number): string => `pool_address = $${pool} AND "timestamp" >= $1 AND "timestamp" < $2 AND kind = 'claim'`;

/** Rows (owner, n, usd): what each provider of the pool $pool claimed from $1 to $2, by the facts, found along their key; the empty owner is not known. */
const claimsBy = (pool: number, condition: string): string => `
SELECT coalesce(owner, '') AS owner, count(*)::int AS n, coalesce(sum(usd), 0) AS usd FROM lp_event WHERE ${claimOf(pool)} AND ${condition} GROUP BY coalesce(owner, '')`;

/** The same; of a window that holds the pool's first fact by kept sums, and by facts only of who came back after it. */
function claimsIn(pool: number, life: boolean): string {
  if (!life) return claimsBy(pool, 'true');
  return `
SELECT owner, claims AS n, claim_usd AS usd FROM lp_owner_pool WHERE pool_address = $${pool} AND last_at < $2 AND claims > 0
UNION ALL ${claimsOfBack(pool)}`;
}

/** What those claimed who came back after the window. */
function claimsOfBack(pool: number): string {
  const back = `SELECT owner FROM lp_owner_pool WHERE pool_address = $${pool} AND last_at >= $2`;
  return claimsBy(pool, `EXISTS (${back}) AND coalesce(owner, '') IN (${back})`);
}

const totals = (life: boolean): Statement => ({
  name: `lp_fee_analysis_${Number(life)}`,
  keyed: true,
  text: `
WITH owners AS (SELECT count(*)::int AS n, sum(usd) AS usd, sum(usd * usd) AS squares FROM (${claimsIn(7, life)}) c WHERE owner <> ''),
flows AS (SELECT coalesce(sum(claims), 0)::int AS n, coalesce(sum(claim_usd), 0) AS usd, sum(unpriced) AS unpriced FROM (${flowsIn(1, ofPool(7))}) f),
unpriced AS (
  SELECT CASE WHEN f.unpriced > 0 THEN (
    SELECT count(*) FROM lp_event WHERE ${claimOf(7)} AND usd IS NULL) ELSE 0 END::int AS n FROM flows f
),
swaps AS (SELECT sum(usd) AS usd, CASE WHEN count(*) = 0 THEN CASE WHEN ${swapsToldBefore('$7', '$2')} THEN 0 END ELSE sum(fee_usd) END AS fee_usd, coalesce(sum(swaps), 0)::int AS n, coalesce(sum(unpriced), 0)::int AS unpriced FROM (${swapsIn(1, ofPool(7))}) s),
settled AS (SELECT sum(usd) AS usd, sum(fee_usd) AS fee_usd FROM (${swapsIn(8, ofPool(7))}) s)
SELECT f.usd AS total_fees_claimed, f.n AS claims, u.n AS unpriced, s.unpriced AS unpriced_swaps, o.n AS unique_claimers, f.usd / nullif(f.n - u.n, 0) AS avg_claim_usd,
  o.squares / nullif(o.usd * o.usd, 0) AS claim_concentration_hhi,
  s.usd AS volume_usd, s.n AS swaps, r.rate AS fee_rate_pct, ${feeRateFlag('p', 'r.rate', '$2')} AS fee_rate_flag,
  CASE WHEN p.created_at IS NOT NULL THEN ${feeRate('a.fee_usd', 'a.usd')} END AS fee_rate_adjusted_pct,
  1000 * ${feesPerLiquidityDay('s.fee_usd', 'p', 1, 2)} AS fees_per_1k_liquidity_day
FROM lp_pool p, swaps s CROSS JOIN LATERAL (SELECT ${feeRate('s.fee_usd', 's.usd')} AS rate) r, settled a, owners o, flows f, unpriced u
WHERE p.pool_address = $7`,
});

export interface FeeArgs {
  pool_address: string;
  window: Window;
  /** Whether the pool has no fact before the window. */
  life: boolean;
  /** The window without the first day of the pool's life. */
  settled: Window;
}

/** Claims and generated fees of a pool in a window. */
export async function getFeeTotals(sql: Sql, { pool_address, window, life, settled }: FeeArgs): Promise<FeeTotalsRow> {
  return (await sql.query<FeeTotalsRow>(totals(life), [...spanOf(window), pool_address, ...spanOf(settled)]))[0] as FeeTotalsRow;
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
FROM (SELECT ${bucketOf('hour', '$8::interval')} AS bucket, sum(usd) AS usd, sum(fee_usd) AS fee_usd FROM (${swapsIn(1, ofPool(7))}) s GROUP BY 1) s
FULL JOIN (SELECT ${bucketOf('hour', '$8::interval')} AS bucket, sum(claim_usd) AS usd, sum(claims) AS n FROM (${flowsIn(1, ofPool(7))}) e GROUP BY 1) e USING (bucket) ORDER BY bucket`,
};

/** Buckets in which something was claimed, swapped or moved. */
export function listFeeBuckets(sql: Sql, pool_address: string, window: Window, size: BucketSize): Promise<FeeBucketRow[]> {
  return sql.query<FeeBucketRow>(SERIES, [...spanOfBuckets(window, size), pool_address, intervalOf(size)]);
}

export type ClaimersArgs = Omit<FeeArgs, 'settled'> & { limit: number };

export interface ClaimerRow {
  owner: string;
  fees_claimed: string;
  claims: number;
  share_pct: string;
  avg_hours_between_claims: number | null;
}

/** Owners who claimed most; of a window that holds the pool's first fact they stand at the end of an index. */
const mostOf = (life: boolean): string =>
  life
    ? `(SELECT owner, claims AS n, claim_usd AS usd FROM lp_owner_pool WHERE pool_address = $7 AND last_at < $2 AND claims > 0 AND owner <> '' ORDER BY claim_usd DESC, claims DESC, owner COLLATE "C" LIMIT $8)
UNION ALL ${claimsOfBack(7)}`
    : claimsBy(7, 'true');

const claimers = (life: boolean): Statement => ({
  name: `lp_fee_claimers_${Number(life)}`,
  text: `
WITH shown AS MATERIALIZED (SELECT * FROM (${mostOf(life)}) c WHERE owner <> '' ORDER BY usd DESC, n DESC, owner COLLATE "C" LIMIT $8),
times AS (
  SELECT s.owner, t.first_at, t.last_at FROM shown s CROSS JOIN LATERAL (
    SELECT min(e."timestamp") AS first_at, max(e."timestamp") AS last_at FROM lp_event e
    WHERE e.pool_address = $7 AND e.owner = s.owner AND e."timestamp" >= $1 AND e."timestamp" < $2 AND e.kind = 'claim'
  ) t
)
SELECT s.owner, s.usd AS fees_claimed, s.n AS claims, coalesce(100 * s.usd / nullif((SELECT sum(claim_usd) FROM (${flowsIn(1, ofPool(7))}) f), 0), 0) AS share_pct,
  (extract(epoch FROM t.last_at - t.first_at) / 3600 / nullif(s.n - 1, 0))::float8 AS avg_hours_between_claims
FROM shown s JOIN times t ON t.owner = s.owner ORDER BY fees_claimed DESC, claims DESC, s.owner COLLATE "C"`,
});

/** Owners by fees claimed in a window. */
export function listClaimers(sql: Sql, { pool_address, window, life, limit }: ClaimersArgs): Promise<ClaimerRow[]> {
  return sql.query<ClaimerRow>(claimers(life), [...spanOf(window), pool_address, limit]);
}
