import type { Pool, PoolClient } from 'pg';
import { sqlOf } from '../../../db/sql';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { DAY_MS, HOUR_MS, isoDay } from '../../../lib/time';
import { BEGINNING, END } from '../../../lib/timeframe';
import { Parameters } from '../queries/parameters';
import { listRunDays, spanRows, spansOf } from '../queries/score-runs';
import { IS_MACHINE, SMART_SCORE } from '../scoring/tiers';
import { lockRollups } from './positions';
import { NOT_KEPT, SMART_COLUMNS, moveSmartHours } from './smart-hours';
import { forgetLatest, tellLatest } from './smart-latest';
import { smartScores } from './smart-positions';

/** What one transaction tells lies within so much time: writers wait for it. Who was smart in hours that are told is much less work than these. */
const AT_ONCE = { untold: DAY_MS, judged: 7 * DAY_MS };

const DAY = `(hour AT TIME ZONE 'UTC')::date`;

/** SQL that takes out the hours of a condition, and their days; of those that writers keep what smart wallets did stays. */
const forget = (condition: string): string =>
  ['pm_told_hour', 'pm_told_size'].map((table) => `${table}_gone AS (DELETE FROM ${table} WHERE ${condition} RETURNING hour)`).join(', ') +
  `, whole AS (
  UPDATE pm_told_whole SET until = LEAST(until, GREATEST(since, gone.first)), forgotten = forgotten + 1
  FROM (SELECT min(hour) AS first FROM pm_told_hour_gone HAVING count(*) > 0) AS gone
)` +
  `, pm_smart_wallet_hour_gone AS (DELETE FROM pm_smart_wallet_hour WHERE ${condition} AND ${NOT_KEPT})` +
  ['pm_told_day', 'pm_told_day_size']
    .map((table) => `, ${table}_gone AS (DELETE FROM ${table} WHERE day IN (SELECT ${DAY} FROM pm_told_hour_gone))`)
    .join('') +
  ` DELETE FROM pm_smart_hour WHERE ${condition}`;
const FORGET = `WITH ${forget('hour = ANY($1::timestamptz[])')}`;
const FORGET_FROM = `WITH ${forget('hour >= $1 AND hour < $2')}`;
const FORGET_MARKETS = `WITH touched AS MATERIALIZED (SELECT DISTINCT hour FROM pm_wallet_hour WHERE condition_id = ANY($1)), ${forget('hour IN (SELECT hour FROM touched)')}`;

/** Takes out the hours in which these rows lie, inside the transaction that changes them. */
export async function forgetHours(client: PoolClient, rows: readonly { timestamp: Date }[]): Promise<void> {
  const hours = new Set(rows.map(({ timestamp }) => Math.floor(timestamp.getTime() / HOUR_MS) * HOUR_MS));
  if (hours.size > 0) await client.query({ name: 'pm_forget_hours', text: FORGET, values: [[...hours].map((hour) => new Date(hour))] });
}

/** Takes out the hours in which anything happened on these markets: their categories are others now. */
export async function forgetHoursOf(client: PoolClient, condition_ids: readonly string[]): Promise<void> {
  await client.query(FORGET_MARKETS, [condition_ids]);
  await moveSmartHours(client, condition_ids);
}

/** Takes out every hour. */
export async function forgetAllHours(client: PoolClient): Promise<void> {
  await client.query(FORGET_FROM, [BEGINNING, END]);
}

/** One at a time tells hours, or changes the run that they are judged by. */
const ALONE = "SELECT pg_advisory_xact_lock(hashtext('pm_told_hours'))";

// What smart wallets did there stays: other runs judge it.
const FORGET_CLASSES = `UPDATE pm_told_hour SET run_day = '-infinity' WHERE run_day = $1::date`;

