import type { QueryResultRow } from 'pg';
import type { GraphContext } from '../../venue';

/** A move counts from so many standard deviations of the coin's hourly returns over the days before. */
const DEVIATIONS = 2;
const RETURNS_BEFORE = "interval '7 days'";
const WITHIN = "interval '24 hours'";
const HOUR = "interval '1 hour'";

// $1: now; $2: accounts; $3: the coin, where there is one. Hours wholly inside the 24 are told by the rollup, the two edges by facts,
// which are only looked at when the hours do not suffice.
const text = (coin: boolean): string => `
WITH opened AS MATERIALIZED (
  SELECT f.trader, f.coin, f.timestamp, f.price, f.is_buy, date_trunc('hour', f.timestamp, 'UTC') AS hour, least(f.timestamp + ${WITHIN}, $1::timestamptz) AS until
  FROM perp_fill f WHERE f.trader = ANY ($2::text[]) AND f.timestamp < $1 AND f.open_size > 0 ${coin ? 'AND f.coin = $3::text' : ''}
),
spread AS MATERIALIZED (
  SELECT o.coin, o.hour, (SELECT stddev_samp(r.change) FROM (
      SELECT h.close_price / lag(h.close_price) OVER (ORDER BY h.hour) - 1 AS change
      FROM perp_coin_hour h WHERE h.coin = o.coin AND h.hour >= o.hour - ${RETURNS_BEFORE} AND h.hour < o.hour AND h.close_price IS NOT NULL) r) AS deviation
  FROM (SELECT DISTINCT coin, hour FROM opened) o
),
target AS (
  SELECT o.*, o.price * (1 + CASE WHEN o.is_buy THEN ${DEVIATIONS} ELSE -${DEVIATIONS} END * s.deviation) AS goal,
    date_trunc('hour', o.until, 'UTC') AS last_hour
  FROM opened o JOIN spread s ON s.coin = o.coin AND s.hour = o.hour WHERE s.deviation IS NOT NULL
)
SELECT trader, (avg(CASE WHEN
  EXISTS (SELECT 1 FROM perp_coin_hour h WHERE h.coin = t.coin AND h.hour >= t.hour + ${HOUR} AND h.hour < t.last_hour
    AND CASE WHEN t.is_buy THEN h.high_price >= t.goal ELSE h.low_price <= t.goal END)
  OR EXISTS (SELECT 1 FROM perp_fill f WHERE f.coin = t.coin AND f.timestamp > t.timestamp AND f.timestamp < least(t.hour + ${HOUR}, t.until)
    AND CASE WHEN t.is_buy THEN f.price >= t.goal ELSE f.price <= t.goal END)
  OR EXISTS (SELECT 1 FROM perp_fill f WHERE f.coin = t.coin AND f.timestamp >= greatest(t.last_hour, t.hour + ${HOUR}) AND f.timestamp < t.until
    AND CASE WHEN t.is_buy THEN f.price >= t.goal ELSE f.price <= t.goal END)
  THEN 1 ELSE 0 END))::float8 AS timing
FROM target t GROUP BY trader`;

/**
 * Share of each account's opens (of the coin) that a favourable move of at least two standard deviations followed within 24 hours;
 * opens without a known deviation are left out, accounts without others are not told.
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
