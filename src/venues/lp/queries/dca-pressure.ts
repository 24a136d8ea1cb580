import type { Sql, Statement } from '../../../db/sql';
import { leastShown } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';
import { SOL, STABLES } from '../chain-addresses';
import { openOrdersAsOf } from '../rollups/orders';
import { priceOnceAt } from '../rollups/price-at';
import { findLately } from './lately';
import { named, swapsIn } from './span';
import { spanOf } from './window-span';

export interface PressureArgs {
  /** Null: all tokens but the usual means of payment. */
  token: string | null;
  now: Date;
  /** End of the window ahead; null: everything that is left. */
  until: Date | null;
  /** Window of equal length that ends now; for `all` an empty one. */
  before: Window;
  /** Of purchases and sales together; with a token it does not apply. */
  min_volume_usd: number;
  limit: number;
}

/** Numeric columns are decimal text, counts numbers. */
export interface PressureRow {
  token_mint: string;
  symbol: string | null;
  buy_volume: string;
  sell_volume: string;
  net_pressure: string;
  score: string | null;
  open_buy_orders: number;
  open_sell_orders: number;
  remaining_buy_usd: string | null;
  remaining_sell_usd: string | null;
  buyers: number;
  next_cycle_at: Date | null;
  label: 'accumulation' | 'distribution' | 'neutral';
  pct_of_volume: string | null;
  /** Orders of all rows whose input token has no price, the same in each row. */
  unpriced: number;
}

/** Tokens that most orders pay with or are paid in: they would lead every list. */
const QUOTES = [...STABLES, SOL].map((mint) => `'${mint}'`).join(', ');
/** A lean of less than this is none. */
export const LEAN = 15;
/** Whoever orders sets the frequency: a next cycle a century after the last one has no date. */
const NEVER_MS = 100 * 365 * DAY_MS;

const millisecondsOf = (interval: string): string => `(1000 * date_part('epoch', ${interval}))::bigint`;
/** How many times an order is due in so many milliseconds that begin when it was due, both whole numbers: with decimals all orders take a sixth more. */
const timesIn = (length: string): string => `(${length} + o.every_ms - 1) / o.every_ms`;

/** What was swapped in all pools of each token in that window. */
const SWAPPED = `SELECT p.token_mint, sum(s.usd) AS usd FROM (${swapsIn(3, (alias) => `AND ${alias}.pool_address IN (SELECT pool_address FROM pools)`)}) s
  JOIN pools p ON p.pool_address = s.pool_address GROUP BY p.token_mint`;

/**
 * Recurring-order pressure: cycles due in [$1, $2), each of the order's amount, until it is spent, at the price of the input token now. A cycle is due a
 * frequency after the last one; those of the past that were missed do not come back. Orders count once for each of their tokens. OFFSET keeps
 * the planner from working a wait out again wherever it is used. `compared`: with what was swapped in the window whose span is $3 to $8.
 */
