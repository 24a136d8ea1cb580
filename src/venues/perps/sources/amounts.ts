import type { Fill, OrderedFill } from './fill';

/** A decimal without loss: digits × 10^−scale, as PostgreSQL's numeric keeps it. */
interface Exact {
  digits: bigint;
  scale: number;
}

/** `text` is a decimal literal as decodeFill lets through. */
function exact(text: string): Exact {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const point = mantissa.indexOf('.');
  const digits = BigInt(point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1));
  const scale = (point < 0 ? 0 : mantissa.length - point - 1) - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

function textOf({ digits, scale }: Exact): string {
  if (scale === 0) return digits.toString();
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  return `${digits < 0n ? '-' : ''}${text.slice(0, -scale)}.${text.slice(-scale)}`;
}

const abs = (digits: bigint): bigint => (digits < 0n ? -digits : digits);

// Positions carry float noise, so flat and exactly closed are told with a relative tolerance of 1 / NOISE.
const NOISE = 1_000_000_000n;

/** What follows from a fill alone. Exact decimals as text. */
interface Amounts {
  /** Price × size. */
  usd_value: string;
  /** The part of its size that opens; the rest closes. */
  open_size: string;
}

/** A fill as it is stored. */
export type ReckonedFill = OrderedFill & Amounts;

/** A fill against the position closes, one with it opens; beyond the position it does both (a flip). */
export function amountsOf({ price, size, start_position, is_buy }: Pick<Fill, 'price' | 'size' | 'start_position' | 'is_buy'>): Amounts {
  const [px, sz, start] = [exact(price), exact(size), exact(start_position)];
  const usd_value = textOf({ digits: px.digits * sz.digits, scale: px.scale + sz.scale });
  if (start.digits === 0n || start.digits > 0n === is_buy) return { usd_value, open_size: size };
  const scale = Math.max(sz.scale, start.scale);
  const whole = sz.digits * 10n ** BigInt(scale - sz.scale);
  const held = abs(start.digits) * 10n ** BigInt(scale - start.scale);
  if (held * NOISE <= whole) return { usd_value, open_size: size };
  if (whole <= held || (whole - held) * NOISE <= whole) return { usd_value, open_size: '0' };
  return { usd_value, open_size: textOf({ digits: whole - held, scale }) };
}
