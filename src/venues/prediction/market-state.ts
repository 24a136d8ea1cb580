import type { pm_market as MarketRecord } from '../../generated/prisma/client';

export type MarketStatus = 'active' | 'closed' | 'resolved' | 'voided';

/** Whether the venue had listed the market at `now`; one known from trades only has no listing time. */
export const isListed = (market: Pick<MarketRecord, 'created_at'>, now: Date): boolean =>
  market.created_at === null || market.created_at <= now;

/** Life of a market as of `now`: what the catalogue learned later is not known yet. */
export function statusOf(market: Pick<MarketRecord, 'resolved_at' | 'is_voided' | 'closed_at' | 'end_date'>, now: Date): MarketStatus {
  if (isResolved(market, now)) return market.is_voided ? 'voided' : 'resolved';
  const ended = (market.closed_at !== null && market.closed_at <= now) || (market.end_date !== null && market.end_date <= now);
  return ended ? 'closed' : 'active';
}

/** Whether the result is known as of `now`. */
export const isResolved = (market: Pick<MarketRecord, 'resolved_at'>, now: Date): boolean =>
  market.resolved_at !== null && market.resolved_at <= now;

/** Name of the winner as of `now`, `VOID` for a refund, null while unresolved. */
export function winnerOf(market: Pick<MarketRecord, 'resolved_at' | 'is_voided' | 'winning_outcome'>, now: Date): string | null {
  if (!isResolved(market, now)) return null;
  return market.is_voided ? 'VOID' : market.winning_outcome;
}
