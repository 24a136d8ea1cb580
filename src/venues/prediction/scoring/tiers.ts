export type Tier = 'elite' | 'smart' | 'average' | 'novice' | 'unscored';

/** Score from which a wallet counts as smart money. */
export const SMART_SCORE = 60;
export const ELITE_SCORE = 80;
export const AVERAGE_SCORE = 40;

/** Tags of wallets that trade by machine: their volume is not a judgement. */
export const MACHINE_TAGS = ['market_maker', 'hft_bot', 'wash'] as const;

/** SQL: whether `tags` hold one of them. */
export const IS_MACHINE = `tags && ARRAY['${MACHINE_TAGS.join("','")}']`;

/** Tier of a score, 0-100; null is not scored, not zero. */
export function tierOf(score: number | null): Tier {
  if (score === null) return 'unscored';
  if (score >= ELITE_SCORE) return 'elite';
  if (score >= SMART_SCORE) return 'smart';
  return score >= AVERAGE_SCORE ? 'average' : 'novice';
}

/** SQL of the tier of a score. */
export const tierSql = (score: string): string =>
  `CASE WHEN ${score} IS NULL THEN 'unscored' WHEN ${score} >= ${ELITE_SCORE} THEN 'elite' WHEN ${score} >= ${SMART_SCORE} THEN 'smart' WHEN ${score} >= ${AVERAGE_SCORE} THEN 'average' ELSE 'novice' END`;
