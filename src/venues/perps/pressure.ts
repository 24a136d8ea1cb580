export type PressureLabel = 'strong_sell' | 'sell' | 'neutral' | 'buy' | 'strong_buy';

export const STRONG = 0.5;
export const PLAIN = 0.15;

/** A pressure ratio (−1..1) in words; null stays null. */
export function pressureLabel(ratio: string | null): PressureLabel | null {
  if (ratio === null) return null;
  const side = Number(ratio) < 0 ? 'sell' : 'buy';
  const strength = Math.abs(Number(ratio));
  if (strength >= STRONG) return `strong_${side}`;
  return strength >= PLAIN ? side : 'neutral';
}
