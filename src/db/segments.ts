import type { Sql, Statement } from './sql';

const SEGMENT = /\/\*\{([^*]+)\*\/([\s\S]*?)\/\*\}\*\//g;
const AFTERWARDS = /^afterwards:(\d+)$/;
const SOME = /^some:(\d+)$/;
const NONE = '[]';

/** Whether a segment marked `when` can hold rows; `time` tells the instant of a parameter, in milliseconds. */
export type Holds = (when: string, time: (place: number) => number) => boolean;

/** A part of a statement that is left out where nothing can be in it, as `when` tells a Holds. Segments do not nest. */
export const segment = (when: string, sql: string): string => `/*{${when}*/${sql}/*}*/`;

/** A part that only says something where something newer than the instant, a parameter such as `$1::timestamptz`, is there. */
export const afterwards = (instant: string, sql: string): string => segment(`afterwards:${/\d+/.exec(instant)?.[0]}`, sql);

/** A part that only says something where a parameter, a JSON list such as `$2::jsonb`, holds anything. */
export const unlessNone = (list: string, sql: string): string => segment(`some:${/\d+/.exec(list)?.[0]}`, sql);

/** The statement without the segments that its values leave empty: planning them takes longer than reading them. One name for each shape. */
function cut({ name, text, ...how }: Statement, values: readonly unknown[], newest: number, holds: Holds): Statement {
  const time = (place: number): number => new Date(values[place - 1] as Date).getTime();
  let shape = '';
  const left = text.replace(SEGMENT, (_all, when: string, sql: string) => {
    const after = AFTERWARDS.exec(when)?.[1];
    const keep = after === undefined ? holds(when, time) : newest >= time(Number(after));
    shape += keep ? '1' : '0';
    return keep ? sql : '';
  });
  return { name: shape === '' ? name : `${name}:${BigInt(`0b${shape}`).toString(36)}`, text: left, ...how };
}

/** Sql that leaves out empty segments. `newest` tells when something changed last, in milliseconds; asked only where it matters. */
export const cutting = (sql: Sql, newest: () => Promise<number>, holds: Holds): Sql => ({
  query: async (statement, values) =>
    sql.query(cut(statement, values, statement.text.includes('/*{afterwards:') ? await newest() : Number.NEGATIVE_INFINITY, holds), values),
});

/** Sql that leaves out parts about lists that hold nothing. */
export const withoutNone = (sql: Sql): Sql => ({
  query: async (statement, values) => {
    if (!statement.text.includes('/*{some:')) return sql.query(statement, values);
    const holds: Holds = (when) => values[Number(SOME.exec(when)?.[1]) - 1] !== NONE;
    return sql.query(cut(statement, values, Number.NEGATIVE_INFINITY, holds), values);
  },
});
