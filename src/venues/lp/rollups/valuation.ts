import type { PoolClient } from 'pg';
import { SOL, STABLES } from '../chain-addresses';
import { ensureMonths } from '../store/insert';
import { TouchedHours, type TimeRange } from '../store/hours';

/** Below this much on the priced side, rounding of the upstream or of tiny amounts spoils a price. */
const LEAST_USD = 1;
/** Natural logarithm of the widest price a pool can have (Q64.64) with room; more is a broken record. */
const LOG_PRICE_AT_MOST = 100;
/** A price is used for this many hours after its minute. */
const PRICE_HOURS = 1;

/** token_price.source, best first. */
export const PRICE_SOURCE = { stated: 1, stable: 2, sol: 3, candle: 4, catalogue: 5 } as const;

const stableList = STABLES.map((mint) => `'${mint}'`).join(', ');

/** Last price of `mint` at or before `at`, at most an hour old; stables are worth 1. A LATERAL item. */
export function priceAt(mint: string, at: string, alias: string): string {
  return `LEFT JOIN LATERAL (SELECT CASE WHEN ${mint} IN (${stableList}) THEN 1::numeric ELSE (SELECT t.usd FROM token_price t
    WHERE t.mint = ${mint} AND t.minute <= ${at} AND t.minute >= ${at} - interval '1 hour' ORDER BY t.minute DESC LIMIT 1) END AS usd) ${alias} ON true`;
}

/**
 * Brings prices and USD values up to date with the facts of the touched hours: prices of a minute are derived from all
 * facts of that minute, so the order in which pages were loaded changes nothing. Values depend on prices up to an hour
 * old, so they are computed anew for the hour after each price as well.
 */
export async function revalue(client: PoolClient, touched: TouchedHours): Promise<void> {
  for (const range of touched.ranges()) {
    await derive(client, 'stated', STATED, range, touched);
    await derive(client, 'stable', againstQuote(STABLES, PRICE_SOURCE.stable), range, touched);
  }
  for (const range of touched.ranges(PRICE_HOURS)) await derive(client, 'sol', againstQuote([SOL], PRICE_SOURCE.sol), range, touched);
  for (const range of touched.ranges(PRICE_HOURS)) {
    await client.query({ name: 'lp_value_events', text: VALUE_EVENTS, values: [range.from, range.to] });
    await client.query({ name: 'lp_value_swaps', text: VALUE_SWAPS, values: [range.from, range.to] });
  }
}

async function derive(
  client: PoolClient,
  name: string,
  observations: string,
  { from, to }: TimeRange,
  touched: TouchedHours,
): Promise<void> {
  const { rows: months } = await client.query<{ month: Date }>({ name: 'lp_price_months', text: MONTHS, values: [from, to] });
  await ensureMonths(
    client,
    'token_price',
    months.map((row) => row.month),
  );
  const { rows } = await client.query<{ minute: Date }>({ name: `lp_prices_${name}`, text: derivation(observations), values: [from, to] });
  for (const { minute } of rows) touched.add(minute);
}

const MONTHS = `SELECT generate_series(date_trunc('month', $1::timestamptz, 'UTC'), $2::timestamptz - interval '1 millisecond', interval '1 month') AS month`;

/** Of the observations of a minute the one with the most USD behind it counts. */
const derivation = (observations: string): string => `
INSERT INTO token_price AS t (mint, minute, usd, source)
SELECT DISTINCT ON (mint, minute) mint, minute, usd, source FROM (${observations}) o
WHERE usd > 0 AND weight >= ${LEAST_USD} AND mint NOT IN (${stableList})
ORDER BY mint, minute, weight DESC, "timestamp", tx_id, ix, usd
ON CONFLICT (mint, minute) DO UPDATE SET usd = EXCLUDED.usd, source = EXCLUDED.source
  WHERE EXCLUDED.source <= t.source AND (EXCLUDED.usd, EXCLUDED.source) IS DISTINCT FROM (t.usd, t.source)
RETURNING minute`;

/** What the upstream states: USD of a leg over its amount. */
const STATED = [
  ['x', 'mint_x'],
  ['y', 'mint_y'],
]
  .map(
    ([leg, mint]) => `
SELECT p.${mint} AS mint, date_trunc('minute', e."timestamp") AS minute, e.stated_usd_${leg} / e.amount_${leg} AS usd, ${PRICE_SOURCE.stated}::smallint AS source,
  e.stated_usd_${leg} AS weight, e."timestamp", e.tx_id, e.n::int AS ix
FROM lp_event e JOIN lp_pool p ON p.pool_address = e.pool_address
WHERE e."timestamp" >= $1 AND e."timestamp" < $2 AND e.stated_usd_${leg} > 0 AND e.amount_${leg} > 0 AND p.${mint} IS NOT NULL`,
  )
  .join(' UNION ALL ');

/**
 * Price of the second token per first, in units of the tokens: of the active bin (1 + bin step / 10^4)^bin, of the square
 * root price (Q64.64), or of what was swapped; times 10^(decimals x - decimals y).
 */
