import { AppError } from '../../../errors';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { over, percent } from '../exact';
import type { WalletsScope } from '../queries/known-positions';
import { type BreakdownSort, type RankedPosition, listRankedPositions } from '../queries/ranked-positions';
import { type WalletFigures, listWalletFigures } from '../queries/wallet-figures';
import { timeframeWith } from './paging';
import { loadPeriodGains } from './period-gains';
import { positionRecord } from './position';
import { nameRun, unknownWallet, walletsScope } from './wallets';

interface BreakdownArgs {
  wallet: string;
  timeframe: Timeframe;
  limit: number;
  category?: string | null;
  sort_by: BreakdownSort;
  include_open: boolean;
}

/** wallets/pnl-breakdown: positions that ended in the window. Throws not_found for a wallet that never traded, empty_result when nothing ended in the window. */
export const walletsPnlBreakdown: Resolver<unknown, BreakdownArgs> = async (_, args, context) => {
  const window = windowOf(args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  const scope = await walletsScope([args.wallet], context);
  const category = args.category ?? null;
  const [figures, ranked, booked] = await Promise.all([
    listWalletFigures(context.sql, scope, window, category),
    listRankedPositions(context.sql, scope, { ...args, window, category }),
    loadPeriodGains(context, scope, window.from, { condition_id: null, category, open_only: true }),
    nameRun(context),
  ]);
  const whole = figures.find((row) => row.category === null);
  if (whole === undefined || whole.trades === 0) throw unknownWallet(args.wallet);
  if (ranked.length === 0) throw await emptyBreakdown(scope, args, context);
  const [best, worst] = [ranked.find(({ is_best }) => is_best), ranked.find(({ is_worst }) => is_worst)];
  const shown = ranked.filter(({ place }) => place <= args.limit);
  context.meta.count = shown.length;
  return {
    wallet: args.wallet,
    total_realized_pnl: whole.pnl,
    realized_pnl_open_usdc: booked.realized_pnl,
    total_positions: whole.ended,
    winning_positions: whole.winning,
    losing_positions: whole.losing,
    best_trade: best === undefined ? null : positionRecord(best),
    worst_trade: worst === undefined ? null : positionRecord(worst),
    positions: shown.map(positionRecord),
    win_rate: over(whole.wins, whole.counted),
    roi_pct: percent(whole.pnl, whole.cost),
    profit_factor: over(whole.gained, whole.lost),
    by_category: byCategory(figures),
    largest_event_share: whole.largest_event_share,
    voided_positions: whole.voided,
  };
};

async function emptyBreakdown(scope: WalletsScope, args: BreakdownArgs, context: GraphContext): Promise<AppError> {
  const lifetime = { window: windowOf('all', context.now), category: args.category ?? null, sort_by: 'closed_at', limit: 1 } as const;
  const [[ended], [any]] = (await Promise.all(
    [false, true].map((include_open) => listRankedPositions(context.sql, scope, { ...lifetime, include_open })),
  )) as [RankedPosition[], RankedPosition[]];
  if (ended?.closed_at) return new AppError('empty_result', { suggestion: { timeframe: timeframeWith(ended.closed_at, context.now) } });
  // Of nothing but open positions there are some of every window, and none without.
  if (any !== undefined) return new AppError('empty_result', { suggestion: { include_open: true } });
  return new AppError('empty_result', args.category ? { suggestion: { category: null } } : {});
}

/** By category, largest gain first. */
function byCategory(
  figures: readonly WalletFigures[],
): { category: string; pnl: string; position_count: number; win_rate: number | null }[] {
  return figures
    .flatMap(({ category, pnl, ended, wins, counted }) =>
      category === null || ended === 0 ? [] : [{ category, pnl, position_count: ended, win_rate: over(wins, counted) }],
    )
    .sort((a, b) => Number(b.pnl) - Number(a.pnl) || (a.category < b.category ? -1 : 1));
}
