import { type SumColumn, TRADER_SUM } from '../rollups/trader-sums';
import type { TripColumn } from '../rollups/trip-sums';
import { type Grain, type Told, pieces } from './pieces';
import { type Narrowed, narrow, withClosed } from './span';

/** Round trips that sums of accounts' days know of. */
const SUM_TRIPS = ['closed_trips', 'won_trips'] as const satisfies readonly TripColumn[];

/** Which accounts, and a coin. `few`: a handful of accounts by a plan made once, which cannot know how much a window holds: their days are looked up by account, not everybody's by time. */
type SumScope = Pick<Narrowed, 'coin' | 'traders'> & { few?: true };

/**
 * Rows of the span $1 to $4 to be added up, by trader and hour (or the day that tells it, `is_day`: one row for a trader then): accounts' own
 * fills in all coins, or in one.
 */
export const sumRows = (columns: readonly SumColumn[], narrowed: SumScope): string => pieces(sumTold(columns, [], narrowed), 1, 'day');

/** The same with the round trips that closed in it, SUM_TRIPS. */
export function sumRowsWithTrips(columns: readonly SumColumn[], narrowed: SumScope): string {
  const none = ['false AS is_day', ...columns.map((column) => `0 AS ${column}`)];
  return withClosed(sumTold(columns, SUM_TRIPS, narrowed), [], none, SUM_TRIPS, narrowed);
}

/** What tells sums of accounts' own fills. */
function sumTold(columns: readonly SumColumn[], trips: typeof SUM_TRIPS | [], narrowed: SumScope): Told {
  const noTrips = trips.map((column) => `0 AS ${column}`);
  const select = (hour: string, is_day: boolean, row: readonly string[], from: string): string =>
    `SELECT ${from}.trader, ${hour} AS hour, ${is_day} AS is_day, ${row.join(', ')} FROM`;
  const told = (unit: Grain): string =>
    `${select(`h.${unit}`, unit === 'day', [...columns.map((column) => `${TRADER_SUM[column].of} AS ${column}`), ...(unit === 'day' ? trips : noTrips)], 'h')} perp_trader_${unit} h WHERE true${narrow('h', narrowed)} AND`;
  const sums = narrowed.few ? `(SELECT * FROM perp_trader_sum h WHERE true${narrow('h', narrowed)} OFFSET 0)` : 'perp_trader_sum';
  return {
    days:
      narrowed.coin === undefined
        ? `${select('h.day', true, [...columns, ...trips], 'h')} ${sums} h WHERE true${narrow('h', narrowed)} AND`
        : told('day'),
    hours: told('hour'),
    facts: `${select(`date_trunc('hour', f.timestamp, 'UTC')`, false, [...columns.map((column) => `${TRADER_SUM[column].row} AS ${column}`), ...noTrips], 'f')} perp_fill f WHERE true${narrow('f', narrowed)} AND`,
    table: 'f',
  };
}
