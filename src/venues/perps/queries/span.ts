import type { Window } from '../../../lib/timeframe';
import { type MatchColumn, TAKER_OPENS, TRADER_HOUR, type TraderHourColumn, matchRow, takerOpenRow } from '../rollups/hours';

const HOUR = 3_600_000;

/**
 * A window as its whole hours, told by rollups, and two edges, told by facts: [from, hour_from), [hour_from, hour_to), [hour_to, to).
 * Four values of a statement that follow each other, $1 to $4 where nothing else is said.
 */
export type Span = readonly [from: Date, hour_from: Date, hour_to: Date, to: Date];

export function spanOf({ from, to }: Window): Span {
  const first = Math.min(Math.ceil(from.getTime() / HOUR) * HOUR, to.getTime());
  const last = Math.max(Math.floor(to.getTime() / HOUR) * HOUR, first);
  return [from, new Date(first), new Date(last), to];
}

/** The UTC days, `days` of them, that end with the day of `now`. */
export function daysWindow(days: number, now: Date): Window {
  return { from: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() - days + 1)), to: now };
}

/** Which accounts and coins: parameters of the statement, such as `$5`. */
export interface Narrowed {
  coin?: string;
  /** A text[] of accounts. */
  traders?: string;
  /** A text[] of coins. */
  coins?: string;
}

function narrow(table: string, { coin, traders, coins }: Narrowed): string {
  const conditions = [
    ...(coin === undefined ? [] : [`${table}.coin = ${coin}::text`]),
    ...(traders === undefined ? [] : [`${table}.trader = ANY (${traders}::text[])`]),
    ...(coins === undefined ? [] : [`${table}.coin = ANY (${coins}::text[])`]),
  ];
  return conditions.map((condition) => ` AND ${condition}`).join('');
}

/** One piece of a span for each place that tells it: the hours of a rollup, and the facts of both edges. */
const pieces = (hours: string, facts: string, table: string, at: number): string => `(
  ${hours} hour >= $${at + 1} AND hour < $${at + 2}
  UNION ALL ${facts} ${table}.timestamp >= $${at} AND ${table}.timestamp < $${at + 1}
  UNION ALL ${facts} ${table}.timestamp >= $${at + 2} AND ${table}.timestamp < $${at + 3})`;

/** Rows of the span whose values start at `at`, to be added up: accounts' own fills, by trader, coin and hour. */
export function ownRows(columns: readonly TraderHourColumn[], narrowed: Narrowed = {}, at = 1): string {
  const facts = columns.map((column) => `${TRADER_HOUR[column].row} AS ${column}`);
  return pieces(
    `SELECT h.trader, h.coin, h.hour, ${columns.map((column) => `h.${column}`).join(', ')} FROM perp_trader_hour h WHERE true${narrow('h', narrowed)} AND`,
    `SELECT f.trader, f.coin, date_trunc('hour', f.timestamp, 'UTC') AS hour, ${facts.join(', ')} FROM perp_fill f WHERE true${narrow('f', narrowed)} AND`,
    'f',
    at,
  );
}

/** Rows of a span to be added up: matches, by coin and hour. */
export function matchRows(columns: readonly MatchColumn[], narrowed: Pick<Narrowed, 'coin' | 'coins'> = {}, at = 1): string {
  const facts = columns.map((column) => `${matchRow(column)} AS ${column}`);
  return pieces(
    `SELECT h.coin, h.hour, ${columns.map((column) => `h.${column}`).join(', ')} FROM perp_coin_hour h WHERE h.matches > 0${narrow('h', narrowed)} AND`,
    `SELECT m.coin, date_trunc('hour', m.timestamp, 'UTC') AS hour, ${facts.join(', ')} FROM perp_match m WHERE true${narrow('m', narrowed)} AND`,
    'm',
    at,
  );
}

/** Rows of a span to be added up: what takers opened, by coin and hour. */
export function openRows(narrowed: Pick<Narrowed, 'coin' | 'coins'> = {}, at = 1): string {
  const facts = TAKER_OPENS.map((column) => `${takerOpenRow(column)} AS ${column}`);
  return pieces(
    `SELECT h.coin, h.hour, ${TAKER_OPENS.map((column) => `h.${column}`).join(', ')} FROM perp_coin_hour h WHERE true${narrow('h', narrowed)} AND`,
    `SELECT f.coin, date_trunc('hour', f.timestamp, 'UTC') AS hour, ${facts.join(', ')} FROM perp_fill f WHERE f.is_taker${narrow('f', narrowed)} AND`,
    'f',
    at,
  );
}

/** USD of an account's own fills; of its buys; of its sells. Columns that `ownRows` must have: VOLUME_COLUMNS. */
export const VOLUME_COLUMNS = ['open_long_usd', 'open_short_usd', 'close_long_usd', 'close_short_usd'] as const;
export const VOLUME = 'open_long_usd + open_short_usd + close_long_usd + close_short_usd';
export const BOUGHT = 'open_long_usd + close_short_usd';
export const SOLD = 'open_short_usd + close_long_usd';
