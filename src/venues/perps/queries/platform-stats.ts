import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import { BEGINNING, type Timeframe } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { findSmartRun, isNewest, openWindow, spanUpToNow, warnUndirected, widerTimeframe, windowBefore } from './scope';
import { activeIn, smartActiveIn } from './active';
import { type SmartBy, smartBy, untoldRows } from './lives';
import { SPAN_NAMED, VOLUME, VOLUME_COLUMNS, matchRows, smartIn, smartRows, spanOf, sumsOf, volumeRows } from './span';

/** What was matched in a window. Figures are exact decimals as text. */
interface MarketRow {
  total_volume_usd: string;
  total_trades: number;
  active_traders: number;
  unique_coins: number;
  buy_volume_usd: string;
  sell_volume_usd: string;
  long_short_ratio: string | null;
  liquidation_volume_usd: string;
  volume_change_pct: string | null;
  /** Matches of which no recorded side says who took. */
  undirected: number;
}

/** What smart accounts did in it; null before the first score run. */
interface SmartRow {
  smart_wallet_count: number | null;
  smart_volume_usd: string | null;
}

export type PlatformStatsRow = MarketRow & SmartRow;

// $1 to $4: the window; $5 to $8: the equal window before.
const market = (keyed: boolean): Statement => ({
  name: 'perps_platform_stats',
  keyed,
  text: `
SELECT m.total_volume_usd, m.total_trades, (${activeIn()}) AS active_traders, m.unique_coins, m.buy_volume_usd, m.sell_volume_usd,
  m.buy_volume_usd / nullif(m.sell_volume_usd, 0) AS long_short_ratio, m.liquidation_volume_usd,
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
CROSS JOIN (SELECT sum(volume_usd) AS volume_usd FROM ${volumeRows(5)} r) p`,
});

const SMART_COLUMNS = [...VOLUME_COLUMNS, 'fills'] as const;

const byAccount = (by: SmartBy): string => `
SELECT CASE WHEN $5::date IS NOT NULL THEN count(*)::int END AS smart_wallet_count, CASE WHEN $5::date IS NOT NULL THEN coalesce(sum(volume), 0) END AS smart_volume_usd
FROM (
  SELECT trader, sum(${VOLUME}) AS volume
  FROM ${untoldRows(SMART_COLUMNS, by)} r WHERE ${SPAN_NAMED}
  GROUP BY trader HAVING sum(fills) > 0
) own`;

const TOLD = `
SELECT active.traders AS smart_wallet_count, sums.smart_volume_usd FROM (${smartActiveIn(smartIn('$5'))}) active
CROSS JOIN (SELECT coalesce(${sumsOf(VOLUME_COLUMNS)}, 0) AS smart_volume_usd FROM ${smartRows(VOLUME_COLUMNS, { day: '$5', is_told: true })} r) sums`;

// $1 to $4: the window; $5: day of the score run, null before the first.
const smart = (by: SmartBy, keyed: boolean): Statement => ({
  name: `perps_platform_smart_${by}`,
  keyed,
  text: by === 'told' ? TOLD : byAccount(by),
});

/** Totals of the venue over a window that ends now. Throws empty_result when nothing was traded in it: accounts may have been settled. */
export async function platformStats(
  { timeframe }: { timeframe: Timeframe },
  context: GraphContext,
): Promise<PlatformStatsRow & { timeframe: Timeframe }> {
  const window = openWindow(timeframe, context);
  const [before, { day, is_told }] = await Promise.all([windowBefore(timeframe, context), findSmartRun(context)]);
  const keyed = is_told && (await isNewest(context));
  const span = await spanUpToNow(window, context);
  const [[row], [ofSmart]] = await Promise.all([
    context.sql.query<MarketRow>(market(keyed), [...span, ...spanOf(before ?? { from: BEGINNING, to: BEGINNING })]),
    context.sql.query<SmartRow>(smart(smartBy(timeframe, is_told), keyed), [...span, day]),
  ]);
  if (row === undefined || ofSmart === undefined || row.total_trades === 0)
    throw new AppError('empty_result', { suggestion: widerTimeframe(timeframe) });
  warnUndirected(context, [row]);
  return { ...row, ...ofSmart, timeframe };
}
