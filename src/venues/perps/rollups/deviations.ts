import type { PoolClient } from 'pg';

const BEFORE = "interval '7 days'";

/** How hours changed from the one before that has a price; `from` names perp_coin_hour `h`. */
const changesOf = (from: string): string => `
  SELECT h.coin, h.hour, h.close_price / lag(h.close_price) OVER (PARTITION BY h.coin ORDER BY h.hour) - 1 AS change FROM ${from}`;

/** Each hour of `changes` with the sample deviation of the hourly returns of the seven days before it. */
const deviationsOf = (changes: string): string => `
  SELECT coin, hour, stddev_samp(change) OVER (PARTITION BY coin ORDER BY hour RANGE BETWEEN ${BEFORE} PRECEDING AND interval '1 hour' PRECEDING) AS deviation
  FROM (${changes}) c`;

// $1: coins; $2, $3: first and last fill of each that is new. What it closes at changes an hour's return and that of the next one, and so
// the hours up to seven days after that.
const TELL = {
  name: 'perps_tell_deviations',
  text: `
WITH touched AS MATERIALIZED (
  SELECT t.coin, t.since,
    coalesce((SELECT max(h.hour) FROM perp_coin_hour h WHERE h.coin = t.coin AND h.hour < t.since - ${BEFORE} AND h.close_price IS NOT NULL), t.since - ${BEFORE}) AS needed,
    coalesce((SELECT min(h.hour) FROM perp_coin_hour h WHERE h.coin = t.coin AND h.hour > t.last AND h.close_price IS NOT NULL), t.last) + ${BEFORE} AS until
  FROM (SELECT coin, date_trunc('hour', since, 'UTC') AS since, date_trunc('hour', last, 'UTC') AS last FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS g(coin, since, last)) t
),
told AS (
  SELECT d.coin, d.hour, d.deviation
  FROM (${deviationsOf(changesOf('touched t JOIN perp_coin_hour h ON h.coin = t.coin AND h.hour >= t.needed AND h.hour <= t.until WHERE h.close_price IS NOT NULL'))}) d
  JOIN touched t ON t.coin = d.coin AND d.hour >= t.since
)
UPDATE perp_coin_hour k SET deviation = told.deviation
FROM told WHERE k.coin = told.coin AND k.hour = told.hour AND k.deviation IS DISTINCT FROM told.deviation`,
};

/** Brings the deviations of coins' hours up to date after new fills of these coins at these times (milliseconds), inside the client's transaction. */
export async function tellDeviations(client: PoolClient, fills: readonly { coin: string; time: number }[]): Promise<void> {
  const spans = new Map<string, { since: number; last: number }>();
  for (const { coin, time } of fills) {
    const known = spans.get(coin);
    spans.set(coin, { since: Math.min(known?.since ?? time, time), last: Math.max(known?.last ?? time, time) });
  }
  if (spans.size === 0) return;
  const all = [...spans.values()];
  const values = [[...spans.keys()], all.map(({ since }) => new Date(since)), all.map(({ last }) => new Date(last))];
  await client.query({ ...TELL, values });
}

/** Tells all deviations of coins' hours, none of which has one yet. */
export const TELL_ALL_DEVIATIONS = `
UPDATE perp_coin_hour k SET deviation = told.deviation
FROM (${deviationsOf(changesOf('perp_coin_hour h WHERE h.close_price IS NOT NULL'))}) told
WHERE k.coin = told.coin AND k.hour = told.hour AND told.deviation IS NOT NULL`;
