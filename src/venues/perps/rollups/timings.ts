import type { PoolClient } from 'pg';
import type { Statement } from '../../../db/sql';
import { DAY_MS } from '../../../lib/time';

/** A move counts from so many standard deviations of the coin's hourly returns over the seven days before (see perp_coin_hour). */
export const DEVIATIONS = 2;
const WITHIN = "interval '24 hours'";
const HOUR = "interval '1 hour'";
// Of the 24 hours after an open, those that lie wholly in them, whatever its minute.
const LAST_WHOLE_HOUR = "interval '23 hours'";

/** Instants, parameters of a statement: fills are of those from the first one on, and what follows them is looked at up to the second. */
type Between = readonly [since: string, instant: string];

// Both instants bound matches as well: else every month of them is opened. So are coins, so that the planner expects few matches by coin and time: where there are few coins, it reads those of all of them by time.
const edge = ([since, instant]: Between, from: string, to: string): string => `EXISTS (SELECT 1 FROM perp_match m
      WHERE m.coin = k.coin AND m.coin BETWEEN k.coin AND k.coin AND m.timestamp >= ${since} AND m.timestamp < ${instant} AND m.timestamp ${from} AND m.timestamp < ${to} AND CASE WHEN t.is_buy THEN m.price >= t.goal ELSE m.price <= t.goal END)`;

const reaches = (high: string, low: string): string => `CASE WHEN t.is_buy THEN t.${high} >= t.goal ELSE t.${low} <= t.goal END`;

/**
 * Common table expressions that end in `timed`: by trader and coin, `opens` and `moved`, those that a favourable move followed within 24 hours and
 * before the instant; to be added up. Of the rows of perp_fill that the SELECT `fills` gives; those before which the price did not move are left out.
 * `hours`: a condition on the hours (h) of all these fills, where they are to be read together instead of one by one.
 */
// Whole hours are told by the rollup, the two edges by matches, which are only looked at where the hours do not suffice and the edge's own hour goes
// far enough: the opens of which that holds, first of all, are joined to an hour of their coin (k), beside which matches stand in a cluster. All opens
// of an hour have the same last hour.
export function timedOpens(fills: string, between: Between, hours = ''): string {
  const [, instant] = between;
  return `
opened AS MATERIALIZED (
  SELECT f.trader, f.coin, f.timestamp, f.price, f.is_buy, date_trunc('hour', f.timestamp, 'UTC') AS hour, least(f.timestamp + ${WITHIN}, ${instant}) AS until
  FROM (${fills}) f WHERE f.open_size > 0
),
around AS MATERIALIZED (
  SELECT h.coin, h.hour, h.deviation, h.high_price, h.low_price, after.high_price AS high_after, after.low_price AS low_after,
    o.last_hour, last.high_price AS high_last, last.low_price AS low_last
  FROM (
    SELECT DISTINCT coin, hour, greatest(least(hour + ${WITHIN}, date_trunc('hour', ${instant}, 'UTC')), hour + ${HOUR}) AS last_hour FROM opened
  ) o
  JOIN perp_coin_hour h ON h.coin = o.coin AND h.hour = o.hour AND h.deviation > 0 ${hours}
  CROSS JOIN LATERAL (
    SELECT max(n.high_price) AS high_price, min(n.low_price) AS low_price FROM perp_coin_hour n
    WHERE n.coin = h.coin AND n.hour > h.hour AND n.hour <= h.hour + ${LAST_WHOLE_HOUR} AND n.hour < date_trunc('hour', ${instant}, 'UTC')
  ) after
  LEFT JOIN LATERAL (SELECT * FROM perp_coin_hour k WHERE k.coin = h.coin AND k.hour = o.last_hour OFFSET 0) last ON true
),
target AS MATERIALIZED (
  SELECT o.*, o.price * (1 + CASE WHEN o.is_buy THEN ${DEVIATIONS} ELSE -${DEVIATIONS} END * a.deviation) AS goal,
    a.last_hour, a.high_price, a.low_price, a.high_after, a.low_after, a.high_last, a.low_last
  FROM opened o JOIN around a ON a.coin = o.coin AND a.hour = o.hour
),
timed AS (
  SELECT t.trader, t.coin, 1 AS opens, (${reaches('high_after', 'low_after')} IS TRUE)::int AS moved FROM target t
  UNION ALL
  SELECT t.trader, t.coin, 0, 1 FROM target t JOIN perp_coin_hour k ON k.coin = t.coin AND k.hour = t.hour
  WHERE ${reaches('high_after', 'low_after')} IS NOT TRUE AND (${reaches('high_price', 'low_price')} OR ${reaches('high_last', 'low_last')})
    AND (${reaches('high_price', 'low_price')} AND ${edge(between, '> t.timestamp', `least(t.hour + ${HOUR}, t.until)`)}
      OR ${reaches('high_last', 'low_last')} AND ${edge(between, '>= t.last_hour', 't.until')})
)`;
}

