import type { PoolClient } from 'pg';
import { copyRows } from '../../../db/copy';
import type { Columns } from './insert';

/** Sends rows to a table by COPY: several times faster than as arrays. Throws what the database says of a row. */
export function copyInto<Row>(client: PoolClient, table: string, columns: Columns<Row>, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return Promise.resolve();
  const names = columns.map(([name]) => name);
  return copyRows(
    client,
    table,
    names.map((name) => `"${name}"`),
    cellsOf(names, rows),
  );
}

type Cells = (string | number | boolean | Date | null)[];

function* cellsOf<Row>(names: readonly (keyof Row)[], rows: readonly Row[]): Generator<Cells> {
  for (const row of rows) yield names.map((name) => cell(row[name]));
}

function cell(value: unknown): Cells[number] {
  if (Array.isArray(value)) return value.length === 0 ? null : `{${value.map(element).join(',')}}`;
  return (value ?? null) as Cells[number];
}

/** https://www.postgresql.org/docs/current/arrays.html, "Array Input and Output Syntax". */
const element = (value: unknown): string => `"${String(value).replace(/["\\]/g, '\\$&')}"`;
