import { AppError } from '../../../errors';
import { type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { over, percent } from '../exact';
import { makeLoaders } from '../loaders';
import { type PlatformTotals, getPlatformTotals, getTaken, hasAnything } from '../queries/platform-stats';
import { findToldTotals } from '../queries/platform-told';
import { windowBefore } from './flows-scope';

/** platform/stats: totals of the venue in the window. Throws empty_result while the store holds nothing at all. */
export const platformStats: Resolver<unknown, { timeframe: Timeframe }> = async (_, { timeframe }, context) => {
  const window = windowOf(timeframe, context.now);
  const [before, run] = await Promise.all([windowBefore(timeframe, context), context.loaders(makeLoaders).scoreRun()]);
  const [totals, previous] = await Promise.all([totalsOf(context, window, run?.day ?? null), before && getTaken(context.sql, before)]);
  if (totals.total_trades === 0 && totals.active_traders === 0 && !(await hasAnything(context.sql, context.now)))
    throw new AppError('empty_result');
  Object.assign(context.meta, { timeframe, window, score_version: run?.version ?? null });
  const volume = Number(totals.total_volume_usdc);
  return {
    ...totals,
    timeframe,
    avg_trade_size_usdc: over(volume, totals.total_trades),
    volume_change_pct: previous === null ? null : percent(volume - Number(previous.volume), Number(previous.volume)),
    smart_volume_pct: percent(Number(totals.smart_volume_usdc), volume),
    bot_volume_pct: percent(Number(totals.bot_volume_usdc), volume),
  };
};

/** Totals from what is told of the window, else from its facts. */
async function totalsOf({ sql }: GraphContext, window: Window, score_day: string | null): Promise<PlatformTotals> {
  const [told, taken] = await Promise.all([findToldTotals(sql, window, score_day), getTaken(sql, window)]);
  if (told === null) return getPlatformTotals(sql, window, score_day);
  return { ...told, total_volume_usdc: taken.volume, total_trades: taken.trades };
}
