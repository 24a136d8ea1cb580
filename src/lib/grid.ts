import { AppError } from '../errors';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './time';
import { type Timeframe, type Window, lengthOf } from './timeframe';

/** Most buckets of time that one answer holds. */
export const MOST_BUCKETS = 2_100;

/** Most cells of a grid of rows and buckets: ten rows of the longest series. */
export const MOST_CELLS = 21_000;

/** Lengths of buckets in milliseconds, finest first; each begins at a UTC multiple of its length. */
export const BUCKETS = {
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': HOUR_MS,
  '4h': 4 * HOUR_MS,
  '12h': 12 * HOUR_MS,
  '1d': DAY_MS,
  '7d': 7 * DAY_MS,
} as const;

export type BucketSize = keyof typeof BUCKETS;

/** The size as PostgreSQL reads it. */
export const intervalOf = (size: BucketSize): string => `${BUCKETS[size] / MINUTE_MS} minutes`;

/** The size that `auto` stands for: hours up to a day, four hours up to a week, then days. */
export function automaticSize(timeframe: Timeframe): '1h' | '4h' | '1d' {
  const length = lengthOf(timeframe);
  if (length <= lengthOf('24h')) return '1h';
  return length <= lengthOf('7d') ? '4h' : '1d';
}

/** What a grid is asked to be: buckets of `size`, one of `allowed` (finest first), with at most `rows` in each (1 where left out). */
export interface Grid<Size extends BucketSize> {
  size: Size;
  allowed: readonly Size[];
  rows?: number;
}

/** How many buckets a window touches. */
const countOf = ({ from, to }: Window, length: number): number =>
  Math.max(Math.ceil(to.getTime() / length) - Math.floor(from.getTime() / length), 0);

/** Starts of the buckets that a window touches, oldest first; the first and the last may be cut by it. */
export function bucketsOf(window: Window, size: BucketSize): Date[] {
  const length = BUCKETS[size];
  const first = Math.floor(window.from.getTime() / length) * length;
  return Array.from({ length: countOf(window, length) }, (_, index) => new Date(first + index * length));
}

/** Why a grid over a window is too large for one answer, and the finest size that is not; null when it is not. */
export function refusedGrid<Size extends BucketSize>(
  window: Window,
  { size, allowed, rows = 1 }: Grid<Size>,
): { issue: string; fits: Size | undefined } | null {
  const refusal = (one: Size): string | null => {
    const buckets = countOf(window, BUCKETS[one]);
    if (buckets > MOST_BUCKETS) return `makes ${buckets} buckets of this window, at most ${MOST_BUCKETS} are sent`;
    // Cells never refuse the coarsest buckets: nothing could be asked for instead.
    if (one === allowed.at(-1) || buckets * rows <= MOST_CELLS) return null;
    return `makes ${buckets} buckets of this window, of ${rows} rows each; at most ${MOST_CELLS} cells are sent`;
  };
  const issue = refusal(size);
  return issue === null ? null : { issue, fits: allowed.find((one) => refusal(one) === null) };
}

/** What to ask for beside a window that is suggested: nothing where the size fits it, else the finest that does. */
export function sizeBeside<Size extends BucketSize>(window: Window, grid: Grid<Size>): { bucket_size?: Size } {
  const fits = refusedGrid(window, grid)?.fits;
  return fits === undefined ? {} : { bucket_size: fits };
}

/** What is allowed where no size fits. */
export const SHORTER = 'a shorter timeframe';

/** Throws range_too_large, naming the finest size that fits, where a grid over a window is too large for one answer. */
export function checkGrid<Size extends BucketSize>(window: Window, grid: Grid<Size>): void {
  const refused = refusedGrid(window, grid);
  if (refused === null) return;
  const { issue, fits } = refused;
  throw new AppError('range_too_large', {
    details: [{ param: 'bucket_size', issue, allowed: fits ?? SHORTER, got: grid.size }],
    ...(fits === undefined ? {} : { suggestion: { bucket_size: fits } }),
  });
}