// Hours that a writer is taking out are left to it, and not waited for.
const MOVE_CLASSES = `WITH prior AS MATERIALIZED (
  SELECT max(day) AS day FROM pm_score_run WHERE day < $1::date
), changed AS MATERIALIZED (
  SELECT wallet, sum(sign * smart::int) AS smart, sum(sign * machine::int) AS machine FROM (
    SELECT wallet, CASE day WHEN $1::date THEN 1 ELSE -1 END AS sign, (score >= ${SMART_SCORE}) IS TRUE AS smart, ${IS_MACHINE} AS machine
    FROM pm_wallet_score WHERE day IN ($1::date, (SELECT day FROM prior)) AND (score >= ${SMART_SCORE} OR ${IS_MACHINE})
  ) AS judged GROUP BY wallet HAVING sum(sign * smart::int) <> 0 OR sum(sign * machine::int) <> 0
), moved AS (
  SELECT hour, sum(smart * taker_usdc) AS smart_usdc, sum(machine * taker_usdc) AS machine_usdc FROM changed JOIN pm_wallet_hour USING (wallet) GROUP BY hour
), free AS (
  SELECT hour FROM pm_told_hour WHERE run_day = (SELECT day FROM prior) FOR UPDATE SKIP LOCKED
)
UPDATE pm_told_hour AS told SET run_day = $1::date, smart_usdc = told.smart_usdc + COALESCE(moved.smart_usdc, 0), machine_usdc = told.machine_usdc + COALESCE(moved.machine_usdc, 0)
FROM free LEFT JOIN moved USING (hour) WHERE told.hour = free.hour`;

/**
 * Takes out the hours that the run of `day` judges, and tells who is smart or a machine by it in those told by the run before: by the wallets that are judged otherwise. Inside the
 * transaction that writes it.
 */
export async function forgetJudged(client: PoolClient, day: string): Promise<void> {
  await client.query(ALONE);
  await client.query(FORGET_CLASSES, [day]);
  const days = await listRunDays(sqlOf(client), END);
  const span = spansOf(days, { from: BEGINNING, to: END }).find((one) => one.day === day);
  if (span !== undefined) await client.query(FORGET_FROM, [span.from, span.to]);
  await client.query(MOVE_CLASSES, [day]);
}

const missing = (condition: string): string =>
  `SELECT hour FROM generate_series((SELECT min(hour) FROM pm_token_hour)::timestamptz, $1::timestamptz - interval '1 hour', interval '1 hour') AS series(hour)
WHERE NOT EXISTS (SELECT 1 FROM pm_told_hour AS told WHERE told.hour = series.hour AND ${condition})`;

/** Hours in which nothing happened are nobody's, whoever judges. */
const EVERY_RUN = `'infinity'`;

// One fact of years ago makes many of them.
const EMPTY = `WITH missing AS MATERIALIZED (${missing('true')})
SELECT hour FROM missing WHERE hour NOT IN (SELECT own.hour FROM pm_token_hour AS own JOIN missing ON missing.hour = own.hour)`;

// The days in which anything else is told may be whole by these.
const TELL_NOTHING = `WITH told AS (
  INSERT INTO pm_told_hour (hour, run_day, smart_usdc, machine_usdc, takers) SELECT hour, ${EVERY_RUN}, 0, 0, '{}' FROM unnest($1::timestamptz[]) AS empty(hour) RETURNING hour
)
SELECT (SELECT min(hour) FROM told) AS first, ARRAY(SELECT hour FROM told WHERE EXISTS (
  SELECT 1 FROM pm_told_size AS size WHERE size.hour >= date_trunc('day', told.hour, 'UTC') AND size.hour < date_trunc('day', told.hour, 'UTC') + interval '1 day'
)) AS beside`;

const UNTOLD = `${missing('told.takers IS NOT NULL')} ORDER BY hour`;
const JUDGED = `SELECT hour FROM pm_told_hour WHERE hour < $1 AND run_day NOT IN ($2::date, ${EVERY_RUN}) AND takers IS NOT NULL ORDER BY hour`;

