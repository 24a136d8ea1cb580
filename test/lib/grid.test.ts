import { AppError } from '../../src/errors';
import { type BucketSize, automaticSize, bucketsOf, checkGrid, refusedGrid } from '../../src/lib/grid';
import { DAY_MS, HOUR_MS } from '../../src/lib/time';
import { TIMEFRAMES } from '../../src/lib/timeframe';

const to = new Date('2026-03-01T00:00:00Z');
const hours = (count: number): { from: Date; to: Date } => ({ from: new Date(to.getTime() - count * HOUR_MS), to });
const SIZES = ['1h', '4h', '1d'] as const satisfies readonly BucketSize[];
const fits = (count: number, rows: number, allowed: readonly BucketSize[] = ['1h', '1d']): boolean =>
  refusedGrid(hours(count), { size: '1h', allowed, rows }) === null;

test('a series may have 2,100 buckets, a grid 21,000 cells; the coarsest buckets are refused for their number alone', () => {
  expect([fits(2_100, 1), fits(2_101, 1), fits(2_101, 1, ['1h'])]).toEqual([true, false, false]);
  expect([fits(2_100, 10), fits(2_100, 11), fits(210, 100), fits(211, 100)]).toEqual([true, false, true, false]);
  expect([fits(2_100, 100, ['1h']), fits(2_101, 100, ['1h'])]).toEqual([true, false]);
});

test('a refusal says what there is too much of, and the finest size that fits', () => {
  expect(refusedGrid(hours(720), { size: '1h', allowed: SIZES, rows: 100 })).toEqual({
    issue: 'makes 720 buckets of this window, of 100 rows each; at most 21000 cells are sent',
    fits: '4h',
  });
  expect(refusedGrid(hours(365 * 24), { size: '1h', allowed: SIZES })).toEqual({
    issue: 'makes 8760 buckets of this window, at most 2100 are sent',
    fits: '1d',
  });
  const eons = { from: new Date(to.getTime() - 2_101 * DAY_MS), to };
  expect(refusedGrid(eons, { size: '1d', allowed: SIZES })?.fits).toBeUndefined();
  const refusal = (): void => checkGrid(eons, { size: '1d', allowed: SIZES });
  expect(refusal).toThrow(AppError);
  expect(refusal).toThrow(expect.objectContaining({ code: 'range_too_large', context: { details: [expect.objectContaining({ allowed: 'a shorter timeframe', got: '1d' })] } })); // prettier-ignore
});

test('buckets begin at multiples and cover the window', () => {
  const window = { from: new Date('2026-03-01T10:17:00Z'), to: new Date('2026-03-01T22:00:00Z') };
  expect(bucketsOf(window, '4h').map((bucket) => bucket.toISOString().slice(11, 16))).toEqual(['08:00', '12:00', '16:00', '20:00']);
  expect(bucketsOf({ from: window.to, to: window.to }, '4h').map((bucket) => bucket.toISOString().slice(11, 16))).toEqual(['20:00']);
  expect(bucketsOf({ from: new Date(0), to: new Date(0) }, '1h')).toEqual([]);
  expect(bucketsOf({ from: window.to, to: window.from }, '1h')).toEqual([]);
});

test('auto is hours up to a day, four hours up to a week, then days', () =>
  expect(TIMEFRAMES.map((timeframe) => `${timeframe} ${automaticSize(timeframe)}`)).toEqual(
    ['1h 1h', '4h 1h', '6h 1h', '12h 1h', '24h 1h', 'today 1h', '7d 4h', '30d 1d', '90d 1d', '365d 1d', 'all 1d'], // prettier-ignore
  ));
