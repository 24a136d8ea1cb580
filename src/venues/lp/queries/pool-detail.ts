import type { QueryResultRow } from 'pg';
import type { Sql, Statement } from '../../../db/sql';
import { windowOf } from '../../../lib/timeframe';
import { findLately } from './lately';
import { feesPerLiquidityDay } from './liquidity';
import { NEWEST_RUN } from './newest-run';
import { openPositionsAsOf } from './positions';
import { dayOf } from '../rollups/days';
import { POOL_PRICE } from '../rollups/price-at';
import { SMART_SCORE } from '../scoring/formula';
import { lastOfLife } from './presence';
import { feeRate, feeRateFlag } from './fee-rate';
import { flowsIn, ofPool, swapsIn } from './span';
import { spanOf } from './window-span';

/** Numeric columns are decimal text, counts numbers. */
export interface PoolTotalsRow {
  /** Of the hours and swaps on record; null where there are none. */
  swap_usd: string | null;
  swaps: number;
  events: number;
  unique_lps: number;
  deposit_usd: string;
  withdraw_usd: string;
  claim_usd: string;
  net_liquidity_usd: string;
  unpriced: number;
  volume_usd_24h: string | null;
  fees_usd_24h: string | null;
  fee_rate_pct: string | null;
  fee_rate_flag: string | null;
  fee_tvl_ratio_pct: string | null;
}

/** How many providers the pool has had: those who were there last before today are counted already. */
const OWNERS = `
SELECT (SELECT coalesce(sum(l.owners), 0) FROM lp_pool_last l WHERE l.pool_address = $13 AND ${lastOfLife('l', dayOf('$2::timestamptz'))})
  + (SELECT count(*) FROM lp_owner_pool o WHERE o.pool_address = $13 AND o.owner <> '' AND o.last_at >= date_trunc('day', $2::timestamptz, 'UTC') AND o.first_at < $2)`;

const TOTALS: Statement = {
  name: 'lp_pool_detail',
  keyed: true,
  text: `
WITH swaps AS (SELECT sum(usd) AS usd, coalesce(sum(swaps), 0)::int AS n, coalesce(sum(unpriced), 0) AS unpriced, count(*) > 0 AS known FROM (${swapsIn(1, ofPool(13))}) s),
latest AS (SELECT sum(usd) AS usd, CASE WHEN count(*) = 0 THEN 0 ELSE sum(fee_usd) END AS fee_usd FROM (${swapsIn(7, ofPool(13))}) s)
SELECT CASE WHEN s.known THEN coalesce(s.usd, 0) END AS swap_usd, s.n AS swaps, e.*, (e.unpriced_events + s.unpriced)::int AS unpriced, (${OWNERS})::int AS unique_lps,
  CASE WHEN s.known THEN coalesce(l.usd, 0) END AS volume_usd_24h, f.usd AS fees_usd_24h, r.rate AS fee_rate_pct, ${feeRateFlag('p', 'r.rate', '$2')} AS fee_rate_flag,
  100 * ${feesPerLiquidityDay('f.usd', 'p', 7, 8)} AS fee_tvl_ratio_pct
FROM lp_pool p, swaps s, latest l CROSS JOIN LATERAL (SELECT ${feeRate('l.fee_usd', 'l.usd')} AS rate) r CROSS JOIN LATERAL (SELECT CASE WHEN s.known THEN l.fee_usd END AS usd) f, (
  SELECT coalesce(sum(deposits + withdrawals + claims), 0)::int AS events,
    coalesce(sum(deposit_usd), 0) AS deposit_usd, coalesce(sum(withdraw_usd), 0) AS withdraw_usd, coalesce(sum(claim_usd), 0) AS claim_usd,
    coalesce(sum(deposit_usd - withdraw_usd), 0) AS net_liquidity_usd, coalesce(sum(unpriced), 0) AS unpriced_events FROM (${flowsIn(1, ofPool(13))}) f
) e WHERE p.pool_address = $13`,
};

/** What a pool has seen in its life and in the last 24 hours. */
export async function getPoolTotals(sql: Sql, pool_address: string, now: Date): Promise<PoolTotalsRow> {
  const spans = [...spanOf(windowOf('all', now)), ...spanOf(windowOf('24h', now))];
  return (await sql.query<PoolTotalsRow>(TOTALS, [...spans, pool_address]))[0] as PoolTotalsRow;
}

