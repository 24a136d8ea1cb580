import type { QueryResultRow } from 'pg';
import type { GraphContext } from '../../venue';

/** A move counts from so many standard deviations of the coin's hourly returns over the days before. */
const DEVIATIONS = 2;
const RETURNS_BEFORE = "interval '7 days'";
const WITHIN = "interval '24 hours'";
const HOUR = "interval '1 hour'";
// Of the 24 hours after an open, those that lie wholly in them, whatever its minute.
const LAST_WHOLE_HOUR = "interval '23 hours'";

const edge = (from: string, to: string): string => `EXISTS (SELECT 1 FROM perp_fill f
    WHERE f.coin = t.coin AND f.timestamp ${from} AND f.timestamp < ${to} AND CASE WHEN t.is_buy THEN f.price >= t.goal ELSE f.price <= t.goal END)`;

// $1: now; $2: accounts; $3: the coin, where there is one. Whole hours are told by the rollup, the two edges by facts, which are only
// looked at where the hours do not suffice and the edge's own hour goes far enough.
const text = (coin: boolean): string => `
WITH opened AS MATERIALIZED (
  SELECT f.trader, f.coin, f.timestamp, f.price, f.is_buy, date_trunc('hour', f.timestamp, 'UTC') AS hour, least(f.timestamp + ${WITHIN}, $1::timestamptz) AS until
  FROM perp_fill f WHERE f.trader = ANY ($2::text[]) AND f.timestamp < $1 AND f.open_size > 0 ${coin ? 'AND f.coin = $3::text' : ''}
),
needed AS (
  SELECT o.coin, coalesce((SELECT max(h.hour) FROM perp_coin_hour h WHERE h.coin = o.coin AND h.hour < o.since AND h.close_price IS NOT NULL), o.since) AS since
  FROM (SELECT coin, min(hour) - ${RETURNS_BEFORE} AS since FROM opened GROUP BY coin) o
),
change AS (
  SELECT h.coin, h.hour, h.high_price, h.low_price, h.close_price / lag(h.close_price) OVER (PARTITION BY h.coin ORDER BY h.hour) - 1 AS change
  FROM needed n JOIN perp_coin_hour h ON h.coin = n.coin AND h.hour >= n.since AND h.hour < $1 AND h.close_price IS NOT NULL
),
around AS MATERIALIZED (
  SELECT coin, hour, high_price, low_price, stddev_samp(change) OVER before AS deviation,
    max(high_price) FILTER (WHERE hour < date_trunc('hour', $1::timestamptz, 'UTC')) OVER after AS high_after,
    min(low_price) FILTER (WHERE hour < date_trunc('hour', $1::timestamptz, 'UTC')) OVER after AS low_after
  FROM change WINDOW before AS (PARTITION BY coin ORDER BY hour RANGE BETWEEN ${RETURNS_BEFORE} PRECEDING AND ${HOUR} PRECEDING),
    after AS (PARTITION BY coin ORDER BY hour RANGE BETWEEN ${HOUR} FOLLOWING AND ${LAST_WHOLE_HOUR} FOLLOWING)
),
target AS (
  SELECT o.*, o.price * (1 + CASE WHEN o.is_buy THEN ${DEVIATIONS} ELSE -${DEVIATIONS} END * a.deviation) AS goal,
    greatest(date_trunc('hour', o.until, 'UTC'), o.hour + ${HOUR}) AS last_hour, a.high_price, a.low_price, a.high_after, a.low_after
  FROM opened o JOIN around a ON a.coin = o.coin AND a.hour = o.hour WHERE a.deviation > 0
)
SELECT t.trader, avg(CASE
  WHEN CASE WHEN t.is_buy THEN t.high_after >= t.goal ELSE t.low_after <= t.goal END THEN 1
  WHEN CASE WHEN t.is_buy THEN t.high_price >= t.goal ELSE t.low_price <= t.goal END
    AND ${edge('> t.timestamp', `least(t.hour + ${HOUR}, t.until)`)} THEN 1
  WHEN CASE WHEN t.is_buy THEN last.high_price >= t.goal ELSE last.low_price <= t.goal END
    AND ${edge('>= t.last_hour', 't.until')} THEN 1
  ELSE 0 END)::float8 AS timing
FROM target t LEFT JOIN around last ON last.coin = t.coin AND last.hour = t.last_hour GROUP BY t.trader`;

/**
 * Share of each account's opens (of the coin) that a favourable move of at least two standard deviations followed within 24 hours;
 * opens before which the price did not move are left out, accounts without others are not told.
 */
export async function listTimings(
  { sql, now }: GraphContext,
  traders: readonly string[],
  coin: string | null,
): Promise<Map<string, number>> {
  const statement = { name: coin === null ? 'perps_timing' : 'perps_timing_coin', text: text(coin !== null) };
  const values = [now, traders, ...(coin === null ? [] : [coin])];
  const rows = await sql.query<{ trader: string; timing: number } & QueryResultRow>(statement, values);
  return new Map(rows.map(({ trader, timing }) => [trader, timing]));
}
