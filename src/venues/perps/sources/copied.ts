/** Time from the first of some fills to the last of them, both in it, in milliseconds. */
export type FillSpan = readonly [first: number, last: number];

export const spanOf = (fills: readonly { time: number }[]): FillSpan =>
  fills.reduce<FillSpan>(([first, last], { time }) => [Math.min(first, time), Math.max(last, time)], [Infinity, 0]);

const SPANS = '$1::tstzmultirange';

/**
 * Select of the rows of a table of facts in the spans of time `$1`, which may meet; `$2` is how many rows it is at most: planned for its values. What lies between
 * the first instant and the last is read, once, but for gaps: what lies in spans the planner takes for a thousandth.
 */
export const copiedOf = (table: string): string => `
  SELECT fact.* FROM ${table} fact WHERE fact.timestamp >= lower(${SPANS}) AND fact.timestamp <= upper(${SPANS})
    AND NOT fact.timestamp <@ (tstzmultirange(range_merge(${SPANS})) - ${SPANS}) LIMIT $2`;

/** The values of `copiedOf` for spans in which so many fills were copied. */
export function copiedValues(spans: readonly FillSpan[], fills: number): [spans: string, fills: number] {
  const told = (instant: number): string => new Date(instant).toISOString();
  return [`{${spans.map(([first, last]) => `[${told(first)},${told(last)}]`).join(',')}}`, fills];
}
