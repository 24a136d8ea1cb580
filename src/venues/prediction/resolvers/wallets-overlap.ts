import { groupedBy } from '../../../lib/grouped';
import { roundTo, sum } from '../../../lib/statistics';
import type { SharedSide, WalletOverlap, WalletPair } from '../queries/wallet-overlap';

/** Markets on which two of the wallets at least have positions, those of most wallets first, then of most USDC. */
export function sharedPositions(sides: readonly SharedSide[]) {
  return [...groupedBy(sides, ({ condition_id }) => condition_id)]
    .filter(([, held]) => held.length >= 2)
    .map(([condition_id, held]) => ({ condition_id, held, weight: roundTo(sum(held.map(({ paid }) => paid)), 6) }))
    .sort((a, b) => b.held.length - a.held.length || b.weight - a.weight || (a.condition_id < b.condition_id ? -1 : 1))
    .map(({ condition_id, held }) => ({
      condition_id,
      question: held[0]?.question ?? null,
      holders: held.sort((a, b) => a.place - b.place),
      same_side: held.every(({ token_id }) => token_id === held[0]?.token_id),
    }));
}

const NO_REACH = { markets: 0, norm: 0 };
const NOTHING: Omit<WalletPair, 'a' | 'b'> = { shared: 0, agreeing: 0, product: 0, median_lag: null };

/** How alike each two of the wallets are, in their order. */
export function pairsOf(wallets: readonly string[], { reaches, pairs }: Pick<WalletOverlap, 'reaches' | 'pairs'>) {
  const reached = wallets.map((wallet) => reaches.find((reach) => reach.wallet === wallet) ?? { wallet, ...NO_REACH });
  return reached.flatMap((a, index) =>
    reached.slice(index + 1).map((b) => {
      const { shared, agreeing, product, median_lag } = pairs.find((pair) => pair.a === a.wallet && pair.b === b.wallet) ?? NOTHING;
      const union = a.markets + b.markets - shared;
      return {
        a: a.wallet,
        b: b.wallet,
        jaccard: union === 0 ? 0 : shared / union,
        position_cosine: a.norm * b.norm === 0 ? null : Math.min(1, Math.max(-1, product / (a.norm * b.norm))),
        shared_markets: shared,
        agree_pct: shared === 0 ? null : (100 * agreeing) / shared,
        median_lag_seconds: median_lag,
      };
    }),
  );
}
