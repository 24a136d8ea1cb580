import type { PoolClient } from 'pg';
import { fillEmptied } from '../../../db/indexes';
import { quarterOf } from '../../../lib/tiles';
import { HOUR_MS, isoDay } from '../../../lib/time';
import { arrayOf } from './array-text';
import { keepSmartHours, refillSmartHours } from './smart-hours';
import { forgetAllHours, forgetHours } from './told-hours';
import { forgetAllParticipants } from './told-participants';

/** What one row of pm_trade adds to its hour: a new row everything, one that another feed completed only what it did not say before. */
export interface HourChange {
  condition_id: string;
  token_id: string | null;
  wallet: string;
  side: string;
  /** Of BUY and SELL. */
  price: string | null;
  timestamp: Date;
  trade_id: string;
  /** 1 for a new row, 0 for a completed one. */
  rows: 0 | 1;
  /** Shares of a new row, 0 of a completed one. */
  size: string;
  /** USDC that were not counted before. */
  usdc: string;
  /** 1 where it was not known to be a taker's before, and what it then adds to the takers' shares and USDC. */
  takes: 0 | 1;
  taker_size: string;
  taker_usdc: string;
}

// All selects read `change`, which has the columns of HourChange; `hour` is the start of its UTC hour.
const TOKEN_COLUMNS =
  'condition_id, token_id, hour, fills, fill_usdc, fill_shares, buys, sells, buy_usdc, sell_usdc, shares, open, open_at, open_id, high, low, close, close_at, close_id';
// One order for all that depends on it: the rows are sorted once.
const TOKENS = `SELECT condition_id, token_id, hour, sum(rows)::int AS fills, sum(usdc) AS fill_usdc, sum(size) AS fill_shares,
  COALESCE(sum(takes) FILTER (WHERE side = 'BUY'), 0)::int AS buys, COALESCE(sum(takes) FILTER (WHERE side = 'SELL'), 0)::int AS sells,
  COALESCE(sum(taker_usdc) FILTER (WHERE side = 'BUY'), 0) AS buy_usdc, COALESCE(sum(taker_usdc) FILTER (WHERE side = 'SELL'), 0) AS sell_usdc, sum(taker_size) AS shares,
  (array_agg(price ORDER BY "timestamp", trade_id))[1] AS open, min("timestamp") AS open_at, (array_agg(trade_id ORDER BY "timestamp", trade_id))[1] AS open_id,
  max(price) AS high, min(price) AS low, (array_agg(price ORDER BY "timestamp", trade_id))[count(*)] AS close, max("timestamp") AS close_at,
  (array_agg(trade_id ORDER BY "timestamp", trade_id))[count(*)] AS close_id
FROM change WHERE side IN ('BUY', 'SELL') GROUP BY condition_id, token_id, hour`;

const LAST_COLUMNS = 'condition_id, token_id, close, close_at, close_id';
const LASTS = `SELECT DISTINCT ON (condition_id, token_id) condition_id, token_id, price, "timestamp", trade_id FROM change WHERE side IN ('BUY', 'SELL')
ORDER BY condition_id, token_id, "timestamp" DESC, trade_id DESC`;
/** SQL that inserts them from the hours of which `condition` holds. */
const lastsOfHours = (condition = 'true'): string => `INSERT INTO pm_token_last (${LAST_COLUMNS})
SELECT DISTINCT ON (condition_id, token_id) ${LAST_COLUMNS} FROM pm_token_hour WHERE ${condition} ORDER BY condition_id, token_id, hour DESC`;

const TAKEN_COLUMNS = 'fills, buys, sells, buy_usdc, sell_usdc, first_at, last_at';
const TAKEN_SUMS = `sum(rows)::int AS fills,
  COALESCE(sum(takes) FILTER (WHERE side = 'BUY'), 0)::int AS buys, COALESCE(sum(takes) FILTER (WHERE side = 'SELL'), 0)::int AS sells,
  COALESCE(sum(taker_usdc) FILTER (WHERE side = 'BUY'), 0) AS buy_usdc, COALESCE(sum(taker_usdc) FILTER (WHERE side = 'SELL'), 0) AS sell_usdc`;
