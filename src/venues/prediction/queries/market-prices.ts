import type { Sql, Statement } from '../../../db/sql';
import { payoutByName } from '../sources/settlement';

/** A market at an instant. */
export interface MarketInstant {
  condition_id: string;
  at: Date;
}

/** Prices of an outcome token's fills around an instant, exact decimal texts; null where there is no such fill. */
export interface FillPrices {
  token_id: string;
  /** Of the newest fill before the instant. */
  last: string | null;
  /** Of the first fill ever, where it is asked for. */
  first: string | null;
}

/** What else tells the price of an outcome token. */
export interface PriceableOutcome {
  token_id: string;
  outcome: string;
  outcome_index: number | null;
  /** Of one share, once its market is resolved. */
  payout: { toString(): string } | null;
  /** The catalogue's, and its time. */
  price: { toString(): string } | null;
  price_at: Date | null;
}

/** An outcome token with all that tells its price at an instant; `resolved_at` is its market's. */
export type FillPricesAt = FillPrices & PriceableOutcome & MarketInstant & { resolved_at: Date | null };

const HOURS = 'FROM pm_token_hour AS kept WHERE kept.condition_id = token.condition_id AND kept.token_id = token.token_id';

// Only where no fill before the instant tells the price.
const FIRST = `LEFT JOIN LATERAL (SELECT open, open_at ${HOURS} AND told.close_at >= asked.at AND (newest.close_at < asked.at) IS NOT TRUE AND torn.price IS NULL AND earlier.close IS NULL
  ORDER BY kept.hour LIMIT 1) AS first ON first.open_at < $3`;

// The newest fill tells the price, unless it came later: then the newest hour that began before the instant does, unless a fill of it came later: then its facts, or the hour before it.
const pricesOf = (first: boolean): Statement => ({
  name: `pm_fill_prices${first ? '_opening' : ''}`,
  keyed: true,
  text: `SELECT token.condition_id, token.token_id, asked.at, CASE WHEN told.close_at < asked.at THEN told.close WHEN newest.close_at < asked.at THEN newest.close ELSE COALESCE(torn.price, earlier.close) END AS last,
  ${first ? 'first.open' : 'NULL'} AS first, token.outcome, token.outcome_index, COALESCE(token.payout, ${payoutByName('token.outcome')}) AS payout, token.price, token.price_at, market.resolved_at
FROM unnest($1::text[], $2::timestamptz[]) AS asked(condition_id, at) LEFT JOIN pm_market AS market ON market.condition_id = asked.condition_id JOIN pm_outcome AS token ON token.condition_id = asked.condition_id
LEFT JOIN pm_token_last AS told ON told.condition_id = token.condition_id AND told.token_id = token.token_id
LEFT JOIN LATERAL (SELECT close, close_at ${HOURS} AND kept.hour < asked.at AND told.close_at >= asked.at ORDER BY kept.hour DESC LIMIT 1) AS newest ON true
LEFT JOIN LATERAL (SELECT price FROM pm_trade AS trade WHERE trade.condition_id = token.condition_id AND trade.token_id = token.token_id AND trade.side IN ('BUY', 'SELL')
  AND trade."timestamp" >= date_trunc('hour', asked.at, 'UTC') AND trade."timestamp" < asked.at AND newest.close_at >= asked.at
  ORDER BY trade."timestamp" DESC, trade.trade_id DESC LIMIT 1) AS torn ON true
LEFT JOIN LATERAL (SELECT close ${HOURS} AND kept.hour < date_trunc('hour', asked.at, 'UTC') AND newest.close_at >= asked.at ORDER BY kept.hour DESC LIMIT 1) AS earlier ON true
${first ? FIRST : ''}
ORDER BY token.outcome_index, token.token_id`,
});

const PRICES = pricesOf(false);
const PRICES_AND_FIRST = pricesOf(true);

/**
 * Prices of all outcome tokens of markets, each market's in the venue's order, before an instant each, told apart by both; with `first_before` also their first
 * ones if they are before that.
 */
export function listFillPrices(sql: Sql, asked: readonly MarketInstant[], first_before: Date | null = null): Promise<FillPricesAt[]> {
  const values = [asked.map(({ condition_id }) => condition_id), asked.map(({ at }) => at)];
  if (first_before === null) return sql.query<FillPricesAt>(PRICES, values);
  return sql.query<FillPricesAt>(PRICES_AND_FIRST, [...values, first_before]);
}
