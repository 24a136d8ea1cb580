import { AppError } from '../../../errors';
import { type Timeframe, previousWindow, windowOf } from '../../../lib/timeframe';
import type { Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { getPlatformTotals, getPlatformVolume, hasAnything } from '../queries/platform-stats';

/** platform/stats: totals of the venue in the window. Throws empty_result while the store holds nothing at all. */
export const platformStats: Resolver<unknown, { timeframe: Timeframe }> = async (_, { timeframe }, context) => {
  const window = windowOf(timeframe, context.now);
  const before = previousWindow(timeframe, context.now);
  const run = await context.loaders(makeLoaders).scoreRun();
  const [totals, previous] = await Promise.all([
    getPlatformTotals(context.sql, window, run?.day ?? null),
    before && getPlatformVolume(context.sql, before),
  ]);
  if (totals.total_trades === 0 && totals.active_traders === 0 && !(await hasAnything(context.sql, context.now)))
    throw new AppError('empty_result');
  Object.assign(context.meta, { timeframe, window, score_version: run?.version ?? null });
  const volume = Number(totals.total_volume_usdc);
  return {
    ...totals,
    timeframe,
    avg_trade_size_usdc: over(volume, totals.total_trades),
    volume_change_pct: previous === null ? null : percent(volume - Number(previous), Number(previous)),
    smart_volume_pct: percent(Number(totals.smart_volume_usdc), volume),
    bot_volume_pct: percent(Number(totals.bot_volume_usdc), volume),
  };
};

const over = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

const percent = (part: number, whole: number): number | null => (whole === 0 ? null : (100 * part) / whole);
