import { AppError } from '../../../errors';
import { type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { Resolver } from '../../venue';
import { type EndedFigures, figuresOf, hasEnded, isPosition, topEventShare } from '../positions/figures';
import { listPositionsAsOf } from '../rollups/positions-as-of';
import { timeframeWith } from './paging';
import { bookedSince } from './period-gains';
import { type KnownPosition, loadKnown, positionRecord } from './position';
import { nameRun, unknownWallet } from './wallets';

type BreakdownSort = 'pnl' | 'abs_pnl' | 'roi' | 'cost' | 'closed_at';

interface BreakdownArgs {
  wallet: string;
  timeframe: Timeframe;
  limit: number;
  category?: string | null;
  sort_by: BreakdownSort;
  include_open: boolean;
}

const KEYS: Record<BreakdownSort, (position: KnownPosition) => number> = {
  pnl: ({ gain }) => Number(gain),
  abs_pnl: ({ gain }) => Math.abs(Number(gain)),
  roi: ({ gain, paid_usdc }) => (Number(paid_usdc) === 0 ? Number.NEGATIVE_INFINITY : Number(gain) / Number(paid_usdc)),
  cost: ({ paid_usdc }) => Number(paid_usdc),
  closed_at: ({ closed_at }) => closed_at?.getTime() ?? Number.POSITIVE_INFINITY,
};

/** Largest key first; ties by market and token. */
function ranked(positions: readonly KnownPosition[], sort: BreakdownSort): KnownPosition[] {
  const key = KEYS[sort];
  const tie = (a: KnownPosition, b: KnownPosition): number => (a.condition_id + a.token_id < b.condition_id + b.token_id ? -1 : 1);
  return [...positions].sort((a, b) => (key(a) === key(b) ? tie(a, b) : key(b) - key(a)));
}

const endedWithin = (position: KnownPosition, { from, to }: Window): boolean =>
  hasEnded(position) && position.closed_at !== null && position.closed_at >= from && position.closed_at <= to;

/** wallets/pnl-breakdown: positions that ended in the window. Throws not_found for a wallet that never traded, empty_result when nothing ended in the window. */
export const walletsPnlBreakdown: Resolver<unknown, BreakdownArgs> = async (_, args, context) => {
  const window = windowOf(args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  const rows = await listPositionsAsOf(context.sql, { wallets: [args.wallet] }, context.now);
  if (!rows.some(({ trades }) => trades > 0)) throw unknownWallet(args.wallet);
  const all = (await loadKnown(rows.filter(isPosition), context)).filter(({ category }) => !args.category || category === args.category);
  const ended = all.filter((position) => endedWithin(position, window));
  const open = all.filter((position) => !hasEnded(position));
  if (ended.length === 0 && !(args.include_open && open.length > 0)) throw emptyBreakdown(all, args, context.now);
  await nameRun(context);
  const figures = figuresOf(ended);
  const shown = ranked([...ended, ...(args.include_open ? open : [])], args.sort_by).slice(0, args.limit);
  const byGain = ranked(ended, 'pnl');
  context.meta.count = shown.length;
  return {
    wallet: args.wallet,
    total_realized_pnl: figures.pnl,
    realized_pnl_open_usdc: await bookedSince(context, open, window.from),
    total_positions: ended.length,
    winning_positions: ended.filter(({ gain }) => Number(gain) > 0).length,
    losing_positions: ended.filter(({ gain }) => Number(gain) < 0).length,
    best_trade: byGain[0] === undefined ? null : positionRecord(byGain[0]),
    worst_trade: byGain.length === 0 ? null : positionRecord(byGain.at(-1) as KnownPosition),
    positions: shown.map(positionRecord),
    win_rate: figures.win_rate,
    roi_pct: figures.roi_pct,
    profit_factor: figures.profit_factor,
    by_category: byCategory(ended),
    largest_event_share: topEventShare(ended, context.now),
    voided_positions: ended.filter(({ status }) => status === 'voided').length,
  };
};

function emptyBreakdown(all: readonly KnownPosition[], args: BreakdownArgs, now: Date): AppError {
  const newest = ranked(all.filter(hasEnded), 'closed_at')[0]?.closed_at;
  return new AppError('empty_result', {
    suggestion: newest ? { timeframe: timeframeWith(newest, now) } : args.include_open ? { timeframe: 'all' } : { include_open: true },
  });
}

/** By category, largest gain first. */
function byCategory(ended: readonly KnownPosition[]): { category: string; pnl: string; position_count: number; win_rate: number | null }[] {
  const categories = [...new Set(ended.map(({ category }) => category))].sort();
  const rows = categories.map((category) => {
    const own = ended.filter((position) => position.category === category);
    const figures: EndedFigures = figuresOf(own);
    return { category, pnl: figures.pnl, position_count: own.length, win_rate: figures.win_rate };
  });
  return rows.sort((a, b) => Number(b.pnl) - Number(a.pnl) || (a.category < b.category ? -1 : 1));
}
