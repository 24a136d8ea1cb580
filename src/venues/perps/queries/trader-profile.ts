import { AppError } from '../../../errors';
import { roundTo } from '../../../lib/statistics';
import type { GraphContext } from '../../venue';
import { sectionsOf } from '../../venue-sections';
import { makeLoaders } from '../loaders';
import { scoreTrader } from '../scoring/formula';
import { type FillRow, listFills } from './fills';
import { type PositionRow, listPositions } from './held';
import { checkTrader, openDays, widerDays } from './scope';
import { ALL_COINS, type TraderCoin, listCoins } from './trader-coins';
import { type TraderDay, listDays } from './trader-days';
import { type TraderStats, listStats } from './trader-stats';

export interface ProfileArgs {
  trader: string;
  days: number;
  trades_limit: number;
  explain: boolean;
}

export interface TraderDossier {
  trader: string;
  stats: TraderStats;
  coin_breakdown: TraderCoin[] | null;
  daily_pnl: TraderDay[] | null;
  recent_trades: FillRow[] | null;
  open_positions: PositionRow[] | null;
  round_trips: { count: number; avg_hold_minutes: number | null; avg_win_usd: string | null; avg_loss_usd: string | null } | null;
  score_breakdown: ScoreBreakdown | null;
}

interface ScoreBreakdown {
  trades: number;
  closing_trades: number;
  winning_trades: number;
  win_rate_lb: number | null;
  net_pnl: string;
  activity_points: number;
  accuracy_points: number;
  profit_points: number;
  caps: string[];
  date: string;
  version: string;
}

/**
 * What an account did in the UTC days that end today, and what it holds. Sections stand by themselves: one that fails is null and
 * named in the warnings, and the operator is told why; the figures must be there. Throws not_found, empty_result.
 */
export async function traderProfile(args: ProfileArgs, context: GraphContext): Promise<TraderDossier> {
  const { trader, days } = args;
  await checkTrader(context, trader);
  const window = openDays(days, context);
  const section = sectionsOf(context);
  const fills = { window, coin: null, min_usd: null, is_buy: null, opens: null, is_long: null, whose: { trader } };
  const [stats, coins, daily, trades, positions, breakdown] = await Promise.all([
    listStats(context, [trader], window),
    section('coin_breakdown', listCoins(context, [trader], window, 'pnl', ALL_COINS)),
    section('daily_pnl', listDays(context, [trader], window)),
    section('recent_trades', listFills(context.sql, fills, null, args.trades_limit)),
    section('open_positions', listPositions(context, [trader])),
    args.explain ? section('score_breakdown', explainScore(trader, context)) : null,
  ]);
  const own = stats.get(trader);
  if (own === undefined) throw new AppError('empty_result', { suggestion: widerDays(days) });
  context.meta.count = trades?.length ?? null;
  return {
    trader,
    stats: own,
    coin_breakdown: coins?.get(trader) ?? null,
    daily_pnl: daily?.get(trader) ?? null,
    recent_trades: trades,
    open_positions: positions?.get(trader) ?? null,
    round_trips: {
      count: own.closing_trades,
      avg_hold_minutes: own.avg_hold_minutes,
      avg_win_usd: own.avg_win_usd,
      avg_loss_usd: own.avg_loss_usd,
    },
    score_breakdown: breakdown,
  };
}

/** How the newest score came about; null for an account that was not looked at. */
async function explainScore(trader: string, context: GraphContext): Promise<ScoreBreakdown | null> {
  const row = await context.loaders(makeLoaders).score.load(trader);
  if (row === null) return null;
  const { trades, closing_trades, winning_trades, caps, version } = row;
  const points = scoreTrader({ trades, closing_trades, winning_trades, net_pnl: Number(row.net_pnl), largest_coin_day_pnl: 0 });
  return {
    trades,
    closing_trades,
    winning_trades,
    win_rate_lb: points.win_rate_lb,
    net_pnl: String(row.net_pnl),
    activity_points: roundTo(points.activity_points, 6),
    accuracy_points: roundTo(points.accuracy_points, 6),
    profit_points: roundTo(points.profit_points, 6),
    caps,
    date: row.day,
    version,
  };
}
