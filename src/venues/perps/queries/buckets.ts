import { AppError } from '../../../errors';
import { tooLarge } from '../../../lib/grid';
import { HOUR_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';

const SIZES = { '1h': HOUR_MS, '4h': 4 * HOUR_MS, '12h': 12 * HOUR_MS, '1d': 24 * HOUR_MS } as const;

export type BucketSize = keyof typeof SIZES;

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
export function bucketsOf(window: Window, size: BucketSize, start: Date, allowed: readonly BucketSize[], rows = 1): Buckets {
  const from = Math.max(window.from.getTime(), start.getTime());
  const count = (length: number): number => Math.ceil((window.to.getTime() - Math.floor(from / length) * length) / length);
  const length = SIZES[size];
  const refusal = (other: BucketSize): string | null =>
    tooLarge({ buckets: count(SIZES[other]), rows, coarsest: other === allowed.at(-1) });
  const issue = refusal(size);
  if (issue !== null) {
    const fits = allowed.find((candidate) => refusal(candidate) === null);
    throw new AppError('range_too_large', {
      details: [{ param: 'bucket_size', issue, allowed: fits, got: size }],
      suggestion: fits === undefined ? undefined : { bucket_size: fits },
    });
  }
  return {
    first: new Date(Math.floor(from / length) * length),
    last: new Date(Math.floor((window.to.getTime() - 1) / length) * length),
    step: `${length / HOUR_MS} hours`,
    hours: length / HOUR_MS,
  };
}

/** The bucket an hour belongs to; `step` is a parameter. */
export const bucketOf = (hour: string, step: string): string => `date_bin(${step}::interval, ${hour}, '1970-01-01T00:00:00Z')`;
