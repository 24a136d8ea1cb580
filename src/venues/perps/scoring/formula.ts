import { roundTo, wilsonLowerBound } from '../../../lib/statistics';
import { type TraderTier, tierOf } from '../tier';

/** Every constant of the trader score. A changed number needs a new version: stored scores tell by which one they came about. */
export const S_PERP = {
  version: 'perp-2026.1',
  activity: { per_doubling: 4, at_most: 40 },
  accuracy: { span: 40 },
  profit: { per_tenfold: 4, at_most: 20 },
  few_round_trips: { below: 20, at_most: 59 },
  one_coin_day: { share: 0.6, at_most: 84 },
} as const;

/** A trader's life up to the run. Dollars after fees. */
export interface TraderRecord {
  /** Fills. */
  trades: number;
  /** Round trips (flat to flat in one coin) that closed, and those with a gain. */
  closing_trades: number;
  winning_trades: number;
  net_pnl: number;
  /** Gain in the coin and UTC day that gained most. */
  largest_coin_day_pnl: number;
}

/** Rules that held a score down. */
type PerpCap = 'few_round_trips' | 'one_coin_day';

export interface PerpScore {
  /** 0..100 in tenths; null while no round trip has closed. */
  score: number | null;
  tier: TraderTier;
  win_rate_lb: number | null;
  activity_points: number;
  accuracy_points: number;
  profit_points: number;
  caps: PerpCap[];
  version: string;
}

/**
 * Trader score: min(log2(trades + 1)·4, 40) + 40·w + (pnl > 0 ? min(log10(pnl + 1)·4, 20) : 0) with w the Wilson 90 % lower bound of the
 * round trips won, all net of fees. Throws RangeError when more were won than closed.
 */
export function scoreTrader(record: TraderRecord): PerpScore {
  const { activity, accuracy, profit, version } = S_PERP;
  const win_rate_lb = wilsonLowerBound(record.winning_trades, record.closing_trades);
  const points = {
    activity_points: Math.min(Math.log2(record.trades + 1) * activity.per_doubling, activity.at_most),
    accuracy_points: accuracy.span * (win_rate_lb ?? 0),
    profit_points: record.net_pnl > 0 ? Math.min(Math.log10(record.net_pnl + 1) * profit.per_tenfold, profit.at_most) : 0,
  };
  const { value, caps } = capped(points.activity_points + points.accuracy_points + points.profit_points, record);
  const score = win_rate_lb === null ? null : roundTo(value, 1);
  return { score, tier: tierOf(score), win_rate_lb, ...points, caps, version };
}

const SHARE_DIGITS = 12;

/** What one amount is of another: without the noise of binary fractions, which would put what stands at a bound on either side of it. */
export const partOf = (whole: number, part: number): number => roundTo(part / whole, SHARE_DIGITS);

/** Whether one coin on one day made most of a trader's gain; a loss has no such share. */
export function isOneCoinDay({ net_pnl, largest_coin_day_pnl }: Pick<TraderRecord, 'net_pnl' | 'largest_coin_day_pnl'>): boolean {
  return net_pnl > 0 && partOf(net_pnl, largest_coin_day_pnl) >= S_PERP.one_coin_day.share;
}

function capped(value: number, record: TraderRecord): { value: number; caps: PerpCap[] } {
  const { few_round_trips, one_coin_day } = S_PERP;
  const caps: PerpCap[] = [];
  const hold = (cap: PerpCap, applies: boolean, at_most: number): void => {
    if (!applies || value <= at_most) return;
    value = at_most;
    caps.push(cap);
  };
  hold('one_coin_day', isOneCoinDay(record), one_coin_day.at_most);
  hold('few_round_trips', record.closing_trades < few_round_trips.below, few_round_trips.at_most);
  return { value, caps };
}
