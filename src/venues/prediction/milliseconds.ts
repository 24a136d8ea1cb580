/** SQL of an instant in milliseconds since 1970, as a number: cheaper to read than a date. */
export const millisecondsOf = (instant: string): string => `round(date_part('epoch', ${instant}) * 1000)`;
