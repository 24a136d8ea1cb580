import { millisecondsOf } from '../../../lib/tiles';

/** How a column is sent: as JSON has it; exact, as a decimal's text; an instant, in milliseconds since 1970. */
type Sent = 'plain' | 'exact' | 'instant';

/** How each column of a row is sent. */
export type Columns<Row> = { readonly [Name in keyof Row]-?: Sent };

const SQL_OF: Record<Sent, (name: string) => string> = {
  plain: (name) => name,
  exact: (name) => `${name}::text`,
  instant: millisecondsOf,
};

/** SQL of one row that tells `rows`, a select, by column, each a list in their order: as rows they are many, and dear to read. */
export const byColumn = <Row>(columns: Columns<Row>, rows: string): string => `SELECT ${listsOf(columns)} FROM (${rows}) AS told`;

/** SQL of its lists, null where there is no row. */
const listsOf = <Row>(columns: Columns<Row>): string =>
  (Object.entries(columns) as [string, Sent][]).map(([name, sent]) => `json_agg(${SQL_OF[sent](`"${name}"`)}) AS "${name}"`).join(', ');

/** The rows that `byColumn` told. */
export function rowsOf<Row extends object>(columns: Columns<Row>, told: Readonly<Record<string, unknown>> | undefined): Row[] {
  const lists = (Object.entries(columns) as [keyof Row & string, Sent][]).map(([name, sent]) => ({
    name,
    is_instant: sent === 'instant',
    values: (told?.[name] ?? []) as unknown[],
  }));
  return Array.from({ length: lists[0]?.values.length ?? 0 }, (_, index) => {
    const row: Partial<Record<keyof Row, unknown>> = {};
    for (const { name, is_instant, values } of lists) {
      const value = values[index];
      row[name] = is_instant && value !== null ? new Date(value as number) : value;
    }
    return row as Row;
  });
}