const CLASSES = `INSERT INTO pm_told_hour AS kept (hour, run_day, smart_usdc, machine_usdc)
SELECT wanted.hour, $2::date, COALESCE(found.smart_usdc, 0), COALESCE(found.machine_usdc, 0) FROM unnest($1::timestamptz[]) AS wanted(hour) LEFT JOIN (
  SELECT piece.hour, sum(taker_usdc) FILTER (WHERE judged.smart) AS smart_usdc, sum(taker_usdc) FILTER (WHERE judged.machine) AS machine_usdc
  FROM pm_wallet_hour AS piece JOIN (
    SELECT wallet, score >= ${SMART_SCORE} AS smart, ${IS_MACHINE} AS machine FROM pm_wallet_score WHERE day = $2::date
  ) AS judged ON judged.wallet = piece.wallet AND (judged.smart OR judged.machine)
  WHERE piece.hour >= $3 AND piece.hour <= $4 GROUP BY piece.hour
) AS found ON found.hour = wanted.hour
ON CONFLICT (hour) DO UPDATE SET run_day = EXCLUDED.run_day, smart_usdc = EXCLUDED.smart_usdc, machine_usdc = EXCLUDED.machine_usdc`;

const BY_CATEGORY = `INSERT INTO pm_smart_hour (hour, category, buys, sells, buy_usdc, sell_usdc)
SELECT hour, category, sum(buys), sum(sells), sum(buy_usdc), sum(sell_usdc) FROM pm_smart_wallet_hour WHERE hour = ANY($1::timestamptz[]) GROUP BY hour, category`;

/** What smart wallets did in these hours, and what that is by category. */
async function tellSmart(client: PoolClient, hours: readonly Date[], days: readonly string[]): Promise<void> {
  const parameters = new Parameters();
  const [first, last] = [hours[0] as Date, hours.at(-1) as Date];
  const runs = spanRows(spansOf(days, { from: first, to: new Date(last.getTime() + HOUR_MS) }), parameters);
  const wanted = parameters.add(hours, 'timestamptz[]');
  const [from, to] = [parameters.add(first, 'timestamptz'), parameters.add(last, 'timestamptz')];
  for (const table of ['pm_smart_wallet_hour', 'pm_smart_hour'])
    await client.query(`DELETE FROM ${table} WHERE hour = ANY($1::timestamptz[])`, [hours]);
  await client.query(
    `INSERT INTO pm_smart_wallet_hour (hour, condition_id, token_id, wallet, category, score, ${SMART_COLUMNS})
SELECT piece.hour, piece.condition_id, token_id, piece.wallet, market.category, judged.score, ${SMART_COLUMNS} FROM pm_wallet_hour AS piece
JOIN ${runs} ON piece.hour >= run.since AND piece.hour < run.until
JOIN ${smartScores(`SELECT day FROM ${runs}`)} AS judged ON judged.day = run.day AND judged.wallet = piece.wallet
JOIN pm_market AS market ON market.condition_id = piece.condition_id
WHERE piece.hour >= ${from} AND piece.hour <= ${to} AND piece.hour = ANY (${wanted}) AND piece.token_id <> '' AND buys + sells > 0`,
    parameters.values,
  );
  await client.query(BY_CATEGORY, [hours]);
}

/** SQL of the bucket of a size, wider by a tenth each; what is smaller than a millionth is in the first. */
export const sizeBucket = (usdc: string): string => `floor(10 * ln(GREATEST(${usdc}, 0.000001)::float8))::int`;

/** SQL of the tenth of its bucket that a size is in, 0 to 9. */
export const sizeTenth = (usdc: string, bucket: string): string =>
  `LEAST(9, GREATEST(0, floor(100 * ln(GREATEST(${usdc}, 0.000001)::float8))::int - 10 * ${bucket}))`;

const SIZES = `INSERT INTO pm_told_size (hour, bucket, fills, sizes)
SELECT hour, ${sizeBucket('usdc_size')}, count(*), array_agg(usdc_size) FROM (
  SELECT date_trunc('hour', "timestamp", 'UTC') AS hour, usdc_size FROM pm_trade WHERE "timestamp" >= $1 AND "timestamp" < $2::timestamptz + interval '1 hour' AND is_taker AND side IN ('BUY', 'SELL')
) AS taken WHERE hour = ANY($3::timestamptz[]) GROUP BY 1, 2`;

