import { roundDecimal } from '../../lib/statistics';

export type PressureLabel = 'strong_sell' | 'sell' | 'neutral' | 'buy' | 'strong_buy';

export const STRONG = 0.5;
export const PLAIN = 0.15;

/** A pressure ratio (−1..1) in words, as it is shown; null stays null. */
export function pressureLabel(ratio: string | null): PressureLabel | null {
  if (ratio === null) return null;
  const shown = roundDecimal(ratio, 6);
  const side = shown < 0 ? 'sell' : 'buy';
  const strength = Math.abs(shown);
  if (strength >= STRONG) return `strong_${side}`;
  return strength >= PLAIN ? side : 'neutral';
}
