import type { Sql, Statement } from '../../../db/sql';
import type { TradeRow } from './trade-row';

const VOLUMES: Statement = {
  name: 'pm_volumes_before',
  text: `SELECT wanted.trade_id::text AS trade_id, sum(trade.usdc_size) AS volume
FROM unnest($1::uuid[], $2::text[], $3::timestamptz[]) AS wanted(trade_id, condition_id, at)
JOIN pm_trade AS trade ON trade.condition_id = wanted.condition_id AND trade."timestamp" > wanted.at - interval '24 hours' AND trade."timestamp" <= wanted.at
WHERE trade.is_taker GROUP BY wanted.trade_id`,
};

// What is wanted is laid beside its market's rows (DISTINCT keeps it there): where the store is spread over machines, the lateral part runs on each.
const PRICES: Statement = {
  name: 'pm_prices_before',
  text: `SELECT wanted.place, earlier.price
FROM (SELECT DISTINCT market.condition_id, given.token_id, given.at, given.place
  FROM unnest($1::text[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS given(condition_id, token_id, at, place)
  JOIN pm_market AS market ON market.condition_id = given.condition_id) AS wanted
CROSS JOIN LATERAL (SELECT price FROM pm_trade AS trade WHERE trade.condition_id = wanted.condition_id AND trade.token_id = wanted.token_id
  AND trade."timestamp" < wanted.at AND trade.price IS NOT NULL ORDER BY trade."timestamp" DESC, trade.trade_id DESC LIMIT 1) AS earlier`,
};

/** USDC taken on each row's market in the 24 hours up to the second of its newest fill, by trade_id. */
export async function listVolumesBefore(sql: Sql, rows: readonly TradeRow[]): Promise<Map<string, string>> {
  const values = [rows.map((row) => row.trade_id), rows.map((row) => row.condition_id), rows.map((row) => row.timestamp)];
  const found = await sql.query<{ trade_id: string; volume: string }>(VOLUMES, values);
  return new Map(found.map((row) => [row.trade_id, row.volume]));
}

/** A token at an instant. */
export interface TokenAt {
  condition_id: string;
  token_id: string;
  at: Date;
}

/** Price of the newest fill of each token before its instant's second, in the order asked; null where there is none. */
export async function listPricesBefore(sql: Sql, wanted: readonly TokenAt[]): Promise<(string | null)[]> {
  const values = [wanted.map((one) => one.condition_id), wanted.map((one) => one.token_id), wanted.map((one) => one.at)];
  const found = await sql.query<{ place: string; price: string }>(PRICES, values);
  const prices = new Map(found.map((row) => [Number(row.place), row.price]));
  return wanted.map((_, index) => prices.get(index + 1) ?? null);
}
