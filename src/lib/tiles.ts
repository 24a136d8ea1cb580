import { DAY_MS, HOUR_MS, MINUTE_MS } from './time';
import { END } from './timeframe';

/** A quarter of a UTC day, in milliseconds; one begins at midnight. */
export const QUARTER_MS = 6 * HOUR_MS;

/** SQL of where the bucket begins that an instant lies in: a UTC multiple of `step`, which is SQL of an interval. */
export const bucketOf = (instant: string, step: string): string => `date_bin(${step}, ${instant}, timestamptz '1970-01-01T00:00:00Z')`;

/** SQL of an instant in milliseconds since 1970, as a number: cheaper to read than a date. */
export const millisecondsOf = (instant: string): string => `round(date_part('epoch', ${instant}) * 1000)`;

/** SQL of where the quarter of a UTC day begins that an instant lies in. */
export const quarterOf = (instant: string): string => bucketOf(instant, "'6 hours'");

/** A quarter of an hour, in milliseconds; one begins with the hour. */
export const BAR_MS = 15 * MINUTE_MS;

/** SQL of where the quarter of an hour begins that an instant lies in. */
export const barOf = (instant: string): string => bucketOf(instant, "'15 minutes'");

const LENGTHS = { day: DAY_MS, quarter: QUARTER_MS, hour: HOUR_MS, bar: BAR_MS, minute: MINUTE_MS } as const;

/** A whole UTC day, quarter of it, hour, quarter of that or minute. */
export type Unit = keyof typeof LENGTHS;

/** How often what lies in a tile counts in a part (from 1): once, or once less than other tiles tell. */
interface Share {
  part: number;
  sign: 1 | -1;
}

/** A stretch of time, read from whole units or from facts. */
export interface Tile<U extends Unit = Unit> {
  unit: U | 'fact';
  from: Date;
  to: Date;
  /** One or two. */
  shares: Share[];
}

/**
 * What the parts between `bounds` (ascending, two at least) are added up from, exactly to the millisecond: as many tiles in the same order for as many bounds and
 * units, idle ones empty. A bound is rounded to the longest of the `units` (given longest first); what lies between it and there is read in the next shorter ones,
 * and facts at last, and added to one part and taken from the other. Most of a torn unit is thus told by its own row. The last bound (but END) is rounded up: it
 * mostly is now, and nothing is kept of what comes after. END tears nothing: it has no tiles of shorter units.
 */
export function tilesOf<U extends Unit>(bounds: readonly Date[], units: readonly U[]): Tile<U>[] {
  const last = bounds.findLastIndex((bound) => bound < END);
  const roads = bounds.map((bound, index) => roadTo(bound.getTime(), units, index >= last ? Math.ceil : Math.round));
  const begins = roads.map((road) => road[0] as number);
  const longest = units[0] as U;
  const whole = begins.slice(1).map((to, index) => tile(longest, begins[index] as number, to, [{ part: index + 1, sign: 1 }]));
  const steps = roads.flatMap((road, index) =>
    (bounds[index] === END ? [] : road.slice(1)).map((to, step) => {
      const from = road[step] as number;
      const sign = from < to ? 1 : -1;
      const shares: Share[] = [];
      if (index > 0) shares.push({ part: index, sign });
      if (index < bounds.length - 1) shares.push({ part: index + 1, sign: sign === 1 ? -1 : 1 });
      return tile(units[step + 1] ?? 'fact', Math.min(from, to), Math.max(from, to), shares);
    }),
  );
  return [...whole, ...steps];
}

const tile = <U extends Unit>(unit: U | 'fact', from: number, to: number, shares: Share[]): Tile<U> => ({
  unit,
  from: new Date(from),
  to: new Date(to),
  shares,
});

/** A time rounded to each of the units, and the time itself. */
const roadTo = (time: number, units: readonly Unit[], round: (units: number) => number): number[] => [
  ...units.map((unit) => round(time / LENGTHS[unit]) * LENGTHS[unit]),
  time,
];
