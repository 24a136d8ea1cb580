import { groupedBy } from '../../../lib/grouped';
import { type Consensus, FEWEST_WALLETS, type Stance } from '../consensus';
import { compareAmounts, over, percent, total } from '../exact';
import type { PricedOutcome } from '../market-prices';
import type { MarketCrowd } from '../queries/market-crowd';

/** Money of a group of wallets on an outcome that any of them may hold. */
export interface OutcomeMoney {
  outcome: string;
  token_id: string;
  outcome_index: number | null;
  wallet_count: number;
  total_usdc: string;
  percentage: number;
}

/** Sums by outcome, in the venue's order; outcomes nobody holds are 0. */
function moneyOn(
  sums: readonly Pick<OutcomeMoney, 'token_id' | 'wallet_count' | 'total_usdc'>[],
  outcomes: readonly PricedOutcome[],
): OutcomeMoney[] {
  const whole = total(sums.map((sum) => sum.total_usdc));
  return outcomes.map(({ outcome, token_id, outcome_index }) => {
    const { wallet_count, total_usdc } = sums.find((sum) => sum.token_id === token_id) ?? { wallet_count: 0, total_usdc: '0' };
    return { outcome, token_id, outcome_index, wallet_count, total_usdc, percentage: percent(total_usdc, whole) ?? 0 };
  });
}

/** Stances by outcome. */
export function moneyByOutcome(stances: readonly Stance[], outcomes: readonly PricedOutcome[]): (OutcomeMoney & { stances: Stance[] })[] {
  const byToken = groupedBy(stances, (stance) => stance.token_id);
  const sums = [...byToken].map(([token_id, own]) => ({
    token_id,
    wallet_count: own.length,
    total_usdc: total(own.map(({ cost }) => cost)),
  }));
  return moneyOn(sums, outcomes).map((money) => ({ ...money, stances: byToken.get(money.token_id) ?? [] }));
}

/** What a crowd thinks of its market, by money; nothing where it is too small for a consensus. */
export function crowdView(
  { outcomes }: MarketCrowd,
  prices: readonly PricedOutcome[],
): Pick<Consensus, 'token_id' | 'strength'> & { by_outcome: OutcomeMoney[] } {
  const [leading] = [...outcomes].sort((a, b) => compareAmounts(b.net_usdc, a.net_usdc) || (a.token_id < b.token_id ? -1 : 1));
  const wallets = outcomes.reduce((sum, { net_wallets }) => sum + net_wallets, 0);
  const by_outcome = moneyOn(outcomes, prices);
  if (leading === undefined || leading.net_wallets === 0 || wallets < FEWEST_WALLETS) return { token_id: null, strength: null, by_outcome };
  return { token_id: leading.token_id, strength: over(leading.net_usdc, total(outcomes.map(({ net_usdc }) => net_usdc))), by_outcome };
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
