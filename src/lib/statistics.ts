/** Standard normal quantile of a one-sided 95 % bound: every "90 % interval" and "90 % lower bound" uses it. */
export const Z_90 = 1.645;

/** x cut to low..high. */
export const clamp = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, x));
/** x cut to 0..1. */
export const clip = (x: number): number => clamp(x, 0, 1);
/** x cut to −1..1. */
export const clipSigned = (x: number): number => clamp(x, -1, 1);

/** Where x stands between `from` (0) and `to` (1) on a logarithmic scale, cut to 0..1; 0 for x <= 0. Needs 0 < from, from ≠ to. */
export function logClip(x: number, from: number, to: number): number {
  return x > 0 ? clip(Math.log(x / from) / Math.log(to / from)) : from < to ? 0 : 1;
}

/** Beyond it a quotient of it is not the double nearest to the decimal. */
const SCALED_MOST = 2 ** 53;
/** So close to a half the noise of a binary fraction would decide: at least that, and twice what text and product together may be off, half of the last binary place each. */
const HALF_MARGIN = 1e-3;
const SCALED_MARGIN = 2 ** -51;

/** x to so many decimals where it surely lies on one side of a half; else undefined. */
function roundClear(x: number, decimals: number): number | undefined {
  const unit = 10 ** decimals;
  const scaled = x * unit;
  const whole = Math.round(scaled);
  // Both are exact, so their quotient is the double nearest to the decimal.
  const size = Math.abs(scaled);
  return size < SCALED_MOST && Math.abs(Math.abs(scaled - whole) - 0.5) > Math.max(HALF_MARGIN, size * SCALED_MARGIN)
    ? whole / unit + 0
    : undefined;
}

/** x to so many decimals (at most 22), halves up by its decimal text: without the noise of binary fractions, never -0. */
export const roundTo = (x: number, decimals: number): number => roundClear(x, decimals) ?? roundText(x, decimals);

/** A sum of products of decimals without the noise of binary fractions: what is exactly half of what is told is rounded as a half. */
export const clear = (figure: number): number => roundTo(figure, 9);

/** The same of a decimal as PostgreSQL writes it, to its last digit: two decimals beside a half may be one double. */
export function roundDecimal(text: string, decimals: number): number {
  const x = Number(text);
  const clear = roundClear(x, decimals);
  if (clear !== undefined) return clear;
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '') return roundText(x, decimals);
  const kept = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
  const rest = fraction.slice(decimals);
  const outwards = sign === '' ? /^[5-9]/.test(rest) : /^([6-9]|5\d*[1-9])/.test(rest);
  return Number(`${sign}${kept + (outwards ? 1n : 0n)}e-${decimals}`) + 0;
}

/** The same by way of the text alone, twenty times as dear. */
export function roundText(x: number, decimals: number): number {
  const rounded = Number(`${Math.round(Number(`${x}e${decimals}`))}e-${decimals}`);
  // Exponents in the number's own text (1e21, 1e-7) defeat the trick above.
  return (Number.isFinite(rounded) ? rounded : Math.round(x * 10 ** decimals) / 10 ** decimals) + 0;
}

/** The least amount of dollars that is sent as `bound`: answers round to six decimals, and what they show as the bound reaches it. */
export const leastShown = (bound: number): number => bound - 0.000_000_5;

export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** The greatest of values, however many: a call takes not much more than a hundred thousand arguments. Null of nothing. */
export const greatest = (values: readonly number[]): number | null =>
  values.reduce<number | null>((most, value) => (most === null || value > most ? value : most), null);

/** Arithmetic mean; null of nothing. */
export const mean = (values: readonly number[]): number | null => (values.length === 0 ? null : sum(values) / values.length);

/** Sample standard deviation (n − 1), in two passes so that large values lose no digits; null with fewer than two values. */
export function standardDeviation(values: readonly number[]): number | null {
  const center = mean(values);
  if (center === null || values.length < 2) return null;
  let squares = 0;
  for (const value of values) squares += (value - center) ** 2;
  return Math.sqrt(squares / (values.length - 1));
}

/** Quantile of ascending values, linear between order statistics (Hyndman and Fan 1996, type 7); null of nothing. */
export function quantileOfSorted(sorted: ArrayLike<number>, q: number): number | null {
  const position = (sorted.length - 1) * q;
  const low = sorted[Math.floor(position)];
  const high = sorted[Math.ceil(position)];
  return low === undefined || high === undefined ? null : low + (high - low) * (position - Math.floor(position));
}

/** Quantile of values in any order, 0 <= q <= 1; null of nothing. */
export const quantile = (values: readonly number[], q: number): number | null => quantileOfSorted(Float64Array.from(values).sort(), q);

/** Quantile of values in any order by the nearest rank: one of them, 0 <= q <= 1; null of nothing. */
export function nearestRank(values: readonly number[], q: number): number | null {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? null;
}

/** What was measured, to the tenth. */
export const tenths = (x: number | null): number | null => (x === null ? null : roundTo(x, 1));

export const median = (values: readonly number[]): number | null => quantile(values, 0.5);

/**
 * Lower bound of a share: Wilson's score interval without continuity correction (Wilson 1927; Newcombe 1998, method 3).
 * Null of nothing. Throws RangeError unless 0 <= wins <= n.
 */
export function wilsonLowerBound(wins: number, n: number, z = Z_90): number | null {
  if (!(wins >= 0 && wins <= n)) throw new RangeError(`Not a share: ${wins} of ${n}`);
  if (n === 0) return null;
  const share = wins / n;
  const centre = share + z ** 2 / (2 * n);
  const spread = z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
  return clip((centre - spread) / (1 + z ** 2 / n));
}

