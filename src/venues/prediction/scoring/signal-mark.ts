import type { PendingSignal, SignalMark } from '../../../workers/signal';
import type { Payout } from '../queries/payouts';

/** Prediction signals are marked by what the market paid. */
export const RESOLUTION = 'resolution';

/** A share at this price can be bought (direction 1) or its counterpart (-1): else nothing follows from a signal. */
export const isTradable = (price: number | null, direction: 1 | -1): price is number =>
  price !== null && (direction === 1 ? price > 0 : price < 1);

/**
 * How a signal turned out. Who follows buys the share at its price, or what pays one less the share at one less its price;
 * a hit is a gain. The price implies the chance of a hit: itself, or one less it.
 */
export function markOf(
  { endpoint, day, rank, horizon, taken_at, direction, price }: PendingSignal,
  { payout, resolved_at }: Payout,
): SignalMark {
  const [stake, back] = direction === 1 ? [price, payout] : [1 - price, 1 - payout];
  const at = resolved_at > taken_at ? resolved_at : taken_at;
  return { endpoint, day, rank, horizon, at, hit: back > stake, return_pct: (100 * (back - stake)) / stake, baseline: stake };
}