function pressure(one: boolean, compared: boolean): Statement {
  return {
    name: `lp_dca_pressure_${Number(one)}${compared ? '' : '_alone'}`,
    keyed: true,
    text: `
WITH kept AS (
  SELECT a.owner, a.input_mint, a.output_mint, a.remaining, a.in_amount_per_cycle, a.last_cycle_at, 1000 * least(a.cycle_frequency, ${NEVER_MS / 1000}) AS every_ms
  FROM (${openOrdersAsOf('$1::timestamptz')}) a ${one ? 'WHERE $11 IN (a.input_mint, a.output_mint) ' : ''}OFFSET 0
), open AS (
  SELECT o.*, CASE WHEN o.wait_ms < ${NEVER_MS} THEN o.last_cycle_at + make_interval(secs => o.wait_ms / 1000) END AS next_at
  FROM (SELECT o.*, o.every_ms * greatest(1, ${timesIn(millisecondsOf('$1::timestamptz - o.last_cycle_at'))}) AS wait_ms FROM kept o OFFSET 0) o OFFSET 0
), due AS MATERIALIZED (
  SELECT o.owner, o.input_mint, o.output_mint, o.remaining, o.next_at, CASE WHEN $2::timestamptz IS NULL THEN o.remaining
    ELSE least(o.remaining, o.in_amount_per_cycle * greatest(0, ${timesIn(millisecondsOf('$2 - o.next_at'))})) END AS amount
  FROM open o
), prices AS MATERIALIZED (
  SELECT m.mint, ('1e-' || t.decimals)::numeric * q.usd AS usd FROM (SELECT DISTINCT input_mint AS mint FROM due) m LEFT JOIN lp_token t ON t.mint = m.mint ${priceOnceAt('m.mint', '$1::timestamptz', 'q')}
), valued AS MATERIALIZED (
  SELECT d.owner, d.input_mint, d.output_mint, d.next_at, d.amount * q.usd AS usd, d.remaining * q.usd AS remaining_usd FROM due d JOIN prices q ON q.mint = d.input_mint
), sides AS (
  SELECT output_mint AS token_mint, true AS buy, owner, usd, remaining_usd, next_at FROM valued
  UNION ALL SELECT input_mint, false, owner, usd, remaining_usd, next_at FROM valued
), tokens AS (
  SELECT token_mint, coalesce(sum(usd) FILTER (WHERE buy), 0) AS buy_volume, coalesce(sum(usd) FILTER (WHERE NOT buy), 0) AS sell_volume,
    count(*) FILTER (WHERE buy)::int AS open_buy_orders, count(*) FILTER (WHERE NOT buy)::int AS open_sell_orders,
    CASE WHEN count(*) FILTER (WHERE buy) = 0 THEN 0 ELSE sum(remaining_usd) FILTER (WHERE buy) END AS remaining_buy_usd,
    CASE WHEN count(*) FILTER (WHERE NOT buy) = 0 THEN 0 ELSE sum(remaining_usd) FILTER (WHERE NOT buy) END AS remaining_sell_usd,
    count(DISTINCT owner) FILTER (WHERE buy)::int AS buyers, min(next_at) AS next_cycle_at
  FROM sides WHERE ${one ? 'token_mint = $11' : `$11::text IS NULL AND token_mint NOT IN (${QUOTES})`} GROUP BY token_mint
), shown AS (
  SELECT t.*, t.buy_volume - t.sell_volume AS net_pressure, 100 * (t.buy_volume - t.sell_volume) / nullif(t.buy_volume + t.sell_volume, 0) AS score
  FROM tokens t WHERE ${one ? '$9::numeric IS NOT NULL' : 't.buy_volume + t.sell_volume >= $9::numeric'}
  ORDER BY abs(t.buy_volume - t.sell_volume) DESC, t.buy_volume + t.sell_volume DESC, t.token_mint COLLATE "C" LIMIT $10
), pools AS (
  SELECT p.pool_address, t.token_mint FROM shown t JOIN lp_pool p ON p.mint_x = t.token_mint
  UNION SELECT p.pool_address, t.token_mint FROM shown t JOIN lp_pool p ON p.mint_y = t.token_mint
), swaps AS MATERIALIZED (
  ${compared ? SWAPPED : `SELECT NULL::text AS token_mint, NULL::numeric AS usd WHERE ${named(3)} AND false`}
)
SELECT s.*, k.symbol, CASE WHEN s.score >= ${LEAN} THEN 'accumulation' WHEN s.score <= -${LEAN} THEN 'distribution' ELSE 'neutral' END AS label,
  100 * (s.buy_volume + s.sell_volume) / nullif((SELECT w.usd FROM swaps w WHERE w.token_mint = s.token_mint), 0) AS pct_of_volume,
  (SELECT count(*)::int FROM valued v WHERE v.usd IS NULL AND (v.input_mint IN (SELECT token_mint FROM shown) OR v.output_mint IN (SELECT token_mint FROM shown))) AS unpriced
FROM shown s LEFT JOIN lp_token k ON k.mint = s.token_mint
ORDER BY abs(s.net_pressure) DESC, s.buy_volume + s.sell_volume DESC, s.token_mint COLLATE "C"`,
  };
}

const STATEMENTS = {
  one: { alone: pressure(true, false), compared: pressure(true, true) },
  all: { alone: pressure(false, false), compared: pressure(false, true) },
};

/** Tokens of open recurring orders by the size of their net pressure. */
export function listPressure(sql: Sql, { token, now, until, before, min_volume_usd, limit }: PressureArgs): Promise<PressureRow[]> {
  const statement = STATEMENTS[token === null ? 'all' : 'one'][before.from < before.to ? 'compared' : 'alone'];
  return sql.query<PressureRow>(statement, [now, until, ...spanOf(before), leastShown(min_volume_usd), limit, token]);
}

const NEWEST: Statement = {
  name: 'lp_dca_newest',
  keyed: true,
  text: 'SELECT max("timestamp") AS at FROM dca_event WHERE "timestamp" < $1 AND "timestamp" >= $2',
};

/** Newest event of recurring orders before `now`. */
export const findNewestOrderEvent = (sql: Sql, now: Date): Promise<Date | null> =>
  findLately(
    now,
    async (since) => (await sql.query<{ at: Date | null }>(NEWEST, [now, since]))[0]?.at ?? null,
    (at) => at !== null,
  );
