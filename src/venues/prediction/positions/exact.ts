import { fixed, plain } from './fixed';

/** Sum of exact decimal texts. */
export const total = (amounts: readonly string[]): string => plain(amounts.reduce((sum, amount) => sum + fixed(amount), 0n));

/** a − b of exact decimal texts. */
export const minus = (a: string, b: string): string => plain(fixed(a) - fixed(b));

/** a / b; null when b is nothing. */
export const over = (a: string, b: string): number | null => (Number(b) === 0 ? null : Number(a) / Number(b));

/** 100 a / b; null when b is nothing. */
export const percent = (a: string, b: string): number | null => (Number(b) === 0 ? null : (100 * Number(a)) / Number(b));
