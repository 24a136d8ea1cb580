import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { from } from 'pg-copy-streams';
import { type Columns, namesOf } from './insert';

/** Rows of text that are sent at once. */
const CHUNK = 500;

/** Sends rows to a table by COPY, in its text format: several times faster than as arrays. Throws what the database says of a row. */
export async function copyRows<Row>(client: PoolClient, table: string, columns: Columns<Row>, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const names = columns.map(([name]) => name);
  await pipeline(Readable.from(chunksOf(names, rows)), client.query(from(`COPY ${table} (${namesOf(columns)}) FROM STDIN`)));
}

function* chunksOf<Row>(names: readonly (keyof Row)[], rows: readonly Row[]): Generator<Buffer> {
  for (let at = 0; at < rows.length; at += CHUNK) {
    let text = '';
    for (const row of rows.slice(at, at + CHUNK)) {
      for (let i = 0; i < names.length; i += 1) text += (i === 0 ? '' : '\t') + cell(row[names[i] as keyof Row]);
      text += '\n';
    }
    yield Buffer.from(text);
  }
}

const NULL = '\\N';

function cell(value: unknown): string {
  if (value === null || value === undefined) return NULL;
  if (typeof value === 'string') return escaped(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? NULL : escaped(`{${value.map(element).join(',')}}`);
  return String(value as number | bigint | boolean);
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** https://www.postgresql.org/docs/current/sql-copy.html, "Text Format". */
const escaped = (text: string): string =>
  /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (found) => ESCAPES[found] as string) : text;

const element = (value: unknown): string => `"${String(value).replace(/["\\]/g, '\\$&')}"`;
