import { nearestRank, sum } from '../../src/lib/statistics';

/** Amounts > 0 in one figure each: how large the usual one is, how far the large ones are from it, and what the largest hundredth of them holds. */
export interface Tail {
  n: number;
  median: number;
  /** 90th and 99th percentile over the median. */
  p90: number;
  p99: number;
  /** Share of the sum that the largest hundredth holds, 0..1. */
  top: number;
}

const positive = (amounts: readonly number[]): number[] => amounts.filter((amount) => amount > 0).sort((a, b) => a - b);

export function tailOf(amounts: readonly number[]): Tail {
  const sorted = positive(amounts);
  const at = (q: number): number => nearestRank(sorted, q) ?? Number.NaN;
  const median = at(0.5);
  return {
    n: sorted.length,
    median,
    p90: at(0.9) / median,
    p99: at(0.99) / median,
    top: sum(sorted.slice(-Math.ceil(sorted.length / 100))) / sum(sorted),
  };
}

/**
 * How unlike two lists of amounts > 0 are in form, 0 (alike) to 1: the largest distance between their distribution functions, each amount over its list's
 * median (the statistic of the two-sample Kolmogorov-Smirnov test).
 */
export function distanceOf(a: readonly number[], b: readonly number[]): number {
  const scaled = (amounts: readonly number[]): number[] => {
    const sorted = positive(amounts);
    const median = nearestRank(sorted, 0.5) ?? 1;
    return sorted.map((amount) => amount / median);
  };
  return gapOf(scaled(a), scaled(b));
}

/** The largest distance between the distribution functions of ascending values. */
function gapOf(a: readonly number[], b: readonly number[]): number {
  let [i, j, gap] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    const next = Math.min(a[i] as number, b[j] as number);
    while ((a[i] as number) <= next) i += 1;
    while ((b[j] as number) <= next) j += 1;
    gap = Math.max(gap, Math.abs(i / a.length - j / b.length));
  }
  return gap;
}

/** Share of each of the 24 UTC hours in what happened at these times. */
export function hoursOf(times: readonly Date[]): number[] {
  const hours = new Array<number>(24).fill(0);
  for (const time of times) hours[time.getUTCHours()] = (hours[time.getUTCHours()] as number) + 1;
  return hours.map((count) => count / times.length);
}

/** Busiest and quietest hour, each as a multiple of the mean hour. */
export function rhythmOf(shares: readonly number[]): { busiest: number; at: number; quietest: number; quiet_at: number } {
  const [most, least] = [Math.max(...shares), Math.min(...shares)];
  return { busiest: most * 24, at: shares.indexOf(most), quietest: least * 24, quiet_at: shares.indexOf(least) };
}

/** How often each of the keys stands in a list. */
export function countsOf(keys: Iterable<string>): number[] {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts.values()];
}

/** Sum of the amounts of each key. */
export function sumsOf(rows: Iterable<readonly [string, number]>): number[] {
  const sums = new Map<string, number>();
  for (const [key, amount] of rows) sums.set(key, (sums.get(key) ?? 0) + amount);
  return [...sums.values()];
}
