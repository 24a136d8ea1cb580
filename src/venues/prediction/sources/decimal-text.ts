import { isAmount } from '../../../lib/storable';

const CANONICAL = /^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/;
const DECIMAL = /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * The one plain spelling of an upstream's decimal (`315`, `"315.0"`, `3.15e2` are all `315`), so that a value has one
 * natural key and the store its exact digits. Undefined for anything that is no finite decimal.
 */
export function decimalText(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? decimalText(String(value)) : undefined;
  if (typeof value !== 'string') return undefined;
  if (CANONICAL.test(value)) return value;
  const match = DECIMAL.exec(value.trim());
  const whole = match?.[2] ?? '';
  const fraction = match?.[3] ?? '';
  if (match === null || whole + fraction === '') return undefined;
  const shifted = shift(whole, fraction, Number(match[4] ?? 0));
  return match[1] === '-' && shifted !== '0' ? `-${shifted}` : shifted;
}

/** The same of an amount: undefined below zero, and beyond what any venue knows. */
export function amountText(value: unknown): string | undefined {
  const text = decimalText(value);
  return text !== undefined && isAmount(text) ? text : undefined;
}

function shift(whole: string, fraction: string, exponent: number): string {
  const point = whole.length + exponent;
  const digits = whole + fraction;
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits.padEnd(point, '0');
  const at = Math.max(point, 0);
  const left = padded.slice(0, at).replace(/^0+/, '') || '0';
  const right = padded.slice(at).replace(/0+$/, '');
  return right === '' ? left : `${left}.${right}`;
}
