import { HOUR_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';
import {
  PERP_BAR_MS,
  type MatchColumn,
  TAKER_OPENS,
  TRADER_HOUR,
  type TraderHourColumn,
  type Unit,
  matchRow,
  takerOpenRow,
  unitOf,
} from '../rollups/hours';
import { TRIP_SUMS, type TripColumn } from '../rollups/trip-sums';
import type { SmartColumn } from '../rollups/smart-hours';
import type { SmartTraderColumn } from '../rollups/smart-trader-days';
import type { RestColumn } from '../rollups/smart-trader-rests';
import { SMART_SCORE } from '../tier';
import { type Grain, type Part, type Told, nextDay, pieces, thisDay } from './pieces';
import { edgeOf } from './segments';

/**
 * A window as its whole hours, told by rollups, and two edges, told by bars and facts: [from, hour_from), [hour_from, hour_to), [hour_to, to).
 * Four values of a statement that follow each other, $1 to $4 where nothing else is said.
 */
export type Span = readonly [from: Date, hour_from: Date, hour_to: Date, to: Date];

export function spanOf({ from, to }: Window): Span {
  const next = (length: number): number => Math.ceil(from.getTime() / length) * length;
  // A window between two whole hours is two edges that meet where a bar begins, or one where it lies in a bar.
  const first = next(HOUR_MS) <= to.getTime() ? next(HOUR_MS) : Math.min(next(PERP_BAR_MS), to.getTime());
  const last = Math.max(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS, first);
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
  /** The day of a score run (none where it is null), and the least score in it. */
  scored?: { day: string; least: string | number };
  /** A text[] of coins. */
  coins?: string;
}

/** Accounts with at least a score in the run of a day, as a subquery. */
export const scoredTraders = ({ day, least }: { day: string; least: string | number }): string =>
  `SELECT s.trader FROM perp_score s WHERE s.day = ${day}::date AND s.score >= ${least}::numeric`;

/** Smart accounts of the run of a day, a parameter of the statement. */
export const smartIn = (day: string): { day: string; least: number } => ({ day, least: SMART_SCORE });

/** Conditions on the trader and the coin of a table's rows, each after an AND. */
export function narrow(table: string, { coin, traders, coins, scored }: Narrowed): string {
  const conditions = [
    ...(coin === undefined ? [] : [`${table}.coin = ${coin}::text`]),
    ...(scored === undefined ? [] : [`${table}.trader IN (${scoredTraders(scored)})`]),
    ...(traders === undefined ? [] : [`${table}.trader = ANY (${traders}::text[])`]),
    ...(coins === undefined ? [] : [`${table}.coin = ANY (${coins}::text[])`]),
  ];
  return conditions.map((condition) => ` AND ${condition}`).join('');
}

/** Condition that names all values of the span $1 to $4, whichever a statement goes by. */
export const SPAN_NAMED = '$1::timestamptz <= $2::timestamptz AND $3::timestamptz <= $4::timestamptz';

/** Rows of the span whose values start at `at`, to be added up: accounts' own fills, by trader, coin and hour (or the day that tells it). */
export function ownRows(columns: readonly TraderHourColumn[], narrowed: Narrowed, at = 1, grain: Grain = 'day'): string {
  return pieces(ownTold(columns, [], narrowed), at, grain);
}

/** What tells accounts' own fills; of round trips only days know. */
function ownTold(columns: readonly TraderHourColumn[], trips: readonly TripColumn[], narrowed: Narrowed): Told {
  const facts = columns.map((column) => `${TRADER_HOUR[column].row} AS ${column}`);
  const noTrips = trips.map((column) => `${nothing(TRIP_SUMS[column].merge)} AS ${column}`);
  const told = (unit: Grain): string =>
    `SELECT h.trader, h.coin, h.${unit} AS hour, ${[...columns.map((column) => `h.${column}`), ...(unit === 'day' ? trips.map((column) => `h.${column}`) : noTrips)].join(', ')} FROM perp_trader_${unit} h WHERE true${narrow('h', narrowed)} AND`;
  return {
    days: told('day'),
    hours: told('hour'),
    facts: `SELECT f.trader, f.coin, date_trunc('hour', f.timestamp, 'UTC') AS hour, ${[...facts, ...noTrips].join(', ')} FROM perp_fill f WHERE true${narrow('f', narrowed)} AND`,
    table: 'f',
  };
}

/** What adds nothing. */
const nothing = (merge: 'sum' | 'max' | 'min'): string => (merge === 'sum' ? '0' : 'NULL');

/**
 * Rows of the span $1 to $4 to be added up, by trader, coin and hour (or the day that tells it): accounts' own fills, and the round trips
 * that closed in it. Of the days at both edges each trip is a row, with the midnight before it as its hour.
 */
export function ownRowsWithTrips(columns: readonly TraderHourColumn[], trips: readonly TripColumn[], narrowed: Narrowed): string {
  const none = columns.map((column) => `${nothing(TRADER_HOUR[column].merge)} AS ${column}`);
  return withClosed(ownTold(columns, trips, narrowed), ['t.coin'], none, trips, narrowed);
}

/** The pieces of the span $1 to $4 by days that know of round trips, and those that closed on the days at both edges. `before` and `none`: columns of a trip between its trader and the hour, and after it. */
export function withClosed(
  told: Told,
  before: readonly string[],
  none: readonly string[],
  trips: readonly TripColumn[],
  narrowed: Narrowed,
): string {
  const columns = ['t.trader', ...before, `date_trunc('day', t.closed_at, 'UTC') AS hour`, ...none, ...trips.map((column) => `${TRIP_SUMS[column].row} AS ${column}`)]; // prettier-ignore
  const closed = (from: string, to: string): string =>
    `UNION ALL SELECT ${columns.join(', ')} FROM perp_round_trip t WHERE t.closed_at >= ${from} AND t.closed_at < ${to}${narrow('t', narrowed)}`;
  return `(
  SELECT * FROM ${pieces(told, 1, 'day')} told
  ${edgeOf(1, 'days_from', closed('$1', `least($4::timestamptz, ${nextDay('$2')})`))}
  ${edgeOf(1, 'days_to', closed(`greatest($1::timestamptz, ${thisDay('$4')}, ${nextDay('$2')})`, '$4'))})`;
}

/**
 * Rows of the span $1 to $4 to be added up, by coin and hour (or the day or month that tells it): what smart accounts of the run of the day `run`, a
 * parameter, did. By their own hours where the run is not the one whose sums are told.
 */
export function smartRows(
  columns: readonly SmartColumn[],
  run: { day: string; is_told: boolean },
  narrowed: Pick<Narrowed, 'coin' | 'coins'> = {},
  grain: Grain = 'month',
  part: Part = 'all',
): string {
  const own = ownTold(columns, [], { ...narrowed, scored: smartIn(run.day) });
  const told = (unit: Unit): string =>
    `SELECT '' AS trader, h.coin, ${hourOf(unit)} AS hour, ${columns.map((column) => `h.${column}`).join(', ')} FROM perp_smart_${unit} h WHERE ${run.day}::date IS NOT NULL${narrow('h', narrowed)} AND`;
  return pieces(
    run.is_told
      ? { ...own, months: told('month'), days: told('day'), quarters: told('quarter'), hours: told('hour'), bars: told('bar') }
      : own,
    1,
    grain,
    part,
  );
}

/** Whose fills: accounts with at least a score in the run of a day, a parameter; is_told: perp_smart_trader_day has their days. */
export interface Scored {
  day: string;
  least: string | number;
  is_told: boolean;
}

/** Rows of the span $1 to $4 to be added up, by trader, coin and hour (or the day that tells it): scored accounts' own fills. */
export function scoredRows(columns: readonly SmartTraderColumn[], scored: Scored, narrowed: Pick<Narrowed, 'coin' | 'coins'> = {}): string {
  const own = ownTold(columns, [], { ...narrowed, scored });
  return pieces(scored.is_told ? { ...own, days: smartTold('day', columns, scored, narrowed) } : own, 1, 'day');
}

/** The same where rests of the day on which the span begins are told, and the span goes on beyond that day. */
export function scoredRowsByRest(columns: readonly RestColumn[], scored: Scored, narrowed: Pick<Narrowed, 'coin' | 'coins'>): string {
  const own = ownTold(columns, [], { ...narrowed, scored });
  return pieces(
    { ...own, days: smartTold('day', columns, scored, narrowed), rest: smartTold('rest', columns, scored, narrowed) },
    1,
    'day',
  );
}

const smartTold = (
  unit: 'day' | 'rest',
  columns: readonly SmartTraderColumn[],
  scored: Scored,
  narrowed: Pick<Narrowed, 'coin' | 'coins'>,
): string =>
  `SELECT h.trader, h.coin, h.${unit === 'day' ? 'day AS hour' : 'hour'}, ${columns.map((column) => `h.${column}`).join(', ')} FROM perp_smart_trader_${unit} h WHERE h.score >= ${scored.least} AND ${scored.day}::date IS NOT NULL${narrow('h', narrowed)} AND`;

/** The hour that a row `h` belongs to; the day of a day. */
const hourOf = (unit: Unit): string => (unit === 'bar' ? unitOf('hour', 'h.bar') : `h.${unit}`);

/** Rows of a span to be added up: matches, by coin and hour (or the day or month that tells it). */
export function matchRows(
  columns: readonly MatchColumn[],
  narrowed: Pick<Narrowed, 'coin' | 'coins'> = {},
  at = 1,
  grain: Grain = 'month',
  part: Part = 'all',
): string {
  const facts = columns.map((column) => `${matchRow(column)} AS ${column}`);
  const told = (unit: Unit): string =>
    `SELECT h.coin, ${hourOf(unit)} AS hour, ${columns.map((column) => `h.${column}`).join(', ')} FROM perp_coin_${unit} h WHERE h.matches > 0${narrow('h', narrowed)} AND`;
  return pieces(
    {
      months: told('month'),
      days: told('day'),
      quarters: told('quarter'),
      hours: told('hour'),
      bars: told('bar'),
      facts: `SELECT m.coin, date_trunc('hour', m.timestamp, 'UTC') AS hour, ${facts.join(', ')} FROM perp_match m WHERE true${narrow('m', narrowed)} AND`,
      table: 'm',
    },
    at,
    grain,
    part,
  );
}

/** Rows of the span whose values start at `at` to be added up: what was matched in all coins, `hour` and `volume_usd`. */
export const volumeRows = (at = 1): string =>
  pieces(
    {
      hours: 'SELECT h.hour, h.volume_usd FROM perp_volume_hour h WHERE',
      bars: `SELECT ${hourOf('bar')} AS hour, h.volume_usd FROM perp_coin_bar h WHERE h.matches > 0 AND`,
      facts: `SELECT date_trunc('hour', m.timestamp, 'UTC') AS hour, ${matchRow('volume_usd')} AS volume_usd FROM perp_match m WHERE`,
      table: 'm',
    },
    at,
    'hour',
  );

/** Rows of a span to be added up: what takers opened, by coin and hour (or the day or month that tells it). */
export function openRows(narrowed: Pick<Narrowed, 'coin' | 'coins'> = {}, at = 1, grain: Grain = 'month'): string {
  const facts = TAKER_OPENS.map((column) => `${takerOpenRow(column)} AS ${column}`);
  const told = (unit: Unit): string =>
    `SELECT h.coin, ${hourOf(unit)} AS hour, ${TAKER_OPENS.map((column) => `h.${column}`).join(', ')} FROM perp_coin_${unit} h WHERE true${narrow('h', narrowed)} AND`;
  return pieces(
    {
      months: told('month'),
      days: told('day'),
      quarters: told('quarter'),
      hours: told('hour'),
      bars: told('bar'),
      facts: `SELECT f.coin, date_trunc('hour', f.timestamp, 'UTC') AS hour, ${facts.join(', ')} FROM perp_fill f WHERE f.is_taker${narrow('f', narrowed)} AND`,
      table: 'f',
    },
    at,
    grain,
  );
}

/** Sums of columns, added up: two numbers of a row take longer to add than each to sum. */
export const sumsOf = (columns: readonly string[]): string => columns.map((column) => `sum(${column})`).join(' + ');

/** USD of an account's own fills; of its buys; of its sells. Columns that `ownRows` must have: VOLUME_COLUMNS. */
export const VOLUME_COLUMNS = ['open_long_usd', 'open_short_usd', 'close_long_usd', 'close_short_usd'] as const;
export const VOLUME = 'open_long_usd + open_short_usd + close_long_usd + close_short_usd';
export const BOUGHT = 'open_long_usd + close_short_usd';
export const SOLD = 'open_short_usd + close_long_usd';
