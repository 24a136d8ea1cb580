import { addTo } from '../../../lib/grouped';
import { roundDecimal } from '../../../lib/statistics';
import { BEGINNING, type Timeframe, windowOf } from '../../../lib/timeframe';
import type { Resolver } from '../../venue';
import { listUnrealized } from '../queries/known-positions';
import { listOverlap } from '../queries/wallet-overlap';
import { type WalletState, categoryBreakdownOf, loadWalletStates, profileOf } from './wallet-figures';
import { pairsOf, sharedPositions } from './wallets-overlap';
import { nameRun, unknownWallets, walletsScope } from './wallets';

interface CompareArgs {
  wallets: string[];
  include_shared_positions: boolean;
  timeframe?: Timeframe | null;
}

/** Shared markets that are listed; `pairwise` counts all. */
const MOST_SHARED = 1_000;

const METRICS = ['score', 'total_pnl', 'sharpe', 'win_rate', 'total_volume', 'roi_pct'] as const;

type Profile = ReturnType<typeof profileOf>;

/** wallets/compare: two to five wallets side by side. Throws not_found when none of them ever traded (in the window). */
export const walletsCompare: Resolver<unknown, CompareArgs> = async (_, args, context) => {
  const window = windowOf(args.timeframe ?? 'all', context.now);
  Object.assign(context.meta, { timeframe: args.timeframe ?? null, window: args.timeframe ? window : null });
  const scope = await walletsScope(args.wallets, context);
  const [states, unrealized, overlap] = await Promise.all([
    loadWalletStates(scope, context, window.from > BEGINNING ? window : null),
    listUnrealized(context.sql, scope),
    listOverlap(context.sql, scope, window, args.include_shared_positions ? MOST_SHARED : null),
    nameRun(context),
  ]);
  const found = states.filter((state) => state !== null);
  if (found.length === 0) throw unknownWallets(args.wallets);
  if (overlap.markets > MOST_SHARED)
    context.meta.warnings.push(
      `shared_positions lists ${MOST_SHARED} of ${overlap.markets} markets, those of most wallets first, then of most USDC; pairwise counts all.`,
    );
  const profiles = new Map(found.map((state) => [state.wallet, profileOf(state, unrealized.get(state.wallet) ?? '0')]));
  return {
    wallets: args.wallets.map((wallet, index) => {
      const state = states[index] ?? null;
      return {
        wallet,
        profile: profiles.get(wallet) ?? null,
        category_breakdown: state === null ? [] : categoryBreakdownOf(state),
        found: state !== null,
      };
    }),
    comparison_winners: Object.fromEntries(METRICS.map((metric) => [metric, winnersOf(profiles, metric)])),
    category_overlap: categoriesOf(found),
    shared_positions: overlap.sides && sharedPositions(overlap.sides.filter(({ wallet }) => profiles.has(wallet))),
    pairwise: pairsOf([...profiles.keys()], overlap),
  };
};

/** Those whose figure is the highest as it is told: binary fractions, and what is beyond the decimals sent, tell nobody apart. */
function winnersOf(profiles: ReadonlyMap<string, Profile>, metric: (typeof METRICS)[number]): string[] {
  const values = [...profiles].flatMap(([wallet, profile]) =>
    profile[metric] === null ? [] : [{ wallet, value: roundDecimal(String(profile[metric]), 6) }],
  );
  const best = Math.max(...values.map(({ value }) => value));
  return values.filter(({ value }) => value === best).map(({ wallet }) => wallet);
}

/** Which wallets traded a category; those with most wallets first. */
function categoriesOf(states: readonly WalletState[]): { category: string; wallets: string[] }[] {
  const wallets = new Map<string, string[]>();
  for (const { wallet, volumes } of states) for (const { category } of volumes) addTo(wallets, category, wallet);
  return [...wallets]
    .map(([category, list]) => ({ category, wallets: list }))
    .sort((a, b) => b.wallets.length - a.wallets.length || (a.category < b.category ? -1 : 1));
}
