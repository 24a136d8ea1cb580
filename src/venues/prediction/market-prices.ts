import { roundTo } from '../../lib/statistics';
import { isResolved } from './market-state';
import type { FillPrices, PriceableOutcome } from './queries/market-prices';

/** An outcome with its price at an instant, 0-1; null where nothing tells it. */
export interface PricedOutcome {
  token_id: string;
  outcome: string;
  outcome_index: number | null;
  price: number | null;
}

/**
 * Prices of a market's outcomes at an instant: what they paid once resolved; else the last fill; else what the other one of two leaves; else, with
 * `opening`, the first fill of either, likewise; else the catalogue's. `fills` are the market's.
 */
export function pricesAt(
  market: { resolved_at: Date | null } | null,
  outcomes: readonly PriceableOutcome[],
  fills: readonly FillPrices[],
  at: Date,
  opening: boolean,
): PricedOutcome[] {
  const paid = market !== null && isResolved(market, at);
  const last = new Map(fills.map((fill) => [fill.token_id, fill.last]));
  const first = new Map(opening ? fills.map((fill) => [fill.token_id, fill.first]) : []);
  const priceOf = (outcome: PriceableOutcome): number | null => {
    if (paid && outcome.payout !== null) return Number(outcome.payout);
    const traded = tradedPrice(outcome.token_id, outcomes, last) ?? tradedPrice(outcome.token_id, outcomes, first);
    if (traded !== null) return traded;
    return outcome.price !== null && (outcome.price_at === null || outcome.price_at <= at) ? Number(outcome.price) : null;
  };
  return outcomes.map((outcome) => ({
    token_id: outcome.token_id,
    outcome: outcome.outcome,
    outcome_index: outcome.outcome_index,
    price: priceOf(outcome),
  }));
}

/** What fills tell of an outcome's price: its own, else what the other one of two leaves. `fills` are their prices by token. */
export function tradedPrice(
  token_id: string,
  outcomes: readonly { token_id: string }[],
  fills: ReadonlyMap<string, string | null>,
): number | null {
  const own = fills.get(token_id) ?? null;
  if (own !== null) return Number(own);
  const other = outcomes.length === 2 ? outcomes.find((one) => one.token_id !== token_id) : undefined;
  const left = (other && fills.get(other.token_id)) ?? null;
  return left === null ? null : complement(Number(left));
}

// Prices have few decimals; binary fractions would show more.
const complement = (price: number): number => Math.round((1 - price) * 1e12) / 1e12;

/** A price as it is told. */
const told = (price: number | null): number => roundTo(price as number, 6);

/** The outcome with the highest price as it is told, the first of equals; null where no price is known. */
export function leaderOf(outcomes: readonly PricedOutcome[]): (PricedOutcome & { price: number }) | null {
  let leader: PricedOutcome | null = null;
  for (const outcome of outcomes)
    if (outcome.price !== null && (leader === null || told(outcome.price) > told(leader.price))) leader = outcome;
  return leader as (PricedOutcome & { price: number }) | null;
}
