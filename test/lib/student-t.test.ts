import fc from 'fast-check';
import { incompleteBeta, normalEquivalent, normalFromTail, studentEquivalent, studentTail } from '../../src/lib/student-t';

/** Simpson's rule over [from, to]. */
function integral(f: (x: number) => number, from: number, to: number): number {
  const steps = 20_000;
  const width = (to - from) / steps;
  let sum = f(from) + f(to);
  for (let index = 1; index < steps; index += 1) sum += (index % 2 === 1 ? 4 : 2) * f(from + index * width);
  return (sum * width) / 3;
}

/** Half the mass less what stands between 0 and t, of the density (1 + x²/ν)^(−(ν + 1)/2) normalised by its own integral: with x = √ν·tan u it is cos^(ν − 1) u. */
function tailByIntegration(t: number, freedom: number): number {
  const density = (u: number): number => Math.cos(u) ** (freedom - 1);
  const half = integral(density, 0, Math.PI / 2);
  return integral(density, Math.atan(t / Math.sqrt(freedom)), Math.PI / 2) / (2 * half);
}

// Student's tables (Fisher and Yates 1963): t that is exceeded with the chance of a normal 1.6449, 1.9600, 2.3263 and 3.0902.
const TABLE: readonly (readonly [number, readonly [number, number, number, number]])[] = [
  [1, [6.3138, 12.7062, 31.8205, 318.3088]],
  [2, [2.92, 4.3027, 6.9646, 22.3271]],
  [3, [2.3534, 3.1824, 4.5407, 10.2145]],
  [4, [2.1318, 2.7764, 3.7469, 7.1732]],
  [9, [1.8331, 2.2622, 2.8214, 4.2968]],
  [29, [1.6991, 2.0452, 2.462, 3.3962]],
  [120, [1.6577, 1.9799, 2.3578, 3.1595]],
];

test.each(TABLE)('the printed table, %d degrees of freedom', (freedom, criticals) => {
  [1.644854, 1.959964, 2.326348, 3.090232].forEach((normal, place) => {
    const critical = criticals[place] as number;
    expect(normalEquivalent(critical, freedom)).toBeCloseTo(normal, 3);
    expect(normalEquivalent(-critical, freedom)).toBe(-normalEquivalent(critical, freedom));
  });
});

test.each(TABLE)('the printed table read the other way, %d degrees of freedom', (freedom, criticals) => {
  [1.644854, 1.959964, 2.326348, 3.090232].forEach((normal, place) => {
    expect(Math.abs(studentEquivalent(normal, freedom) / (criticals[place] as number) - 1)).toBeLessThan(5e-5);
  });
});

test('there and back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3_000 }), fc.double({ min: 0, max: 6, noNaN: true }), (freedom, z) => {
      expect(normalEquivalent(studentEquivalent(z, freedom), freedom)).toBeCloseTo(z, 7);
    }),
  );
  expect([studentEquivalent(1.645, 0), studentEquivalent(0, 3)]).toEqual([Infinity, 0]);
});

test('one and two degrees of freedom have closed forms', () => {
  for (const t of [1e-12, 3e-9, 1e-6, 0.01, 0.5, 1, 2.5, 10, 400]) {
    expect(studentTail(t, 1)).toBeCloseTo(0.5 - Math.atan(t) / Math.PI, 12);
    expect(studentTail(t, 2)).toBeCloseTo(0.5 - t / (2 * Math.sqrt(2 + t * t)), 12);
  }
});

test('agrees with the density added up', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.double({ min: 0, max: 12, noNaN: true }), (freedom, t) => {
      expect(Math.abs(studentTail(t, freedom) - tailByIntegration(t, freedom))).toBeLessThan(1e-9);
    }),
    { numRuns: 60 },
  );
});

test('far tails agree as well, to a hundred thousandth of what they are', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), fc.double({ min: 0, max: 40, noNaN: true }), (freedom, t) => {
      expect(Math.abs(studentTail(t, freedom) / tailByIntegration(t, freedom) - 1)).toBeLessThan(1e-5);
    }),
    {
      numRuns: 60,
      examples: [
        [118, 9.813593141424105],
        [1_000, 30],
      ],
    },
  );
});

test('the normal tail is the one that its density adds up to', () => {
  for (const z of [0, 0.3, 1, 1.645, 2.5, 4, 6, 9]) {
    const tail = integral((x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI), z, z + 12);
    expect(normalFromTail(tail)).toBeCloseTo(z, 10);
  }
});

test('no degree of freedom proves nothing, very many change nothing', () => {
  expect(normalEquivalent(50, 0)).toBe(0);
  expect(normalEquivalent(0, 5)).toBe(0);
  for (const z of [-4.6, -1, 0.2, 1.645, 3, 8]) expect(normalEquivalent(z, 1e7)).toBeCloseTo(z, 4);
  expect(normalEquivalent(1e9, 1e6)).toBeGreaterThan(35);
  expect(incompleteBeta(0, 2, 3) + incompleteBeta(1, 2, 3)).toBe(1);
});

test('rises with t and with the degrees of freedom, and never beyond t', () => {
  const t = fc.double({ min: 0.001, max: 60, noNaN: true });
  fc.assert(
    fc.property(t, t, fc.integer({ min: 1, max: 5_000 }), (one, other, freedom) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)];
      expect(normalEquivalent(more, freedom)).toBeGreaterThanOrEqual(normalEquivalent(less, freedom) - 1e-9);
      expect(normalEquivalent(less, freedom + 1)).toBeGreaterThanOrEqual(normalEquivalent(less, freedom) - 1e-9);
      expect(normalEquivalent(less, freedom)).toBeLessThanOrEqual(less);
    }),
    // A tail of which rounding left nothing made t of itself.
    { examples: [[10.862780491200215, 9.813593141424105, 118]] },
  );
});
