import type { Stance } from '../consensus';
import { compareAmounts, over, percent, total } from '../exact';
import { groupedBy } from '../grouped';
import type { PricedOutcome } from '../market-prices';

/** Money of a group of wallets on each outcome that any of them holds, in the venue's order. */
export interface OutcomeMoney {
  outcome: string;
  token_id: string;
  outcome_index: number | null;
  wallet_count: number;
  total_usdc: string;
  percentage: number;
  stances: Stance[];
}

/** Stances by outcome; outcomes nobody holds are 0. */
export function moneyByOutcome(stances: readonly Stance[], outcomes: readonly PricedOutcome[]): OutcomeMoney[] {
  const byToken = groupedBy(stances, (stance) => stance.token_id);
  const whole = total(stances.map((stance) => stance.cost));
  return outcomes.map(({ outcome, token_id, outcome_index }) => {
    const own = byToken.get(token_id) ?? [];
    const total_usdc = total(own.map((stance) => stance.cost));
    return {
      outcome,
      token_id,
      outcome_index,
      wallet_count: own.length,
      total_usdc,
      percentage: percent(total_usdc, whole) ?? 0,
      stances: own,
    };
  });
}

/** The largest first. */
export const byCost = (a: Stance, b: Stance): number => compareAmounts(b.cost, a.cost) || (a.wallet < b.wallet ? -1 : 1);

/** What a wallet paid for a share, on average. */
export const entryOf = ({ paid_usdc, paid_shares }: Pick<Stance, 'paid_usdc' | 'paid_shares'>): number | null =>
  over(paid_usdc, paid_shares);

/** What all of them paid for a share, on average. */
export const entryOfAll = (stances: readonly Stance[]): number | null =>
  over(total(stances.map((stance) => stance.paid_usdc)), total(stances.map((stance) => stance.paid_shares)));

/** A wallet of a list of the largest. */
export function topWallet(
  stance: Stance,
  price: number | null,
  others: readonly Stance[],
  first_buy_at: Date | null,
): Record<string, unknown> {
  const avg_buy_price = entryOf(stance);
  return {
    wallet: stance.wallet,
    score: stance.score,
    tags: stance.tags,
    usdc_invested: stance.cost,
    net_position: stance.shares,
    avg_buy_price,
    entry_edge: price === null || avg_buy_price === null ? null : price - avg_buy_price,
    first_buy_at,
    also_on_other_side: others.some((other) => other.wallet === stance.wallet && other.token_id !== stance.token_id),
  };
}
