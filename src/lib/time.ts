/** Lengths of time in milliseconds. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** An instant as answers write it: ISO 8601, UTC, to the second. Throws RangeError for a date that is none. */
export const isoSecond = (instant: Date): string => `${instant.toISOString().slice(0, 19)}Z`;

/** The UTC day of an instant, `YYYY-MM-DD`. */
export const isoDay = (instant: Date): string => instant.toISOString().slice(0, 10);

/** The later of two instants; none is earlier than any. */
export const later = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b > a) ? b : a);
