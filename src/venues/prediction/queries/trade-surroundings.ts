import type { Sql, Statement } from '../../../db/sql';
import type { TradeRow } from './trade-row';

const FIRST_HOUR = `date_trunc('hour', wanted.at - interval '24 hours', 'UTC') + interval '1 hour'`;
const LAST_HOUR = `date_trunc('hour', wanted.at, 'UTC')`;
const taken = (time: string): string =>
  `SELECT usdc_size FROM pm_trade AS trade WHERE trade.condition_id = wanted.condition_id AND ${time} AND is_taker`;

// What is wanted is laid beside its market's rows (DISTINCT keeps it there): where the store is spread over machines, the lateral part runs on each.
// Whole hours are told by the rollup; those that the two ends tear by their facts.
const VOLUMES: Statement = {
  name: 'pm_volumes_before',
  keyed: true,
  text: `SELECT wanted.place, taken.volume FROM (SELECT DISTINCT market.condition_id, given.*
  FROM unnest($1::text[], $2::timestamptz[]) WITH ORDINALITY AS given(id, at, place) JOIN pm_market AS market ON market.condition_id = given.id) AS wanted
CROSS JOIN LATERAL (SELECT sum(usdc) AS volume FROM (
  SELECT buy_usdc + sell_usdc AS usdc FROM pm_outcome AS outcome JOIN pm_token_hour AS token ON token.condition_id = outcome.condition_id AND token.token_id = outcome.token_id
  WHERE outcome.condition_id = wanted.condition_id AND hour >= ${FIRST_HOUR} AND hour < ${LAST_HOUR}
  UNION ALL ${taken(`"timestamp" > wanted.at - interval '24 hours' AND "timestamp" < ${FIRST_HOUR}`)}
  UNION ALL ${taken(`"timestamp" >= ${LAST_HOUR} AND "timestamp" <= wanted.at`)}
) AS piece) AS taken`,
};

// A token's long texts are sent once, however often it is asked about.
const PRICES: Statement = {
  name: 'pm_prices_before',
  keyed: true,
  text: `SELECT wanted.place, earlier.price FROM (SELECT DISTINCT market.condition_id, token.token_id, given.at, given.place
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS token(id, token_id, line) JOIN unnest($3::int[], $4::timestamptz[]) WITH ORDINALITY AS given(line, at, place) ON given.line = token.line
  JOIN pm_market AS market ON market.condition_id = token.id) AS wanted
CROSS JOIN LATERAL (SELECT price FROM pm_trade AS trade WHERE trade.condition_id = wanted.condition_id AND trade.token_id = wanted.token_id
  AND trade."timestamp" < wanted.at AND trade.price IS NOT NULL ORDER BY trade."timestamp" DESC, trade.trade_id DESC LIMIT 1) AS earlier`,
};

/** USDC taken on each row's market in the 24 hours up to the second of its newest fill, in the order asked; null where there is none. */
export async function listVolumesBefore(sql: Sql, rows: readonly TradeRow[]): Promise<(string | null)[]> {
  const found = await sql.query<{ place: string; volume: string | null }>(VOLUMES, [
    rows.map((row) => row.condition_id),
    rows.map((row) => row.timestamp),
  ]);
  const volumes = new Map(found.map((row) => [Number(row.place), row.volume]));
  return rows.map((_, index) => volumes.get(index + 1) ?? null);
}

/** A token at an instant. */
export interface TokenAt {
  condition_id: string;
  token_id: string;
  at: Date;
}

/** Price of the newest fill of each token before its instant's second, in the order asked; null where there is none. */
export async function listPricesBefore(sql: Sql, wanted: readonly TokenAt[]): Promise<(string | null)[]> {
  const tokens: Omit<TokenAt, 'at'>[] = [];
  const lines = new Map<string, number>();
  const places = wanted.map(({ condition_id, token_id }) => {
    const line = lines.get(token_id) ?? 0;
    if (tokens[line - 1]?.condition_id === condition_id) return line;
    lines.set(token_id, tokens.push({ condition_id, token_id }));
    return tokens.length;
  });
  const values = [
    tokens.map((one) => one.condition_id),
    tokens.map((one) => one.token_id),
    places,
    // node-postgres writes dates dearly.
    wanted.map((one) => one.at.toISOString()),
  ];
  const found = await sql.query<{ place: string; price: string }>(PRICES, values);
  const prices = new Map(found.map((row) => [Number(row.place), row.price]));
  return wanted.map((_, index) => prices.get(index + 1) ?? null);
}