const TAKEN = `${TAKEN_SUMS}, min("timestamp") AS first_at, max("timestamp") AS last_at`;
const DAY_COLUMNS = `condition_id, day, ${TAKEN_COLUMNS}`;
const DAYS = `SELECT condition_id, (hour AT TIME ZONE 'UTC')::date AS day, ${TAKEN}
FROM change WHERE side IN ('BUY', 'SELL') GROUP BY condition_id, (hour AT TIME ZONE 'UTC')::date`;
const QUARTER = quarterOf('hour');
const QUARTER_COLUMNS = 'condition_id, quarter, fills, buys, sells, buy_usdc, sell_usdc';
const QUARTERS = `SELECT condition_id, ${QUARTER} AS quarter, ${TAKEN_SUMS} FROM change WHERE side IN ('BUY', 'SELL') GROUP BY condition_id, ${QUARTER}`;
// Of hours that are whole: a condition on them follows.
const SUMS_OF_HOURS = 'sum(fills), sum(buys), sum(sells), sum(buy_usdc), sum(sell_usdc)';
const DAYS_OF_HOURS = `INSERT INTO pm_market_day (${DAY_COLUMNS}) SELECT condition_id, (hour AT TIME ZONE 'UTC')::date AS day, ${SUMS_OF_HOURS}, min(open_at), max(close_at)
FROM pm_token_hour`;
const QUARTERS_OF_HOURS = `INSERT INTO pm_market_quarter (${QUARTER_COLUMNS}) SELECT condition_id, ${QUARTER} AS quarter, ${SUMS_OF_HOURS} FROM pm_token_hour`;

const TOTAL_COLUMNS = `condition_id, ${TAKEN_COLUMNS}`;
const TOTALS = `SELECT condition_id, ${TAKEN} FROM change WHERE side IN ('BUY', 'SELL') GROUP BY condition_id`;
// A condition on the days may follow.
const TOTALS_OF_DAYS = `INSERT INTO pm_market_total (${TOTAL_COLUMNS}) SELECT condition_id, sum(fills), sum(buys), sum(sells), sum(buy_usdc), sum(sell_usdc), min(first_at), max(last_at)
FROM pm_market_day`;

const WALLET_COLUMNS =
  'condition_id, hour, token_id, wallet, buys, sells, taker_buys, taker_sells, buy_usdc, sell_usdc, buy_shares, sell_shares, taker_usdc, sets, redeems, first_at, last_at, first_buy_at';
const WALLETS = `SELECT condition_id, hour, COALESCE(token_id, '') AS token_id, wallet,
  COALESCE(sum(rows) FILTER (WHERE side = 'BUY'), 0)::int AS buys, COALESCE(sum(rows) FILTER (WHERE side = 'SELL'), 0)::int AS sells,
  COALESCE(sum(takes) FILTER (WHERE side = 'BUY'), 0)::int AS taker_buys, COALESCE(sum(takes) FILTER (WHERE side = 'SELL'), 0)::int AS taker_sells,
  COALESCE(sum(usdc) FILTER (WHERE side = 'BUY'), 0) AS buy_usdc, COALESCE(sum(usdc) FILTER (WHERE side = 'SELL'), 0) AS sell_usdc,
  COALESCE(sum(size) FILTER (WHERE side = 'BUY'), 0) AS buy_shares, COALESCE(sum(size) FILTER (WHERE side = 'SELL'), 0) AS sell_shares,
  sum(taker_usdc) AS taker_usdc, COALESCE(sum(CASE side WHEN 'SPLIT' THEN size WHEN 'MERGE' THEN -size END), 0) AS sets,
  COALESCE(sum(rows) FILTER (WHERE side = 'REDEEM'), 0)::int AS redeems,
  min("timestamp") AS first_at, max("timestamp") AS last_at, min("timestamp") FILTER (WHERE side = 'BUY') AS first_buy_at
FROM change GROUP BY condition_id, hour, COALESCE(token_id, ''), wallet`;

