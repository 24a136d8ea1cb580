import { tooLarge } from '../../src/lib/grid';

const fits = (buckets: number, rows: number, coarsest = false): boolean => tooLarge({ buckets, rows, coarsest }) === null;

test('a series may have 2,100 buckets, a grid 21,000 cells; the coarsest buckets are refused for their number alone', () => {
  expect([fits(2_100, 1), fits(2_101, 1), fits(2_101, 1, true)]).toEqual([true, false, false]);
  expect([fits(2_100, 10), fits(2_100, 11), fits(210, 100), fits(211, 100)]).toEqual([true, false, true, false]);
  expect([fits(2_100, 100, true), fits(2_101, 100, true)]).toEqual([true, false]);
});

test('a refusal says what there is too much of', () => {
  expect(tooLarge({ buckets: 720, rows: 100, coarsest: false })).toMatch(/720 buckets .* 100 rows .* 21000 cells/);
  expect(tooLarge({ buckets: 5_000, rows: 100, coarsest: false })).toMatch(/5000 buckets .* 2100/);
});
