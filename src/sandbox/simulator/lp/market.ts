import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time';
import type { Key } from './keys';
import { hashOf } from './random';

const { floor } = Math;

/** Lengths and sizes of the waves a price is made of: slow large ones, fast small ones. */
const WAVES: readonly (readonly [length: number, size: number])[] = [
  [14 * DAY_MS, 0.32],
  [5 * DAY_MS, 0.18],
  [2 * DAY_MS, 0.11],
  [16 * HOUR_MS, 0.07],
  [5 * HOUR_MS, 0.04],
  [90 * MINUTE_MS, 0.022],
  [30 * MINUTE_MS, 0.012],
  [10 * MINUTE_MS, 0.006],
];

export interface Token {
  index: number;
  mint: Key;
  symbol: string;
  name: string;
  decimals: number;
  base_price: number;
  /** 0 for stable tokens. */
  volatility: number;
  created: number;
}

/** USD price of a token at a time: a function of both alone, so that any instant can be asked for at the same cost. */
export function priceOf(seed: number, token: Token, time: number): number {
  if (token.volatility === 0) return token.base_price;
  let log = 0;
  WAVES.forEach(([length, size], wave) => (log += size * waveAt(seed, token.index, wave, time / length)));
  return token.base_price * Math.exp(log * token.volatility);
}

/** Smooth noise through one random value in -1..1 per whole number. */
function waveAt(seed: number, token: number, wave: number, at: number): number {
  const whole = floor(at);
  const part = at - whole;
  const ease = part * part * (3 - 2 * part);
  const left = hashOf(seed, token, wave, whole) * 2 - 1;
  const right = hashOf(seed, token, wave, whole + 1) * 2 - 1;
  return left + (right - left) * ease;
}
