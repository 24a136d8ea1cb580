import { STABLES } from '../chain-addresses';

/** token_price.source, best first; 4 is not given. */
export const PRICE_SOURCE = { stated: 1, stable: 2, sol: 3, catalogue: 5 } as const;

export const stableList = STABLES.map((mint) => `'${mint}'`).join(', ');

/** Instants (SQL) between which, with both, all others lie: the months of others are not opened where these are parameters. */
export interface Between {
  from: string;
  to: string;
}

const within = ({ from, to }: Between): string =>
  `AND t.minute >= ${from}::timestamptz - interval '1 hour' AND t.minute <= ${to}::timestamptz`;

const priceOf = (
  mint: string,
  at: string,
  between?: Between,
): string => `SELECT CASE WHEN ${mint} IN (${stableList}) THEN 1::numeric ELSE (SELECT t.usd FROM token_price t
    WHERE t.mint = ${mint} AND t.minute <= ${at} AND t.minute >= ${at} - interval '1 hour' ${between ? within(between) : ''} ORDER BY t.minute DESC LIMIT 1) END AS usd`;

/** Last price of `mint` at or before `at`, at most an hour old, as `alias.usd`; stables are worth 1. A LATERAL item of a FROM list. */
export const priceAt = (mint: string, at: string, alias: string, between?: Between): string =>
  `LEFT JOIN LATERAL (${priceOf(mint, at, between)}) ${alias} ON true`;

/** The same, looked up (and planned) once for a row however often `alias.usd` is used: OFFSET keeps the planner from copying it. */
export const priceOnceAt = (mint: string, at: string, alias: string): string =>
  `LEFT JOIN LATERAL (${priceOf(mint, at)} OFFSET 0) ${alias} ON true`;

/**
 * The same for many rows at once: most find a price of their own minute, which one join tells (as `alias_own`), and only the others
 * are looked up. Items of a FROM list.
 */
export const pricesAt = (mint: string, at: string, alias: string): string => `
LEFT JOIN token_price ${alias}_own ON ${alias}_own.mint = ${mint} AND ${alias}_own.minute = date_trunc('minute', ${at})
CROSS JOIN LATERAL (SELECT CASE WHEN ${alias}_own.usd IS NOT NULL AND ${mint} NOT IN (${stableList}) THEN ${alias}_own.usd ELSE (${priceOf(mint, at)}) END AS usd OFFSET 0) ${alias}`;

/** Natural logarithm of the widest price a pool can have (Q64.64) with room; more is a broken record. */
const LOG_PRICE_AT_MOST = 100;

/**
 * Price of the second token per first, in units of the tokens: of the active bin (1 + bin step / 10^4)^bin, of the square
 * root price (Q64.64), or of what was swapped; times 10^(decimals x - decimals y).
 * `f` is a swap or an event, `p` its pool, `x` and `y` the tokens.
 */
export const POOL_PRICE = `(CASE
  WHEN f.bin_id IS NOT NULL AND p.bin_step IS NOT NULL AND abs(f.bin_id * ln(1 + p.bin_step / 10000.0::float8)) < ${LOG_PRICE_AT_MOST} THEN power(1 + p.bin_step / 10000.0::float8, f.bin_id)
  WHEN f.sqrt_price IS NOT NULL THEN power(f.sqrt_price::float8 / 18446744073709551616.0::float8, 2)
  ELSE f.raw_y::float8 / nullif(f.raw_x, 0)::float8 END * power(10::float8, x.decimals - y.decimals))`;
