import type { Sql, Statement } from '../../../db/sql';
import type { TradeRow } from './trade-row';

const taken = (usdc: string, time: string): string =>
  `SELECT ${usdc} FROM pm_trade AS trade WHERE trade.condition_id = wanted.condition_id AND ${time} AND is_taker`;

// What is wanted is laid beside its market's rows (DISTINCT keeps it there): where the store is spread over machines, the lateral part runs on each.
// Hours are told by the rollup. One that an end tears is taken whole where the facts beyond the end are expected to be fewer, and these are taken off; no fact is expected after $3.
const VOLUMES: Statement = {
  name: 'pm_volumes_before',
  keyed: true,
  text: `SELECT wanted.place, taken.volume FROM (SELECT condition_id, place, begin, at, date_trunc('hour', begin + interval '30 minutes', 'UTC') AS first,
    CASE WHEN 2 * (at - hour) > LEAST($3::timestamptz - hour, interval '1 hour') THEN hour + interval '1 hour' ELSE hour END AS last
  FROM (SELECT DISTINCT market.condition_id, given.*, given.at - interval '24 hours' AS begin, date_trunc('hour', given.at, 'UTC') AS hour
    FROM unnest($1::text[], $2::timestamptz[]) WITH ORDINALITY AS given(id, at, place) JOIN pm_market AS market ON market.condition_id = given.id) AS asked) AS wanted
CROSS JOIN LATERAL (SELECT NULLIF(sum(usdc), 0) AS volume FROM (
  SELECT buy_usdc + sell_usdc AS usdc FROM pm_outcome AS outcome JOIN pm_token_hour AS token ON token.condition_id = outcome.condition_id AND token.token_id = outcome.token_id
  WHERE outcome.condition_id = wanted.condition_id AND hour >= wanted.first AND hour < wanted.last
  UNION ALL ${taken('usdc_size', '"timestamp" > wanted.begin AND "timestamp" < wanted.first')}
  UNION ALL ${taken('-usdc_size', '"timestamp" >= wanted.first AND "timestamp" <= wanted.begin')}
  UNION ALL ${taken('usdc_size', '"timestamp" >= wanted.last AND "timestamp" <= wanted.at')}
  UNION ALL ${taken('-usdc_size', '"timestamp" > wanted.at AND "timestamp" < wanted.last')}
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

/** USDC taken on each row's market in the 24 hours up to the second of its newest fill, as of `now`, in the order asked; null where there is none. */
export async function listVolumesBefore(sql: Sql, rows: readonly TradeRow[], now: Date): Promise<(string | null)[]> {
  const found = await sql.query<{ place: string; volume: string | null }>(VOLUMES, [
    rows.map((row) => row.condition_id),
    rows.map((row) => row.timestamp),
    now,
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
