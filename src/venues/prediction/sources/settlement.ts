/** How a closed market ended. */
export interface Settlement {
  /** Place of the winning outcome; null: refunded, every outcome pays the same. */
  winner: number | null;
  /** What a share of each outcome pays. */
  payouts: string[];
}

/** Prices of a finished market may miss 1 and 0 by this much where an automated market maker quoted them. */
const LAST_PRICE_SLACK = 0.001;
const EQUAL_SLACK = 1e-6;

/**
 * Settlement of a closed market read from its outcome prices: one outcome at 1 and the others at 0 has won. With `final`, where they are no quotes any
 * more, prices within 0.001 of 1 and 0 count too, and equal shares of 1 are a refund (0.5/0.5): so a market is quoted that nobody trades. Null for all
 * else ("0","0" of very old markets, last quotes of scalar ones): closed, result unknown.
 */
export function settle(prices: readonly string[], final: boolean): Settlement | null {
  const values = prices.map(Number);
  const share = 1 / values.length;
  if (values.every((value) => Math.abs(value - share) <= EQUAL_SLACK))
    return final ? { winner: null, payouts: values.map(() => plain(share)) } : null;
  const slack = final ? LAST_PRICE_SLACK : 0;
  const winner = values.findIndex((value) => value >= 1 - slack);
  if (winner < 0 || values.some((value, index) => index !== winner && value > slack)) return null;
  return { winner, payouts: values.map((_, index) => (index === winner ? '1' : '0')) };
}

const plain = (share: number): string => String(Number(share.toFixed(6)));

/** SQL of what a share of the token named `outcome` pays, null until its market (`market`, of pm_market) is resolved: its name tells, whether or not the catalogue listed the token. */
export const payoutByName = (outcome: string): string => `CASE WHEN market.resolved_at IS NULL THEN NULL
  WHEN market.is_voided THEN round(1.0 / GREATEST(cardinality(market.outcomes), 2), 6) WHEN ${outcome} = market.winning_outcome THEN 1 ELSE 0 END`;