/** Who has open positions in a pool. */
export interface PoolHoldings {
  active_lps: number;
  smart_lp_count: number;
  /** Decimal text. */
  hhi: string | null;
  /** Net deposits above nothing, the largest first. JSON numbers. */
  top_lps: { owner: string; net_deposit_usd: number; share_pct: number }[];
}

const HOLDINGS: Statement = {
  name: 'lp_pool_holdings',
  keyed: true,
  text: `
WITH active AS MATERIALIZED (
  SELECT owner, sum(deposited_usd - withdrawn_usd) AS usd FROM (${openPositionsAsOf('p.pool_address = $1', '$2::timestamptz')}) s WHERE owner IS NOT NULL GROUP BY owner
), held AS MATERIALIZED (SELECT owner, usd FROM active WHERE usd > 0
), whole AS MATERIALIZED (SELECT sum(usd) AS usd FROM held)
SELECT (SELECT count(*) FROM active)::int AS active_lps,
  (SELECT count(*) FROM lp_score c WHERE c.owner = ANY(ARRAY(SELECT owner FROM active)) AND c.day = ${NEWEST_RUN} AND c.score >= ${SMART_SCORE})::int AS smart_lp_count,
  (SELECT sum(h.usd * h.usd) FROM held h) / nullif((SELECT t.usd * t.usd FROM whole t), 0) AS hhi,
  (SELECT coalesce(json_agg(json_build_object('owner', owner, 'net_deposit_usd', usd, 'share_pct', 100 * usd / (SELECT usd FROM whole)) ORDER BY usd DESC, owner COLLATE "C"), '[]')
    FROM (SELECT owner, usd FROM held ORDER BY usd DESC, owner COLLATE "C" LIMIT $3) first) AS top_lps`,
};

/** Who provides in a pool, and the providers with the largest net deposits in their open positions. */
export async function getHoldings(sql: Sql, pool_address: string, now: Date, limit: number): Promise<PoolHoldings> {
  return (await sql.query<PoolHoldings & QueryResultRow>(HOLDINGS, [pool_address, now, limit]))[0] as PoolHoldings;
}

/** The order of the chain, which has several slots a second. */
const NEWEST_FIRST = '"timestamp" DESC, slot DESC NULLS LAST, tx_id DESC, outer_ix DESC, inner_ix DESC';

// Events tell a price where there are bins: elsewhere a busy pool's are not looked through for one.
const PRICE: Statement = {
  name: 'lp_pool_price',
  keyed: true,
  text: `
SELECT ${POOL_PRICE} AS price
FROM lp_pool p JOIN lp_token x ON x.mint = p.mint_x AND x.decimals IS NOT NULL JOIN lp_token y ON y.mint = p.mint_y AND y.decimals IS NOT NULL
CROSS JOIN LATERAL (
  (SELECT "timestamp", slot, bin_id, sqrt_price, CASE WHEN x_to_y THEN raw_in ELSE raw_out END AS raw_x, CASE WHEN x_to_y THEN raw_out ELSE raw_in END AS raw_y
    FROM lp_swap WHERE pool_address = p.pool_address AND "timestamp" < $2 AND "timestamp" >= $3 ORDER BY ${NEWEST_FIRST} LIMIT 1)
  UNION ALL (SELECT "timestamp", slot, bin_id, NULL, NULL, NULL
    FROM lp_event WHERE p.bin_step IS NOT NULL AND pool_address = p.pool_address AND "timestamp" < $2 AND "timestamp" >= $3 AND bin_id IS NOT NULL ORDER BY ${NEWEST_FIRST} LIMIT 1)
) f WHERE p.pool_address = $1 AND ${POOL_PRICE} IS NOT NULL ORDER BY f."timestamp" DESC, f.slot DESC NULLS LAST LIMIT 1`,
};

/** Units of the second token per unit of the first, by the newest swap or event that tells it; null when none does. */
export const findPrice = (sql: Sql, pool_address: string, now: Date): Promise<number | null> =>
  findLately(
    now,
    async (since) => (await sql.query<{ price: number | null }>(PRICE, [pool_address, now, since]))[0]?.price ?? null,
    (price) => price !== null,
  );
