import type { Sql } from '../../../db/sql';
import { activeMarkets } from './active-markets';
import { Parameters } from './parameters';
import { type Cut, type SmartRule, smartPieces } from './pieces';
import { SPIKE } from '../../../lib/spike';
import { longestGrain, marketPieces } from './taken-pieces';

/** What was traded on an active market in the last part of a cut, and in the parts before; exact decimal texts. */
export interface TrendingRow {
  condition_id: string;
  buy_usdc: string;
  sell_usdc: string;
  volume: string;
  trades: number;
  /** Of the part just before. */
  previous: string;
  /** Volume against the mean of the earlier parts since the market's first fill; null where they are too few. */
  spike: number | null;
}

export type TrendingOrder = 'volume' | 'volume_spike' | 'trade_count' | 'smart_money_inflow';

/** Which active markets, of a category or all, and how many. */
export interface TrendingScope {
  category: string | null;
  order: TrendingOrder;
  limit: number;
  /** Whose net flow in the last part is the smart inflow. */
  smart: { cut: Cut; rule: SmartRule };
}

const KEYS: Record<TrendingOrder, string> = {
  volume: 'volume DESC',
  volume_spike: 'spike DESC NULLS LAST',
  trade_count: 'trades DESC',
  smart_money_inflow: 'COALESCE(inflow.net_usdc, 0) DESC',
};

/** The first active markets of those that were traded in the last part of the cut, ties by volume and id. */
export function listTrending(sql: Sql, cut: Cut, { category, order, limit, smart }: TrendingScope, now: Date): Promise<TrendingRow[]> {
  const parameters = new Parameters();
  // The parts before the last two are read as one.
  const bounds = cut.bounds.length < 4 ? cut.bounds : [cut.bounds[0] as Date, ...cut.bounds.slice(-3)];
  const last = bounds.length - 1;
  const grain = longestGrain(bounds);
  const pieces = marketPieces(bounds, grain, parameters);
  const [instant, begins] = [parameters.add(now, 'timestamptz'), parameters.add(cut.bounds, 'timestamptz[]')];
  const active = activeMarkets(instant, category && parameters.add(category, 'text'));
  const chosen = 'SELECT condition_id FROM active';
  const inflow =
    order !== 'smart_money_inflow'
      ? ''
      : `LEFT JOIN (SELECT condition_id, sum(buy_usdc) - sum(sell_usdc) AS net_usdc
  FROM (${smartPieces(smart.cut, smart.rule, parameters, 'true', chosen)}) AS piece GROUP BY 1) AS inflow USING (condition_id)`;
  // The planner guesses them far too few: as a truth value they are hashed, as a join they would be searched through for each row.
  const text = `WITH active AS MATERIALIZED (${active}), traded AS (
  SELECT condition_id, COALESCE(sum(buy_usdc) FILTER (WHERE part = ${last}), 0) AS buy_usdc, COALESCE(sum(sell_usdc) FILTER (WHERE part = ${last}), 0) AS sell_usdc,
    COALESCE(sum(buys + sells) FILTER (WHERE part = ${last}), 0)::int AS trades, COALESCE(sum(buy_usdc + sell_usdc) FILTER (WHERE part = ${last - 1}), 0) AS previous,
    COALESCE(sum(buy_usdc + sell_usdc) FILTER (WHERE part < ${last}), 0) AS earlier
  FROM (${pieces}) AS piece WHERE (condition_id IN (${chosen})) IS TRUE GROUP BY condition_id HAVING sum(buys + sells) FILTER (WHERE part = ${last}) > 0
), aged AS (
  SELECT traded.*, buy_usdc + sell_usdc AS volume,
    ${cut.bounds.length - 1} - GREATEST(1, width_bucket((SELECT kept.first_at FROM pm_market_total AS kept WHERE kept.condition_id = traded.condition_id), ${begins})) AS parts_before
  FROM traded
), spiked AS (
  SELECT condition_id, buy_usdc, sell_usdc, volume, trades, previous,
    CASE WHEN parts_before >= ${SPIKE.fewest} THEN (volume::float8 + ${SPIKE.usd}) / (earlier::float8 / parts_before + ${SPIKE.usd}) END AS spike FROM aged
)
SELECT spiked.* FROM spiked ${inflow} ORDER BY ${KEYS[order]}, volume DESC, condition_id COLLATE "C" LIMIT ${parameters.add(limit, 'int')}`;
  const name = `pm_trending_${order}_${cut.bounds.length}_${grain}${category === null ? '' : '_category'}`;
  return sql.query<TrendingRow & Record<string, unknown>>({ name, text }, parameters.values);
}
