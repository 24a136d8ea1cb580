import { clamp, greatest, groupedStandardError, ratioOf, roundTo, sum } from '../../../lib/statistics';
import { normalEquivalent } from '../../../lib/student-t';
import { DAY_MS } from '../../../lib/time';
import { LEAST_GAIN, S_PM } from './parameters';

/** One ended position of a wallet: wallet × token, netted. Money in USDC. */
export interface EndedPosition {
  /** What it is independent by: the event of its market, or the market's condition id where no event is known. */
  event: string;
  /** Average entry price. */
  e: number;
  /** What a share brought: its payout, or the average sell price of a position sold before. */
  y: number;
  /** All that was paid for it. */
  cost_usdc: number;
  /** Gain after fees. */
  pnl_usdc: number;
  /** When it was sold out or resolved. */
  closed_at: Date;
  /** Refunded. */
  is_voided?: boolean;
}

/** A position that is evidence of skill, with its weight. */
export interface WeighedPosition extends EndedPosition {
  weight: number;
}

/** The positions of one event, as sums over them: Σ w(y − e), Σ w, Σ w²e(1 − e), Σ(y − e), and their number. */
export interface EventSums {
  event: string;
  value: number;
  weight: number;
  null_variance: number;
  surplus: number;
  n: number;
}

/** Mean of y − e, its standard error over events, and what their ratio is worth: a standard normal number. */
export interface Edge {
  n: number;
  edge: number;
  se: number;
  z: number;
  /** The spread between events is less than chance alone would give, so chance is the error. */
  is_floored: boolean;
}

/** The positions that the wallet score looks at: ended by `now`, cost at least $1, bought at a price, not refunded. In an order of their own. */
export function eligiblePositions(positions: readonly EndedPosition[], now: Date): EndedPosition[] {
  return positions
    .filter(({ closed_at, cost_usdc, e, is_voided }) => !is_voided && e > 0 && cost_usdc >= S_PM.min_cost_usdc && closed_at <= now)
    .sort(inOrder);
}

/** Of eligible positions those that forecast (e < 0.95), weighed by age: 2^(−days / 180). */
export function forecasts(eligible: readonly EndedPosition[], now: Date): WeighedPosition[] {
  const weigh = ({ closed_at }: EndedPosition): number => 2 ** ((closed_at.getTime() - now.getTime()) / (S_PM.half_life_days * DAY_MS));
  return eligible.filter((position) => !isCarry(position)).map((position) => ({ ...position, weight: weigh(position) }));
}

/** Bought at a price that is carry, not a forecast: by the price as it is told, for USDC is paid in millionths, and 33.333333 shares at 0.95 cost a little less. */
const isCarry = ({ e }: EndedPosition): boolean => roundTo(e, 6) >= S_PM.carry_entry;

/** Sums by event, events ascending, of positions in the order of `eligiblePositions`. */
export function sumsByEvent(positions: readonly WeighedPosition[]): EventSums[] {
  const events: EventSums[] = [];
  let last: EventSums | undefined;
  for (const { event, e, y, weight } of positions) {
    if (last?.event !== event) events.push((last = { event, value: 0, weight: 0, null_variance: 0, surplus: 0, n: 0 }));
    last.value += weight * (y - e);
    last.weight += weight;
    last.null_variance += weight ** 2 * e * (1 - e);
    last.surplus += y - e;
    last.n += 1;
  }
  return events;
}

/**
 * edge = mean(y − e), z = edge / se as a normal number. se is the spread between events, and never less than sqrt(mean e(1 − e)/n), what fair prices
 * alone would give; of a weighted mean that is sqrt(Σ w²e(1 − e)) / Σ w, the same number when weights are equal. Few events know their spread badly:
 * with G of them edge / se is Student's t with G − 1 degrees of freedom, and z the normal number that is as unlikely (Cameron and Miller 2015,
 * VI.B); of one event it is 0. Null of nothing.
 */
export function edgeOf(events: readonly EventSums[]): Edge | null {
  const edge = ratioOf(events);
  const spread = groupedStandardError(events);
  if (edge === null || spread === null) return null;
  const floor = Math.sqrt(sum(events.map((event) => event.null_variance))) / sum(events.map((event) => event.weight));
  const se = Math.max(spread, floor);
  return {
    n: sum(events.map((event) => event.n)),
    edge,
    se,
    z: normalEquivalent(edge / se, events.length - 1),
    is_floored: floor >= spread,
  };
}

/** The edge without the event that has the largest Σ(y − e); null when there is no other event. */
export function edgeWithoutLargestEvent(events: readonly EventSums[]): Edge | null {
  let largest = events[0];
  for (const event of events) if (largest && event.surplus > largest.surplus) largest = event;
  return edgeOf(events.filter((event) => event !== largest));
}

/** Return that leans to 0 where positions are few: Σ clamp(pnl/cost, −1, 3)/(n + 50) with the weights' mean for the plain one, mean · n/(n + 50). 0 of nothing. */
export function shrunkReturn(positions: readonly WeighedPosition[]): number {
  const n = positions.length;
  const returned = positions.map(({ pnl_usdc, cost_usdc, weight }) => ({
    value: weight * clamp(pnl_usdc / cost_usdc, S_PM.return_min, S_PM.return_max),
    weight,
  }));
  return ((ratioOf(returned) ?? 0) * n) / (n + S_PM.return_prior);
}

/** p = (profitable months + 2)/(active months + 4), months in UTC by the end of positions. */
export function consistency(eligible: readonly EndedPosition[]): number {
  const months = gainBy(eligible, ({ closed_at }) => closed_at.getUTCFullYear() * 12 + closed_at.getUTCMonth());
  const profitable = [...months.values()].filter(isGain).length;
  return (profitable + S_PM.month_prior.profitable) / (months.size + S_PM.month_prior.active);
}

/** Gain of the event that gained most over the gain of all, cut to 1; null without a net gain. */
export function largestEventShare(eligible: readonly EndedPosition[]): number | null {
  const events = [...gainBy(eligible, ({ event }) => event).values()];
  const total = sum(events);
  return isGain(total) ? Math.min(1, (greatest(events) as number) / total) : null;
}

/** Whether a sum of gains, USDC, is told as one: sums of binary fractions make a little more of nothing. */
const isGain = (usdc: number): boolean => usdc >= Number(LEAST_GAIN);

function gainBy<Key>(positions: readonly EndedPosition[], keyOf: (position: EndedPosition) => Key): Map<Key, number> {
  const gains = new Map<Key, number>();
  for (const position of positions) gains.set(keyOf(position), (gains.get(keyOf(position)) ?? 0) + position.pnl_usdc);
  return gains;
}

/** By event, then by all that can differ: sums of floats then do not depend on the order in which positions came. */
function inOrder(a: EndedPosition, b: EndedPosition): number {
  if (a.event !== b.event) return a.event < b.event ? -1 : 1;
  return a.closed_at.getTime() - b.closed_at.getTime() || a.e - b.e || a.y - b.y || a.cost_usdc - b.cost_usdc || a.pnl_usdc - b.pnl_usdc;
}
