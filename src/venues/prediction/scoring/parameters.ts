import { Z_90 } from '../../../lib/statistics';

/** Every constant of the wallet score. A changed number needs a new version: stored scores tell by which one they came about. */
export const S_PM = {
  version: 'pm-2026.3',
  /** A position weighs half as much every so many days after it ended. */
  half_life_days: 180,
  /** Cheaper positions are dust. */
  min_cost_usdc: 1,
  /** Entries from here on are carry, not a forecast: they count for gain, not for skill. */
  carry_entry: 0.95,
  /** Return of one position, gain over cost, is cut to this. */
  return_min: -1,
  return_max: 3,
  /** Positions without return that every wallet is given, so that few bets cannot make a high mean. */
  return_prior: 50,
  /** Months that every wallet is given: so many profitable of so many. */
  month_prior: { profitable: 2, active: 4 },
  /** One-sided 95 %. */
  significant_z: Z_90,
  /** What must be left of z without the largest event: one-sided 90 %. */
  robust_z: 1.28,
  smart: { min_n: 30, from: 60, span: 40, z_span: 3 },
  between: { centre: 45, reach: 14.9, z: 0.6, return: 0.25, return_full: 0.15, months: 0.15, months_full: 0.3 },
  /** `to` is below 30 so that an edge just proven negative is dumb by "below 30" as by "30 or less". */
  dumb: { min_n: 10, from: 30, to: 29.9, span: 30, z_span: 3 },
  unscored_below_n: 5,
  newcomer: { below_n: 10, at_most: 39 },
  trivial_edge: { below_return: 0.02, at_most: 79 },
  one_hit: { at_most: 59, event_share: 0.6 },
  confidence: { high_n: 200, high_z: 2.33, medium_n: 30 },
  significant_p: 0.05,
  bootstrap: { resamples: 499, max_events: 300 },
  randomization: { draws: 999, enough: 50 },
} as const;

/** Least gain, USDC, that is told as one, and the least loss below it: less is told as 0, and is neither won nor lost. */
export const LEAST_GAIN = '0.0000005';
