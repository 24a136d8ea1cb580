import { priceOf } from './market';
import type { Pool, Roster } from './roster';

/** Bin of the market price in a dlmm pool. */
export function activeBin(roster: Roster, pool: Pool, time: number): number {
  const price = (priceOf(roster.seed, pool.x, time) / priceOf(roster.seed, pool.y, time)) * 10 ** (pool.y.decimals - pool.x.decimals);
  return Math.round(Math.log(price) / Math.log(1 + pool.bin_step / 10_000));
}

/** Square root of the market price in smallest units, Q64.64. */
export function sqrtPrice(roster: Roster, pool: Pool, time: number): number {
  const price = (priceOf(roster.seed, pool.x, time) / priceOf(roster.seed, pool.y, time)) * 10 ** (pool.y.decimals - pool.x.decimals);
  return Math.floor(Math.sqrt(price) * 2 ** 64);
}

/** Reserves in smallest units: both halves of the liquidity at market prices. */
export function reservesOf(roster: Roster, pool: Pool, tvl: number, time: number): [number, number] {
  const side = (token: Pool['x']): number => Math.floor((tvl / 2 / priceOf(roster.seed, token, time)) * 10 ** token.decimals);
  return [side(pool.x), side(pool.y)];
}
