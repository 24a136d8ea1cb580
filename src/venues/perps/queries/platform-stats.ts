import type { QueryResultRow } from 'pg';
import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import { BEGINNING, type Timeframe, lengthOf, previousWindow, windowOf } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';

/** Totals of a window. Figures are exact decimals as text. */
export interface PlatformStatsRow extends QueryResultRow {
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

// $1, $2: the window; $3, $4: the equal window before; $5: smart traders, null before the first score run.
const PLATFORM_STATS: Statement = {
  name: 'perps_platform_stats',
  text: `
SELECT m.total_volume_usd, m.total_trades, t.active_traders, t.smart_wallet_count, m.unique_coins, m.buy_volume_usd, m.sell_volume_usd,
  m.buy_volume_usd / nullif(m.sell_volume_usd, 0) AS long_short_ratio, t.smart_volume_usd, m.liquidation_volume_usd,
  100 * (m.total_volume_usd - p.volume_usd) / nullif(p.volume_usd, 0) AS volume_change_pct, m.undirected
FROM (
  SELECT coalesce(sum(volume), 0) AS total_volume_usd, coalesce(sum(matches), 0)::int AS total_trades, count(*)::int AS unique_coins,
    coalesce(sum(bought), 0) AS buy_volume_usd, coalesce(sum(sold), 0) AS sell_volume_usd,
    coalesce(sum(liquidated), 0) AS liquidation_volume_usd, coalesce(sum(undirected), 0)::int AS undirected
  FROM (
    SELECT coin, sum(usd_value) AS volume, count(*) AS matches, sum(usd_value) FILTER (WHERE taker_is_buy) AS bought,
      sum(usd_value) FILTER (WHERE NOT taker_is_buy) AS sold, sum(usd_value) FILTER (WHERE is_liquidation) AS liquidated,
      count(*) FILTER (WHERE taker_is_buy IS NULL) AS undirected
    FROM perp_match WHERE timestamp >= $1 AND timestamp < $2 GROUP BY coin
  ) by_coin
) m
CROSS JOIN (SELECT sum(usd_value) AS volume_usd FROM perp_match WHERE timestamp >= $3 AND timestamp < $4) p
CROSS JOIN (
  SELECT count(*)::int AS active_traders,
    CASE WHEN $5::text[] IS NULL THEN NULL ELSE count(smart.trader) END::int AS smart_wallet_count,
    CASE WHEN $5::text[] IS NULL THEN NULL ELSE coalesce(sum(own.volume) FILTER (WHERE smart.trader IS NOT NULL), 0) END AS smart_volume_usd
  FROM (SELECT trader, sum(usd_value) AS volume FROM perp_fill WHERE timestamp >= $1 AND timestamp < $2 GROUP BY trader) own
  LEFT JOIN (SELECT unnest($5::text[]) AS trader) smart ON smart.trader = own.trader
) t`,
};

/** Totals of the venue over a window that ends now. Throws empty_result when nothing was filled in it. */
export async function platformStats(
  { timeframe }: { timeframe: Timeframe },
  context: GraphContext,
): Promise<PlatformStatsRow & { timeframe: Timeframe }> {
  const window = windowOf(timeframe, context.now);
  const before = previousWindow(timeframe, context.now) ?? { from: BEGINNING, to: BEGINNING };
  Object.assign(context.meta, { timeframe, window });
  const smart = await context.loaders(makeLoaders).smartTraders();
  const [row] = await context.sql.query<PlatformStatsRow>(PLATFORM_STATS, [window.from, window.to, before.from, before.to, smart]);
  if (row === undefined || row.active_traders === 0) {
    throw new AppError('empty_result', {
      suggestion: timeframe === 'all' ? undefined : { timeframe: lengthOf(timeframe) < lengthOf('7d') ? '7d' : 'all' },
    });
  }
  if (row.undirected > 0)
    context.meta.warnings.push(`${row.undirected} matches do not say which side took; they count in volume, not in buys and sells`);
  return { ...row, timeframe };
}
