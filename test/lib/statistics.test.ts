import fc from 'fast-check';
import {
  bootstrapGroups,
  clamp,
  clip,
  clipSigned,
  fnv1a,
  gini,
  groupedStandardError,
  hhi,
  logClip,
  mean,
  median,
  nearestRank,
  pearson,
  quantile,
  quantileOfSorted,
  ratioOf,
  roundDecimal,
  roundText,
  roundTo,
  seededIntegers,
  standardDeviation,
  tenths,
  wilsonLowerBound,
  xoshiro128,
} from '../../src/lib/statistics';
import { seededRandom } from '../support/random';

const amounts = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 40 });
const alternating = (first: number, pair: readonly number[]): number[] => [first, ...Array.from({ length: 500 }, () => pair).flat()];

describe('mean and deviation', () => {
  // Statistical Reference Datasets of NIST, univariate: NumAcc1 to NumAcc4 are made to lose digits.
  test.each([
    ['NumAcc1', [10_000_001, 10_000_003, 10_000_002], 10_000_002, 1, 12],
    ['NumAcc2', alternating(1.2, [1.1, 1.3]), 1.2, 0.1, 12],
    ['NumAcc3', alternating(1_000_000.2, [1_000_000.1, 1_000_000.3]), 1_000_000.2, 0.1, 8],
    ['NumAcc4', alternating(10_000_000.2, [10_000_000.1, 10_000_000.3]), 10_000_000.2, 0.1, 7],
  ])('%s', (_name, values, expectedMean, deviation, digits) => {
    expect((mean(values) as number) / expectedMean).toBeCloseTo(1, 13);
    expect(standardDeviation(values)).toBeCloseTo(deviation, digits);
  });

  test('nothing has no mean, one value no deviation', () => {
    expect(mean([])).toBeNull();
    expect(mean([3])).toBe(3);
    expect(standardDeviation([3])).toBeNull();
    expect(standardDeviation([3, 3])).toBe(0);
  });
});

describe('quantiles', () => {
  // numpy.quantile, whose default is type 7 too.
  test.each([
    [[15, 20, 35, 40, 50], 0.05, 16],
    [[50, 15, 40, 20, 35], 0.4, 29],
    [[15, 20, 35, 40, 50], 0.9, 46],
    [[20, 3, 16, 6, 15, 7, 13, 8, 10, 8], 0.25, 7.25],
    [[20, 3, 16, 6, 15, 7, 13, 8, 10, 8], 0.75, 14.5],
  ])('%j at %d', (values, q, expected) => expect(quantile(values, q)).toBeCloseTo(expected, 12));

  test('ends, middle, nothing', () => {
    expect([quantile([2, 10, 9], 0), quantile([2, 10, 9], 1), median([2, 10, 9]), median([4, 1])]).toEqual([2, 10, 9, 2.5]);
    expect([median([]), quantileOfSorted(new Float64Array(), 0.5)]).toEqual([null, null]);
  });

  test('the nearest rank is one of the values', () => {
    expect([0, 0.5, 0.51, 0.99, 1].map((q) => nearestRank([20, 3, 16, 6], q))).toEqual([3, 6, 16, 20, 20]);
    expect([nearestRank([], 0.5), tenths(nearestRank([0.25, 0.349], 1)), tenths(null)]).toEqual([null, 0.3, null]);
  });

  test('numbers are sorted as numbers and the argument is left as it was', () => {
    const values = [100, 9, -1];
    expect(median(values)).toBe(9);
    expect(values).toEqual([100, 9, -1]);
  });
});

