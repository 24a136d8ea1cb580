import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { SMART_SCORE } from '../scoring/tiers';
import { ROW_COLUMNS, type RowPosition, type TradeRow, smartWallets } from './trade-row';

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

// Ordered by the primary key read backwards.
const where = (
  smart: boolean,
): string => `condition_id = $1 AND "timestamp" >= $2 AND "timestamp" < $3 AND side = ANY($4) AND usdc_size >= $5::numeric
  AND ($6::text IS NULL OR token_id = $6)${smart ? ` AND wallet IN (${smartWallets('$7', SMART_SCORE)})` : ''}`;

const page = (smart: boolean): Statement => {
  const n = smart ? 7 : 6;
  return {
    name: smart ? 'pm_market_trades_smart' : 'pm_market_trades',
    text: `SELECT ${ROW_COLUMNS} FROM pm_trade WHERE ${where(smart)} AND ("timestamp", trade_id) < ($${n + 1}::timestamptz, $${n + 2}::uuid)
ORDER BY "timestamp" DESC, trade_id DESC LIMIT $${n + 3}`,
  };
};

// A match is counted once, by its taker; wallets' own rows (smart money, redemptions) count as they are.
const totals = (smart: boolean): Statement => ({
  name: smart ? 'pm_market_trades_totals_smart' : 'pm_market_trades_totals',
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
  return sql.query<TradeRow>(PAGE[variant(filter)], [...valuesOf(filter), after.timestamp, after.trade_id, limit]);
}

/** Figures of the whole filtered window. */
export async function getMarketTradesTotals(sql: Sql, filter: MarketTradesFilter): Promise<MarketTradesTotals> {
  const [row] = await sql.query<MarketTradesTotals & Record<string, unknown>>(TOTALS[variant(filter)], valuesOf(filter));
  return row as MarketTradesTotals;
}
