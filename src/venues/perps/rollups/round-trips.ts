import type { PoolClient } from 'pg';
import { addTrips, takeTrips } from './trip-sums';

/** What is flat: positions carry float noise of this relative size. */
const NOISE = '1e-9';

/** A fill's part of a flip's fee; what the division rounds off stays with the opening part. Needs `f` and `part.opens`. */
export const PART_FEE = `CASE WHEN f.open_size = f.size OR f.open_size = 0 THEN f.fee_usd
    WHEN part.opens THEN f.fee_usd - round(f.fee_usd * (f.size - f.open_size) / f.size, 12)
    ELSE round(f.fee_usd * (f.size - f.open_size) / f.size, 12) END`;

const AFTER = 'f.start_position + CASE WHEN f.is_buy THEN f.size ELSE -f.size END';

/** Parts of the fills that `from` names `f`: what opens and what closes. */
const partsOf = (from: string): string => `
  SELECT f.trader, f.coin, f.timestamp, f.seq, f.tid, f.oid, part.opens, false AS carried, part.opens = f.is_buy AS is_long,
    part.opens AND (f.open_size < f.size OR abs(f.start_position) <= ${NOISE} * f.size) AS starts,
    NOT part.opens AND (f.open_size > 0 OR abs(f.start_position) - f.size <= ${NOISE} * greatest(f.size, abs(f.start_position))) AS ends,
    ${AFTER} AS after, 1 AS parts, NULL::timestamptz AS first_at, NULL::timestamptz AS opened_at, NULL::boolean AS clean_start,
    CASE WHEN part.opens THEN f.open_size ELSE 0 END AS opened_size, CASE WHEN part.opens THEN f.price * f.open_size ELSE 0 END AS opened_usd,
    CASE WHEN part.opens THEN abs(${AFTER}) ELSE abs(f.start_position) END AS peak_size,
    CASE WHEN part.opens AND f.open_size < f.size THEN 0 ELSE f.closed_pnl END AS gross_pnl, coalesce(${PART_FEE}, 0) AS fees_usd
  FROM ${from} CROSS JOIN (VALUES (true), (false)) AS part(opens)
  WHERE CASE WHEN part.opens THEN f.open_size > 0 ELSE f.open_size < f.size END`;

/** What is known of the positions that `from` names `p`, as if it were a part before all others. */
const carriedFrom = (from: string): string => `
  SELECT p.trader, p.coin, p.last_at, -1, 0, 0, false, true, p.is_long, false, p.size = 0, p.size, p.parts, p.first_at, p.opened_at, p.clean_start,
    p.opened_size, p.opened_usd, p.peak_size, p.gross_pnl, p.fees_usd
  FROM ${from}`;

/**
 * Common table expressions that end in `trip`: the round trips that the parts make, closed or not, in the order of each account's
 * trading in a coin. One begins where a part opens from flat, and where nothing that was seen leads to it: first of all, after an end,
 * against the direction before it. `newest` is the one an account stands in, or ended with.
 */
export const tripsOf = (fills: string, positions: string | null): string => `
part AS (${partsOf(fills)}${positions === null ? '' : `\n  UNION ALL${carriedFrom(positions)}`}),
placed AS (
  SELECT part.*, NOT carried AND coalesce(starts OR lag(ends) OVER account OR lag(is_long) OVER account <> is_long, true) AS begins,
    coalesce(lag(timestamp) OVER account <> timestamp, true) AS is_apart, lead(timestamp) OVER account IS NULL AS is_last
  FROM part WINDOW account AS (PARTITION BY trader, coin ORDER BY timestamp, seq, tid, oid, opens)
),
numbered AS (
  SELECT placed.*, count(*) FILTER (WHERE begins) OVER (PARTITION BY trader, coin ORDER BY timestamp, seq, tid, oid, opens ROWS UNBOUNDED PRECEDING) AS number FROM placed
),
trip AS (
  SELECT trader, coin, number, bool_or(is_long) AS is_long, bool_or(ends) AS is_closed, bool_or(is_last) AS is_newest,
    coalesce(min(first_at), min(timestamp)) AS first_at, coalesce(max(opened_at), max(timestamp) FILTER (WHERE begins AND starts)) AS opened_at,
    coalesce(bool_or(clean_start), bool_or(begins AND is_apart)) AS clean_start,
    max(timestamp) AS last_at, max(tid) FILTER (WHERE ends) AS tid, max(oid) FILTER (WHERE ends) AS oid, max(after) FILTER (WHERE is_last) AS size,
    sum(parts) AS parts, sum(opened_size) AS opened_size, sum(opened_usd) AS opened_usd, max(peak_size) AS peak_size,
    sum(gross_pnl) AS gross_pnl, sum(fees_usd) AS fees_usd
  FROM numbered GROUP BY trader, coin, number HAVING NOT bool_and(carried)
)`;

/** Writes those of the trips that are closed. */
const KEEP_CLOSED = `
  INSERT INTO perp_round_trip (trader, coin, closed_at, tid, oid, is_long, first_at, opened_at, clean_start, parts, opened_size, opened_usd,
    peak_size, gross_pnl, fees_usd, net_pnl)
  SELECT trader, coin, last_at, tid, oid, is_long, first_at, opened_at, clean_start, parts, opened_size, opened_usd, peak_size,
    gross_pnl, fees_usd, gross_pnl - fees_usd
  FROM trip WHERE is_closed`;