const CHANGES = `change AS MATERIALIZED (
  SELECT *, date_trunc('hour', "timestamp", 'UTC') AS hour FROM (
    SELECT *, to_timestamp(seconds) AS "timestamp" FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::float8[], $7::uuid[], $8::int[], $9::numeric[],
      $10::numeric[], $11::int[], $12::numeric[], $13::numeric[]) AS given(condition_id, token_id, wallet, side, price, seconds, trade_id, rows, size, usdc, takes, taker_size, taker_usdc)) AS row
)`;

const FACT_COLUMNS = `trade.condition_id, token_id, wallet, side, price, "timestamp", trade_id, date_trunc('hour', "timestamp", 'UTC') AS hour, 1 AS rows, size, usdc_size AS usdc,
    (is_taker IS TRUE)::int AS takes, CASE WHEN is_taker THEN size ELSE 0 END AS taker_size, CASE WHEN is_taker THEN usdc_size ELSE 0 END AS taker_usdc`;
const FACTS = `WITH change AS (SELECT ${FACT_COLUMNS} FROM pm_trade AS trade)`;

const GIVEN_HOURS = 'unnest($1::text[], $2::timestamptz[]) AS given(condition_id, hour)';
const FACTS_OF_HOURS = `WITH change AS (SELECT ${FACT_COLUMNS} FROM ${GIVEN_HOURS}
  JOIN pm_trade AS trade ON trade.condition_id = given.condition_id AND trade."timestamp" >= given.hour AND trade."timestamp" < given.hour + interval '1 hour')`;

const adds = (columns: readonly string[]): string => columns.map((column) => `${column} = kept.${column} + EXCLUDED.${column}`).join(', ');
const WIDENED = 'first_at = LEAST(kept.first_at, EXCLUDED.first_at), last_at = GREATEST(kept.last_at, EXCLUDED.last_at)';
const EARLIER = '(EXCLUDED.open_at, EXCLUDED.open_id) < (kept.open_at, kept.open_id)';
const LATER = '(EXCLUDED.close_at, EXCLUDED.close_id) > (kept.close_at, kept.close_id)';
const when = (condition: string, columns: readonly string[]): string =>
  columns.map((column) => `${column} = CASE WHEN ${condition} THEN EXCLUDED.${column} ELSE kept.${column} END`).join(', ');

// Items of a WITH list that read `change`. One order for all writers, so that two of them never wait for each other.
const ROLLED = `tokens AS (
INSERT INTO pm_token_hour AS kept (${TOKEN_COLUMNS}) ${TOKENS} ORDER BY condition_id, token_id, hour
ON CONFLICT (condition_id, token_id, hour) DO UPDATE SET ${adds(['fills', 'fill_usdc', 'fill_shares', 'buys', 'sells', 'buy_usdc', 'sell_usdc', 'shares'])},
  high = GREATEST(kept.high, EXCLUDED.high), low = LEAST(kept.low, EXCLUDED.low), ${when(EARLIER, ['open', 'open_at', 'open_id'])}, ${when(LATER, ['close', 'close_at', 'close_id'])}
), lasts AS (
INSERT INTO pm_token_last AS kept (${LAST_COLUMNS}) ${LASTS}
ON CONFLICT (condition_id, token_id) DO UPDATE SET close = EXCLUDED.close, close_at = EXCLUDED.close_at, close_id = EXCLUDED.close_id WHERE ${LATER}
), days AS (
INSERT INTO pm_market_day AS kept (${DAY_COLUMNS}) ${DAYS} ORDER BY condition_id, day
ON CONFLICT (condition_id, day) DO UPDATE SET ${adds(['fills', 'buys', 'sells', 'buy_usdc', 'sell_usdc'])}, ${WIDENED}
), quarters AS (
INSERT INTO pm_market_quarter AS kept (${QUARTER_COLUMNS}) ${QUARTERS} ORDER BY condition_id, quarter
ON CONFLICT (condition_id, quarter) DO UPDATE SET ${adds(['fills', 'buys', 'sells', 'buy_usdc', 'sell_usdc'])}
), totals AS (
INSERT INTO pm_market_total AS kept (${TOTAL_COLUMNS}) ${TOTALS} ORDER BY condition_id
ON CONFLICT (condition_id) DO UPDATE SET ${adds(['fills', 'buys', 'sells', 'buy_usdc', 'sell_usdc'])}, ${WIDENED}
), wallets AS (
INSERT INTO pm_wallet_hour AS kept (${WALLET_COLUMNS}) ${WALLETS} ORDER BY condition_id, hour, token_id, wallet
ON CONFLICT (condition_id, hour, token_id, wallet) DO UPDATE SET
  ${adds(['buys', 'sells', 'taker_buys', 'taker_sells', 'buy_usdc', 'sell_usdc', 'buy_shares', 'sell_shares', 'taker_usdc', 'sets', 'redeems'])},
  ${WIDENED}, first_buy_at = LEAST(kept.first_buy_at, EXCLUDED.first_buy_at)
RETURNING *
), smart AS (${keepSmartHours('wallets')})`;

