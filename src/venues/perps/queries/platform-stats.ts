import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import { BEGINNING, type Timeframe, previousWindow } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { findSmartRun, isNewest, openWindow, spanUpToNow, warnUndirected, widerTimeframe } from './scope';
import { activeIn, smartActiveIn } from './active';
import { scoredLives } from './lives';
import { VOLUME, VOLUME_COLUMNS, matchRows, scoredRows, smartIn, smartRows, spanOf, sumsOf, volumeRows } from './span';

/** Totals of a window. Figures are exact decimals as text. */
export interface PlatformStatsRow {
  total_volume_usd: string;
  total_trades: number;
  active_traders: number;
  smart_wallet_count: number | null;
  unique_coins: number;
  buy_volume_usd: string;
  sell_volume_usd: string;
  long_short_ratio: string | null;
  smart_volume_usd: string | null;
  liquidation_volume_usd: string;
  volume_change_pct: string | null;
  /** Matches of which no recorded side says who took. */
  undirected: number;
}

const SMART_COLUMNS = [...VOLUME_COLUMNS, 'fills'] as const;

const smartByAccount = (life: boolean): string => `
  SELECT CASE WHEN $9::date IS NOT NULL THEN count(*)::int END AS smart_wallet_count, CASE WHEN $9::date IS NOT NULL THEN coalesce(sum(volume), 0) END AS smart_volume_usd
  FROM (
    SELECT trader, sum(${VOLUME}) AS volume
    FROM ${life ? scoredLives(SMART_COLUMNS, { ...smartIn('$9'), is_told: false }, {}, '$4') : scoredRows(SMART_COLUMNS, { ...smartIn('$9'), is_told: false })} r GROUP BY trader HAVING sum(fills) > 0
  ) own`;

const SMART_TOLD = `
  SELECT active.traders AS smart_wallet_count, sums.smart_volume_usd FROM (${smartActiveIn(smartIn('$9'))}) active
  CROSS JOIN (SELECT coalesce(${sumsOf(VOLUME_COLUMNS)}, 0) AS smart_volume_usd FROM ${smartRows(VOLUME_COLUMNS, { day: '$9', is_told: true })} r) sums`;

/** What tells smart accounts: sums over them all, or what each did, in its life or in the window. */
type By = 'told' | 'life' | 'window';

// $1 to $4: the window; $5 to $8: the equal window before; $9: day of the score run, null before the first.
const statement = (by: By, keyed: boolean): Statement => ({
  name: `perps_platform_stats_${by}`,
  keyed,
  text: `
SELECT m.total_volume_usd, m.total_trades, (${activeIn()}) AS active_traders, smart.smart_wallet_count, m.unique_coins, m.buy_volume_usd, m.sell_volume_usd,
  m.buy_volume_usd / nullif(m.sell_volume_usd, 0) AS long_short_ratio, smart.smart_volume_usd, m.liquidation_volume_usd,
  100 * (m.total_volume_usd - p.volume_usd) / nullif(p.volume_usd, 0) AS volume_change_pct, m.undirected
FROM (
  SELECT coalesce(sum(volume), 0) AS total_volume_usd, coalesce(sum(matches), 0)::int AS total_trades, count(*)::int AS unique_coins,
    coalesce(sum(bought), 0) AS buy_volume_usd, coalesce(sum(sold), 0) AS sell_volume_usd,
    coalesce(sum(liquidated), 0) AS liquidation_volume_usd, coalesce(sum(undirected), 0)::int AS undirected
  FROM (
    SELECT coin, sum(volume_usd) AS volume, sum(matches) AS matches, sum(bought_usd) AS bought, sum(sold_usd) AS sold,
      sum(liquidated_usd) AS liquidated, sum(undirected) AS undirected
    FROM ${matchRows(['volume_usd', 'matches', 'bought_usd', 'sold_usd', 'liquidated_usd', 'undirected'])} r GROUP BY coin
  ) by_coin
) m
CROSS JOIN (SELECT sum(volume_usd) AS volume_usd FROM ${volumeRows(5)} r) p
CROSS JOIN (${by === 'told' ? SMART_TOLD : smartByAccount(by === 'life')}) smart`,
});

/** Totals of the venue over a window that ends now. Throws empty_result when nothing was traded in it: accounts may have been settled. */
export async function platformStats(
  { timeframe }: { timeframe: Timeframe },
  context: GraphContext,
): Promise<PlatformStatsRow & { timeframe: Timeframe }> {
  const window = openWindow(timeframe, context);
  const before = previousWindow(timeframe, context.now) ?? { from: BEGINNING, to: BEGINNING };
  const { day, is_told } = await findSmartRun(context);
  const untold = timeframe === 'all' ? 'life' : 'window';
  const [row] = await context.sql.query<PlatformStatsRow>(statement(is_told ? 'told' : untold, is_told && (await isNewest(context))), [
    ...(await spanUpToNow(window, context)),
    ...spanOf(before),
    day,
  ]);
  if (row === undefined || row.total_trades === 0) throw new AppError('empty_result', { suggestion: widerTimeframe(timeframe) });
  warnUndirected(context, [row]);
  return { ...row, timeframe };
}