describe('Wilson lower bound', () => {
  // Newcombe, Statistics in Medicine 17 (1998), table I, method 3, 95 %.
  test.each([
    [81, 263, 0.2553],
    [15, 148, 0.0624],
    [0, 20, 0],
    [1, 29, 0.0061],
  ])('Newcombe: %d of %d', (wins, n, low) => expect(wilsonLowerBound(wins, n, 1.959964)).toBeCloseTo(low, 4));

  // scipy.stats.binomtest(k, n).proportion_ci(0.9, 'wilson'), whose z is 1.644854.
  test.each([
    [1, 1, 0.2698659487840541],
    [10, 10, 0.787058029916593],
    [7, 10, 0.4416997958698351],
    [625, 1000, 0.5995128782955217],
    [1, 20, 0.011234816850851648],
  ])('scipy: %d of %d', (wins, n, low) => {
    expect(wilsonLowerBound(wins, n, 1.6448536269514722)).toBeCloseTo(low, 12);
    expect(wilsonLowerBound(wins, n)).toBeCloseTo(low, 3);
  });

  test('z is 1.645 by default; nothing has no bound; more wins than trials is a mistake', () => {
    expect(wilsonLowerBound(7, 10)).toBeCloseTo(0.4416781333357615, 12);
    expect(wilsonLowerBound(0, 0)).toBeNull();
    expect(() => wilsonLowerBound(2, 1)).toThrow(RangeError);
    expect(() => wilsonLowerBound(Number.NaN, 1)).toThrow(RangeError);
  });

  test('below the share, up with wins, up with trials of the same share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.nat(5000), (n, won) => {
        const wins = won % (n + 1);
        const low = wilsonLowerBound(wins, n) as number;
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(wins / n + 1e-12);
        if (wins < n) expect(wilsonLowerBound(wins + 1, n)).toBeGreaterThan(low);
        if (wins > 0) expect(wilsonLowerBound(2 * wins, 2 * n)).toBeGreaterThan(low);
      }),
    );
  });
});

describe('concentration', () => {
  test.each([
    [[1, 1, 1, 1], 0, 0.25],
    [[0, 0, 0, 1], 0.75, 1],
    [[3, 1, 5, 2, 4], 4 / 15, 55 / 225],
    [[1, 3, 9, 27], 0.525, (1 + 9 + 81 + 729) / 1600],
  ])('%j: Gini %d, HHI %d', (values, g, h) => {
    expect(gini(values)).toBeCloseTo(g, 12);
    expect(hhi(values)).toBeCloseTo(h, 12);
  });

  test('nothing has no concentration', () => expect([gini([]), gini([0, 0]), hhi([]), hhi([0])]).toEqual([null, null, null, null]));

  test('Gini is the mean absolute difference over twice the mean', () => {
    fc.assert(
      fc.property(amounts, (values) => {
        const total = values.reduce((a, b) => a + b, 0);
        fc.pre(total > 1e-6);
        const differences = values.flatMap((a) => values.map((b) => Math.abs(a - b))).reduce((a, b) => a + b, 0);
        expect(gini(values)).toBeCloseTo(differences / (2 * values.length * total), 9);
      }),
    );
  });
});

describe('Pearson', () => {
  // Anscombe, American Statistician 27 (1973), first of the quartet.
  const x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5];
  const y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
  test('Anscombe', () => expect(pearson(x, y)).toBeCloseTo(0.8164205163448395, 12));
  test('a line and its mirror', () => {
    expect(
      pearson(
        x,
        x.map((value) => 3 * value - 1),
      ),
    ).toBeCloseTo(1, 12);
    expect(
      pearson(
        x,
        x.map((value) => -value),
      ),
    ).toBeCloseTo(-1, 12);
  });
  test('no spread, no correlation; pairs must match', () => {
    expect([pearson([], []), pearson([1], [2]), pearson([1, 1], [2, 3])]).toEqual([null, null, null]);
    // The mean of three tenths is no tenth to the last bit.
    expect([pearson([0.1, 0.1, 0.1], [1, 2, 4]), pearson([5, 3, 4], [0.7, 0.7, 0.7])]).toEqual([null, null]);
    expect(() => pearson([1], [1, 2])).toThrow(RangeError);
  });
});

