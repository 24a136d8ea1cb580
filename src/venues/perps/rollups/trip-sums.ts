/** What a round trip `t` gives to a column of the day it closes on, and how the round trips of a day become one. */
interface TripSum {
  row: string;
  merge: 'sum' | 'max' | 'min';
}

/** Columns of perp_trader_day and perp_trader_life that come from round trips; perp_trader_sum has the counts. */
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

/** Sums over days `d`: what whole lives have of round trips. */
export const LIFE_TRIPS = TRIP_COLUMNS.map((name) => `${trimmed(name, `${TRIP_SUMS[name].merge}(d.${name})`)} AS ${name}`).join(', ');

const together = (kept: string, name: TripColumn): string =>
  ({ sum: `${kept}.${name} + c.${name}`, max: `greatest(${kept}.${name}, c.${name})`, min: `least(${kept}.${name}, c.${name})` })[
    TRIP_SUMS[name].merge
  ];
const adding = (kept: string): string => TRIP_COLUMNS.map((name) => `${name} = ${trimmed(name, together(kept, name))}`).join(', ');

/** Adds the `counted` trips to the days of their accounts in all coins; `sign` −1 takes them away. */
const countedSums = (sign: 1 | -1): string => `
counted_sums AS (
  UPDATE perp_trader_sum d SET closed_trips = d.closed_trips + ${sign} * c.closed, won_trips = d.won_trips + ${sign} * c.won
  FROM (SELECT trader, day, sum(closed_trips)::int AS closed, sum(won_trips)::int AS won FROM counted GROUP BY 1, 2) c
  WHERE d.trader = c.trader AND d.day = c.day
),`;

/** Common table expressions that add the closed trips of `source` to the days and lives of their accounts. The rows are there: a trip closes with a fill. */
export const addTrips = (source: string): string => `
counted AS (${tripDaysOf(source)}),
counted_days AS (
  UPDATE perp_trader_day d SET ${adding('d')} FROM counted c WHERE d.trader = c.trader AND d.coin = c.coin AND d.day = c.day
),${countedSums(1)}
counted_lives AS (
  UPDATE perp_trader_life l SET ${adding('l')} FROM (SELECT d.trader, d.coin, ${LIFE_TRIPS} FROM counted d GROUP BY 1, 2) c
  WHERE l.trader = c.trader AND l.coin = c.coin
)`;

/**
 * Common table expressions that take the trips of `source` away, which the same statement deletes: those that `late` (trader, coin, since) has
 * from `since` on. What stays of their days is counted again, and so are the lives: the best and the worst cannot be taken back.
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
),${countedSums(-1)}
counted_lives AS (
  UPDATE perp_trader_life l SET ${TRIP_COLUMNS.map((name) => `${name} = c.${name}`).join(', ')}
  FROM (
    SELECT d.trader, d.coin, ${LIFE_TRIPS} FROM (
      SELECT o.trader, o.coin, ${TRIP_COLUMNS.map((name) => `CASE WHEN s.trader IS NULL THEN o.${name} ELSE ${withoutTrips(name, `s.${name}`)} END AS ${name}`).join(', ')}
      FROM (SELECT DISTINCT trader, coin FROM staying) k JOIN perp_trader_day o ON o.trader = k.trader AND o.coin = k.coin
      LEFT JOIN staying s ON s.trader = o.trader AND s.coin = o.coin AND s.day = o.day
    ) d GROUP BY 1, 2
  ) c WHERE l.trader = c.trader AND l.coin = c.coin
)`;
