import { isTold } from '../../../lib/timeframe';

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(\.\d+)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/;

/**
 * An upstream's instant: Unix seconds (number or text), ISO 8601, or `YYYY-MM-DD HH:MM:SS`, UTC unless an offset
 * (`+00`, `+00:00`, `Z`) says otherwise; fractions of a second are kept to the millisecond.
 * Undefined for anything else, and for instants no venue can have (before 2018, after 2100: a wrong unit).
 */
export function decodeInstant(value: unknown): Date | undefined {
  const time = typeof value === 'number' ? value * 1_000 : typeof value === 'string' ? timeOfText(value.trim()) : Number.NaN;
  return isTold(time) ? new Date(time) : undefined;
}

function timeOfText(text: string): number {
  if (/^\d{1,11}(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const match = DATE_TIME.exec(text);
  if (match === null) return /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  const [, day, clock, fraction = '', zone = 'Z'] = match;
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  return Date.parse(`${day}T${clock}${fraction.slice(0, 4)}${offset}`);
}
