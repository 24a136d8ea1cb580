import type { Sql } from '../../../db/sql';
import { activeAt } from './active-markets';
import { Parameters } from './parameters';
import type { Cut } from './pieces';
import { marketPieces } from './taken-pieces';

/** What was traded on an active market in the last part of a cut, and in the parts before; exact decimal texts. */
export interface TrendingRow {
  condition_id: string;
  buy_usdc: string;
  sell_usdc: string;
  volume: string;
  trades: number;
  /** Of the part just before; of all parts before. */
  previous: string;
  earlier: string;
  /** Parts before the last in which the market had been traded already. */
  parts_before: number;
}

/** Active markets that were traded in the last part of the cut, in no order. */
export function listTrending(sql: Sql, cut: Cut, category: string | null, now: Date): Promise<TrendingRow[]> {
  const parameters = new Parameters();
  // The parts before the last two are read as one.
  const bounds = cut.bounds.length < 4 ? cut.bounds : [cut.bounds[0] as Date, ...cut.bounds.slice(-3)];
  const last = bounds.length - 1;
  const pieces = marketPieces(bounds, 'day', parameters);
  const [instant, begins] = [parameters.add(now, 'timestamptz'), parameters.add(cut.bounds, 'timestamptz[]')];
  const only = category === null ? '' : ` AND market.category = ${parameters.add(category, 'text')}`;
  const text = `WITH traded AS (
  SELECT condition_id, COALESCE(sum(buy_usdc) FILTER (WHERE part = ${last}), 0) AS buy_usdc, COALESCE(sum(sell_usdc) FILTER (WHERE part = ${last}), 0) AS sell_usdc,
    COALESCE(sum(buys + sells) FILTER (WHERE part = ${last}), 0)::int AS trades, COALESCE(sum(buy_usdc + sell_usdc) FILTER (WHERE part = ${last - 1}), 0) AS previous,
    COALESCE(sum(buy_usdc + sell_usdc) FILTER (WHERE part < ${last}), 0) AS earlier
  FROM (${pieces}) AS piece GROUP BY condition_id HAVING sum(buys + sells) FILTER (WHERE part = ${last}) > 0
)
SELECT traded.condition_id, buy_usdc, sell_usdc, buy_usdc + sell_usdc AS volume, trades, previous, earlier,
  ${cut.bounds.length - 1} - GREATEST(1, width_bucket((SELECT min(kept.first_at) FROM pm_market_day AS kept WHERE kept.condition_id = traded.condition_id), ${begins})) AS parts_before
FROM traded JOIN pm_market AS market USING (condition_id) WHERE ${activeAt('market', instant)}${only}`;
  return sql.query<TrendingRow & Record<string, unknown>>(
    { name: `pm_trending_${cut.bounds.length}${category === null ? '' : '_category'}`, text },
    parameters.values,
  );
}
