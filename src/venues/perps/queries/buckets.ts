import { BUCKETS, type BucketSize, bucketsOf, checkGrid, intervalOf } from '../../../lib/grid';
import { HOUR_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';

/** The buckets of a window, as statements take them. */
export interface Grid {
  /** Start of the first one. */
  first: Date;
  /** Start of the last one. */
  last: Date;
  /** Length as a PostgreSQL interval, and in hours. */
  step: string;
  hours: number;
}

/**
 * Buckets of a window that is not empty, aligned to UTC multiples of their size; none before `start`. `rows` is how many rows a bucket may have.
 * Throws range_too_large, naming a size of `allowed` (finest first) that fits.
 */
export function gridOf<Size extends BucketSize>(window: Window, size: Size, start: Date, allowed: readonly Size[], rows = 1): Grid {
  const within = { from: start > window.from ? start : window.from, to: window.to };
  checkGrid(within, { size, allowed, rows });
  const buckets = bucketsOf(within, size);
  return { first: buckets[0] as Date, last: buckets.at(-1) as Date, step: intervalOf(size), hours: BUCKETS[size] / HOUR_MS };
}
