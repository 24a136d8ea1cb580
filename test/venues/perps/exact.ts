/** A rational number: what an independent computation needs to be exact. */
export interface Exact {
  n: bigint;
  d: bigint;
}

/** The number that a decimal text writes. */
export function exact(text: string): Exact {
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) as unknown as [string, string, string, string | undefined];
  return { n: BigInt(`${sign}${whole}${part}`), d: 10n ** BigInt(part.length) };
}

export const ZERO: Exact = { n: 0n, d: 1n };
const plus = (a: Exact, b: Exact): Exact => (a.d === b.d ? { n: a.n + b.n, d: a.d } : { n: a.n * b.d + b.n * a.d, d: a.d * b.d });
export const minus = (a: Exact, b: Exact): Exact => plus(a, { n: -b.n, d: b.d });
export const times = (a: Exact, b: Exact): Exact => ({ n: a.n * b.n, d: a.d * b.d });
export const over = (a: Exact, b: Exact): Exact => (b.n > 0n ? { n: a.n * b.d, d: a.d * b.n } : { n: -a.n * b.d, d: -a.d * b.n });
export const compare = (a: Exact, b: Exact): number => Number(a.n * b.d - b.n * a.d > 0n) - Number(a.n * b.d - b.n * a.d < 0n);
export const abs = (a: Exact): Exact => (a.n < 0n ? { n: -a.n, d: a.d } : a);

/** Rounded to six places, ties upwards: the money of an answer. */
export function rounded({ n, d }: Exact): number {
  const doubled = 2n * n * 1_000_000n + d;
  const floor = doubled / (2n * d) - (doubled % (2n * d) < 0n ? 1n : 0n);
  const text = (floor < 0n ? -floor : floor).toString().padStart(7, '0');
  return Number(`${floor < 0n ? '-' : ''}${text.slice(0, -6)}.${text.slice(-6)}`);
}

/** A sum without growing denominators: everything with at most twelve decimals. */
export function sum(values: Iterable<Exact>): Exact {
  let total = 0n;
  for (const { n, d } of values) total += (n * 10n ** 12n) / d;
  return { n: total, d: 10n ** 12n };
}
