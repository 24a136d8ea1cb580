import { AppError } from '../../../errors';
import { tooLarge } from '../../../lib/grid';
import { MINUTE_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';

/** Lengths of buckets in milliseconds; each begins at a UTC multiple of its length. */
export const BUCKETS = {
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '4h': 240 * MINUTE_MS,
  '12h': 720 * MINUTE_MS,
  '1d': 1_440 * MINUTE_MS,
} as const;

export type BucketSize = keyof typeof BUCKETS;

/** Starts of the buckets that touch a window. */
export function bucketsOf({ from, to }: Window, size: BucketSize): Date[] {
  const length = BUCKETS[size];
  const first = Math.floor(from.getTime() / length) * length;
  return Array.from({ length: Math.ceil((to.getTime() - first) / length) }, (_, index) => new Date(first + index * length));
}

/**
 * Throws range_too_large, naming the smallest of `allowed` (finest first) that fits, where a window has too many buckets, or cells
 * when a bucket may have so many `rows`.
 */
export function checkBuckets({ from, to }: Window, size: BucketSize, allowed: readonly BucketSize[], rows = 1): void {
  const count = (one: BucketSize): number =>
    Math.ceil((to.getTime() - Math.floor(from.getTime() / BUCKETS[one]) * BUCKETS[one]) / BUCKETS[one]);
  const refusal = (one: BucketSize): string | null => tooLarge({ buckets: count(one), rows, coarsest: one === allowed.at(-1) });
  const issue = refusal(size);
  if (issue === null) return;
  const smallest = allowed.find((one) => BUCKETS[one] > BUCKETS[size] && refusal(one) === null);
  throw new AppError('range_too_large', {
    details: [{ param: 'bucket_size', issue, allowed: smallest ?? 'a shorter timeframe', got: size }],
    ...(smallest === undefined ? {} : { suggestion: { bucket_size: smallest } }),
  });
}