describe('clips', () => {
  test('0..1, −1..1, any', () => {
    expect([-1, 0.3, 7].map(clip)).toEqual([0, 0.3, 1]);
    expect([-7, 0.3, 7].map(clipSigned)).toEqual([-1, 0.3, 1]);
    expect([clamp(5, -1, 3), clamp(-5, -1, 3), clamp(2, -1, 3)]).toEqual([3, -1, 2]);
  });

  test.each([
    // The first bet against the market's median: full at 50 times.
    [1, 1, 50, 0],
    [Math.sqrt(50), 1, 50, 0.5],
    [80, 1, 50, 1],
    [0.1, 1, 50, 0],
    [0, 1, 50, 0],
    // Low liquidity: full at 50,000, none at a million.
    [50_000, 1e6, 50_000, 1],
    [Math.sqrt(50_000 * 1e6), 1e6, 50_000, 0.5],
    [2e6, 1e6, 50_000, 0],
    [0, 1e6, 50_000, 1],
  ])('%d between %d and %d: %d', (x, from, to, expected) => expect(logClip(x, from, to)).toBeCloseTo(expected, 12));

  test('rounding by arithmetic and by the decimal text are one', () => {
    const near = fc
      .tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: -5, max: 5 }))
      .map(([n, off]) => n / 1e7 + off * Number.EPSILON);
    // Up to a hundred billion dollars, beside halves of millionths.
    const large = fc
      .tuple(fc.double({ min: 9, max: 17, noNaN: true }), fc.constantFrom(0, 4, 5, 6), fc.integer({ min: -3, max: 3 }))
      .map(([size, last, off]) => ((Math.floor(10 ** size) * 10 + last) / 1e7) * (1 + off * Number.EPSILON));
    fc.assert(
      fc.property(fc.oneof(fc.double({ noNaN: true }), near, large), fc.integer({ min: 0, max: 8 }), (x, decimals) =>
        expect(roundTo(x, decimals)).toBe(roundText(x, decimals)),
      ),
      { numRuns: 15_000 },
    );
  });
  test('a half that binary fractions miss goes up, and zero has no sign', () => {
    expect([roundTo(1.005, 2), roundTo(-0.0000001, 6), roundTo(1.0000005, 6)]).toEqual([1.01, 0, 1.000001]);
    expect(Object.is(roundTo(-0.2, 0), 0)).toBe(true);
  });
  test('a decimal text is rounded by all its digits, of which a double holds some sixteen', () => {
    const digits = fc.tuple(fc.boolean(), fc.bigInt(0n, 10n ** 15n), fc.constantFrom('4999999999', '5', '5000000001', '49', '51', '0', ''), fc.integer({ min: 0, max: 8 })); // prettier-ignore
    fc.assert(
      fc.property(digits, ([negative, kept, rest, decimals]) => {
        const padded = kept.toString().padStart(decimals + 1, '0');
        const at = padded.length - decimals;
        const fraction = padded.slice(at) + rest;
        const text = `${negative ? '-' : ''}${padded.slice(0, at)}${fraction === '' ? '' : `.${fraction}`}`;
        // Halves up: of what is below zero a half goes towards it.
        const outwards = rest === '5' ? !negative : rest.startsWith('5');
        expect(roundDecimal(text, decimals)).toBe(Number(`${negative ? '-' : ''}${kept + (outwards ? 1n : 0n)}e-${decimals}`) + 0);
      }),
    );
    expect([roundDecimal('2449363.28735049999', 6), roundTo(2449363.28735049999, 6)]).toEqual([2449363.28735, 2449363.287351]);
    expect([roundDecimal('1e-7', 6), roundDecimal('-0.0000001', 6), roundDecimal('12', 6)]).toEqual([0, 0, 12]);
  });

  test('halves go up', () => expect([roundTo(59.95, 1), roundTo(29.849, 1), roundTo(2.5, 0)]).toEqual([60, 29.8, 3]));
});

