/** From this score on, a perpetuals trader is smart. */
export const SMART_SCORE = 85;
export const ELITE_SCORE = 95;
export const AVERAGE_SCORE = 40;

export type TraderTier = 'elite' | 'smart' | 'average' | 'novice' | 'unscored';

/** A score (0..100) in words; null is `unscored`. */
export function tierOf(score: number | null): TraderTier {
  if (score === null) return 'unscored';
  if (score >= ELITE_SCORE) return 'elite';
  if (score >= SMART_SCORE) return 'smart';
  return score >= AVERAGE_SCORE ? 'average' : 'novice';
}
