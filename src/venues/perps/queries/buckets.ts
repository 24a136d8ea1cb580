import { BUCKETS, type BucketSize, checkGrid } from '../../../lib/grid';
import { HOUR_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';

export interface Buckets {
  /** Start of the first one. */
  first: Date;
  /** Start of the last one. */
  last: Date;
  /** Length as a PostgreSQL interval, and in hours. */
  step: string;
  hours: number;
}

/**
 * Buckets of a window, aligned to UTC multiples of their size; none before `start`. `rows` is how many rows a bucket may have.
 * Throws range_too_large, naming a size of `allowed` (finest first) that fits.
 */
export function bucketsOf<Size extends BucketSize>(window: Window, size: Size, start: Date, allowed: readonly Size[], rows = 1): Buckets {
  const from = new Date(Math.max(window.from.getTime(), start.getTime()));
  checkGrid({ from, to: window.to }, { size, allowed, rows });
  const length = BUCKETS[size];
  return {
    first: new Date(Math.floor(from.getTime() / length) * length),
    last: new Date(Math.floor((window.to.getTime() - 1) / length) * length),
    step: `${length / HOUR_MS} hours`,
    hours: length / HOUR_MS,
  };
}

/** The bucket an hour belongs to; `step` is a parameter. */
export const bucketOf = (hour: string, step: string): string => `date_bin(${step}::interval, ${hour}, '1970-01-01T00:00:00Z')`;
