import { fixed, plain } from './positions/fixed';

/** Sum of exact decimal texts. */
export const total = (amounts: Iterable<string>): string => {
  let sum = 0n;
  for (const amount of amounts) sum += fixed(amount);
  return plain(sum);
};

/** a − b, exactly. */
export const less = (a: string, b: string): string => plain(fixed(a) - fixed(b));

/** Exact order of amounts, as sorting wants it: below 0 where a < b. Doubles tell it wherever they differ. */
export const compareAmounts = (a: string, b: string): number => Number(a) - Number(b) || Number(less(a, b));

/** part ÷ whole, null of nothing. */
export const over = (part: string | number, whole: string | number): number | null =>
  Number(whole) === 0 ? null : Number(part) / Number(whole);

/** Mean of scores, null of nothing: added up in tenths, as they are told, so that their order never decides a half. */
export const meanScore = (scores: readonly number[]): number | null =>
  over(
    scores.reduce((sum, score) => sum + Math.round(10 * score), 0),
    10 * scores.length,
  );

/** 100 · part ÷ whole, null of nothing. */
export const percent = (part: string | number, whole: string | number): number | null =>
  Number(whole) === 0 ? null : (100 * Number(part)) / Number(whole);

/** Change in percent against an earlier amount; null where there is no earlier amount, or it is nothing. */
export const changePercent = (amount: string, earlier: string | null): number | null =>
  earlier === null ? null : percent(less(amount, earlier), earlier);

export type Trend = 'rising' | 'falling' | 'flat';

/** More than 5 % up, more than 5 % down, between; something from nothing rises. Null without an earlier amount. */
export function trendOf(amount: string, earlier: string | null): Trend | null {
  if (earlier === null) return null;
  // 5 % is a twentieth.
  const [before, change] = [fixed(earlier), 20n * (fixed(amount) - fixed(earlier))];
  return change > before ? 'rising' : change < -before ? 'falling' : 'flat';
}
