import { isBase58Address } from '../../../lib/address';
import { isAmount, storable } from '../../../lib/storable';
import { isTold } from '../../../lib/timeframe';

/** Readers of foreign JSON: what is missing or of another kind is null, never an exception. */
export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string | null => (typeof value === 'string' && storable(value).trim()) || null;

export const address = (value: unknown): string | null => (typeof value === 'string' && isBase58Address(value) ? value : null);

const DECIMAL = /^[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?$/;

/** A number or decimal text as decimal text. */
function decimal(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  return typeof value === 'string' && DECIMAL.test(value.trim()) ? value.trim() : null;
}

/** A decimal that is not below zero, nor beyond what any venue knows. */
export function amount(value: unknown): string | null {
  const number = decimal(value);
  return number !== null && isAmount(number) ? number : null;
}

/** What fits the store's kinds of whole numbers. */
export const SMALL_INTEGER = 32_767;
const INTEGER = 2_147_483_647;
export const BIG_INTEGER = Number.MAX_SAFE_INTEGER;

/** A whole number, from -`most` to `most`. */
export function integer(value: unknown, most = INTEGER): number | null {
  const number = Number(decimal(value) ?? Number.NaN);
  return Number.isInteger(number) && Math.abs(number) <= most ? number : null;
}

/** Bin step of a pool, in hundredths of a percent: two bytes on the chain, and no pool has none. */
export function binStepOf(value: unknown): number | null {
  const step = integer(value);
  return step !== null && step > 0 && step <= 65_535 ? step : null;
}

/** How many decimals a token has; null where no amount could be told in so many. */
export function decimalsOf(value: unknown): number | null {
  const decimals = integer(value);
  return decimals !== null && decimals >= 0 && decimals <= 30 ? decimals : null;
}

/** Seconds or milliseconds since 1970, or ISO text; null for instants no venue can have. */
export function instant(value: unknown): Date | null {
  const date = dateOf(value);
  return date !== null && isTold(date.getTime()) ? date : null;
}

function dateOf(value: unknown): Date | null {
  const number = decimal(value);
  if (number !== null) {
    const seconds = Number(number);
    // 10^11 seconds are the year 5138, 10^11 milliseconds 1973.
    return new Date(seconds > 1e11 ? seconds : seconds * 1000);
  }
  if (typeof value !== 'string' || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(value)) return null;
  const zoned = /(Z|[-+][0-9]{2}:?[0-9]{2})$/.test(value) || value.length === 10 ? value : `${value}Z`;
  return new Date(zoned.replace(' ', 'T'));
}

/**
 * Time a page is as of, when its name says so: a day (2024-09-22) or an instant (2026-03-11T12-00-00Z). Catalogue pages
 * carry no time of their own.
 */
export function timeInName(name: string): Date | null {
  const match = /([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T_]([0-9]{2})[-:]([0-9]{2})[-:]([0-9]{2})Z?)?/.exec(name);
  if (match === null) return null;
  const [, day, hour = '00', minute = '00', second = '00'] = match;
  return instant(`${day}T${hour}:${minute}:${second}Z`);
}

/** The first base58 address in a page's name: some answers do not say which pool or position they are of. */
export function addressInName(name: string): string | null {
  for (const word of name.split(/[^1-9A-HJ-NP-Za-km-z]+/)) if (isBase58Address(word)) return word;
  return null;
}
