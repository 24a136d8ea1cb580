import { addDecimals } from './decimal';

/** What of one token moved, and its USD as stated: decimal text, null where it is not told. */
interface Leg {
  amount: string | null;
  usd: string | null;
}

/**
 * USD of an event as the index states it: in all, else the sum of its legs; null where it states none. Every figure is required in its answers
 * (PositionEvent of the OpenAPI file at docs.meteora.ag), so it has no other word than 0 for what it knows no price of: of something, 0 is nothing stated.
 */
export function statedUsd(total: string | null, x: Leg, y: Leg): string | null {
  const stated = total ?? (x.usd === null || y.usd === null ? null : addDecimals(x.usd, y.usd));
  const isNothing = [x, y].every(({ amount }) => amount !== null && Number(amount) === 0);
  return stated === null || Number(stated) > 0 || isNothing ? stated : null;
}