/** Sizes taken in these hours. */
async function tellSizes(client: PoolClient, hours: readonly Date[]): Promise<void> {
  await client.query(`DELETE FROM pm_told_size WHERE hour = ANY($1::timestamptz[])`, [hours]);
  await client.query(SIZES, [hours[0], hours.at(-1), hours]);
}

interface Told {
  table: string;
  key: string;
  /** SQL of where it begins. */
  start: string;
}

/** SQL that counts the different takers of these rows ($1, keys of a told `unit`), by category and ('') of all. What was counted stays: it is of facts alone, whatever run tells the hour again. */
const countTakers = (unit: 'hour' | 'day', { table, key, start }: Told): string => `WITH wanted AS MATERIALIZED (
  SELECT ${start} AS at FROM ${table} WHERE ${key} = ANY($1) AND takers IS NULL
), taken AS (
  SELECT DISTINCT date_trunc('${unit}', hour, 'UTC') AS at, category, wallet FROM pm_wallet_hour AS own JOIN pm_market AS market ON market.condition_id = own.condition_id
  WHERE hour >= (SELECT min(at) FROM wanted) AND hour < (SELECT max(at) + interval '1 ${unit}' FROM wanted) AND taker_buys + taker_sells > 0
), found AS (
  SELECT at, jsonb_object_agg(COALESCE(category, ''), takers) AS takers
  FROM (SELECT at, category, count(DISTINCT wallet) AS takers FROM taken GROUP BY GROUPING SETS ((at, category), (at))) AS counted GROUP BY at
)
UPDATE ${table} AS told SET takers = COALESCE(found.takers, '{}') FROM wanted LEFT JOIN found ON found.at = wanted.at WHERE ${start} = wanted.at`;

const TAKERS_OF_HOURS = countTakers('hour', { table: 'pm_told_hour', key: 'hour', start: 'hour' });
const TAKERS_OF_DAYS = countTakers('day', { table: 'pm_told_day', key: 'day', start: `day::timestamp AT TIME ZONE 'UTC'` });

const WITHIN_DAY = `hour >= day::timestamp AT TIME ZONE 'UTC' AND hour < (day + 1)::timestamp AT TIME ZONE 'UTC'`;
const DAYS = `INSERT INTO pm_told_day (day, buckets, fills)
SELECT day, array_agg(bucket ORDER BY bucket), array_agg(fills ORDER BY bucket) FROM (
  SELECT day, bucket, sum(fills)::int AS fills
  FROM (SELECT day FROM unnest($1::date[]) AS given(day) JOIN pm_told_hour ON ${WITHIN_DAY} GROUP BY day HAVING count(*) = 24) AS whole JOIN pm_told_size ON ${WITHIN_DAY} GROUP BY 1, 2
) AS sizes GROUP BY day ON CONFLICT (day) DO NOTHING`;

const SIZES_OF_DAYS = `INSERT INTO pm_told_day_size (day, bucket, tenth, fills, sizes)
SELECT day, bucket, ${sizeTenth('size', 'bucket')}, count(*), array_agg(size)
FROM pm_told_day JOIN pm_told_size ON ${WITHIN_DAY}, unnest(sizes) AS size WHERE day = ANY($1) GROUP BY 1, 2, 3 ON CONFLICT (bucket, tenth, day) DO NOTHING`;

/** Sizes taken on the days of these hours and how many took, where each hour is told now. */
async function tellDays(client: PoolClient, hours: readonly Date[]): Promise<void> {
  const days = [...new Set(hours.map((hour) => isoDay(hour)))];
  await client.query(DAYS, [days]);
  await client.query(SIZES_OF_DAYS, [days]);
  await client.query(TAKERS_OF_DAYS, [days]);
}

/** Tells the whole hours before `until` that nobody told and in which nothing happened. */
async function tellNothing(client: PoolClient, until: Date): Promise<void> {
  const empty = await client.query<{ hour: Date }>(EMPTY, [until]);
  const { rows } = await client.query<{ first: Date | null; beside: Date[] }>(TELL_NOTHING, [empty.rows.map(({ hour }) => hour)]);
  const { first = null, beside = [] } = rows[0] ?? {};
  if (first !== null) await forgetLatest(client, first);
  if (beside.length > 0) await tellDays(client, beside);
}

