import type { PoolClient } from 'pg';
import type { Sql, Statement } from '../../../db/sql';
import { isoDay } from '../../../lib/time';
import type { Followed } from './follow';

/** A follower enters a minute after a fill, over ten minutes. */
const DELAY = '60 seconds';
/** Times have milliseconds: the last one before the eleventh minute is over. */
const LAST = '659.999 seconds';
const OVER = '660 seconds';
const OVER_MS = 660_000;

// $1: now. A day's prices reach into the first hour of the next one.
const DAYS: Statement = {
  name: 'pm_follow_days',
  text: `WITH hours AS (
  SELECT hour, sum(fills + buys + sells)::bigint AS fills FROM pm_token_hour WHERE hour < $1::timestamptz GROUP BY hour
), days AS (
  SELECT day, sum(fills)::bigint AS fills, bool_or(own) AS own FROM (
    SELECT date_trunc('day', hour, 'UTC') AS day, fills, true AS own FROM hours
    UNION ALL SELECT hour - interval '1 day', fills, false FROM hours WHERE hour = date_trunc('day', hour, 'UTC')
  ) AS piece GROUP BY day
)
SELECT to_char(days.day AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, days.fills FROM days
LEFT JOIN pm_follow_state AS told ON told.day = (days.day AT TIME ZONE 'UTC')::date
WHERE days.own AND (told.fills IS DISTINCT FROM days.fills OR told.told_at < days.day + interval '1 day ${OVER}' OR $1 < days.day + interval '1 day ${OVER}')
ORDER BY 1`,
};

// $1: day; $2: now.
const TELL: Statement = {
  name: 'pm_follow_tell',
  text: `INSERT INTO pm_follow_day (wallet, condition_id, token_id, day, trades, followed, buy_shares, buy_usdc, sell_shares, sell_usdc)
SELECT wallet, condition_id, token_id, $1::date, count(*), count(price), COALESCE(sum(size) FILTER (WHERE side = 'BUY' AND price IS NOT NULL), 0),
  COALESCE(sum(size * price) FILTER (WHERE side = 'BUY'), 0), COALESCE(sum(size) FILTER (WHERE side = 'SELL' AND price IS NOT NULL), 0), COALESCE(sum(size * price) FILTER (WHERE side = 'SELL'), 0)
FROM (
  SELECT wallet, condition_id, token_id, side, size, "timestamp", round(sum(usdc_size) FILTER (WHERE is_taker) OVER later / NULLIF(sum(size) FILTER (WHERE is_taker) OVER later, 0), 12) AS price
  FROM pm_trade WHERE "timestamp" >= $1::date::timestamp AT TIME ZONE 'UTC' AND "timestamp" < ($1::date + 1)::timestamp AT TIME ZONE 'UTC' + interval '${OVER}'
    AND "timestamp" < $2::timestamptz AND side IN ('BUY', 'SELL')
  WINDOW later AS (PARTITION BY condition_id, token_id ORDER BY "timestamp" RANGE BETWEEN interval '${DELAY}' FOLLOWING AND interval '${LAST}' FOLLOWING)
) AS fill
WHERE "timestamp" < ($1::date + 1)::timestamp AT TIME ZONE 'UTC' AND "timestamp" + interval '${OVER}' <= $2
GROUP BY wallet, condition_id, token_id ORDER BY wallet, condition_id, token_id`,
};

const FORGET: Statement = { name: 'pm_follow_forget', text: 'DELETE FROM pm_follow_day WHERE day = $1::date' };

const TOLD: Statement = {
  name: 'pm_follow_told',
  text: `INSERT INTO pm_follow_state (day, fills, told_at) VALUES ($1, $2, $3)
ON CONFLICT (day) DO UPDATE SET fills = EXCLUDED.fills, told_at = EXCLUDED.told_at`,
};

const AHEAD: Statement = {
  name: 'pm_follow_ahead',
  text: 'DELETE FROM pm_follow_state WHERE day = $1::date AND told_at > $2 RETURNING day',
};

const DUE: Statement = { name: 'pm_follow_due', text: "DELETE FROM pm_follow_due RETURNING to_char(day, 'YYYY-MM-DD') AS day" };
const UNTELL: Statement = { name: 'pm_follow_untell', text: 'DELETE FROM pm_follow_state WHERE day = ANY($1::date[])' };
// A run finds days by their hours: one that has none left would stay as it was told.
const FORGET_ALL: Statement = { name: 'pm_follow_forget_all', text: 'DELETE FROM pm_follow_day WHERE day = ANY($1::date[])' };

/**
 * Brings what followers paid and got up to `now`: days not told yet, days whose fills have become other ones since, and the day that is not over, also
 * where a later run has told it. A fill counts once its ten minutes are over. Needs the session's time zone to be UTC.
 */
export async function tellFollowed(sql: Sql, now: Date): Promise<void> {
  const due = (await sql.query<{ day: string }>(DUE, [])).map(({ day }) => day);
  if (due.length > 0) for (const statement of [UNTELL, FORGET_ALL]) await sql.query(statement, [due]);
  const today = isoDay(now);
  // A day that has only begun may have no fill before `now` by which it would be told again.
  if ((await sql.query(AHEAD, [today, now])).length > 0) await sql.query(FORGET, [today]);
  for (const { day, fills } of await sql.query<{ day: string; fills: string }>(DAYS, [now])) {
    await sql.query(FORGET, [day]);
    await sql.query(TELL, [day, now]);
    await sql.query(TOLD, [day, fills, now]);
  }
}

// A note that a run has in its hands tells of what it sees; what is noted beside it is left to the next.
const NOTE = `WITH noted AS (SELECT day FROM pm_follow_due WHERE day = ANY($1::date[]) FOR KEY SHARE SKIP LOCKED)
INSERT INTO pm_follow_due (day) SELECT day FROM unnest($1::date[]) AS given(day) WHERE day NOT IN (SELECT day FROM noted)`;

/** The next run tells the days anew in which these fills served followers: what was paid for them is another sum than it was. A run that goes on is not waited for. */
export async function noteFollowed(client: PoolClient, fills: readonly { timestamp: Date }[]): Promise<void> {
  const days = new Set(fills.flatMap(({ timestamp }) => [isoDay(timestamp), isoDay(new Date(timestamp.getTime() - OVER_MS))]));
  if (days.size > 0) await client.query({ name: 'pm_follow_note', text: NOTE, values: [[...days]] });
}

/** The same of all days that are told. */
export const noteAllFollowed = (client: PoolClient): Promise<unknown> =>
  client.query('INSERT INTO pm_follow_due (day) SELECT day FROM pm_follow_state');

const SUMS: Statement = {
  name: 'pm_follow_sums',
  text: `SELECT wallet, condition_id, token_id, sum(trades)::int AS trades, sum(followed)::int AS followed, sum(buy_shares) AS buy_shares, sum(buy_usdc) AS buy_usdc,
  sum(sell_shares) AS sell_shares, sum(sell_usdc) AS sell_usdc
FROM pm_follow_day WHERE wallet = ANY ($1) AND day <= $2::date GROUP BY wallet, condition_id, token_id ORDER BY condition_id, token_id`,
};

/** What followers of these wallets paid and got up to the day of `now`, in order of market and token. */
export function listFollowed(sql: Sql, wallets: readonly string[], now: Date): Promise<(Followed & { wallet: string })[]> {
  return sql.query<Followed & { wallet: string }>(SUMS, [wallets, isoDay(now)]);
}
