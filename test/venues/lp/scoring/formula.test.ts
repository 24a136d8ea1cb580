import fc from 'fast-check';
import { type ClosedLpPosition, S_LP, SMART_SCORE, scoreProvider } from '../../../../src/venues/lp/scoring/formula';

const closed = (deposited_usd: number | null, pnl_usd: number | null): ClosedLpPosition => ({ deposited_usd, pnl_usd });
const many = (n: number, deposited_usd: number, pnl_usd: number): ClosedLpPosition[] =>
  Array.from({ length: n }, () => closed(deposited_usd, pnl_usd));

describe('by hand', () => {
  // Wilson bounds: n/(n + 2.706025) for all won, 0 for none.
  test.each<[string, ClosedLpPosition[], number | null]>([
    ['none', [], null],
    ['two', many(2, 1000, 100), null],
    // 35·3/5.706025 + 25·log10(3001)/7 + 30·15/25 + 10·log10(4)/2 = 18.4015 + 12.4188 + 18 + 3.0103
    ['three', many(3, 1000, 100), 51.8],
    // 35·99/101.706025 + 25·log10(9,900,001)/7 + 30 + 10
    ['ninety-nine', many(99, 100_000, 20_000), 99.1],
    // 35·999/1001.706025 + 25 + 30 + 10: size and experience do not go on for ever.
    ['the most', many(999, 1e6, 1e6), 99.9],
    // 0 + 25·log10(301)/7 + 0 + 3.0103
    ['all lost', many(3, 100, -90), 11.9],
    // Return points begin at −5 %: 0 + 25·log10(3001)/7 + 30·2.5/25 + 3.0103
    ['little lost', many(3, 1000, -25), 18.4],
    ['a gain of nothing is not won', many(3, 1000, 0), 21.4],
  ])('%s', (_name, positions, score) => expect(scoreProvider(positions).score).toBe(score));

  test('record, points and version', () => {
    // One of +900 % is cut to +100 %: mean of 100, −50 and 10 is 20. Wilson of 2 of 3.
    const positions = [closed(100, 900), closed(200, -100), closed(700, 70)];
    const bound = (2 / 3 + 2.706025 / 6 - 1.645 * Math.sqrt(2 / 27 + 2.706025 / 36)) / (1 + 2.706025 / 3);
    expect(scoreProvider(positions)).toEqual({
      score: 52.6,
      n: 3,
      wins: 2,
      win_rate_lb: expect.closeTo(bound, 12),
      deposited_usd: 1000,
      avg_pnl_pct: expect.closeTo(20, 12),
      win_points: expect.closeTo(35 * bound, 10),
      size_points: expect.closeTo((25 * Math.log10(1001)) / 7, 10),
      return_points: expect.closeTo(30, 10),
      experience_points: expect.closeTo(5 * Math.log10(4), 10),
      version: S_LP.version,
    });
  });

  test('positions without priced deposits or result do not count', () => {
    const priced = many(3, 1000, 100);
    expect(scoreProvider([...priced, closed(null, 50), closed(0, 50), closed(1000, null)])).toEqual(scoreProvider(priced));
    expect(scoreProvider([closed(null, 1), closed(1000, null), closed(10, 1), closed(10, 1)])).toMatchObject({ n: 2, score: null });
  });

  test('nothing has no points', () => {
    expect(scoreProvider([])).toMatchObject({ n: 0, wins: 0, win_rate_lb: null, deposited_usd: 0, avg_pnl_pct: null, win_points: null });
  });

  test('a steady provider is smart, a lucky one is not', () => {
    const steady = Array.from({ length: 40 }, (_, index) => closed(2000, index % 5 === 0 ? -100 : 200));
    const lucky = [closed(50, 400), closed(50, -5), closed(50, -5)];
    expect(scoreProvider(steady).score as number).toBeGreaterThanOrEqual(SMART_SCORE);
    expect(scoreProvider(lucky).score as number).toBeLessThan(SMART_SCORE);
  });
});

describe('laws', () => {
  const positions = fc.array(
    fc.record({
      deposited_usd: fc.option(fc.double({ min: 0, max: 1e8, noNaN: true })),
      pnl_usd: fc.option(fc.double({ min: -1e8, max: 1e9, noNaN: true })),
    }),
    { maxLength: 60 },
  );

  test('0 to 100 in tenths, null below three, the sum of its points', () => {
    fc.assert(
      fc.property(positions, (list) => {
        const { score, n, win_points, size_points, return_points, experience_points } = scoreProvider(list);
        expect(score === null).toBe(n < 3);
        if (score === null) return;
        expect(score >= 0 && score <= 100).toBe(true);
        expect(
          Math.abs(score - [win_points, size_points, return_points, experience_points].reduce<number>((a, b) => a + (b ?? NaN), 0)),
        ).toBeLessThan(0.0501);
      }),
      { numRuns: 1000 },
    );
  });

  test('order does not matter, to the last digit', () => {
    fc.assert(
      fc.property(
        positions.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
        ([list, shuffled]) => expect(scoreProvider(shuffled)).toEqual(scoreProvider(list)),
      ),
    );
  });

  test('a better result of one position never lowers a score', () => {
    fc.assert(
      fc.property(positions, fc.nat(), fc.double({ min: 0, max: 1e6, noNaN: true }), (list, at, more) => {
        const better = list.map((each, index) =>
          index === at % list.length && each.pnl_usd !== null ? { ...each, pnl_usd: each.pnl_usd + more } : each,
        );
        expect(scoreProvider(better).score ?? -1).toBeGreaterThanOrEqual(scoreProvider(list).score ?? -1);
      }),
      { numRuns: 1000 },
    );
  });
});