/** Nothing is left to be told of the hours before `until`. */
const TELL_WHOLE = `INSERT INTO pm_told_whole AS kept (id, since, until, forgotten) SELECT 1, min(hour), $1, 0 FROM pm_token_hour HAVING min(hour) < $1
ON CONFLICT (id) DO UPDATE SET since = EXCLUDED.since, until = EXCLUDED.until WHERE (kept.since, kept.until) <> (EXCLUDED.since, EXCLUDED.until)`;

/** Hours to be told, oldest first: as a whole, or who was smart or a machine in them by the newest run. */
interface Due {
  untold: Date[];
  judged: Date[];
}

async function listDue(client: PoolClient, until: Date, run: string): Promise<Due> {
  const hoursOf = async (text: string, values: unknown[]): Promise<Date[]> =>
    (await client.query<{ hour: Date }>(text, values)).rows.map(({ hour }) => hour);
  return { untold: await hoursOf(UNTOLD, [until]), judged: await hoursOf(JUDGED, [until, run]) };
}

/** Those of these hours that nobody took out since they were listed. */
const listTold = async (client: PoolClient, hours: readonly Date[]): Promise<Date[]> =>
  (await client.query<{ hour: Date }>('SELECT hour FROM pm_told_hour WHERE hour = ANY($1::timestamptz[])', [hours])).rows.map(
    ({ hour }) => hour,
  );

/** Takes the first hours out of a list, as many as lie within a length of time. */
function takeWithin(hours: Date[], length: number): Date[] {
  const [first] = hours;
  const end = first === undefined ? 0 : hours.findIndex((hour) => hour.getTime() >= first.getTime() + length);
  return hours.splice(0, end < 0 ? hours.length : end);
}

/**
 * Tells every whole hour before `now` that is not told, or not by the newest run; some hours in each transaction. Nothing is told as of before that run.
 * They are listed once, and again after the last of them: what was taken out meanwhile is told as well.
 */
export async function tellHours(pool: Pool, now: Date): Promise<void> {
  const until = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS);
  let due: Due = { untold: [], judged: [] };
  const tell = async (client: PoolClient): Promise<boolean> => {
    // In this order: a run of the scores waits to be alone with rows in its hands that a writer may wait for.
    await lockRollups(client);
    await client.query(ALONE);
    const days = await listRunDays(sqlOf(client), now);
    const run = days.at(-1);
    const newest = (await listRunDays(sqlOf(client), END)).at(-1);
    if (run === undefined || run !== newest) return false;
    if (due.untold.length + due.judged.length === 0) {
      await tellNothing(client, until);
      due = await listDue(client, until, run);
      if (due.untold.length === 0) await client.query(TELL_WHOLE, [until]);
    }
    const untold = takeWithin(due.untold, AT_ONCE.untold);
    if (untold.length > 0) await tellAll(client, untold, days, run);
    const judged = untold.length > 0 ? [] : takeWithin(due.judged, AT_ONCE.judged);
    if (judged.length > 0) await tellClasses(client, await listTold(client, judged), run);
    const is_done = untold.length + judged.length === 0;
    if (is_done) await tellLatest(client, until);
    return !is_done;
  };
  while (await inTransaction(pool, tell, LONG_WORK));
}

/** Tells what smart wallets and machines by a run took in these hours. */
async function tellClasses(client: PoolClient, hours: readonly Date[], run: string): Promise<void> {
  if (hours.length === 0) return;
  const times = hours.map((hour) => hour.getTime());
  await client.query(CLASSES, [hours, run, new Date(Math.min(...times)), new Date(Math.max(...times))]);
}

/** Tells these hours, oldest first, and the days that are told as a whole by them. */
async function tellAll(client: PoolClient, hours: readonly Date[], days: readonly string[], run: string): Promise<void> {
  await forgetLatest(client, hours[0] as Date);
  await tellSmart(client, hours, days);
  await tellSizes(client, hours);
  await tellClasses(client, hours, run);
  await client.query(TAKERS_OF_HOURS, [hours]);
  await tellDays(client, hours);
}