/** The day up to whose begin opens are final at an instant: 24 hours have passed since the last of them. */
const finalUntil = (instant: string): string => `date_trunc('day', ${instant} - ${WITHIN}, 'UTC')`;

/** Up to when perp_timing tells opens as of an instant, a midnight; facts tell the later ones. */
const toldUntil = (instant: string): string => `least(coalesce((SELECT until FROM perp_timing_told), '-infinity'), ${finalUntil(instant)})`;

const FIRST_DAY = `SELECT date_trunc('day', min(first_at), 'UTC') AS day FROM perp_trader`;

/** The same as a query, `until`: $1 is the instant. No earlier than the day of the first fill. */
export const TIMED_UNTIL: Statement = {
  name: 'perps_timed_until',
  keyed: true,
  text: `SELECT greatest(${toldUntil('$1::timestamptz')}, (${FIRST_DAY})) AS until`,
};

/** What an account's opens in a coin came to before a midnight: the newest row of perp_timing; `own` has the two. */
export const openedBefore = (own: string, midnight: string): string =>
  `SELECT k.opens, k.moved FROM perp_timing k WHERE k.trader = ${own}.trader AND k.coin = ${own}.coin AND k.day < ${midnight} ORDER BY k.day DESC LIMIT 1`;

const onDay = (time: string): string => `${time} >= $1 AND ${time} < $1 + interval '24 hours'`;

// $1: the day; $2: when its opens are final.
const TELL_DAY = `
INSERT INTO perp_timing (trader, coin, day, opens, moved)
WITH ${timedOpens(`SELECT * FROM perp_fill f WHERE ${onDay('f.timestamp')}`, ['$1::timestamptz', '$2::timestamptz'], `AND ${onDay('h.hour')}`)}
SELECT own.trader, own.coin, $1::timestamptz, own.opens + coalesce(earlier.opens, 0), own.moved + coalesce(earlier.moved, 0)
FROM (SELECT trader, coin, sum(opens) AS opens, sum(moved) AS moved FROM timed GROUP BY 1, 2) own
JOIN perp_trader_life l ON l.trader = own.trader AND l.coin = own.coin
LEFT JOIN LATERAL (${openedBefore('l', '$1')}) earlier ON true ORDER BY 1, 2`;

/** Tells all opens that are final at `now`. The client's transaction must hold the lock of the rollups. */
export async function tellTimings(client: PoolClient, now: Date): Promise<void> {
  const { rows } = await client.query<{ from: Date | null; until: Date }>(
    `SELECT coalesce((SELECT until FROM perp_timing_told), (${FIRST_DAY})) AS from, ${finalUntil('$1::timestamptz')} AS until`,
    [now],
  );
  const { from, until } = rows[0] as (typeof rows)[number];
  if (from === null || from >= until) return;
  await client.query('DELETE FROM perp_timing WHERE day >= $1', [from]);
  for (let day = from.getTime(); day < until.getTime(); day += DAY_MS)
    await client.query(TELL_DAY, [new Date(day), new Date(day + 2 * DAY_MS)]);
  await client.query('DELETE FROM perp_timing_told');
  await client.query('INSERT INTO perp_timing_told (until) VALUES ($1)', [until]);
}

/** Tells from facts again what is told. */
export async function retellTimings(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ until: Date }>('DELETE FROM perp_timing_told RETURNING until');
  await client.query('DELETE FROM perp_timing');
  for (const { until } of rows) await tellTimings(client, new Date(until.getTime() + DAY_MS));
}

// $1: the oldest new fill. It can be the move that an open of the 24 hours before it waited for, and changes deviations after it.
const FORGET_LATER = {
  name: 'perps_forget_timings',
  text: `UPDATE perp_timing_told SET until = ${finalUntil('$1::timestamptz')} WHERE until > ${finalUntil('$1::timestamptz')}`,
};

/** Leaves opens that a new fill may tell otherwise to facts, inside the client's transaction, until they are told anew. */
export async function forgetTimings(client: PoolClient, oldest: Date): Promise<void> {
  await client.query({ ...FORGET_LATER, values: [oldest] });
}