const POOL_PRICE = `(CASE
  WHEN f.bin_id IS NOT NULL AND p.bin_step IS NOT NULL AND abs(f.bin_id * ln(1 + p.bin_step / 10000.0::float8)) < ${LOG_PRICE_AT_MOST} THEN power(1 + p.bin_step / 10000.0::float8, f.bin_id)
  WHEN f.sqrt_price IS NOT NULL THEN power(f.sqrt_price::float8 / 18446744073709551616.0::float8, 2)
  ELSE f.raw_y::float8 / nullif(f.raw_x, 0)::float8 END * power(10::float8, x.decimals - y.decimals))::numeric`;

/** Swaps and provider events as amounts of either token, with the bin or square root that tells the pool's price. */
const PRICED_FACTS = `
SELECT pool_address, "timestamp", tx_id, outer_ix * 1000 + inner_ix AS ix, bin_id, sqrt_price,
  CASE WHEN x_to_y THEN raw_in ELSE raw_out END AS raw_x, CASE WHEN x_to_y THEN raw_out ELSE raw_in END AS raw_y
FROM lp_swap WHERE "timestamp" >= $1 AND "timestamp" < $2
UNION ALL
SELECT pool_address, "timestamp", tx_id, 1000000 + n, bin_id, NULL, raw_x, raw_y
FROM lp_event WHERE "timestamp" >= $1 AND "timestamp" < $2 AND bin_id IS NOT NULL AND raw_x IS NOT NULL AND raw_y IS NOT NULL`;

/** Prices of tokens in pools whose other token is one of `quotes`. */
function againstQuote(quotes: readonly string[], source: number): string {
  const list = quotes.map((mint) => `'${mint}'`).join(', ');
  const side = (quote: 'x' | 'y', base: 'x' | 'y', price: string): string => `
SELECT p.mint_${base} AS mint, date_trunc('minute', f."timestamp") AS minute, ${price} * q.usd AS usd, ${source}::smallint AS source,
  f.raw_${quote} * ('1e-' || ${quote}.decimals)::numeric * q.usd AS weight, f."timestamp", f.tx_id, f.ix::int AS ix
FROM (${PRICED_FACTS}) f
JOIN lp_pool p ON p.pool_address = f.pool_address AND p.mint_${quote} IN (${list}) AND p.mint_${base} NOT IN (${stableList})
JOIN lp_token x ON x.mint = p.mint_x
JOIN lp_token y ON y.mint = p.mint_y
${priceAt(`p.mint_${quote}`, `date_trunc('minute', f."timestamp")`, 'q')}
WHERE x.decimals IS NOT NULL AND y.decimals IS NOT NULL AND q.usd IS NOT NULL`;
  return `${side('y', 'x', POOL_PRICE)} UNION ALL ${side('x', 'y', `1 / nullif(${POOL_PRICE}, 0)`)}`;
}

const VALUE_EVENTS = `
UPDATE lp_event e SET usd = v.usd FROM (
  SELECT e.pool_address, e."timestamp", e.tx_id, e.position_address, e.kind, e.n,
    CASE WHEN (e.amount_x = 0 OR x.usd IS NOT NULL) AND (e.amount_y = 0 OR y.usd IS NOT NULL)
      THEN e.amount_x * coalesce(x.usd, 0) + e.amount_y * coalesce(y.usd, 0) END AS usd
  FROM lp_event e JOIN lp_pool p ON p.pool_address = e.pool_address
  ${priceAt('p.mint_x', 'e."timestamp"', 'x')} ${priceAt('p.mint_y', 'e."timestamp"', 'y')}
  WHERE e."timestamp" >= $1 AND e."timestamp" < $2 AND NOT e.usd_stated
) v
WHERE (e.pool_address, e."timestamp", e.tx_id, e.position_address, e.kind, e.n) = (v.pool_address, v."timestamp", v.tx_id, v.position_address, v.kind, v.n)
  AND e."timestamp" >= $1 AND e."timestamp" < $2 AND e.usd IS DISTINCT FROM v.usd`;

/** A swap is worth what was paid in; its fee what providers earned of it. */
const VALUE_SWAPS = `
UPDATE lp_swap s SET usd = v.usd, fee_usd = v.fee_usd FROM (
  SELECT s.pool_address, s."timestamp", s.tx_id, s.outer_ix, s.inner_ix,
    s.amount_in * CASE WHEN s.x_to_y THEN x.usd ELSE y.usd END AS usd,
    s.raw_fee * CASE WHEN s.fee_on_x THEN ('1e-' || a.decimals)::numeric * x.usd WHEN NOT s.fee_on_x THEN ('1e-' || b.decimals)::numeric * y.usd END AS fee_usd
  FROM lp_swap s JOIN lp_pool p ON p.pool_address = s.pool_address
  LEFT JOIN lp_token a ON a.mint = p.mint_x LEFT JOIN lp_token b ON b.mint = p.mint_y
  ${priceAt('p.mint_x', 's."timestamp"', 'x')} ${priceAt('p.mint_y', 's."timestamp"', 'y')}
  WHERE s."timestamp" >= $1 AND s."timestamp" < $2
) v
WHERE (s.pool_address, s."timestamp", s.tx_id, s.outer_ix, s.inner_ix) = (v.pool_address, v."timestamp", v.tx_id, v.outer_ix, v.inner_ix)
  AND s."timestamp" >= $1 AND s."timestamp" < $2 AND (s.usd, s.fee_usd) IS DISTINCT FROM (v.usd, v.fee_usd)`;
