const DIGITS = 18;

/** Exact amounts as whole numbers of 10^-18. */
export const UNIT = 10n ** BigInt(DIGITS);

const PLAIN = /^-?\d+(?:\.\d*)?$/;
const POWERS = Array.from({ length: DIGITS + 1 }, (_, exponent) => 10n ** BigInt(exponent));

/** The amount of a plain decimal text; digits beyond the eighteenth are cut. Throws on anything else. */
export function fixed(text: string): bigint {
  if (text === '0') return 0n;
  if (!PLAIN.test(text)) throw new Error(`Not a plain decimal: ${text}`);
  const point = text.indexOf('.');
  if (point < 0) return BigInt(text) * UNIT;
  const digits = Math.min(DIGITS, text.length - point - 1);
  return BigInt(text.slice(0, point) + text.slice(point + 1, point + 1 + digits)) * (POWERS[DIGITS - digits] as bigint);
}

/** Plain decimal text of an amount. */
export function plain(amount: bigint): string {
  if (amount === 0n) return '0';
  const digits = String(amount < 0n ? -amount : amount).padStart(DIGITS + 1, '0');
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -DIGITS)}${fraction && `.${fraction}`}`;
}
