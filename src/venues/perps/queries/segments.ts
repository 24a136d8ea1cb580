import type { Sql, Statement } from '../../../db/sql';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** When a segment can hold rows, by the four instants of the span it belongs to, in milliseconds (see Span). */
const HOLDS = {
  hours_from: (_from: number, first: number, last: number) => first < Math.min(last, upTo(first)),
  hours_to: (_from: number, first: number, last: number) => Math.max(first, down(last), upTo(first)) < last,
  facts_from: (from: number, first: number) => from < first,
  facts_to: (_from: number, _first: number, last: number, to: number) => last < to,
  days_from: (from: number, _first: number, _last: number, to: number) => from < Math.min(to, upTo(from)),
  days_to: (from: number, _first: number, _last: number, to: number) => Math.max(from, down(to), upTo(from)) < to,
} as const;
type Edge = keyof typeof HOLDS;

const upTo = (time: number): number => Math.ceil(time / DAY) * DAY;
const down = (time: number): number => Math.floor(time / DAY) * DAY;

const marked = (at: number, what: string, sql: string): string => `/*{${at}:${what}*/${sql}/*}*/`;
const SEGMENT = /\/\*\{(\d+):(\w+)\*\/([\s\S]*?)\/\*\}\*\//g;

/** A part of a statement that only says something where the span whose values start at `at` has this edge. Segments do not nest. */
export const edgeOf = (at: number, edge: Edge, sql: string): string => marked(at, edge, sql);

/** A part that only says something where an account was filled at or after the instant, a parameter such as `$1`. */
export const afterwards = (instant: string, sql: string): string => marked(Number(/\d+/.exec(instant)?.[0]), 'afterwards', sql);

/** Whether the statement has parts that ask for the newest fill. */
const asksNewest = (text: string): boolean => /\/\*\{\d+:afterwards\*\//.test(text);

/** The statement without the segments that its values leave empty: planning them takes longer than reading them. One name for each shape. */
function cut({ name, text }: Statement, values: readonly unknown[], newest: number): Statement {
  const time = (place: number): number => new Date(values[place - 1] as Date).getTime();
  let shape = '';
  const left = text.replace(SEGMENT, (_all, place: string, what: string, sql: string) => {
    const at = Number(place);
    const keep = what === 'afterwards' ? newest >= time(at) : HOLDS[what as Edge](time(at), time(at + 1), time(at + 2), time(at + 3));
    shape += keep ? '1' : '0';
    return keep ? sql : '';
  });
  return shape === '' ? { name, text } : { name: `${name}:${parseInt(shape, 2).toString(36)}`, text: left };
}

/** Sql that leaves out empty segments. `newest` tells when the newest fill was, in milliseconds; asked only where it matters. */
export const withoutEmpty = (sql: Sql, newest: () => Promise<number>): Sql => ({
  query: async (statement, values) => sql.query(cut(statement, values, asksNewest(statement.text) ? await newest() : 0), values),
});
