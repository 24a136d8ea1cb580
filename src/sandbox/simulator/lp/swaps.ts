import { HOUR_MS } from '../../../lib/time';
import { randomOf } from '../world';
import { DAMM_V2, DLMM, type Key, ROUTER } from './keys';
import { priceOf } from './market';
import { activeBin, reservesOf, sqrtPrice } from './pool-state';
import { MEAN_SWAP_USD, totalWeight } from './yield';
import { heavyTailed, poisson, type Random, rhythm } from './random';
import { activityAt, feeAt, type Pool, type Roster } from './roster';
import type { ChainTx, ToldEvent } from './transactions';

/** Share of the fee that the protocol keeps. */
const PROTOCOL_SHARE = { dlmm: 0.05, damm_v2: 0.2 } as const;
/** Log-normal with this spread and mean MEAN_SWAP_USD. */
const SPREAD = 1.4;
const MEDIAN_SWAP_USD = MEAN_SWAP_USD * Math.exp(-(SPREAD ** 2) / 2);
const TWO_HOPS = 0.12;
const FAILED = 0.015;

/** How many swaps an hour of a pool is expected to see. */
export function swapsExpected(roster: Roster, pool: Pool, hour: number): number {
  return (roster.swaps / 720) * (activityAt(pool, roster.start, hour + HOUR_MS / 2) / totalWeight(roster)) * rhythm(hour + HOUR_MS / 2);
}

/** Swaps of a pool in the hour that begins at `hour`, in order of time; a routed one goes on through the first pool. */
export function swapsOf(roster: Roster, pool: Pool, hour: number, tvlOf: (pool: Pool) => number): ChainTx[] {
  if (pool.stated || hour + HOUR_MS <= pool.created) return [];
  const random = randomOf(roster.seed, 'lp', 'swaps', pool.index, hour);
  const count = poisson(random, swapsExpected(roster, pool, hour));
  const swaps: ChainTx[] = [];
  for (let i = 0; i < count; i += 1) {
    const time = hour + Math.floor(random() * 3600) * 1000;
    const trader = roster.traders[Math.floor(random() ** 2.5 * roster.traders.length)] as Key;
    const usd = Math.min(heavyTailed(random, MEDIAN_SWAP_USD, SPREAD), tvlOf(pool) * 0.03);
    const sells = random() < 0.5;
    const routed = pool.y === roster.tokens[0] && sells && random() < TWO_HOPS;
    const failed = random() < FAILED;
    if (time < pool.created) continue;
    const steps = [swapEvent(roster, pool, trader, usd, sells, time, tvlOf(pool), random)];
    const first = roster.pools[0] as Pool;
    if (routed) steps.push(swapEvent(roster, first, trader, usd * (1 - feeAt(pool, time)), true, time, tvlOf(first), random));
    swaps.push({ time, id: `swap/${pool.index}/${hour}/${i}`, payer: trader, program: ROUTER, steps: [steps], ...(failed && { failed }) });
  }
  return swaps;
}

const raw = (usd: number, price: number, decimals: number): number => Math.floor((usd / price) * 10 ** decimals);

/** One swap at the market price; `sells` pays in the first token. */
export function swapEvent(
  roster: Roster,
  pool: Pool,
  trader: Key,
  usd: number,
  sells: boolean,
  time: number,
  tvl: number,
  random: Random,
): ToldEvent {
  const [input, output] = sells ? [pool.x, pool.y] : [pool.y, pool.x];
  const rate = feeAt(pool, time);
  const amountIn = raw(usd, priceOf(roster.seed, input, time), input.decimals);
  const amountOut = raw(usd * (1 - rate), priceOf(roster.seed, output, time), output.decimals);
  if (pool.type === 'dlmm') return dlmmSwap(roster, pool, trader, amountIn, amountOut, sells, rate, time, random);
  return dammSwap(roster, pool, amountIn, amountOut, sells, rate, time, tvl);
}

function dlmmSwap(
  roster: Roster,
  pool: Pool,
  trader: Key,
  amountIn: number,
  amountOut: number,
  sells: boolean,
  rate: number,
  time: number,
  random: Random,
): ToldEvent {
  const bin = activeBin(roster, pool, time);
  const fee = Math.floor(amountIn * rate);
  const crossed = Math.floor(random() * 3) * (sells ? 1 : -1);
  return {
    program: DLMM,
    name: 'Swap',
    write: (to) =>
      to
        .key(pool.key, trader)
        .i32(bin + crossed, bin)
        .u64(amountIn, amountOut)
        .bool(sells)
        .u64(fee, Math.floor(fee * PROTOCOL_SHARE.dlmm))
        .u128(Math.floor(rate * 1e9))
        .u64(0),
  };
}

/** Fees are taken in the second token (collect mode 1). */
function dammSwap(
  roster: Roster,
  pool: Pool,
  amountIn: number,
  amountOut: number,
  sells: boolean,
  rate: number,
  time: number,
  tvl: number,
): ToldEvent {
  const total = Math.floor(sells ? (amountOut / (1 - rate)) * rate : amountIn * rate);
  const protocol = Math.floor(total * PROTOCOL_SHARE.damm_v2);
  const [a, b] = reservesOf(roster, pool, tvl, time);
  return {
    program: DAMM_V2,
    name: 'EvtSwap2',
    write: (to) =>
      to
        .key(pool.key)
        .u8(sells ? 0 : 1, 1)
        .bool(false)
        .u64(amountIn, 0)
        .u8(0)
        .u64(amountIn, sells ? amountIn : amountIn - total, 0, amountOut)
        .u128(sqrtPrice(roster, pool, time))
        .u64(total - protocol, protocol, 0, 0)
        .u64(amountIn, amountOut, amountOut, Math.floor(time / 1000), a, b),
  };
}

/** What the index counts in an hour of a pool whose transactions are not read. */
export function statedHour(roster: Roster, pool: Pool, hour: number): Record<string, unknown> {
  const random = randomOf(roster.seed, 'lp', 'volume', pool.index, hour);
  const volume = poisson(random, swapsExpected(roster, pool, hour)) * heavyTailed(random, MEAN_SWAP_USD * 0.9, 0.4);
  const fees = volume * pool.fee;
  return {
    timestamp: hour / 1000,
    timestamp_str: new Date(hour).toISOString(),
    volume: Number(volume.toFixed(6)),
    fees: Number(fees.toFixed(6)),
    protocol_fees: Number((fees * PROTOCOL_SHARE.dlmm).toFixed(6)),
  };
}
