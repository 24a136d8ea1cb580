import { HOUR_MS } from '../../../lib/time';

/** Uniform in [0, 1). */
export type Random = () => number;

/** Standard normal. */
function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return radius * Math.cos(2 * Math.PI * random());
}

/** exp of a normal around ln(median): most are small, some very large. */
export const heavyTailed = (random: Random, median: number, spread: number): number => median * Math.exp(normal(random) * spread);

/** How many of a kind happen where `mean` are expected. */
export function poisson(random: Random, mean: number): number {
  if (mean > 40) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)));
  const least = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > least; product *= random()) count += 1;
  return count;
}

/** Index by cumulative weights (the last is the total). */
export function pick(random: Random, cumulative: readonly number[]): number {
  const at = random() * (cumulative.at(-1) ?? 0);
  let low = 0;
  let high = cumulative.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cumulative[middle] as number) > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function cumulated(weights: readonly number[]): number[] {
  let sum = 0;
  return weights.map((weight) => (sum += weight));
}

/** Uniform in [0, 1) of four integers; far cheaper than a named generator. */
export function hashOf(a: number, b: number, c: number, d: number): number {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13) ^ Math.imul(b, 0xc2b2ae35), 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 15) ^ Math.imul(c, 0x165667b1), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13) ^ Math.imul(d, 0x9e3779b1), 0xc2b2ae35);
  h ^= h >>> 16;
  return (h >>> 0) / 4_294_967_296;
}

/** Activity of the hour of the day (UTC), mean 1: quiet at 05, busy at 16. */
export function rhythm(time: number): number {
  const hour = (time / HOUR_MS) % 24;
  return 1 + 0.55 * Math.cos(((hour - 16) / 24) * 2 * Math.PI);
}
