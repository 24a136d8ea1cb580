/** Characters of a text that are kept: no name or question is longer, and PostgreSQL puts no text of more than 2,700 bytes into an index. */
export const LONGEST_TEXT = 500;

/** Text as PostgreSQL can keep it: cut, without NUL characters, halves of surrogate pairs replaced. Upstreams write both in JSON, as escapes. */
export function storable(text: string): string {
  const short = text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text;
  const whole = short.includes('\0') ? short.replaceAll('\0', '') : short;
  // Nearly all text is well formed, which is known at a glance.
  return whole.isWellFormed() ? whole : whole.toWellFormed();
}

/** What no amount of any venue reaches: sums and products of smaller ones are numbers everywhere. */
const TOO_MUCH = 1e30;
/** Nor has any so many digits; PostgreSQL keeps 16,383 behind the point. */
const MOST_DIGITS = 400;

/** Whether decimal text is an amount: not below zero, of some digits, and neither so large nor so small that no number is near it. */
export function isAmount(decimal: string): boolean {
  if (decimal.length > MOST_DIGITS) return false;
  const value = Number(decimal);
  return !decimal.startsWith('-') && value < TOO_MUCH && (value > 0 || !/[1-9]/.test(decimal.replace(/e.*$/i, '')));
}
