import type { Sql, Statement } from '../../../db/sql';

/** A market at an instant. */
export interface MarketInstant {
  condition_id: string;
  at: Date;
}

/** Prices of an outcome token's fills around an instant, exact decimal texts; null where there is no such fill. */
export interface FillPrices {
  condition_id: string;
  token_id: string;
  /** Of the newest fill before the instant. */
  last: string | null;
  /** Of the first fill ever, if that is before the other instant asked for. */
  first: string | null;
}

export type FillPricesAt = FillPrices & MarketInstant;

const PRICES: Statement = {
  name: 'pm_fill_prices',
  text: `SELECT token.condition_id, token.token_id, asked.at, COALESCE(edge.price, rolled.close) AS last, first.open AS first
FROM unnest($1::text[], $2::timestamptz[]) AS asked(condition_id, at) JOIN pm_outcome AS token ON token.condition_id = asked.condition_id
LEFT JOIN LATERAL (SELECT close FROM pm_token_hour AS kept WHERE kept.condition_id = token.condition_id AND kept.token_id = token.token_id
  AND kept.hour < date_trunc('hour', asked.at, 'UTC') ORDER BY kept.hour DESC LIMIT 1) AS rolled ON true
LEFT JOIN LATERAL (SELECT price FROM pm_trade AS trade WHERE trade.condition_id = token.condition_id AND trade.token_id = token.token_id AND trade.side IN ('BUY', 'SELL')
  AND trade."timestamp" >= date_trunc('hour', asked.at, 'UTC') AND trade."timestamp" < asked.at ORDER BY trade."timestamp" DESC, trade.trade_id DESC LIMIT 1) AS edge ON true
LEFT JOIN LATERAL (SELECT open, open_at FROM pm_token_hour AS kept WHERE kept.condition_id = token.condition_id AND kept.token_id = token.token_id
  ORDER BY kept.hour LIMIT 1) AS first ON first.open_at < $3`,
};

/** Prices of all outcome tokens of markets before an instant each, told apart by both, and their first ones if they are before `now`. */
export function listFillPrices(sql: Sql, asked: readonly MarketInstant[], now: Date): Promise<FillPricesAt[]> {
  const values = [asked.map(({ condition_id }) => condition_id), asked.map(({ at }) => at), now];
  return sql.query<FillPricesAt & Record<string, unknown>>(PRICES, values);
}
