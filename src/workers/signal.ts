/** What an answer of a signal endpoint says about the future: which price goes which way. */
export interface Signal {
  /** Path after /api/v1/. */
  endpoint: string;
  /** Market or coin. */
  subject: string;
  /** The outcome token of a market; '' where a subject has no parts. */
  part: string;
  /** 1: the price is expected to rise; -1: to fall. */
  direction: 1 | -1;
  /** When the signal was given. */
  price: number;
}

/** A stored signal that has no mark yet at one of its horizons. */
export interface PendingSignal extends Signal {
  /** UTC day of its snapshot, its place there, and the instant. */
  day: string;
  rank: number;
  taken_at: Date;
  horizon: string;
}

/** How a signal turned out at a horizon. */
export interface SignalMark {
  endpoint: string;
  day: string;
  rank: number;
  horizon: string;
  /** When it was known: events up to then tell it. */
  at: Date;
  hit: boolean;
  /** Gain of who followed at the signal's price, in percent of what that took. */
  return_pct: number;
  /** Chance of a hit that the price implied, 0-1. */
  baseline: number;
}

/** How earlier signals of an endpoint turned out at one horizon. Rates 0-1; null without a marked signal. */
export interface TrackRecord {
  horizon: string;
  signals: number;
  hit_rate: number | null;
  /** Lower end of the 90 % Wilson interval. */
  hit_rate_lb: number | null;
  mean_return_pct: number | null;
  baseline_hit_rate: number | null;
  /** How many of them were told after their day, from what was known then. */
  backdated: number;
  /** Times of the first and the last signal counted. */
  from: string | null;
  to: string | null;
}
