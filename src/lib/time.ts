/** Lengths of time in milliseconds. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
/** The day that was written last: lists go from one instant to the next. */
let written = { day: Number.NaN, text: '' };

/** An instant as answers write it: ISO 8601, UTC, to the second. Throws RangeError for a date that is none. */
export function isoSecond(instant: Date): string {
  const time = instant.getTime();
  const day = Math.floor(time / DAY_MS);
  if (day !== written.day) written = { day, text: instant.toISOString().slice(0, -'T00:00:00.000Z'.length) };
  const second = Math.floor((time - day * DAY_MS) / 1_000);
  const [hours, minutes, seconds] = [Math.floor(second / 3_600), Math.floor(second / 60) % 60, second % 60];
  return `${written.text}T${TWO_DIGITS[hours]}:${TWO_DIGITS[minutes]}:${TWO_DIGITS[seconds]}Z`;
}

/** The UTC day of an instant, `YYYY-MM-DD`. */
export const isoDay = (instant: Date): string => instant.toISOString().slice(0, 10);

/** The later of two instants; none is earlier than any. */
export const later = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b > a) ? b : a);
