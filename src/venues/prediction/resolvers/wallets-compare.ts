import { AppError } from '../../../errors';
import { BEGINNING, type Timeframe, windowOf } from '../../../lib/timeframe';
import type { Resolver } from '../../venue';
import { listOverlap } from '../queries/wallet-overlap';
import { type WalletState, categoryBreakdownOf, loadWalletStates, profileOf } from './wallet-figures';
import { pairsOf, sharedPositions, sidesOf } from './wallets-overlap';
import { lifetimeAt, nameRun, walletsScope } from './wallets';

interface CompareArgs {
  wallets: string[];
  include_shared_positions: boolean;
  timeframe?: Timeframe | null;
}

const METRICS = ['score', 'total_pnl', 'sharpe', 'win_rate', 'total_volume', 'roi_pct'] as const;

type Profile = ReturnType<typeof profileOf>;

/** wallets/compare: two to five wallets side by side. Throws not_found when none of them ever traded (in the window). */
export const walletsCompare: Resolver<unknown, CompareArgs> = async (_, args, context) => {
  const window = args.timeframe ? windowOf(args.timeframe, context.now) : lifetimeAt(context.now);
  Object.assign(context.meta, { timeframe: args.timeframe ?? null, window: args.timeframe ? window : null });
  const scope = await walletsScope(args.wallets, context);
  const [states, overlap] = await Promise.all([
    loadWalletStates(scope, context, window.from > BEGINNING ? window : null),
    listOverlap(context.sql, scope, window),
    nameRun(context),
  ]);
  const found = states.filter((state) => state !== null);
  if (found.length === 0) {
    throw new AppError('not_found', {
      message: 'None of these wallets ever traded.',
      details: [{ param: 'wallets', issue: 'never traded', got: args.wallets.join(',') }],
    });
  }
  const sides = sidesOf(
    found.map(({ wallet }) => wallet),
    overlap.shared,
  );
  const profiles = new Map(found.map((state) => [state.wallet, profileOf(state)]));
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
    shared_positions: args.include_shared_positions ? sharedPositions(sides) : null,
    pairwise: pairsOf(sides, overlap.reaches),
  };
};

function winnersOf(profiles: ReadonlyMap<string, Profile>, metric: (typeof METRICS)[number]): string[] {
  const values = [...profiles].flatMap(([wallet, profile]) =>
    profile[metric] === null ? [] : [{ wallet, value: Number(profile[metric]) }],
  );
  const best = Math.max(...values.map(({ value }) => value));
  return values.filter(({ value }) => value === best).map(({ wallet }) => wallet);
}

/** Which wallets traded a category; those with most wallets first. */
function categoriesOf(states: readonly WalletState[]): { category: string; wallets: string[] }[] {
  const wallets = new Map<string, string[]>();
  for (const state of states)
    for (const { category } of state.volumes) wallets.set(category, [...(wallets.get(category) ?? []), state.wallet]);
  return [...wallets]
    .map(([category, list]) => ({ category, wallets: list }))
    .sort((a, b) => b.wallets.length - a.wallets.length || (a.category < b.category ? -1 : 1));
}
