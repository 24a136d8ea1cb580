import type { Sql } from '../../../db/sql';
import { activeMarkets } from './active-markets';
import { Parameters } from './parameters';
import { type Cut, type SmartRule, smartPieces } from './pieces';
import { SPIKE } from '../../../lib/spike';
import { longestGrain, marketPieces } from './taken-pieces';

/** What was traded on an active market in the last part of a cut; exact decimal texts. */
export interface TrendingRow {
  condition_id: string;
  buy_usdc: string;
  sell_usdc: string;
  volume: string;
  trades: number;
}

/** What was traded on a market in the parts before the last one of a cut. */
export interface SpikeRow {
  condition_id: string;
  /** Of the part just before, exact decimal text. */
  previous: string;
  /** Volume of the last part against the mean of the earlier parts since the market's first fill; null where they are too few. */
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
  smart_money_inflow: 'net_usdc DESC',
};

/** The first active markets of those that were traded in the last part of the cut, ties by volume and id. */
export function listTrending(sql: Sql, cut: Cut, { category, order, limit, smart }: TrendingScope, now: Date): Promise<TrendingRow[]> {
  const parameters = new Parameters();
  const [instant, most] = [parameters.add(now, 'timestamptz'), parameters.add(limit, 'int')];
  const active = activeMarkets(instant, category && parameters.add(category, 'text'));
  const ranked = `ORDER BY ${KEYS[order]}, volume DESC, condition_id COLLATE "C" LIMIT ${most}`;
  // Earlier parts are only read of all where they choose.
  const spiked = order === 'volume_spike' ? spikedSql(cut, 'many', parameters) : 'SELECT * FROM measured';
  const text = `WITH active AS MATERIALIZED (${active}), traded AS (${tradedSql(cut, parameters)}
), measured AS ${order === 'volume_spike' ? 'MATERIALIZED ' : ''}(
  SELECT traded.*, buy_usdc + sell_usdc AS volume${order === 'smart_money_inflow' ? ', COALESCE(inflow.net_usdc, 0) AS net_usdc' : ''} FROM traded ${order === 'smart_money_inflow' ? inflowSql(smart, parameters) : ''}
)
SELECT condition_id, buy_usdc, sell_usdc, volume, trades FROM (${spiked}) AS ranked ${ranked}`;
  const grain = longestGrain(cut.bounds);
  const name = `pm_trending_${order}_${cut.bounds.length}_${grain}${category === null ? '' : '_category'}`;
  return sql.query<TrendingRow>({ name, text }, parameters.values);
}

/** What was traded before on the markets of these rows, in no order. The cut has parts before the last one. */
export function listSpikes(sql: Sql, cut: Cut, rows: readonly TrendingRow[]): Promise<SpikeRow[]> {
  const parameters = new Parameters();
  const ids = parameters.add(rows.map(({ condition_id }) => condition_id), 'text[]'); // prettier-ignore
  const volumes = parameters.add(rows.map(({ volume }) => volume), 'numeric[]'); // prettier-ignore
  const text = `WITH measured AS MATERIALIZED (SELECT * FROM unnest(${ids}, ${volumes}) AS asked(condition_id, volume))
SELECT condition_id, previous, spike FROM (${spikedSql(cut, 'few', parameters)}) AS spiked`;
  const name = `pm_spikes_${cut.bounds.length}_${longestGrain(cut.bounds)}`;
  return sql.query<SpikeRow>({ name, text }, parameters.values);
}

/** SQL of what was traded on active markets in the last part of the cut. */
function tradedSql({ bounds }: Cut, parameters: Parameters): string {
  const last = bounds.slice(-2);
  const grain = longestGrain(last);
  // The planner guesses the active ones far too few: as a truth value they are hashed, as a join they would be searched through for each row.
  const pieces = `(${marketPieces(last, grain, parameters)}) AS piece WHERE (condition_id IN (SELECT condition_id FROM active)) IS TRUE`;
  return grain === 'life'
    ? `SELECT condition_id, buy_usdc, sell_usdc, buys + sells AS trades FROM ${pieces} AND buys + sells > 0`
    : `SELECT condition_id, sum(buy_usdc) AS buy_usdc, sum(sell_usdc) AS sell_usdc, sum(buys + sells)::int AS trades FROM ${pieces} GROUP BY condition_id HAVING sum(buys + sells) > 0`;
}

/** SQL of a join of smart wallets' net flow on what was traded. */
const inflowSql = (
  { cut, rule }: TrendingScope['smart'],
  parameters: Parameters,
): string => `LEFT JOIN (SELECT condition_id, sum(buy_usdc) - sum(sell_usdc) AS net_usdc
  FROM (${smartPieces(cut, rule, parameters, 'true', 'SELECT condition_id FROM active')}) AS piece GROUP BY 1) AS inflow USING (condition_id)`;

/** SQL of the rows of `measured` (condition_id, volume, …) with what was traded before: of many, who are hashed, or of a few, who are looked up by key. */
function spikedSql({ bounds }: Cut, markets: 'many' | 'few', parameters: Parameters): string {
  if (bounds.length < 3) return 'SELECT *, 0::numeric AS previous, NULL::float8 AS spike FROM measured';
  // The parts before the last two are read as one.
  const before = [bounds[0], ...bounds.slice(bounds.length > 3 ? -3 : -2, -1)] as Date[];
  const among =
    markets === 'many'
      ? '(condition_id IN (SELECT condition_id FROM measured)) IS TRUE'
      : 'condition_id = ANY (ARRAY(SELECT condition_id FROM measured))';
  const pieces = marketPieces(before, longestGrain(before), parameters, among);
  const parts_before = `${bounds.length - 1} - GREATEST(1, width_bucket(born.first_at, ${parameters.add(bounds, 'timestamptz[]')}))`;
  return `SELECT aged.*, CASE WHEN parts_before >= ${SPIKE.fewest} THEN (volume::float8 + ${SPIKE.usd}) / (earlier::float8 / parts_before + ${SPIKE.usd}) END AS spike
  FROM (
    SELECT measured.*, COALESCE(past.previous, 0) AS previous, COALESCE(past.earlier, 0) AS earlier, ${parts_before} AS parts_before FROM measured
    LEFT JOIN (SELECT condition_id, sum(buy_usdc + sell_usdc) FILTER (WHERE part = ${before.length - 1}) AS previous, sum(buy_usdc + sell_usdc) AS earlier
      FROM (${pieces}) AS piece GROUP BY condition_id) AS past USING (condition_id)
    LEFT JOIN pm_market_total AS born ON born.condition_id = measured.condition_id
  ) AS aged`;
}
