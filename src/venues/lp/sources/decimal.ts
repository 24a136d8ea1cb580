/** Decimal text without exponent: `1.5e-7` is `0.00000015`. Takes what `decimal` of record.ts lets through. */
function plainDecimal(text: string): string {
  const [mantissa = '0', exponent = '0'] = text.replace('+', '').toLowerCase().split('e');
  const [whole = '0', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction).toString();
  const sign = mantissa.startsWith('-') ? '-' : '';
  if (shift >= 0) return sign + digits + (digits === '0' ? '' : '0'.repeat(shift));
  const padded = digits.padStart(1 - shift, '0');
  return `${sign}${padded.slice(0, shift)}.${padded.slice(shift)}`;
}

/** Exact sum of two decimals. */
export function addDecimals(a: string, b: string): string {
  const [x, y] = [plainDecimal(a), plainDecimal(b)];
  const scale = Math.max(fractionOf(x), fractionOf(y));
  const total = scaled(x, scale) + scaled(y, scale);
  const digits = (total < 0n ? -total : total).toString().padStart(scale + 1, '0');
  const sign = total < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** A decimal with the other sign. */
export const negated = (value: string): string => (value.startsWith('-') ? value.slice(1) : `-${value}`);

const fractionOf = (plain: string): number => plain.split('.')[1]?.length ?? 0;

function scaled(plain: string, scale: number): bigint {
  const [whole = '0', fraction = ''] = plain.split('.');
  return BigInt(whole + fraction.padEnd(scale, '0'));
}