// One statement, so that the rows are sent and read once.
const ROLL = `WITH ${CHANGES}, ${ROLLED} SELECT 1`;

/** Items of a WITH list that add the rows of `appended`, an item before them that returns rows of pm_trade, to their hours. */
export const rollingHours = (appended: string): string =>
  `change AS MATERIALIZED (SELECT ${FACT_COLUMNS} FROM ${appended} AS trade), ${ROLLED}`;

/** Adds what is new of rows that were completed to their hours, days and markets, inside the transaction that completes them. Order does not matter; each row must be told once. */
export async function rollHours(client: PoolClient, changes: readonly HourChange[]): Promise<void> {
  if (changes.length === 0) return;
  const column = (key: keyof HourChange): string => arrayOf(changes.map((change) => change[key]));
  const seconds = arrayOf(changes.map(({ timestamp }) => timestamp.getTime() / 1_000));
  const head = (['condition_id', 'token_id', 'wallet', 'side', 'price'] as const).map((key) => column(key));
  const tail = (['trade_id', 'rows', 'size', 'usdc', 'takes', 'taker_size', 'taker_usdc'] as const).map((key) => column(key));
  const values = [...head, seconds, ...tail];
  await client.query({ name: 'pm_roll_hours', text: ROLL, values });
}

// Sorted, rows come in the order of the key: memory is bounded, and the key's index grows at its end. Facts are read as they lie and sorted as a whole: by an
// index, which the planner prefers, each is looked up somewhere in the table.
const IN_ORDER = 'SET LOCAL enable_hashagg = off; SET LOCAL enable_indexscan = off';
const AS_BEFORE = 'SET LOCAL enable_hashagg TO DEFAULT; SET LOCAL enable_indexscan TO DEFAULT';

const HOUR_TABLES = ['pm_token_hour', 'pm_token_last', 'pm_market_day', 'pm_market_quarter', 'pm_market_total', 'pm_wallet_hour'];

/** Makes all hours, days and totals of markets anew from pm_trade, inside the caller's transaction: readers see the old ones until it commits. */
export async function rebuildHours(client: PoolClient, is_first_load = false): Promise<void> {
  await client.query(`LOCK TABLE ${HOUR_TABLES.join(', ')} IN SHARE ROW EXCLUSIVE MODE`);
  await forgetAllHours(client);
  await forgetAllParticipants(client);
  await client.query(IN_ORDER);
  await fillEmptied(client, is_first_load ? HOUR_TABLES : [], async () => {
    for (const table of HOUR_TABLES) await client.query(`DELETE FROM ${table}`);
    await client.query(`${FACTS} INSERT INTO pm_token_hour (${TOKEN_COLUMNS}) ${TOKENS} ORDER BY condition_id, token_id, hour`);
    await client.query(lastsOfHours());
    await client.query(`${DAYS_OF_HOURS} GROUP BY 1, 2 ORDER BY 2, 1`);
    await client.query(`${QUARTERS_OF_HOURS} GROUP BY 1, 2 ORDER BY 2, 1`);
    await client.query(`${TOTALS_OF_DAYS} GROUP BY 1 ORDER BY 1`);
    await client.query(`${FACTS} INSERT INTO pm_wallet_hour (${WALLET_COLUMNS}) ${WALLETS} ORDER BY condition_id, hour, token_id, wallet`);
  });
  await client.query(AS_BEFORE);
  await refillSmartHours(client);
}

