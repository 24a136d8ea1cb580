import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import type { WalletsScope } from './known-positions';
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
    // Of one market or category there are several ways, and which is short depends on the wallet.
    filter.condition_id === null && filter.category === null,
  );
  return listRows(sql, statement, [...values, after.timestamp, after.trade_id, limit]);
}

/** Of so many of a wallet's outcomes, those on which it moved most, the fills are looked through for its largest. */
const SEARCHED = 100;

// No fill is larger than all that was bought, or sold, with it: past the outcomes searched none can be larger than the least of these moved.
const LIFE: Statement = {
  name: 'pm_wallet_life_totals',
  text: `WITH own AS MATERIALIZED (
  SELECT position.condition_id, category, trades, buy_usdc, sell_usdc, GREATEST(buy_usdc, sell_usdc) AS moved
  FROM (${positionsSql('$2', '$3', 'wallet = ANY ($1) AND trades > 0')}) AS position LEFT JOIN (SELECT condition_id, category FROM pm_market) AS market ON market.condition_id = position.condition_id
), searched AS MATERIALIZED (
  SELECT condition_id, moved FROM own ORDER BY moved DESC LIMIT $4
), largest AS MATERIALIZED (
  SELECT max(usdc_size) AS usdc FROM pm_trade
  WHERE wallet = ANY ($1) AND condition_id = ANY (ARRAY(SELECT condition_id FROM searched)) AND "timestamp" < $2 AND side IN ('BUY', 'SELL')
), redeemed AS (
  SELECT count(*) AS rows, COALESCE(sum(usdc_size), 0) AS volume FROM pm_trade WHERE wallet = ANY ($1) AND "timestamp" < $2 AND side = 'REDEEM'
), traded AS (
  SELECT count(*) AS positions, COALESCE(sum(trades), 0) AS trades, COALESCE(sum(buy_usdc), 0) AS bought, COALESCE(sum(sell_usdc), 0) AS sold, count(DISTINCT hashtextextended(condition_id, 0)) AS markets FROM own
)
SELECT (trades + redeemed.rows)::int AS rows, trades::int AS trade_count, bought AS buy_volume, sold AS sell_volume, redeemed.volume AS redeem_volume, markets::int AS markets_traded,
  largest.usdc AS largest_trade_usdc, (SELECT category FROM own WHERE category IS NOT NULL GROUP BY category ORDER BY sum(trades) DESC, category LIMIT 1) AS most_traded_category,
  positions <= $4 OR largest.usdc >= (SELECT min(moved) FROM searched) AS is_sure
FROM traded, redeemed, largest`,
};

/** The same figures of every row of a wallet, from its positions; null where they do not tell which fill is the largest. */
export async function findLifeTotals(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  searched = SEARCHED,
): Promise<WalletTradesTotals | null> {
  const [row] = await sql.query<WalletTradesTotals & { is_sure: boolean }>(LIFE, [wallets, now, overlay, searched]);
  if (row === undefined || !row.is_sure) return null;
  const { is_sure: _, ...totals } = row;
  return totals;
}

/** All that a wallet ever did: figures of its rows, and what its positions gained. */
export interface ToldLife extends WalletTradesTotals {
  realized_pnl: string;
  new_positions: number;
  closed_positions: number;
}

// A position that was never bought gained nothing.
const TOLD_LIFE: Statement = {
  name: 'pm_told_life',
  keyed: true,
  text: `SELECT trade_count + redeems AS rows, trade_count, buy_volume, sell_volume, redeem_volume, markets_traded, largest_trade_usdc, most_traded_category,
  own.gain AS realized_pnl, figures.held AS new_positions, figures.ended AS closed_positions
FROM pm_told_life AS life JOIN pm_told_wallet AS own ON own.wallet = life.wallet JOIN pm_told_figures AS figures ON figures.wallet = life.wallet AND figures.category = ''
WHERE life.wallet = $1 AND life.last_at < $2 AND own.last_at < $2`,
};

/** What is told of all that a wallet did before `now`; null where something happened to it since it was told. */
export async function findToldLife(sql: Sql, wallet: string, now: Date): Promise<ToldLife | null> {
  const [life] = await sql.query<ToldLife>(TOLD_LIFE, [wallet, now]);
  return life ?? null;
}

/** Figures of the whole filtered window. */
export async function getWalletTradesTotals(sql: Sql, filter: WalletTradesFilter): Promise<WalletTradesTotals> {
  const statement: Statement = {
    name: `pm_wallet_trades_totals${shapeOf(filter)}`,
    keyed: filter.category === null,
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
  const [row] = await sql.query<WalletTradesTotals>(statement, valuesOf(filter));
  return row as WalletTradesTotals;
}
