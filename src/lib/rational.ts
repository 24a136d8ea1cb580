/** An exact fraction with a positive denominator; not reduced, for numbers here stay small. */
export interface Rational {
  n: bigint;
  d: bigint;
}

export const ONE: Rational = { n: 1n, d: 1n };

/** The exact value of a decimal literal (`0.7`, `3`, `12.50`). Throws on anything else. */
export function decimal(literal: string | number): Rational {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(String(literal));
  if (!match) throw new Error(`Not a decimal literal: ${literal}`);
  const fraction = match[2] ?? '';
  return { n: BigInt(`${match[1]}${fraction}`), d: 10n ** BigInt(fraction.length) };
}

export const ratio = (n: number, d: number): Rational => ({ n: BigInt(n), d: BigInt(d) });
export const times = (a: Rational, b: Rational): Rational => ({ n: a.n * b.n, d: a.d * b.d });
export const atLeast = (a: Rational, b: Rational): Rational => (a.n * b.d >= b.n * a.d ? a : b);
export const atMost = (a: Rational, b: Rational): Rational => (a.n * b.d <= b.n * a.d ? a : b);
export const toNumber = (a: Rational): number => Number(a.n) / Number(a.d);

/** The nearest whole number, halves up. */
export const rounded = (a: Rational): bigint => (2n * a.n + a.d) / (2n * a.d);
