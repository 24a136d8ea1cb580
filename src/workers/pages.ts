import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import zlib from 'node:zlib';
import { parse } from 'csv-parse';
import split from 'split2';
import { inStretches } from '../lib/stretches';
import type { RecordedPage } from './source';

const FORMATS: Record<string, RecordedPage['format']> = { '.json': 'json', '.ndjson': 'ndjson', '.jsonl': 'ndjson', '.csv': 'csv' };

/** Recorded pages at a path: the file itself, or the files of a folder in name order. Throws one clear sentence when there is none. */
export function listPages(location: string): string[] {
  if (!fs.existsSync(location)) throw new Error(`There is no file or folder at ${location}.`);
  if (!fs.statSync(location).isDirectory()) return [location];
  const files = fs
    .readdirSync(location)
    .sort()
    .filter((name) => formatOf(name) !== undefined)
    .map((name) => path.join(location, name))
    .filter((file) => !fs.statSync(file, { throwIfNoEntry: false })?.isDirectory());
  if (files.length === 0) throw new Error(`No .json, .ndjson, .jsonl or .csv file (or .gz of these) in ${location}.`);
  return files;
}

const formatOf = (name: string): RecordedPage['format'] | undefined => FORMATS[path.extname(name.replace(/\.gz$/, '')).toLowerCase()];

/** Opens one recorded page. Records are read as they are asked for; a broken line throws with its number. */
export function openPage(file: string): RecordedPage {
  const format = formatOf(file);
  if (format === undefined) throw new Error(`${path.basename(file)} is neither .json, .ndjson, .jsonl nor .csv (or .gz of these).`);
  const raw = fs.createReadStream(file);
  const bytes = file.endsWith('.gz') ? raw.pipe(zlib.createGunzip()) : raw;
  // A broken pipe would leave the reader waiting for ever.
  raw.on('error', (error) => bytes.destroy(error));
  return { name: path.basename(file), format, records: READERS[format](bytes) };
}

/** A page that is already in memory: simulated upstreams and tests. */
export function pageOf(name: string, format: RecordedPage['format'], records: Iterable<unknown>): RecordedPage {
  // A stream would not take null, which an upstream may list.
  return { name, format, records: inStretches(records) };
}

const READERS: Record<RecordedPage['format'], (bytes: Readable) => AsyncIterable<unknown>> = {
  async *json(bytes) {
    const chunks: Buffer[] = [];
    for await (const chunk of bytes) chunks.push(chunk as Buffer);
    const value: unknown = JSON.parse(withoutMark(Buffer.concat(chunks).toString('utf8')));
    yield* inStretches(Array.isArray(value) ? (value as unknown[]) : [value]);
  },
  async *ndjson(bytes) {
    // Node's readline takes U+2028 for an end of line as well, which may stand in a JSON text.
    const lines = bytes.pipe(split());
    bytes.on('error', (error) => lines.destroy(error));
    let number = 0;
    for await (const line of lines as AsyncIterable<string>) {
      number += 1;
      if (line.trim() !== '') yield parseLine(number === 1 ? withoutMark(line) : line, number);
    }
  },
  async *csv(bytes) {
    let columns: string[] = [];
    const named = (names: string[]): string[] => (columns = names);
    const parser = bytes.pipe(parse({ columns: named, bom: true, skip_empty_lines: true, relax_column_count: true }));
    bytes.on('error', (error) => parser.destroy(error));
    let end = '';
    bytes.on('data', (chunk: Buffer) => (end = chunk.toString('latin1', chunk.length - 1)));
    let last: object | undefined;
    for await (const record of parser) yield (last = record as object);
    // Whose page ends with a row too short and no end of line was cut off there: half a row would be a fact that never was.
    if (last !== undefined && Object.keys(last).length < columns.length && !/[\r\n]/.test(end))
      throw new Error(`The last row is cut off: it has ${Object.keys(last).length} of ${columns.length} cells.`);
  },
};

/** Programs of Windows begin a file with the mark of its byte order; to JSON it is no blank. */
const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`Line ${number} is not JSON: ${line.slice(0, 60)}`);
  }
}
