import { percent } from '../exact';

/** What followers of a position paid and got, over all its days; amounts are exact decimal texts. */
export interface Followed {
  condition_id: string;
  token_id: string;
  /** Fills whose ten minutes are over, and those that could be followed. */
  trades: number;
  followed: number;
  buy_shares: string;
  buy_usdc: string;
  sell_shares: string;
  sell_usdc: string;
}

/** What a wallet's fills were worth to followers; null where nothing could be followed. */
export interface Followable {
  roi_pct: number | null;
  share: number | null;
}

/**
 * Followable return of a wallet. `payouts` has what a share of each ended position's token paid, by `condition|token`; null: not known yet. A follower sells
 * no more than it bought: of what the wallet sold beyond, it has its part. Shares left over are worth their payout; where that is
 * unknown the follower still holds, and the position is left out. Fees are not told by the upstream: none are taken off.
 */
export function followableOf(rows: readonly Followed[], payouts: ReadonlyMap<string, number | null>): Followable {
  let [cost, back] = [0, 0];
  for (const row of rows) {
    const payout = payouts.get(`${row.condition_id}|${row.token_id}`);
    const [bought, sold] = [Number(row.buy_shares), Number(row.sell_shares)];
    if (payout === undefined || bought === 0) continue;
    const left = Math.max(bought - sold, 0);
    if (left > 0 && payout === null) continue;
    cost += Number(row.buy_usdc);
    back += (sold === 0 ? 0 : Number(row.sell_usdc) * Math.min(1, bought / sold)) + left * (payout ?? 0);
  }
  const trades = rows.reduce((sum, row) => sum + row.trades, 0);
  const followed = rows.reduce((sum, row) => sum + row.followed, 0);
  return { roi_pct: percent(back - cost, cost), share: trades === 0 ? null : followed / trades };
}
