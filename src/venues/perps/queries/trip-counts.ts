import { afterwards } from '../../../db/segments';
import { edgeOf } from './segments';
import { nextDay, thisDay } from './pieces';
import { type Narrowed, narrow } from './span';

const TRIPS =
  "SELECT t.trader, date_trunc('day', t.closed_at, 'UTC') AS day, 1 AS closed, (t.net_pnl > 0)::int AS won FROM perp_round_trip t WHERE";

/** Round trips to be added up, `closed` and `won`, by trader and coin: of whole lives before an instant. What closes from then on is taken off. */
export const lifeTrips = (narrowed: Narrowed, instant: string): string => `(
  SELECT h.trader, h.coin, h.closed_trips AS closed, h.won_trips AS won FROM perp_trader_life h WHERE h.closed_trips > 0 AND ${instant}::timestamptz IS NOT NULL${narrow('h', narrowed)}
  ${afterwards(instant, `UNION ALL SELECT t.trader, t.coin, -1, -(t.net_pnl > 0)::int FROM perp_round_trip t WHERE t.closed_at >= ${instant}${narrow('t', narrowed)}`)})`;

/** The same by trader and UTC day, of the span $1 to $4: whole days by their rollup, the days at both edges trip by trip. */
export function spanTrips(narrowed: Pick<Narrowed, 'coin'>): string {
  return `(
  SELECT h.trader, h.day, h.closed_trips AS closed, h.won_trips AS won FROM ${narrowed.coin === undefined ? 'perp_trader_sum' : 'perp_trader_day'} h
  WHERE h.closed_trips > 0 AND $1::timestamptz <= $4::timestamptz AND h.day >= ${nextDay('$2')} AND h.day < ${thisDay('$4')}${narrow('h', narrowed)}
  ${edgeOf(1, 'days_from', `UNION ALL ${TRIPS} t.closed_at >= $1 AND t.closed_at < least($4::timestamptz, ${nextDay('$2')})${narrow('t', narrowed)}`)}
  ${edgeOf(1, 'days_to', `UNION ALL ${TRIPS} t.closed_at >= greatest($1::timestamptz, ${thisDay('$4')}, ${nextDay('$2')}) AND t.closed_at < $4${narrow('t', narrowed)}`)})`;
}