describe('chance', () => {
  // Noll's test vectors of FNV-1a, 32 bits.
  test.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('FNV-1a of %j', (text, hash) => {
    expect(fnv1a(text)).toBe(hash);
    expect(fnv1a(text.slice(1), fnv1a(text.slice(0, 1)))).toBe(hash);
  });

  // The reference program of xoshiro128** 1.1 from state 1, 2, 3, 4.
  test('xoshiro128**, in blocks of any size', () => {
    const expected = [11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804];
    const fill = xoshiro128([1, 2, 3, 4]);
    const [first, rest] = [new Uint32Array(3), new Uint32Array(7)];
    fill(first);
    fill(rest);
    expect([...first, ...rest]).toEqual(expected);
  });

  test('a seed is a series in [0, 1), another seed another one', () => {
    const series = (seed: number): number[] => Array.from({ length: 200 }, seededRandom(seed));
    const integers = new Uint32Array(200);
    seededIntegers(7)(integers);
    expect(series(7)).toEqual(Array.from(integers, (integer) => integer / 2 ** 32));
    expect(series(7)).not.toEqual(series(8));
    const many = Array.from({ length: 100_000 }, seededRandom(1));
    expect(Math.min(...many)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...many)).toBeLessThan(1);
    // Standard errors of mean and deviation are 0.0009 and 0.0006.
    expect(mean(many)).toBeCloseTo(0.5, 2);
    expect(standardDeviation(many)).toBeCloseTo(Math.sqrt(1 / 12), 2);
  });

  test('neighbouring seeds are unrelated', () => {
    const firsts = Array.from({ length: 5000 }, (_, seed) => seededRandom(seed)());
    expect(Math.abs(pearson(firsts.slice(1), firsts.slice(0, -1)) as number)).toBeLessThan(0.05);
    expect(mean(firsts)).toBeCloseTo(0.5, 1);
  });
});

describe('bootstrap over groups', () => {
  const groupsOf = (count: number, seed: number, weightOf: (u: number) => number) => {
    const random = seededRandom(seed);
    return Array.from({ length: count }, () => {
      const weight = weightOf(random());
      return { value: weight * (random() < 0.6 ? 0.5 : -0.5), weight };
    });
  };

  test('by hand: two groups of equal weight, means −1, 0 and 1 with odds 1, 2, 1', () => {
    const groups = [
      { value: 1, weight: 1 },
      { value: -1, weight: 1 },
    ];
    const means = bootstrapGroups(groups, 4000, 5);
    const share = (value: number): number => means.filter((each) => each === value).length / 4000;
    expect(share(-1) + share(0) + share(1)).toBe(1);
    expect(share(0)).toBeCloseTo(0.5, 1);
    expect(share(1)).toBeCloseTo(0.25, 1);
    expect(ratioOf(groups)).toBe(0);
    // sqrt(1 + 1) / 2.
    expect(groupedStandardError(groups)).toBeCloseTo(Math.SQRT1_2, 12);
  });

  test('same seed, same resamples, ascending; nothing gives nothing', () => {
    const groups = groupsOf(12, 3, () => 1);
    const means = bootstrapGroups(groups, 99, 11);
    expect(means).toEqual(bootstrapGroups(groups, 99, 11));
    expect(means).not.toEqual(bootstrapGroups(groups, 99, 12));
    expect([...means]).toEqual([...means].sort((a, b) => a - b));
    expect(bootstrapGroups([], 99, 1)).toHaveLength(0);
    expect([ratioOf([]), groupedStandardError([])]).toEqual([null, null]);
    expect(groupedStandardError([{ value: 3, weight: 2 }])).toBe(0);
  });

  // 4,000 resamples know their own deviation to 1.1 %.
  test.each([
    ['equal groups', 10, () => 1, 0.04],
    ['equal groups', 40, () => 1, 0.04],
    ['groups of one to five', 20, (u: number) => 1 + Math.floor(5 * u), 0.1],
    ['groups of one to five', 60, (u: number) => 1 + Math.floor(5 * u), 0.05],
    ['weights from 1 down to 1/16', 40, (u: number) => 2 ** (-4 * u), 0.07],
    ['weights from 1 down to 1/16', 300, (u: number) => 2 ** (-4 * u), 0.04],
  ])('closed form and bootstrap agree: %s, %d of them', (_name, count, weightOf, tolerance) => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const groups = groupsOf(count, seed, weightOf);
      const closed = groupedStandardError(groups) as number;
      const drawn = standardDeviation([...bootstrapGroups(groups, 4000, seed)]) as number;
      expect(Math.abs(drawn / closed - 1)).toBeLessThan(tolerance);
    }
  });
});