/** Makes these hours, their days, the newest fills and the totals of their markets anew from pm_trade, inside the caller's transaction. */
export async function recomputeHours(client: PoolClient, rows: readonly Pick<HourChange, 'condition_id' | 'timestamp'>[]): Promise<void> {
  const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
  const touched = new Map(rows.map((row) => [`${row.condition_id}|${hourOf(row.timestamp).getTime()}`, row]));
  const hours = [...touched.values()];
  const values = [hours.map(({ condition_id }) => condition_id), hours.map(({ timestamp }) => hourOf(timestamp))];
  for (const table of ['pm_token_hour', 'pm_wallet_hour', 'pm_smart_wallet_hour'])
    await client.query(
      `DELETE FROM ${table} AS kept USING ${GIVEN_HOURS} WHERE kept.condition_id = given.condition_id AND kept.hour = given.hour`,
      values,
    );
  await client.query(`${FACTS_OF_HOURS} INSERT INTO pm_token_hour (${TOKEN_COLUMNS}) ${TOKENS}`, values);
  await client.query('DELETE FROM pm_token_last WHERE condition_id = ANY ($1)', [values[0]]);
  await client.query(lastsOfHours('condition_id = ANY ($1)'), [values[0]]);
  await client.query(
    `${FACTS_OF_HOURS}, wallets AS (INSERT INTO pm_wallet_hour (${WALLET_COLUMNS}) ${WALLETS} RETURNING *) ${keepSmartHours('wallets')}`,
    values,
  );
  await recomputeDays(client, hours);
  await forgetHours(client, hours);
}

const GIVEN_DAYS = 'unnest($1::text[], $2::date[]) AS given(condition_id, day)';
const DAYS_GONE = `DELETE FROM pm_market_day AS kept USING ${GIVEN_DAYS} WHERE kept.condition_id = given.condition_id AND kept.day = given.day`;
const withinDays = (column: string): string =>
  `${column} >= given.day::timestamp AT TIME ZONE 'UTC' AND ${column} < (given.day + 1)::timestamp AT TIME ZONE 'UTC'`;
const QUARTERS_GONE = `DELETE FROM pm_market_quarter AS kept USING ${GIVEN_DAYS} WHERE kept.condition_id = given.condition_id AND ${withinDays('quarter')}`;

/** Makes the days of these rows' markets and their quarters anew from their hours, and their totals from all their days. */
async function recomputeDays(client: PoolClient, rows: readonly Pick<HourChange, 'condition_id' | 'timestamp'>[]): Promise<void> {
  const days = [...new Map(rows.map((row) => [`${row.condition_id}|${isoDay(row.timestamp)}`, row])).values()];
  const values = [days.map(({ condition_id }) => condition_id), days.map(({ timestamp }) => isoDay(timestamp))];
  await client.query(DAYS_GONE, values);
  await client.query(QUARTERS_GONE, values);
  const hours = `JOIN ${GIVEN_DAYS} USING (condition_id) WHERE ${withinDays('hour')} GROUP BY 1, 2`;
  await client.query(`${DAYS_OF_HOURS} ${hours}`, values);
  await client.query(`${QUARTERS_OF_HOURS} ${hours}`, values);
  const [ids] = values;
  await client.query('DELETE FROM pm_market_total WHERE condition_id = ANY ($1)', [ids]);
  await client.query(`${TOTALS_OF_DAYS} WHERE condition_id = ANY ($1) GROUP BY 1`, [ids]);
}
