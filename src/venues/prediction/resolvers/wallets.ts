import { AppError, notKnown } from '../../../errors';
import { listScope } from '../../../lib/cursor';
import { BEGINNING, type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { less, total } from '../exact';
import { type KnownPosition, type WalletsScope, listOpenPositions, listUnrealized } from '../queries/known-positions';
import { beforeAll } from '../queries/trade-row';
import { listScoreHistory } from '../queries/wallet-scores';
import {
  type WalletTradesFilter,
  type WalletTradesTotals,
  findLifeTotals,
  findToldLife,
  getWalletTradesTotals,
  listWalletTrades,
} from '../queries/wallet-trades';
import { loadWalletsOverlay } from '../rollups/positions-as-of';
import { getKnownMarket } from './markets-known';
import { type PeriodGains, loadPeriodGains } from './period-gains';
import { closePage, openPage, suggestionOf } from './paging';
import { positionRecord, unrealizedOf } from './position';
import { tellTrades } from './trade';
import { categoryBreakdownOf, loadWalletStates, profileOf } from './wallet-figures';

interface ProfileArgs {
  wallet: string;
  include_positions: boolean;
  include_trades: boolean;
  trades_limit: number;
  explain: boolean;
}

interface ActivityArgs {
  wallet: string;
  timeframe: Timeframe;
  category?: string | null;
  condition_id?: string | null;
  min_usdc: number;
  side?: 'BUY' | 'SELL' | 'REDEEM' | null;
  limit: number;
  cursor?: string | null;
}

const ALL_SIDES = ['BUY', 'SELL', 'REDEEM'];
const HISTORY_DAYS = 30;

const WALLETS_THAT_DID = { method: 'GET', path: '/api/v1/wallets/top-performers', note: 'wallets that did' };

/** What is answered for a wallet that never bought or sold. */
export const unknownWallet = (wallet: string): AppError => notKnown('wallet', wallet, 'never traded', WALLETS_THAT_DID);

/** What is answered for wallets of which none ever did; the first few are named. */
export const unknownWallets = (wallets: readonly string[]): AppError =>
  notKnown('wallets', wallets.slice(0, 5).join(','), 'never traded', WALLETS_THAT_DID);

/** Positions of wallets as of the answer, or of an earlier instant. */
export async function walletsScope(wallets: readonly string[], context: GraphContext, now: Date = context.now): Promise<WalletsScope> {
  const any_later = now.getTime() === context.now.getTime() ? (await context.loaders(makeLoaders).state()).any_later : undefined;
  return { wallets, now, overlay: await loadWalletsOverlay(context.sql, wallets, now, any_later) };
}

/** Names the score run an answer rests on. */
export async function nameRun(context: GraphContext): Promise<void> {
  context.meta.score_version = (await context.loaders(makeLoaders).scoreRun())?.version ?? null;
}

/** wallets/profile: everything about one wallet. Throws not_found for a wallet that never traded. */
export const walletsProfile: Resolver<unknown, ProfileArgs> = async (_, args, context) => {
  const filter: WalletTradesFilter = {
    wallet: args.wallet,
    window: windowOf('all', context.now),
    sides: ALL_SIDES,
    min_usdc: 0,
    condition_id: null,
    category: null,
  };
  const scope = await walletsScope([args.wallet], context);
  const [[state], held, trades, history] = await Promise.all([
    loadWalletStates(scope, context, null),
    args.include_positions ? openOf(scope, context) : unrealizedAlone(scope, context),
    args.include_trades
      ? listWalletTrades(context.sql, filter, beforeAll(context.now), args.trades_limit).then((rows) => tellTrades(rows, context))
      : null,
    listScoreHistory(context.sql, args.wallet, context.now, HISTORY_DAYS),
    nameRun(context),
  ]);
  if (state === undefined || state === null) throw unknownWallet(args.wallet);
  if (trades === null) context.meta.ineffective = { trades_limit: 'include_trades=false' };
  context.meta.count = trades?.length ?? null;
  return {
    wallet: args.wallet,
    profile: profileOf(state, held.unrealized),
    category_breakdown: categoryBreakdownOf(state),
    active_positions: held.open && mostValueFirst(held.open),
    recent_trades: trades,
    score_history: history,
    score_breakdown: args.explain ? (state.score?.breakdown ?? null) : null,
  };
};

/** Open positions of the scope's wallet, or null where they are not asked for, and what they gained unrealized. */
interface Open {
  open: KnownPosition[] | null;
  unrealized: string;
}

async function openOf(scope: WalletsScope, { sql }: GraphContext): Promise<Open> {
  const open = await listOpenPositions(sql, scope);
  return { open, unrealized: total(open.flatMap((position) => unrealizedOf(position) ?? [])) };
}

async function unrealizedAlone(scope: WalletsScope, { sql }: GraphContext): Promise<Open> {
  const [unrealized] = (await listUnrealized(sql, scope)).values();
  return { open: null, unrealized: unrealized ?? '0' };
}

const mostValueFirst = (open: readonly KnownPosition[]) =>
  open
    .map(positionRecord)
    .sort(
      (a, b) =>
        Number(b.current_value_usdc ?? b.cost_usdc) - Number(a.current_value_usdc ?? a.cost_usdc) || (a.token_id < b.token_id ? -1 : 1),
    );

/** The filtered window in figures: of its rows, and of the positions in scope. */
type Period = WalletTradesTotals & PeriodGains;

/** The filtered window in figures: of all that the wallet ever did as told of it; where that does not hold its rows from its positions, which are fewer. */
async function periodOf(filter: WalletTradesFilter, context: GraphContext): Promise<Period> {
  const { window, sides, min_usdc, condition_id, category } = filter;
  const { sql } = context;
  const is_life =
    window.from <= BEGINNING && sides.length === ALL_SIDES.length && min_usdc === 0 && condition_id === null && category === null;
  const told = is_life ? await findToldLife(sql, filter.wallet, window.to) : null;
  if (told !== null) return told;
  const scope = await walletsScope([filter.wallet], context, window.to);
  const [totals, gains] = await Promise.all([
    (is_life ? findLifeTotals(sql, scope) : Promise.resolve(null)).then((life) => life ?? getWalletTradesTotals(sql, filter)),
    loadPeriodGains(context, scope, window.from, { ...filter, open_only: false }),
  ]);
  return { ...totals, ...gains };
}

/** wallets/activity: a wallet's rows, newest first, and its window in figures. Throws not_found for a wallet that never traded and for an unknown market, empty_result for no row in scope. */
export const walletsActivity: Resolver<unknown, ActivityArgs> = async (_, args, asked) => {
  const page = openPage(args.cursor, listScope('wallets/activity', args), args.timeframe, asked);
  const context = page.then;
  const loaders = context.loaders(makeLoaders);
  const filter: WalletTradesFilter = {
    wallet: args.wallet,
    window: page.window,
    sides: args.side ? [args.side] : ALL_SIDES,
    min_usdc: args.min_usdc,
    condition_id: args.condition_id ?? null,
    category: args.category ?? null,
  };
  const [trades, period, score, record] = await Promise.all([
    listWalletTrades(context.sql, filter, page.after, args.limit + 1)
      .then((rows) => closePage(rows, args.limit, page))
      .then((rows) => tellTrades(rows, context)),
    periodOf(filter, context),
    loaders.judgement.load(args.wallet),
    loaders.wallet.load(args.wallet),
    nameRun(context),
  ]);
  const first = record?.first_trade_at ?? null;
  if (first === null || first >= context.now) throw unknownWallet(args.wallet);
  if (period.rows === 0) {
    if (args.condition_id) await getKnownMarket(context, args.condition_id);
    const widest = { ...filter, window: windowOf('all', page.window.to) };
    const [newest] = await listWalletTrades(context.sql, widest, beforeAll(page.window.to), 1);
    throw new AppError('empty_result', { suggestion: suggestionOf(newest, page.window.to) });
  }
  const { rows: _rows, ...figures } = period;
  return {
    wallet: args.wallet,
    wallet_score: score?.score ?? null,
    wallet_tags: score?.tags ?? [],
    period_summary: { ...figures, net_flow: less(figures.buy_volume, figures.sell_volume) },
    trades,
  };
};
