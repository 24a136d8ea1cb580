import { median } from '../../../lib/statistics';
import { AppError } from '../../../errors';
import { type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { Resolver } from '../../venue';
import { less, total } from '../exact';
import { unrealizedOf, type KnownPosition } from './position';
import { type WalletState, categoryBreakdownOf, loadWalletStates, profileOf, volumeByCategory } from './wallet-figures';
import { lifetimeAt, nameRun } from './wallets';

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
  const states = await loadWalletStates(args.wallets, context, args.timeframe ? window : null);
  const found = states.filter((state) => state !== null);
  if (found.length === 0) {
    throw new AppError('not_found', {
      message: 'None of these wallets ever traded.',
      details: [{ param: 'wallets', issue: 'never traded', got: args.wallets.join(',') }],
    });
  }
  await nameRun(context);
  const profiles = new Map(found.map((state) => [state.wallet, profileOf(state, window, context)]));
  const compared = found.map((state) => ({ ...state, positions: state.positions.filter((position) => isAlive(position, window)) }));
  return {
    wallets: args.wallets.map((wallet, index) => {
      const state = states[index] ?? null;
      return {
        wallet,
        profile: profiles.get(wallet) ?? null,
        category_breakdown: state === null ? [] : categoryBreakdownOf(state, window),
        found: state !== null,
      };
    }),
    comparison_winners: Object.fromEntries(METRICS.map((metric) => [metric, winnersOf(profiles, metric)])),
    category_overlap: overlapOf(found),
    shared_positions: args.include_shared_positions ? sharedPositions(compared) : null,
    pairwise: compared.flatMap((a, index) => compared.slice(index + 1).map((b) => pairOf(a, b))),
  };
};

/** Open at some time of the window. */
const isAlive = ({ opened_at, closed_at }: KnownPosition, { from, to }: Window): boolean =>
  opened_at < to && (closed_at === null || closed_at >= from);

function winnersOf(profiles: ReadonlyMap<string, Profile>, metric: (typeof METRICS)[number]): string[] {
  const values = [...profiles].flatMap(([wallet, profile]) =>
    profile[metric] === null ? [] : [{ wallet, value: Number(profile[metric]) }],
  );
  const best = Math.max(...values.map(({ value }) => value));
  return values.filter(({ value }) => value === best).map(({ wallet }) => wallet);
}

/** Which wallets traded a category; those with most wallets first. */
function overlapOf(states: readonly WalletState[]): { category: string; wallets: string[] }[] {
  const wallets = new Map<string, string[]>();
  for (const state of states)
    for (const { category } of volumeByCategory(state.volumes)) wallets.set(category, [...(wallets.get(category) ?? []), state.wallet]);
  return [...wallets]
    .map(([category, list]) => ({ category, wallets: list }))
    .sort((a, b) => b.wallets.length - a.wallets.length || (a.category < b.category ? -1 : 1));
}

/** A wallet's side of a market: the outcome it put most into. */
interface Side {
  wallet: string;
  top: KnownPosition;
  all: KnownPosition[];
}

const paid = ({ paid_usdc }: KnownPosition): number => Number(paid_usdc);

/** Sides of one wallet by market. */
function sidesOf({ wallet, positions }: WalletState): Map<string, Side> {
  const sides = new Map<string, Side>();
  const ordered = [...positions].sort((a, b) => paid(b) - paid(a) || (a.token_id < b.token_id ? -1 : 1));
  for (const position of ordered) {
    const side = sides.get(position.condition_id);
    if (side === undefined) sides.set(position.condition_id, { wallet, top: position, all: [position] });
    else side.all.push(position);
  }
  return sides;
}

function sharedPositions(states: readonly WalletState[]) {
  const markets = new Map<string, Side[]>();
  for (const state of states) for (const [id, side] of sidesOf(state)) markets.set(id, [...(markets.get(id) ?? []), side]);
  const weight = (sides: readonly Side[]): number => sides.flatMap(({ all }) => all).reduce((sum, position) => sum + paid(position), 0);
  return [...markets]
    .filter(([, sides]) => sides.length >= 2)
    .sort(([a, x], [b, y]) => y.length - x.length || weight(y) - weight(x) || (a < b ? -1 : 1))
    .map(([condition_id, sides]) => ({
      condition_id,
      question: sides[0]?.top.market?.question ?? null,
      holders: sides.map(({ wallet, top, all }) => ({
        wallet,
        outcome: top.outcome?.outcome ?? top.token_id,
        net_shares: less(top.shares, top.redeemed_shares),
        avg_buy_price: paid(top) / Number(top.paid_shares),
        pnl: total(all.flatMap((position) => [position.gain, unrealizedOf(position) ?? '0'])),
      })),
      same_side: new Set(sides.map(({ top }) => top.token_id)).size === 1,
    }));
}

function pairOf(a: WalletState, b: WalletState) {
  const [mine, theirs] = [sidesOf(a), sidesOf(b)];
  const shared = [...mine.keys()].filter((id) => theirs.has(id));
  const agreeing = shared.filter((id) => mine.get(id)?.top.token_id === theirs.get(id)?.top.token_id).length;
  const union = mine.size + theirs.size - shared.length;
  const opened = new Map(a.positions.map((position) => [position.token_id, position.opened_at.getTime()]));
  const lags = b.positions.flatMap(({ token_id, opened_at }) => {
    const first = opened.get(token_id);
    return first === undefined ? [] : [(opened_at.getTime() - first) / 1_000];
  });
  return {
    a: a.wallet,
    b: b.wallet,
    jaccard: union === 0 ? 0 : shared.length / union,
    position_cosine: cosine(vectorOf(mine), vectorOf(theirs)),
    shared_markets: shared.length,
    agree_pct: shared.length === 0 ? null : (100 * agreeing) / shared.length,
    median_lag_seconds: median(lags),
  };
}

/** USDC put into each market: into its first outcome counts up, into others down. */
function vectorOf(sides: ReadonlyMap<string, Side>): Map<string, number> {
  const sign = ({ outcome }: KnownPosition): number => ((outcome?.outcome_index ?? 0) === 0 ? 1 : -1);
  return new Map([...sides].map(([id, { all }]) => [id, all.reduce((sum, position) => sum + sign(position) * paid(position), 0)]));
}

function cosine(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number | null {
  const norm = (vector: ReadonlyMap<string, number>): number => Math.sqrt([...vector.values()].reduce((sum, value) => sum + value ** 2, 0));
  const product = [...a].reduce((sum, [id, value]) => sum + value * (b.get(id) ?? 0), 0);
  return norm(a) * norm(b) === 0 ? null : Math.min(1, Math.max(-1, product / (norm(a) * norm(b))));
}
