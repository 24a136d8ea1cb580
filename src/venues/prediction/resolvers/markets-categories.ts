import { AppError } from '../../../errors';
import { CATEGORIES } from '../../../lib/category';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { changePercent, percent, total } from '../exact';
import { countActiveMarkets } from '../queries/active-markets';
import { hasAnything } from '../queries/platform-stats';
import { type VolumeScope, listTraders, listVolumes } from '../queries/volumes';
import { smartRule, windowsOnRecord } from './flows-scope';

/** markets/categories: all categories, with figures of the window unless they are not asked for. Throws empty_result while the store is empty. */
export const marketsCategories: Resolver<unknown, { include_stats: boolean; timeframe: Timeframe }> = async (
  _,
  { include_stats, timeframe },
  context,
) => {
  const [active, stats] = await Promise.all([
    countActiveMarkets(context.sql, context.now),
    include_stats ? loadStats(context, timeframe) : null,
  ]);
  if (active.size === 0 && !(await hasAnything(context.sql, context.now))) throw new AppError('empty_result');
  if (stats === null) context.meta.ineffective = { timeframe: 'include_stats=false' };
  return CATEGORIES.map((name) => ({ name, active_markets: active.get(name) ?? 0, ...stats?.(name) }));
};

async function loadStats(context: GraphContext, timeframe: Timeframe): Promise<(category: string) => Record<string, unknown>> {
  const windows = await windowsOnRecord(timeframe, context);
  Object.assign(context.meta, { timeframe, window: windows.window });
  const scope: VolumeScope = { cut: windows.cut, shift: 0, category: null, smart: null };
  const smart = await smartRule(context, windowOf(timeframe, context.now));
  const [rows, traders, wallets] = await Promise.all([
    listVolumes(context.sql, 'category', scope),
    listTraders(context.sql, 'category', scope),
    listTraders(context.sql, 'category', { ...scope, smart }),
  ]);
  const current = windows.previous === null ? 1 : 2;
  const volume = total(rows.filter((row) => row.part === current).map((row) => row.volume));
  return (category) => {
    const of = (part: number) => rows.find((row) => row.label === category && row.part === part);
    const period_volume = of(current)?.volume ?? '0';
    return {
      period_volume,
      period_trades: of(current)?.trades ?? 0,
      unique_traders: traders.find((row) => row.label === category)?.traders ?? 0,
      smart_wallets: wallets.find((row) => row.label === category)?.traders ?? 0,
      share_of_volume_pct: percent(period_volume, volume),
      volume_change_pct: changePercent(period_volume, windows.previous && (of(1)?.volume ?? '0')),
    };
  };
}
