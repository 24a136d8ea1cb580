import type { Sql, Statement } from '../../../db/sql';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import { SMART_SCORE } from '../scoring/tiers';
import { Parameters } from './parameters';
import { marketPieces } from './taken-pieces';
import { type RowPosition, type TradeRow, listRows, rowsStatement, smartWallets } from './trade-row';

/** Which rows of one market. */
export interface MarketTradesFilter {
  condition_id: string;
  window: Window;
  sides: readonly string[];
  min_usdc: number;
  token_id: string | null;
  /** Day of the score run whose smart wallets are kept; undefined: all wallets; null: there is no run, so nobody. */
  smart_day?: string | null;
}

/** The whole filtered window. */
export interface MarketTradesTotals {
  rows: number;
  trade_count: number;
  total_volume: string;
}

// Ordered by the primary key read backwards. Whether smart wallets or the market's rows are fewer depends on both.
const where = (
  smart: boolean,
): string => `condition_id = $1 AND "timestamp" >= $2 AND "timestamp" < $3 AND side = ANY($4) AND usdc_size >= $5::numeric
  AND ($6::text IS NULL OR token_id = $6)${smart ? ` AND wallet IN (${smartWallets('$7', SMART_SCORE)})` : ''}`;

const page = (smart: boolean): Statement => {
  const n = smart ? 7 : 6;
  return rowsStatement(
    smart ? 'pm_market_trades_smart' : 'pm_market_trades',
    `FROM pm_trade WHERE ${where(smart)} AND ("timestamp", trade_id) < ($${n + 1}::timestamptz, $${n + 2}::uuid)
ORDER BY "timestamp" DESC, trade_id DESC LIMIT $${n + 3}`,
    !smart,
  );
};

// A match is counted once, by its taker; wallets' own rows (smart money, redemptions) count as they are.
const totals = (smart: boolean): Statement => ({
  name: smart ? 'pm_market_trades_totals_smart' : 'pm_market_trades_totals',
  keyed: !smart,
  text: `SELECT count(*)::int AS rows, count(*) FILTER (WHERE counted)::int AS trade_count, COALESCE(sum(usdc_size) FILTER (WHERE counted), 0) AS total_volume
FROM (SELECT usdc_size, ${smart ? 'true' : "(is_taker OR side = 'REDEEM')"} AS counted FROM pm_trade WHERE ${where(smart)}) AS chosen`,
});

const PAGE = { all: page(false), smart: page(true) };
const TOTALS = { all: totals(false), smart: totals(true) };

function valuesOf(filter: MarketTradesFilter): unknown[] {
  const { condition_id, window, sides, min_usdc, token_id, smart_day } = filter;
  return [condition_id, window.from, window.to, sides, String(min_usdc), token_id, ...(smart_day === undefined ? [] : [smart_day])];
}

const variant = (filter: MarketTradesFilter): 'all' | 'smart' => (filter.smart_day === undefined ? 'all' : 'smart');

/** At most `limit` rows behind `after`, newest first. */
export function listMarketTrades(sql: Sql, filter: MarketTradesFilter, after: RowPosition, limit: number): Promise<TradeRow[]> {
  return listRows(sql, PAGE[variant(filter)], [...valuesOf(filter), after.timestamp, after.trade_id, limit]);
}

/** Of all fills of a market, ever until the end of the window: from its sums. */
async function getLifeTotals(sql: Sql, { condition_id, window }: MarketTradesFilter): Promise<MarketTradesTotals> {
  const parameters = new Parameters();
  const own = `condition_id = ${parameters.add(condition_id, 'text')}`;
  const pieces = marketPieces([BEGINNING, window.to], 'life', parameters, own, 'all');
  const text = `SELECT COALESCE(sum(fills), 0)::int AS rows, COALESCE(sum(buys + sells), 0)::int AS trade_count, COALESCE(sum(buy_usdc + sell_usdc), 0) AS total_volume FROM (${pieces}) AS piece`;
  const statement: Statement = { name: 'pm_market_life_totals', keyed: true, text };
  const [row] = await sql.query<MarketTradesTotals>(statement, parameters.values);
  return row as MarketTradesTotals;
}

/** Figures of the whole filtered window. */
export async function getMarketTradesTotals(sql: Sql, filter: MarketTradesFilter): Promise<MarketTradesTotals> {
  const { window, sides, min_usdc, token_id, smart_day } = filter;
  const are_all_fills = sides.includes('BUY') && sides.includes('SELL') && min_usdc === 0 && token_id === null && smart_day === undefined;
  if (are_all_fills && window.from <= BEGINNING) return getLifeTotals(sql, filter);
  const [row] = await sql.query<MarketTradesTotals>(TOTALS[variant(filter)], valuesOf(filter));
  return row as MarketTradesTotals;
}
