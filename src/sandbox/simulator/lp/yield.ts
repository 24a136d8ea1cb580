import { priceOf } from './market';
import { activityAt, feeAt, type Pool, type Roster } from './roster';

/** Median swap and mean swap of the heavy tail that swaps are drawn from. */
export const MEAN_SWAP_USD = 420;

/** Price of a pool's first token in its second. */
export const pairPrice = (roster: Roster, pool: Pool, time: number): number =>
  priceOf(roster.seed, pool.x, time) / priceOf(roster.seed, pool.y, time);

/** USD that 1 USD of liquidity earns per hour: what the pool's expected swaps pay, shared by its liquidity. */
export function yieldAt(roster: Roster, pool: Pool, time: number): number {
  const swapsAnHour = (roster.swaps / 720) * (activityAt(pool, roster.start, time) / totalWeight(roster));
  return Math.min(0.004, (swapsAnHour * MEAN_SWAP_USD * Math.min(feeAt(pool, time), 0.05)) / pool.base_tvl + pool.fee * 0.004);
}

const weights = new WeakMap<Roster, number>();
/** Activity of all pools together. */
export function totalWeight(roster: Roster): number {
  const known = weights.get(roster);
  if (known !== undefined) return known;
  const sum = roster.pools.reduce((total, pool) => total + (pool.created < roster.start ? pool.weight : 0), 0);
  weights.set(roster, sum);
  return sum;
}
