import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { from } from 'pg-copy-streams';

type Cell = string | number | boolean | Date | null;

const CHUNK_CHARACTERS = 65_536;
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Appends rows (cells in the order of `columns`) to a table by COPY, inside the client's transaction. Throws what the database says of a row. */
export async function copyRows(
  client: PoolClient,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly Cell[]>,
): Promise<void> {
  await pipeline(Readable.from(chunks(rows)), client.query(from(`COPY ${table} (${columns.join(', ')}) FROM STDIN`)));
}

function* chunks(rows: Iterable<readonly Cell[]>): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    for (let index = 0; index < row.length; index += 1) text += (index === 0 ? '' : '\t') + told(row[index] as Cell);
    text += '\n';
    if (text.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

/** A cell in COPY's text format. */
function told(cell: Cell): string {
  if (typeof cell === 'string')
    return /[\\\t\n\r]/.test(cell) ? cell.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] as string) : cell;
  if (cell === null) return '\\N';
  return cell instanceof Date ? cell.toISOString() : String(cell);
}
