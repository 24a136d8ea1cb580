import { clamp, clip, logClip, mean, roundTo, sum, wilsonLowerBound } from '../../../lib/statistics';

/** Every constant of the provider score. A changed number needs a new version: stored scores tell by which one they came about. */
export const S_LP = {
  version: 'lp-2026.1',
  unscored_below_n: 3,
  win: { span: 35 },
  /** Full at ten million dollars. */
  size: { span: 25, full: 1e7 },
  /** From −5 % to +20 %. */
  return: { span: 30, shift: 5, range: 25, pnl_pct: 100 },
  /** Full at a hundred less one. */
  experience: { span: 10, full: 100 },
} as const;

/** From this score on, a provider is smart; an event is, when the newest run before its day gave its owner so much. */
export const SMART_SCORE = 60;

/** A closed position, dollars at event time; null: not priced. */
export interface ClosedLpPosition {
  deposited_usd: number | null;
  /** Withdrawn and fees claimed, less deposited. */
  pnl_usd: number | null;
}

/** What each part of a score comes to. */
interface ScorePoints {
  win_points: number;
  size_points: number;
  return_points: number;
  experience_points: number;
}

/** A provider without a known result has no points. */
export interface LpScore extends Record<keyof ScorePoints, number | null> {
  /** 0..100 in tenths; null below three positions. */
  score: number | null;
  /** Closed positions with a known result, and those with a gain. */
  n: number;
  wins: number;
  win_rate_lb: number | null;
  deposited_usd: number;
  /** Mean gain of a position in percent of its deposits, each cut to −100..100. */
  avg_pnl_pct: number | null;
  version: string;
}

/**
 * Score of a provider from all closed positions, in any order: 35·(Wilson's lower bound of its win rate) + 25·clip(log10(1 + deposited_usd)/7)
 * + 30·clip((avg_pnl_pct + 5)/25) + 10·clip(log10(1 + n)/2). Positions without priced deposits and result do not count.
 */
export function scoreProvider(positions: readonly ClosedLpPosition[]): LpScore {
  const priced = positions.filter(isPriced);
  const n = priced.length;
  const wins = priced.filter(({ pnl_usd }) => pnl_usd > 0).length;
  // In ascending order: sums of floats then do not depend on the order in which positions came.
  const deposited_usd = sum(ascending(priced.map((position) => position.deposited_usd)));
  const avg_pnl_pct = mean(ascending(priced.map(pnlPct)));
  const win_rate_lb = wilsonLowerBound(wins, n);
  const record = { n, wins, win_rate_lb, deposited_usd, avg_pnl_pct, version: S_LP.version };
  if (win_rate_lb === null || avg_pnl_pct === null) {
    return { ...record, score: null, win_points: null, size_points: null, return_points: null, experience_points: null };
  }
  const points = pointsOf({ n, win_rate_lb, deposited_usd, avg_pnl_pct });
  const score = n < S_LP.unscored_below_n ? null : roundTo(sum(Object.values(points)), 1);
  return { ...record, ...points, score };
}

/** What each part of the score comes to, by the figures it is of. */
export const pointsOf = (record: { n: number; win_rate_lb: number; deposited_usd: number; avg_pnl_pct: number }): ScorePoints => ({
  win_points: S_LP.win.span * record.win_rate_lb,
  size_points: S_LP.size.span * logClip(1 + record.deposited_usd, 1, S_LP.size.full),
  return_points: S_LP.return.span * clip((record.avg_pnl_pct + S_LP.return.shift) / S_LP.return.range),
  experience_points: S_LP.experience.span * logClip(1 + record.n, 1, S_LP.experience.full),
});

type PricedPosition = { deposited_usd: number; pnl_usd: number };

const isPriced = (position: ClosedLpPosition): position is PricedPosition =>
  position.deposited_usd !== null && position.deposited_usd > 0 && position.pnl_usd !== null;

const pnlPct = ({ pnl_usd, deposited_usd }: PricedPosition): number =>
  clamp((pnl_usd / deposited_usd) * 100, -S_LP.return.pnl_pct, S_LP.return.pnl_pct);

const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
