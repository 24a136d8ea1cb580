/** What a round trip `t` gives to a column of the day it closes on, and how the round trips of a day become one. */
interface TripSum {
  row: string;
  merge: 'sum' | 'max' | 'min';
}

/** Columns of perp_trader_day that come from round trips. */
export const TRIP_SUMS = {
  closed_trips: { row: '1', merge: 'sum' },
  won_trips: { row: '(t.net_pnl > 0)::int', merge: 'sum' },
  gains_usd: { row: 'greatest(t.net_pnl, 0)', merge: 'sum' },
  losses_usd: { row: 'greatest(-t.net_pnl, 0)', merge: 'sum' },
  best_usd: { row: 't.net_pnl', merge: 'max' },
  worst_usd: { row: 't.net_pnl', merge: 'min' },
  // Those whose opening was seen.
  held_trips: { row: '(t.opened_at IS NOT NULL)::int', merge: 'sum' },
  held_seconds: { row: 'coalesce(extract(epoch FROM t.closed_at - t.opened_at), 0)', merge: 'sum' },
} as const satisfies Record<string, TripSum>;

export type TripColumn = keyof typeof TRIP_SUMS;
export const TRIP_COLUMNS = Object.keys(TRIP_SUMS) as TripColumn[];

/** A column of days without a round trip. */
export const withoutTrips = (name: TripColumn, value: string): string =>
  TRIP_SUMS[name].merge === 'sum' ? `coalesce(${value}, 0)` : value;

// How many zeros a sum ends in depends on what it was put together from: without them all ways are the same to the last letter.
const trimmed = (name: TripColumn, value: string): string => (name.endsWith('_trips') ? value : `trim_scale(${value})`);

const aggregates = (condition: string): string =>
  TRIP_COLUMNS.map((name) => `${trimmed(name, `${TRIP_SUMS[name].merge}(${TRIP_SUMS[name].row})${condition}`)} AS ${name}`).join(', ');

/** The round trips of `source` by account, coin and UTC day. */
export const tripDaysOf = (source: string): string => `
  SELECT t.trader, t.coin, date_trunc('day', t.closed_at, 'UTC') AS day, ${aggregates('')} FROM ${source} t GROUP BY 1, 2, 3`;

const together = (name: TripColumn): string =>
  ({ sum: `d.${name} + c.${name}`, max: `greatest(d.${name}, c.${name})`, min: `least(d.${name}, c.${name})` })[TRIP_SUMS[name].merge];

const addToLives = (sign: '+' | '-'): string => `
  UPDATE perp_trader_life l SET closed_trips = l.closed_trips ${sign} c.closed_trips, won_trips = l.won_trips ${sign} c.won_trips
  FROM (SELECT trader, coin, sum(closed_trips)::int AS closed_trips, sum(won_trips)::int AS won_trips FROM counted GROUP BY 1, 2) c
  WHERE l.trader = c.trader AND l.coin = c.coin`;

/** Common table expressions that add the closed trips of `source` to the days and lives of their accounts. The rows are there: a trip closes with a fill. */
export const addTrips = (source: string): string => `
counted AS (${tripDaysOf(source)}),
counted_days AS (
  UPDATE perp_trader_day d SET ${TRIP_COLUMNS.map((name) => `${name} = ${trimmed(name, together(name))}`).join(', ')}
  FROM counted c WHERE d.trader = c.trader AND d.coin = c.coin AND d.day = c.day
),
counted_lives AS (${addToLives('+')})`;

/**
 * Common table expressions that take the trips of `source` away, which the same statement deletes: those that `late` (trader, coin, since) has
 * from `since` on. What stays of their days is counted again.
 */
export const takeTrips = (source: string): string => `
counted AS (${tripDaysOf(source)}),
staying AS (
  SELECT c.trader, c.coin, c.day, ${aggregates(' FILTER (WHERE t.trader IS NOT NULL)')}
  FROM counted c JOIN late ON late.trader = c.trader AND late.coin = c.coin
  LEFT JOIN perp_round_trip t ON t.trader = c.trader AND t.coin = c.coin AND t.closed_at >= c.day AND t.closed_at < c.day + interval '24 hours'
    AND t.first_at < late.since
  GROUP BY 1, 2, 3
),
counted_days AS (
  UPDATE perp_trader_day d SET ${TRIP_COLUMNS.map((name) => `${name} = ${withoutTrips(name, `s.${name}`)}`).join(', ')}
  FROM staying s WHERE d.trader = s.trader AND d.coin = s.coin AND d.day = s.day
),
counted_lives AS (${addToLives('-')})`;
