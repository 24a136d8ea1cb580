import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { type RowPosition, type TradeRow, listRows, rowsStatement } from './trade-row';

/** Which rows of one wallet. */
export interface WalletTradesFilter {
  wallet: string;
  window: Window;
  sides: readonly string[];
  min_usdc: number;
  condition_id: string | null;
  category: string | null;
}

/** The whole filtered window, exact decimal texts. */
export interface WalletTradesTotals {
  rows: number;
  trade_count: number;
  buy_volume: string;
  sell_volume: string;
  redeem_volume: string;
  markets_traded: number;
  largest_trade_usdc: string | null;
  most_traded_category: string | null;
}

const where = ({ condition_id, category }: WalletTradesFilter): string =>
  `wallet = $1 AND "timestamp" >= $2 AND "timestamp" < $3 AND side = ANY($4) AND usdc_size >= $5::numeric` +
  `${condition_id === null ? '' : ' AND condition_id = $6'}` +
  `${category === null ? '' : ` AND condition_id IN (SELECT condition_id FROM pm_market WHERE category = $${condition_id === null ? 6 : 7})`}`;

const valuesOf = ({ wallet, window, sides, min_usdc, condition_id, category }: WalletTradesFilter): unknown[] => [
  wallet,
  window.from,
  window.to,
  sides,
  String(min_usdc),
  ...(condition_id === null ? [] : [condition_id]),
  ...(category === null ? [] : [category]),
];

const shapeOf = ({ condition_id, category }: WalletTradesFilter): string =>
  `${condition_id === null ? '' : '_market'}${category === null ? '' : '_category'}`;

/** At most `limit` rows of the wallet behind `after`, newest first. */
export function listWalletTrades(sql: Sql, filter: WalletTradesFilter, after: RowPosition, limit: number): Promise<TradeRow[]> {
  const values = valuesOf(filter);
  const n = values.length;
  const statement = rowsStatement(
    `pm_wallet_trades${shapeOf(filter)}`,
    `FROM pm_trade WHERE ${where(filter)} AND ("timestamp", trade_id) < ($${n + 1}::timestamptz, $${n + 2}::uuid)
ORDER BY "timestamp" DESC, trade_id DESC LIMIT $${n + 3}`,
  );
  return listRows(sql, statement, [...values, after.timestamp, after.trade_id, limit]);
}

/** Figures of the whole filtered window. */
export async function getWalletTradesTotals(sql: Sql, filter: WalletTradesFilter): Promise<WalletTradesTotals> {
  const statement: Statement = {
    name: `pm_wallet_trades_totals${shapeOf(filter)}`,
    // Summed by market at once: of a busy wallet's rows nothing else is kept.
    text: `WITH market AS MATERIALIZED (
  SELECT condition_id, count(*) AS rows, count(*) FILTER (WHERE side <> 'REDEEM') AS trades, max(usdc_size) FILTER (WHERE side <> 'REDEEM') AS largest,
    sum(usdc_size) FILTER (WHERE side = 'BUY') AS bought, sum(usdc_size) FILTER (WHERE side = 'SELL') AS sold, sum(usdc_size) FILTER (WHERE side = 'REDEEM') AS redeemed
  FROM pm_trade WHERE ${where(filter)} GROUP BY condition_id
)
SELECT COALESCE(sum(rows), 0)::int AS rows, COALESCE(sum(trades), 0)::int AS trade_count, COALESCE(sum(bought), 0) AS buy_volume, COALESCE(sum(sold), 0) AS sell_volume,
  COALESCE(sum(redeemed), 0) AS redeem_volume, count(*) FILTER (WHERE trades > 0)::int AS markets_traded, max(largest) AS largest_trade_usdc,
  (SELECT category FROM market AS traded JOIN pm_market USING (condition_id) WHERE trades > 0 GROUP BY category ORDER BY sum(trades) DESC, category LIMIT 1) AS most_traded_category
FROM market`,
  };
  const [row] = await sql.query<WalletTradesTotals & Record<string, unknown>>(statement, valuesOf(filter));
  return row as WalletTradesTotals;
}
