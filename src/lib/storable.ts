/** Text as PostgreSQL can keep it: without NUL characters, halves of surrogate pairs replaced. Upstreams write both in JSON, as escapes. */
export function storable(text: string): string {
  const whole = text.includes('\0') ? text.replaceAll('\0', '') : text;
  // Most text has no surrogates at all, which is known at a glance.
  return /[\ud800-\udfff]/.test(whole) ? whole.replace(/\p{Surrogate}/gu, '\ufffd') : whole;
}

/** What no amount of any venue reaches: sums and products of smaller ones are numbers everywhere. */
const TOO_MUCH = 1e30;

/** Whether decimal text is an amount: not below zero, and neither so large nor so small that no number is near it. */
export function isAmount(decimal: string): boolean {
  const value = Number(decimal);
  return !decimal.startsWith('-') && value < TOO_MUCH && (value > 0 || !/[1-9]/.test(decimal.replace(/e.*$/i, '')));
}
