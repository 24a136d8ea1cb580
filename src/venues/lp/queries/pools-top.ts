import type { Sql, Statement } from '../../../db/sql';
import { leastShown } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import { BEGINNING, type Window, windowOf } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { liquidityOf, meanLiquidity, perLiquidityDay } from './liquidity';
import { ownerCounts } from './presence';
import { feeRate, feeRateFlag } from './fee-rate';
import { type Bound, firstPools } from './first-pools';
import { flowSumsOfLife, flowsIn, ofPools, swapSumsOfLife, swapsIn, swapsToldBefore } from './span';
import { spanOf } from './window-span';

export type PoolsTopSort = 'volume' | 'fees' | 'liquidity' | 'lp_count' | 'events' | 'fee_rate';

export interface PoolsTopArgs {
  sort_by: PoolsTopSort;
  /** Null: both. */
  pool_type: PoolType | null;
  window: Window;
  min_liquidity_usd: number;
  exclude_anomalous: boolean;
  limit: number;
}

/** Numeric columns are decimal text, counts numbers. */
export interface TopPoolRow {
  pool_address: string;
  /** Null when neither stated nor seen. */
  volume_usd: string | null;
  total_fees_usd: string | null;
  fee_rate_pct: string | null;
  fee_rate_flag: string | null;
  unpriced: number;
  swaps: number;
}

const ORDER: Record<PoolsTopSort, string> = {
  volume: 'volume_usd',
  fees: 'fees_usd',
  liquidity: 'liquidity_usd',
  lp_count: 'unique_lps',
  events: 'event_count',
  fee_rate: 'fee_rate_pct',
};

/**
 * Rows are the pools in which something happened in the window: an hour of which neither volume nor fees are stated is nothing. Ranked by liquidity, every
 * pool whose liquidity is known. `life`: the window begins before everything. `swapped`: ranked by anything but liquidity, those in which nothing was swapped are left out;
 * `some`: and all but the pools $11.
 */
function top(sort: PoolsTopSort, needsLiquidity: boolean, life: boolean, swapped: boolean, some: boolean): Statement {
  const all = sort === 'liquidity';
  const byOwners = sort === 'lp_count';
  const flows = life
    ? `SELECT pool_address, deposits + withdrawals + claims AS n FROM (${flowSumsOfLife(1)}) e`
    : `SELECT pool_address, sum(deposits + withdrawals + claims) AS n FROM (${flowsIn(1)}) e GROUP BY pool_address`;
  const chosen = some ? ofPools(11) : undefined;
  const swaps = life
    ? swapSumsOfLife(1, chosen)
    : `SELECT pool_address, sum(usd) AS usd, sum(fee_usd) AS fee_usd, sum(swaps) AS swaps, sum(unpriced) AS unpriced FROM (${swapsIn(1, chosen)}) s GROUP BY pool_address`;
  return {
    name: `lp_pools_top_${sort}_${Number(needsLiquidity)}${swapped ? '_swapped' : ''}${life ? '_life' : ''}${some ? '_some' : ''}`,
    keyed: true,
    text: `
WITH volumes AS MATERIALIZED (
  ${swaps}
), ${swapped ? '' : `provided AS MATERIALIZED (${flows}), `}${byOwners ? `counted AS MATERIALIZED (${ownerCounts({ pools: 'provided', at: 1, life })}), ` : ''}scope AS (
  SELECT p.*, CASE WHEN k.known THEN coalesce(v.usd, 0) END AS volume_usd, CASE WHEN k.known AND v.pool_address IS NULL THEN 0 ELSE v.fee_usd END AS fees_usd, coalesce(v.swaps, 0) AS swaps, coalesce(v.unpriced, 0) AS unpriced,
    ${swapped ? '' : 'coalesce(v.swaps, 0) + coalesce(e.n, 0) AS event_count, '}${byOwners ? 'coalesce(c.n, 0) AS unique_lps, ' : ''}${feeRate('v.fee_usd', 'v.usd')} AS fee_rate_pct
  FROM lp_pool p LEFT JOIN volumes v ON v.pool_address = p.pool_address ${swapped ? '' : 'LEFT JOIN provided e ON e.pool_address = p.pool_address'}
  ${byOwners ? 'LEFT JOIN counted c ON c.pool_address = p.pool_address' : ''}
  CROSS JOIN LATERAL (SELECT v.pool_address IS NOT NULL OR ${swapsToldBefore('p.pool_address', '$2')} AS known OFFSET 0) k
  WHERE ${all ? '(p.created_at IS NULL OR p.created_at <= $2)' : `(v.usd > 0 OR v.fee_usd > 0 OR v.swaps > 0${swapped ? '' : ' OR e.pool_address IS NOT NULL'})`} AND ($7::text IS NULL OR p.pool_type = $7)
)
SELECT q.pool_address, q.volume_usd, q.fees_usd AS total_fees_usd, q.fee_rate_pct, q.fee_rate_flag, q.unpriced::int, q.swaps::int FROM (
  SELECT s.*, ${feeRateFlag('s', 's.fee_rate_pct', '$2')} AS fee_rate_flag, ${needsLiquidity ? '(l.usd)' : 'NULL::numeric'} AS liquidity_usd
  FROM scope s ${needsLiquidity ? `LEFT JOIN LATERAL (${liquidityOf('s', '$2')}) l ON true` : ''}
) q WHERE ${needsLiquidity ? `liquidity_usd IS NOT NULL AND liquidity_usd >= $8::numeric` : '$8::numeric IS NOT NULL'} AND NOT ($9::boolean AND fee_rate_flag IS NOT NULL)
ORDER BY q.${ORDER[sort]} DESC NULLS LAST, q.volume_usd DESC NULLS LAST, q.pool_address COLLATE "C" LIMIT $10`,
  };
}