/** Writes where each account now stands. */
const KEEP_POSITIONS = `
INSERT INTO perp_position AS kept (trader, coin, size, last_at, is_long, first_at, opened_at, clean_start, parts, opened_size, opened_usd,
  peak_size, gross_pnl, fees_usd)
SELECT trader, coin, CASE WHEN is_closed THEN 0 ELSE size END, last_at, is_long, CASE WHEN NOT is_closed THEN first_at END,
  CASE WHEN NOT is_closed THEN opened_at END, NOT is_closed AND clean_start, CASE WHEN is_closed THEN 0 ELSE parts END,
  CASE WHEN is_closed THEN 0 ELSE opened_size END, CASE WHEN is_closed THEN 0 ELSE opened_usd END,
  CASE WHEN is_closed THEN 0 ELSE peak_size END, CASE WHEN is_closed THEN 0 ELSE gross_pnl END, CASE WHEN is_closed THEN 0 ELSE fees_usd END
FROM trip WHERE is_newest ORDER BY trader, coin
ON CONFLICT (trader, coin) DO UPDATE SET size = EXCLUDED.size, last_at = EXCLUDED.last_at, is_long = EXCLUDED.is_long,
  first_at = EXCLUDED.first_at, opened_at = EXCLUDED.opened_at, clean_start = EXCLUDED.clean_start, parts = EXCLUDED.parts,
  opened_size = EXCLUDED.opened_size, opened_usd = EXCLUDED.opened_usd, peak_size = EXCLUDED.peak_size, gross_pnl = EXCLUDED.gross_pnl,
  fees_usd = EXCLUDED.fees_usd`;

/**
 * Rows of the common table expression `keys`, which has a trader and these columns, laid beside their accounts (DISTINCT keeps them there):
 * where the store is spread over machines, a LATERAL part that reads an account's rows runs on each.
 */
export const besideAccounts = (keys: string, columns: readonly string[]): string =>
  `(SELECT DISTINCT a.trader, ${columns.map((column) => `k.${column}`).join(', ')} FROM ${keys} k JOIN perp_trader a ON a.trader = k.trader)`;

/** Fills of each of the `keys` (trader, coin, since) that meet the condition, as `f`: always by the account's index, however few rows the planner expects. */
export const fillsSince = (keys: string, condition = 'true'): string =>
  `${besideAccounts(keys, ['coin', 'since'])} t CROSS JOIN LATERAL (SELECT * FROM perp_fill WHERE trader = t.trader AND coin = t.coin AND timestamp >= t.since AND ${condition} OFFSET 0) f`;

/** Where a round trip began that can be told without what came before it, before `instant`; null: tell all. */
export const cleanStart = (position: string, instant: string): string => `greatest(
  (SELECT max(t.first_at) FROM perp_round_trip t WHERE t.trader = ${position}.trader AND t.coin = ${position}.coin AND t.clean_start AND t.first_at < ${instant}),
  CASE WHEN ${position}.clean_start AND ${position}.first_at < ${instant} THEN ${position}.first_at END)`;

// Late fills change what is already told: that goes, back to a round trip that stands.
const FORGET_LATE = {
  name: 'perps_forget_late_trips',
  text: `
WITH late AS MATERIALIZED (
  SELECT p.trader, p.coin, coalesce(${cleanStart('p', 'g.since')}, '-infinity') AS since
  FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS g(trader, coin, since) JOIN perp_position p ON p.trader = g.trader AND p.coin = g.coin
  WHERE g.since <= p.last_at
),
positions AS (DELETE FROM perp_position p USING late WHERE p.trader = late.trader AND p.coin = late.coin),
trips AS (DELETE FROM perp_round_trip t USING late WHERE t.trader = late.trader AND t.coin = late.coin AND t.first_at >= late.since
  RETURNING t.*),${takeTrips('trips')}
SELECT trader, coin, since::text AS since FROM late`,
};

const TELL_SINCE = {
  name: 'perps_tell_trips',
  text: `
WITH touched AS MATERIALIZED (SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS t(trader, coin, since)),
${tripsOf(fillsSince('touched'), 'touched t JOIN perp_position p ON p.trader = t.trader AND p.coin = t.coin')},
closed AS (${KEEP_CLOSED} RETURNING *),${addTrips('closed')}${KEEP_POSITIONS}`,
};

/** A coin of an account with new fills, and the first of them. */
export interface Touched {
  trader: string;
  coin: string;
  since: Date;
}

/** Brings round trips and positions up to date after new fills of these accounts and coins, inside the client's transaction. */
export async function tellRoundTrips(client: PoolClient, touched: readonly Touched[]): Promise<void> {
  if (touched.length === 0) return;
  const keys = [touched.map(({ trader }) => trader), touched.map(({ coin }) => coin)];
  const { rows } = await client.query<{ trader: string; coin: string; since: string }>({
    ...FORGET_LATE,
    values: [...keys, touched.map(({ since }) => since)],
  });
  const late = new Map(rows.map(({ trader, coin, since }) => [`${trader}|${coin}`, since]));
  const since = touched.map((key) => late.get(`${key.trader}|${key.coin}`) ?? key.since);
  await client.query({ ...TELL_SINCE, values: [...keys, since] });
}

/** Tells all round trips and positions from facts; both tables must be empty. Days and lives do not count them. */
export const TELL_ALL_TRIPS = `WITH ${tripsOf('perp_fill f', null)},
closed AS (${KEEP_CLOSED} ORDER BY trader, coin, number)${KEEP_POSITIONS}`;