/** Herfindahl-Hirschman index, Σ share², 1/n..1, of amounts >= 0; null when they add up to nothing. */
export function hhi(amounts: readonly number[]): number | null {
  const total = sum(amounts);
  return total > 0 ? sum(amounts.map((amount) => (amount / total) ** 2)) : null;
}

/** Gini coefficient, Σ|xᵢ − xⱼ| / (2 n² mean), 0..(n − 1)/n, of amounts >= 0; null when they add up to nothing. */
export function gini(amounts: readonly number[]): number | null {
  const total = sum(amounts);
  if (!(total > 0)) return null;
  const n = amounts.length;
  let ranked = 0;
  Float64Array.from(amounts)
    .sort()
    .forEach((amount, index) => (ranked += (2 * (index + 1) - n - 1) * amount));
  return ranked / (n * total);
}

/** Whether not all values are the same: told by the values, since their distances from a rounded mean are never quite nothing. */
const varies = (values: readonly number[]): boolean => values.some((value) => value !== values[0]);

/** Pearson correlation, −1..1; null with fewer than two pairs or when one side does not vary. Throws RangeError on unequal lengths. */
export function pearson(xs: readonly number[], ys: readonly number[]): number | null {
  if (xs.length !== ys.length) throw new RangeError(`Pairs do not match: ${xs.length} and ${ys.length}`);
  const meanX = mean(xs) ?? 0;
  const meanY = mean(ys) ?? 0;
  let [xx, yy, xy] = [0, 0, 0];
  xs.forEach((x, index) => {
    const [dx, dy] = [x - meanX, (ys[index] as number) - meanY];
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  });
  return varies(xs) && varies(ys) && xx * yy > 0 ? clipSigned(xy / Math.sqrt(xx * yy)) : null;
}

const { imul } = Math;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** 2³² */
export const UINT32 = 0x1_0000_0000;

/** FNV-1a, 32 bits, over UTF-16 code units (equals the byte hash for ASCII); `from` chains texts. isthe.com/chongo/tech/comp/fnv */
export function fnv1a(text: string, from = FNV_OFFSET): number {
  let hash = from;
  for (let index = 0; index < text.length; index += 1) hash = imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  return hash >>> 0;
}

/** 32-bit state of a generator: not all zero. */
export type RandomState = readonly [number, number, number, number];

/** Fills its argument with the next uniform 32-bit integers. In blocks, because a call for each costs more than the number. */
export type FillRandom = (target: Uint32Array) => void;

/** Uniform 32-bit integers: xoshiro128** 1.1 (Blackman and Vigna, prng.di.unimi.it/xoshiro128starstar.c). */
export function xoshiro128(state: RandomState): FillRandom {
  const kept = Int32Array.from(state);
  return (target) => {
    let [a, b, c, d] = kept as unknown as [number, number, number, number];
    for (let index = 0; index < target.length; index += 1) {
      const product = imul(b, 5);
      target[index] = imul((product << 7) | (product >>> 25), 9);
      const shifted = b << 9;
      c ^= a;
      d ^= b;
      b ^= c;
      a ^= d;
      c ^= shifted;
      d = (d << 11) | (d >>> 21);
    }
    kept.set([a, b, c, d]);
  };
}

/** Uniform 32-bit integers from a 32-bit seed: equal seeds, equal series. The state is four murmur3 finalisers of the seed. */
export function seededIntegers(seed: number): FillRandom {
  const word = (index: number): number => {
    let mixed = (seed + imul(index, 0x9e3779b9)) | 0;
    mixed = imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return mixed ^ (mixed >>> 16);
  };
  return xoshiro128([word(1), word(2), word(3), word(4)]);
}

/** Sums over one group of a sample: of weighted values, and of weights (> 0). */
export interface GroupSums {
  value: number;
  weight: number;
}

/** Weighted mean Σ value / Σ weight; null of nothing. */
export function ratioOf(groups: readonly GroupSums[]): number | null {
  let [value, weight] = [0, 0];
  for (const group of groups) {
    value += group.value;
    weight += group.weight;
  }
  return weight > 0 ? value / weight : null;
}

/**
 * Standard error of a weighted mean whose groups (not their members) are independent: sqrt(Σ (valueᵍ − mean·weightᵍ)²) / Σ weight,
 * the linearised cluster variance (Cochran 1977, 6.3). With groups of equal weight it is the limit of the bootstrap over groups.
 */
export function groupedStandardError(groups: readonly GroupSums[]): number | null {
  const ratio = ratioOf(groups);
  if (ratio === null) return null;
  let [squares, weight] = [0, 0];
  for (const group of groups) {
    squares += (group.value - ratio * group.weight) ** 2;
    weight += group.weight;
  }
  return Math.sqrt(squares) / weight;
}

/** Bootstrap of a weighted mean over groups: that many means of groups drawn with replacement, ascending. Empty of nothing. */
export function bootstrapGroups(groups: readonly GroupSums[], resamples: number, seed: number): Float64Array {
  const count = groups.length;
  const values = Float64Array.from(groups, (group) => group.value);
  const weights = Float64Array.from(groups, (group) => group.weight);
  const fill = seededIntegers(seed);
  const draws = new Uint32Array(count);
  const means = new Float64Array(count === 0 ? 0 : resamples);
  for (let index = 0; index < means.length; index += 1) {
    fill(draws);
    let [value, weight] = [0, 0];
    for (let draw = 0; draw < count; draw += 1) {
      const picked = (((draws[draw] as number) / UINT32) * count) >>> 0;
      value += values[picked] as number;
      weight += weights[picked] as number;
    }
    means[index] = value / weight;
  }
  return means.sort();
}
