/** What each part of a copy score weighs. */
export const COPY_WEIGHTS = { precision: 0.4, coverage: 0.2, lift: 0.2, regularity: 0.2 } as const;

/** So many times as often as by chance is lift enough. */
export const FULL_LIFT = 10;

/** How one account's trades follow another's: shares of the follower's and of the leader's trades that match, how many times as often as by chance, and how even the lags are (0..1). */
interface Following {
  precision: number;
  coverage: number;
  lift: number;
  regularity: number;
}

/** How well one account copies another, 0..1. */
export const copyScoreOf = ({ precision, coverage, lift, regularity }: Following): number =>
  COPY_WEIGHTS.precision * precision +
  COPY_WEIGHTS.coverage * coverage +
  COPY_WEIGHTS.lift * Math.min(lift / FULL_LIFT, 1) +
  COPY_WEIGHTS.regularity * regularity;
