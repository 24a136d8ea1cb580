import { afterwards } from '../../../db/segments';
import { edgeOf } from './segments';
import { type Narrowed, narrow, nextDay, thisDay } from './span';

const TRIPS =
  "SELECT t.trader, date_trunc('day', t.closed_at, 'UTC') AS day, 1 AS closed, (t.net_pnl > 0)::int AS won FROM perp_round_trip t WHERE";

/** Round trips to be added up, `closed` and `won`, by trader and coin: of whole lives before an instant. What closes from then on is taken off. */
export const lifeTrips = (narrowed: Narrowed, instant: string): string => `(
  SELECT h.trader, h.coin, h.closed_trips AS closed, h.won_trips AS won FROM perp_trader_life h WHERE h.closed_trips > 0 AND ${instant}::timestamptz IS NOT NULL${narrow('h', narrowed)}
  ${afterwards(instant, `UNION ALL SELECT t.trader, t.coin, -1, -(t.net_pnl > 0)::int FROM perp_round_trip t WHERE t.closed_at >= ${instant}${narrow('t', narrowed)}`)})`;

/** The same by trader and UTC day, of the span whose values start at `at`: whole days by their rollup, the days at both edges trip by trip. */
export function spanTrips(narrowed: Pick<Narrowed, 'coin'>, at = 1): string {
  const [from, first, to] = [`$${at}`, `$${at + 1}`, `$${at + 3}`] as const;
  return `(
  SELECT h.trader, h.day, h.closed_trips AS closed, h.won_trips AS won FROM ${narrowed.coin === undefined ? 'perp_trader_sum' : 'perp_trader_day'} h
  WHERE h.closed_trips > 0 AND ${from}::timestamptz <= ${to}::timestamptz AND h.day >= ${nextDay(first)} AND h.day < ${thisDay(to)}${narrow('h', narrowed)}
  ${edgeOf(at, 'days_from', `UNION ALL ${TRIPS} t.closed_at >= ${from} AND t.closed_at < least(${to}::timestamptz, ${nextDay(first)})${narrow('t', narrowed)}`)}
  ${edgeOf(at, 'days_to', `UNION ALL ${TRIPS} t.closed_at >= greatest(${from}::timestamptz, ${thisDay(to)}, ${nextDay(first)}) AND t.closed_at < ${to}${narrow('t', narrowed)}`)})`;
}
