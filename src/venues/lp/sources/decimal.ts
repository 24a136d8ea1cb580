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

/** A decimal as a whole number of its last places, and how many places it has. */
function unscaled(text: string): [whole: bigint, places: number] {
  const plain = /e/i.test(text) ? plainDecimal(text) : text;
  const point = plain.indexOf('.');
  return point < 0 ? [BigInt(plain), 0] : [BigInt(plain.slice(0, point) + plain.slice(point + 1)), plain.length - point - 1];
}

/** Exact sum of decimals; 0 of none. */
export function sumDecimals(values: readonly string[]): string {
  let [total, scale] = [0n, 0];
  for (const value of values) {
    const [whole, places] = unscaled(value);
    if (places > scale) {
      total *= 10n ** BigInt(places - scale);
      scale = places;
    }
    total += places === scale ? whole : whole * 10n ** BigInt(scale - places);
  }
  const digits = (total < 0n ? -total : total).toString().padStart(scale + 1, '0');
  const sign = total < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Exact sum of two decimals. */
export const addDecimals = (a: string, b: string): string => sumDecimals([a, b]);

/** A decimal with the other sign. */
export const negated = (value: string): string => (value.startsWith('-') ? value.slice(1) : `-${value}`);