/** What a row of such an order shows of it: more than nothing only where something was swapped. */
const SWAPPED: Partial<Record<PoolsTopSort, keyof TopPoolRow>> = { volume: 'volume_usd', fees: 'total_fees_usd', fee_rate: 'fee_rate_pct' };

/** Which amount of the days of a pool says how much of it a row of such an order may show. */
const BOUNDS: Partial<Record<PoolsTopSort, Bound>> = { volume: 'usd', fees: 'fee_usd' };

/**
 * Pools of a window in the order asked for; ties by volume, then address. Where enough of them show something that only swaps give, those without any
 * cannot be among them, and are not looked at; what was done in all their life is read as fast for all.
 */
export async function listTopPools(sql: Sql, args: PoolsTopArgs): Promise<TopPoolRow[]> {
  const { sort_by, pool_type, window, min_liquidity_usd, exclude_anomalous, limit } = args;
  const life = window.from.getTime() === BEGINNING.getTime();
  const values = [...spanOf(window), pool_type, leastShown(min_liquidity_usd), exclude_anomalous, limit];
  const rows = (swapped: boolean, pools: readonly string[] | null = null): Promise<TopPoolRow[]> =>
    sql.query<TopPoolRow>(top(sort_by, sort_by === 'liquidity' || min_liquidity_usd > 0, life, swapped, pools !== null), [
      ...values,
      ...(pools === null ? [] : [pools]),
    ]);
  const [shown, bound] = [SWAPPED[sort_by], BOUNDS[sort_by]];
  const least = (found: readonly TopPoolRow[]): number => Number((shown && found[limit - 1]?.[shown]) ?? 0);
  if (shown === undefined && (life || sort_by !== 'liquidity')) return rows(false);
  const ofSome = (pools: readonly string[] | null): Promise<TopPoolRow[]> => rows(pools !== null || !life, pools);
  const found = await (bound === undefined ? ofSome(null) : firstPools(sql, { bound, window, limit }, ofSome, least));
  return life || shown === undefined || least(found) > 0 ? found : rows(false);
}

/** What a pool holds, by those who put it in, and what its fees come to beside that. */
interface HeldRow {
  pool_address: string;
  net_liquidity_usd: string;
  /** Events of the pool's life without known USD. */
  unpriced_events: number;
  fee_tvl_ratio_pct: string | null;
}

// $1, $2: the window; $3: pools; $4: their fees in it; $5 to $10: everything up to its end.
const held = (byHours: boolean): Statement => ({
  name: `lp_pools_held${byHours ? '_hours' : ''}`,
  keyed: true,
  text: `
WITH shown AS MATERIALIZED (
  SELECT p.pool_address, p.created_at, s.fees_usd FROM unnest($3::text[], $4::numeric[]) s(pool_address, fees_usd) JOIN lp_pool p ON p.pool_address = s.pool_address
), net AS MATERIALIZED (SELECT pool_address, deposit_usd - withdraw_usd AS usd, unpriced FROM (${flowSumsOfLife(5, ofPools(3))}) f
), seen AS MATERIALIZED (${meanLiquidity('shown', 1, 2, byHours)})
SELECT p.pool_address, coalesce(n.usd, 0) AS net_liquidity_usd, coalesce(n.unpriced, 0) AS unpriced_events, 100 * (${perLiquidityDay('p.fees_usd', 'm')}) AS fee_tvl_ratio_pct
FROM shown p LEFT JOIN net n ON n.pool_address = p.pool_address LEFT JOIN seen m ON m.pool_address = p.pool_address`,
});
const [BY_DAYS, BY_HOURS] = [held(false), held(true)];

/** What each of the pools shown holds, and what its fees in the window come to beside that. */
export async function listHeld(sql: Sql, window: Window, pools: readonly TopPoolRow[]): Promise<Map<string, HeldRow>> {
  const shown = [pools.map(({ pool_address }) => pool_address), pools.map(({ total_fees_usd }) => total_fees_usd)];
  const short = window.to.getTime() - window.from.getTime() <= 2 * DAY_MS;
  const rows = await sql.query<HeldRow>(short ? BY_HOURS : BY_DAYS, [
    window.from,
    window.to,
    ...shown,
    ...spanOf(windowOf('all', window.to)),
  ]);
  return new Map(rows.map((row) => [row.pool_address, row]));
}
