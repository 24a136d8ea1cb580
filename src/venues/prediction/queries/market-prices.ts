import type { Sql, Statement } from '../../../db/sql';

/** Prices of an outcome token's fills around an instant, exact decimal texts; null where there is no such fill. */
export interface FillPrices {
  condition_id: string;
  token_id: string;
  /** Of the newest fill before the instant. */
  last: string | null;
  /** Of the first fill ever, if that is before the other instant asked for. */
  first: string | null;
}

const PRICES: Statement = {
  name: 'pm_fill_prices',
  text: `SELECT token.condition_id, token.token_id, COALESCE(edge.price, rolled.close) AS last, first.open AS first
FROM pm_outcome AS token
LEFT JOIN LATERAL (SELECT close FROM pm_token_hour AS kept WHERE kept.condition_id = token.condition_id AND kept.token_id = token.token_id
  AND kept.hour < date_trunc('hour', $2::timestamptz, 'UTC') ORDER BY kept.hour DESC LIMIT 1) AS rolled ON true
LEFT JOIN LATERAL (SELECT price FROM pm_trade AS trade WHERE trade.condition_id = token.condition_id AND trade.token_id = token.token_id AND trade.side IN ('BUY', 'SELL')
  AND trade."timestamp" >= date_trunc('hour', $2::timestamptz, 'UTC') AND trade."timestamp" < $2 ORDER BY trade."timestamp" DESC, trade.trade_id DESC LIMIT 1) AS edge ON true
LEFT JOIN LATERAL (SELECT open, open_at FROM pm_token_hour AS kept WHERE kept.condition_id = token.condition_id AND kept.token_id = token.token_id
  ORDER BY kept.hour LIMIT 1) AS first ON first.open_at < $3
WHERE token.condition_id = ANY ($1)`,
};

/** Prices of all outcome tokens of these markets before `at`, and their first ones if they are before `now`. */
export function listFillPrices(sql: Sql, condition_ids: readonly string[], at: Date, now: Date): Promise<FillPrices[]> {
  return sql.query<FillPrices & Record<string, unknown>>(PRICES, [condition_ids, at, now]);
}
