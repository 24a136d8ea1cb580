const DIGITS = 18;

/** Exact amounts as whole numbers of 10^-18. */
export const UNIT = 10n ** BigInt(DIGITS);

/** The amount of a plain decimal text; digits beyond the eighteenth are cut. Throws on anything else. */
export function fixed(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text);
  if (match === null) throw new Error(`Not a plain decimal: ${text}`);
  const [, sign, whole, fraction = ''] = match;
  const amount = BigInt(`${whole}${fraction.slice(0, DIGITS).padEnd(DIGITS, '0')}`);
  return sign === '-' ? -amount : amount;
}

/** Plain decimal text of an amount. */
export function plain(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(DIGITS + 1, '0');
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -DIGITS)}${fraction && `.${fraction}`}`;
}
