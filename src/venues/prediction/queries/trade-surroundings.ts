import type { Sql, Statement } from '../../../db/sql';
import type { TradeRow } from './trade-row';

const VOLUMES: Statement = {
  name: 'pm_volumes_before',
  text: `SELECT wanted.trade_id::text AS trade_id, sum(trade.usdc_size) AS figure
FROM unnest($1::uuid[], $2::text[], $3::timestamptz[]) AS wanted(trade_id, condition_id, at)
JOIN pm_trade AS trade ON trade.condition_id = wanted.condition_id AND trade."timestamp" > wanted.at - interval '24 hours' AND trade."timestamp" <= wanted.at
WHERE trade.is_taker GROUP BY wanted.trade_id`,
};

// pm_market stands between so that the lateral part runs beside its market's rows where the store is spread over machines.
const PRICES: Statement = {
  name: 'pm_prices_before',
  text: `SELECT wanted.trade_id::text AS trade_id, earlier.price AS figure
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[]) AS wanted(trade_id, condition_id, token_id, at)
JOIN pm_market AS market ON market.condition_id = wanted.condition_id
CROSS JOIN LATERAL (SELECT price FROM pm_trade AS trade WHERE trade.condition_id = market.condition_id AND trade.token_id = wanted.token_id
  AND trade."timestamp" < wanted.at AND trade.price IS NOT NULL ORDER BY trade."timestamp" DESC, trade.trade_id DESC LIMIT 1) AS earlier`,
};

interface Figure extends Record<string, unknown> {
  trade_id: string;
  figure: string;
}

const byTrade = (rows: Figure[]): Map<string, string> => new Map(rows.map((row) => [row.trade_id, row.figure]));

/** USDC taken on each row's market in the 24 hours up to the second of its newest fill, by trade_id. */
export async function listVolumesBefore(sql: Sql, rows: readonly TradeRow[]): Promise<Map<string, string>> {
  return byTrade(await sql.query<Figure>(VOLUMES, [rows.map((row) => row.trade_id), rows.map((row) => row.condition_id), rows.map((row) => row.timestamp)]));
}

/** Price of the newest fill of each row's token before the second of its oldest fill, by trade_id; none: absent. */
export async function listPricesBefore(sql: Sql, rows: readonly TradeRow[]): Promise<Map<string, string>> {
  const values = [rows.map((row) => row.trade_id), rows.map((row) => row.condition_id), rows.map((row) => row.token_id), rows.map((row) => row.first_at)];
  return byTrade(await sql.query<Figure>(PRICES, values));
}
