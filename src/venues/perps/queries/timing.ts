import type { QueryResultRow } from 'pg';
import type { GraphContext } from '../../venue';

/** A move counts from so many standard deviations of the coin's hourly returns over the seven days before (see perp_coin_hour). */
export const DEVIATIONS = 2;
const WITHIN = "interval '24 hours'";
const HOUR = "interval '1 hour'";
// Of the 24 hours after an open, those that lie wholly in them, whatever its minute.
const LAST_WHOLE_HOUR = "interval '23 hours'";

const edge = (from: string, to: string): string => `EXISTS (SELECT 1 FROM perp_fill f
    WHERE f.coin = t.coin AND f.timestamp ${from} AND f.timestamp < ${to} AND CASE WHEN t.is_buy THEN f.price >= t.goal ELSE f.price <= t.goal END)`;

// $1: now; $2: accounts; $3: the coin, where there is one. Whole hours are told by the rollup, the two edges by facts, which are only
// looked at where the hours do not suffice and the edge's own hour goes far enough. Hours are looked up one by one (OFFSET): joined, all hours of
// all coins are read as soon as the planner expects more opens than there are; the last hour only where those before it do not suffice.
const text = (coin: boolean): string => `
WITH opened AS MATERIALIZED (
  SELECT f.trader, f.coin, f.timestamp, f.price, f.is_buy, date_trunc('hour', f.timestamp, 'UTC') AS hour, least(f.timestamp + ${WITHIN}, $1::timestamptz) AS until
  FROM perp_fill f WHERE f.trader = ANY ($2::text[]) AND f.timestamp < $1 AND f.open_size > 0 ${coin ? 'AND f.coin = $3::text' : ''}
),
around AS MATERIALIZED (
  SELECT h.coin, h.hour, h.deviation, h.high_price, h.low_price, after.high_price AS high_after, after.low_price AS low_after
  FROM (SELECT DISTINCT coin, hour FROM opened) o
  CROSS JOIN LATERAL (SELECT * FROM perp_coin_hour k WHERE k.coin = o.coin AND k.hour = o.hour AND k.deviation > 0 OFFSET 0) h
  CROSS JOIN LATERAL (
    SELECT max(n.high_price) AS high_price, min(n.low_price) AS low_price FROM perp_coin_hour n
    WHERE n.coin = h.coin AND n.hour > h.hour AND n.hour <= h.hour + ${LAST_WHOLE_HOUR} AND n.hour < date_trunc('hour', $1::timestamptz, 'UTC')
  ) after
),
target AS (
  SELECT o.*, o.price * (1 + CASE WHEN o.is_buy THEN ${DEVIATIONS} ELSE -${DEVIATIONS} END * a.deviation) AS goal,
    greatest(date_trunc('hour', o.until, 'UTC'), o.hour + ${HOUR}) AS last_hour, a.high_price, a.low_price, a.high_after, a.low_after
  FROM opened o JOIN around a ON a.coin = o.coin AND a.hour = o.hour
)
SELECT t.trader, avg(CASE
  WHEN CASE WHEN t.is_buy THEN t.high_after >= t.goal ELSE t.low_after <= t.goal END THEN 1
  WHEN CASE WHEN t.is_buy THEN t.high_price >= t.goal ELSE t.low_price <= t.goal END
    AND ${edge('> t.timestamp', `least(t.hour + ${HOUR}, t.until)`)} THEN 1
  WHEN (SELECT CASE WHEN t.is_buy THEN last.high_price >= t.goal ELSE last.low_price <= t.goal END
      FROM perp_coin_hour last WHERE last.coin = t.coin AND last.hour = t.last_hour)
    AND ${edge('>= t.last_hour', 't.until')} THEN 1
  ELSE 0 END)::float8 AS timing
FROM target t GROUP BY t.trader`;

/**
 * Share of each account's opens (of the coin) that a favourable move of at least two standard deviations followed within 24 hours;
 * opens before which the price did not move are left out, accounts without others are not told.
 */
export async function listTimings(
  { sql, now }: GraphContext,
  traders: readonly string[],
  coin: string | null,
): Promise<Map<string, number>> {
  const statement = { name: coin === null ? 'perps_timing' : 'perps_timing_coin', text: text(coin !== null), keyed: true };
  const values = [now, traders, ...(coin === null ? [] : [coin])];
  const rows = await sql.query<{ trader: string; timing: number } & QueryResultRow>(statement, values);
  return new Map(rows.map(({ trader, timing }) => [trader, timing]));
}
