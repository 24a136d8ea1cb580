import type { PoolClient } from 'pg';
import { DAY_MS } from '../../../lib/time';

/** A table's columns with their SQL types, in the order they are sent. text[] columns travel comma separated. */
export type Columns<Row> = readonly (readonly [name: keyof Row & string, type: string])[];

/** One array per column, as unnest takes them. */
export function columnArrays<Row>(columns: Columns<Row>, rows: readonly Row[]): unknown[][] {
  return columns.map(([name]) => rows.map((row) => plain(row[name])));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value.join(',');
  return value instanceof Date ? value.toISOString() : (value ?? null);
}

/** `unnest($1::text[], …) AS alias(a, b, …)` for the columns. */
export function unnestOf<Row>(columns: Columns<Row>, alias: string): string {
  const arrays = columns.map(([, type], i) => `$${i + 1}::${type === 'text[]' ? 'text' : type}[]`);
  return `unnest(${arrays.join(', ')}) AS ${alias}(${namesOf(columns)})`;
}

/** A select list that turns comma separated columns back into arrays. */
function selectOf<Row>(columns: Columns<Row>, alias: string): string {
  return columns.map(([name, type]) => (type === 'text[]' ? `string_to_array(${alias}."${name}", ',')` : `${alias}."${name}"`)).join(', ');
}

function namesOf<Row>(columns: Columns<Row>): string {
  return columns.map(([name]) => `"${name}"`).join(', ');
}

const BATCH = 5_000;

export function* batchesOf<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let at = 0; at < rows.length; at += BATCH) yield rows.slice(at, at + BATCH);
}

/** Makes the partitions of the months that the times of each table fall into, by one statement, but for those of `made`, which then holds them too. */
export async function ensureMonths(
  client: PoolClient,
  timesByTable: Readonly<Record<string, readonly Date[]>>,
  made = new Set<string>(),
): Promise<void> {
  const needed = Object.entries(timesByTable)
    .flatMap(([table, times]) => monthsOf(times).map((month) => ({ table, month, key: `${table} ${month}` })))
    .filter(({ key }) => !made.has(key));
  if (needed.length === 0) return;
  const text = 'SELECT ensure_month_partitions("table", month, month) FROM unnest($1::text[], $2::timestamptz[]) AS m("table", month)';
  await client.query({ name: 'lp_ensure_months', text, values: [needed.map(({ table }) => table), needed.map(({ month }) => month)] });
  for (const { key } of needed) made.add(key);
}

/** First instants of the UTC months of these times. */
function monthsOf(times: readonly Date[]): string[] {
  const days = new Set(times.map((time) => Math.floor(time.getTime() / DAY_MS)));
  return [...new Set([...days].map((day) => `${new Date(day * DAY_MS).toISOString().slice(0, 7)}-01T00:00:00Z`))];
}

/** Appends rows, leaving those whose key is known; returns how many were new. */
export async function appendNew<Row>(client: PoolClient, table: string, columns: Columns<Row>, rows: readonly Row[]): Promise<number> {
  let inserted = 0;
  for (const batch of batchesOf(rows)) {
    const text = `INSERT INTO ${table} (${namesOf(columns)}) SELECT ${selectOf(columns, 'u')} FROM ${unnestOf(columns, 'u')} ON CONFLICT DO NOTHING`;
    const { rowCount } = await client.query({ name: `lp_append_${table}`, text, values: columnArrays(columns, batch) });
    inserted += rowCount ?? 0;
  }
  return inserted;
}
