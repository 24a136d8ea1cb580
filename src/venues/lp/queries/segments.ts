import type { Sql, Statement } from '../../../db/sql';

const marked = (what: string, sql: string): string => `/*{${what}*/${sql}/*}*/`;
const SEGMENT = /\/\*\{(\d+)<(\d*)\*\/([\s\S]*?)\/\*\}\*\//g;

/** A part of a statement that only says something where its parameter `$from` is before `$to`, both instants. Segments do not nest. */
export const unlessEmpty = (from: number, to: number, sql: string): string => marked(`${from}<${to}`, sql);

/** A part that only says something where a position changed at or after the instant, a parameter such as `$1::timestamptz`. */
export const afterwards = (instant: string, sql: string): string => marked(`${/\d+/.exec(instant)?.[0]}<`, sql);

/** The statement without the segments that its values leave empty: planning them takes longer than reading them. One name for each shape. */
function cut({ name, text }: Statement, values: readonly unknown[], newest: number): Statement {
  const time = (place: string): number => new Date(values[Number(place) - 1] as Date).getTime();
  let shape = '';
  const left = text.replace(SEGMENT, (_all, from: string, to: string, sql: string) => {
    const keep = to === '' ? newest >= time(from) : time(from) < time(to);
    shape += keep ? '1' : '0';
    return keep ? sql : '';
  });
  return shape === '' ? { name, text } : { name: `${name}:${BigInt(`0b${shape}`).toString(36)}`, text: left };
}

/** Sql that leaves out empty segments. `newest` tells when a position changed last, in milliseconds; asked only where it matters. */
export const withoutEmpty = (sql: Sql, newest: () => Promise<number>): Sql => ({
  query: async (statement, values) =>
    sql.query(cut(statement, values, /\/\*\{\d+<\*\//.test(statement.text) ? await newest() : Number.NEGATIVE_INFINITY), values),
});
