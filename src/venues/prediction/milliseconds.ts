/** SQL of an instant in milliseconds since 1970, as a number: cheaper to read than a date. */
export const millisecondsOf = (instant: string): string => `(extract(epoch FROM ${instant}) * 1000)::float8`;
