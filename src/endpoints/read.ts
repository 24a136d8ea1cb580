import { isDeepStrictEqual } from 'node:util';
import { AppError, type Problem } from '../errors';
import { addTo } from '../lib/grouped';
import { nearest } from '../lib/nearest';
import { crossCheck } from './checks';
import { type Endpoint, formatsOf, type Parameter, type Value } from './endpoint';
import type { Reading } from './reading';
import { allowedOf, readValue, sameOf } from './values';

/** The names and values of a request before anything is believed: each name with all the values sent under it. */
export type RawParameters = Map<string, unknown[]>;

/** Parameters of a query string; repeated names keep every value. */
export function rawOfQuery(query: URLSearchParams): RawParameters {
  const raw: RawParameters = new Map();
  for (const [name, value] of query) addTo(raw, name, value);
  return raw;
}

/** Parameters of a JSON object; null counts as not sent. */
export function rawOfBody(body: Record<string, unknown>): RawParameters {
  return new Map(Object.entries(body).flatMap(([name, value]) => (value === null ? [] : [[name, [value]] as [string, unknown[]]])));
}

// Names that other services of this kind use for the same thing.
const OTHER_NAMES: Record<string, readonly string[]> = {
  wallet: ['wallet_address', 'address'],
  trader: ['wallet_address', 'address'],
  owner: ['wallet_address', 'address'],
  condition_id: ['market', 'market_id'],
  coin: ['coins'],
  coins: ['coin'],
  limit: ['n'],
};

/** All names under which a parameter may be sent, its own first. */
export function namesOf(parameter: Parameter, endpoint: Endpoint): string[] {
  const own = new Set(endpoint.parameters.map((other) => other.name));
  return [parameter.name, ...parameter.aliases, ...(OTHER_NAMES[parameter.name] ?? []).filter((name) => !own.has(name))];
}

/** Nobody mistypes more names; finding what was meant takes its time. */
const MOST_SUGGESTED = 10;

/** Reads a request for an endpoint; with a `now`, what has run out by then is wrong. Never throws: what is wrong is in `problems`. */
export function readParameters(endpoint: Endpoint, raw: RawParameters, now?: Date): Reading {
  const reading: Reading = {
    variables: {},
    sent: new Set(),
    problems: [],
    suggestion: {},
    ignored: [],
    warnings: [],
    fields: null,
    format: 'json',
  };
  const known = new Set(['fields', 'format']);
  for (const parameter of endpoint.parameters) {
    const names = namesOf(parameter, endpoint);
    for (const name of names) known.add(name);
    readOne(parameter, names, raw, reading);
  }
  checkGroups(endpoint, raw, reading);
  readPresentation(endpoint, raw, reading);
  reading.ignored = [...raw.keys()].filter((name) => !known.has(name)).map((name) => name.slice(0, 100));
  for (const name of reading.ignored.slice(0, MOST_SUGGESTED)) {
    // Some clients mark the names of lists: `coins[]`.
    const meant = nearest(name.replace(/\[\w*\]$/, ''), [...known]);
    if (meant !== undefined) reading.suggestion[name] ??= meant;
  }
  crossCheck(endpoint, reading, now);
  return reading;
}

const detailsOf = (reading: Reading): Problem[] => reading.problems.map(({ code: _, ...problem }) => problem);

/** The free check of a request, as its 402 and its quote tell it. */
export const validationOf = (reading: Reading) => ({
  valid: reading.problems.length === 0,
  errors: detailsOf(reading),
  ignored_params: reading.ignored,
  resolved: reading.variables,
  suggestion: reading.suggestion,
});

/** Why a request is refused; null where nothing is wrong with it. */
export function refusalOf(reading: Reading): AppError | null {
  const [first, ...others] = reading.problems;
  if (first === undefined) return null;
  return new AppError(others.every(({ code }) => code === first.code) ? first.code : 'invalid_parameter', {
    details: detailsOf(reading),
    ...(Object.keys(reading.suggestion).length > 0 ? { suggestion: reading.suggestion } : {}),
  });
}

function readOne(parameter: Parameter, names: readonly string[], raw: RawParameters, reading: Reading): void {
  const sent = names.flatMap((name) => (raw.has(name) ? [{ name, values: raw.get(name) as unknown[] }] : []));
  if (sent.length === 0) {
    if (parameter.required)
      reading.problems.push({
        param: parameter.name,
        issue: 'is required',
        allowed: wholeOf(parameter),
        got: null,
        code: 'missing_parameter',
      });
    else if (parameter.default !== undefined) reading.variables[parameter.name] = parameter.default;
    return;
  }
  reading.sent.add(parameter.name);
  const readings = sent.map(({ name, values }) =>
    parameter.list ? readList(parameter, name, values, reading) : readSingle(parameter, name, values, reading),
  );
  const value = readings[0];
  if (readings.some((other) => !isDeepStrictEqual(other, value))) {
    bad(
      reading,
      parameter.name,
      'was sent under two names with different values',
      'one name, or the same value under each',
      sent.map(({ name }) => name),
    );
  }
  const good = reading.problems.every((problem) => problem.param !== parameter.name) && value !== undefined;
  const kept = good ? value : parameter.default;
  if (kept !== undefined) reading.variables[parameter.name] = kept;
}

/** What would have been right to send: a value, or how many of which. */
const wholeOf = (parameter: Parameter): unknown =>
  parameter.list ? { min_items: parameter.min, max_items: parameter.max, item: allowedOf(parameter) } : allowedOf(parameter);

function bad(reading: Reading, param: string, issue: string, allowed: unknown, got: unknown): undefined {
  reading.problems.push({ param, issue, ...(allowed === undefined ? {} : { allowed }), got: shown(got), code: 'invalid_parameter' });
  return undefined;
}

/** What was got, short enough to be told. */
function shown(got: unknown): unknown {
  if (typeof got === 'string') return got.slice(0, 200);
  // JSON has no word for a number beyond all doubles: it would be told as null.
  if (typeof got === 'number' && !Number.isFinite(got)) return String(got);
  if (typeof got !== 'object' || got === null) return got;
  try {
    return JSON.stringify(got).slice(0, 200);
  } catch {
    // Thousands of levels deep: more than the stack holds.
    return 'a deeply nested value';
  }
}

function readSingle(parameter: Parameter, name: string, values: readonly unknown[], reading: Reading): Value | undefined {
  if (values.length > 1) return bad(reading, parameter.name, 'was sent more than once', allowedOf(parameter), values);
  const [value] = values;
  if (value === '') return bad(reading, parameter.name, 'is empty', allowedOf(parameter), '');
  const read = readItem(parameter, name, value, reading);
  if (read === undefined) suggest(parameter, [value], reading);
  return read;
}

/** Items of a list, however they were sent: one text of several, a list, or each by itself. */
const itemsOf = (values: readonly unknown[]): unknown[] =>
  values.flatMap((value) => (typeof value === 'string' ? value.split(',') : Array.isArray(value) ? (value as unknown[]) : [value]));

function readList(parameter: Parameter, name: string, values: readonly unknown[], reading: Reading): Value | undefined {
  const items = itemsOf(values);
  const [min, max] = [parameter.min as number, parameter.max as number];
  if (items.length < min || items.length > max)
    return bad(reading, parameter.name, `must hold ${min} to ${max} items`, { min_items: min, max_items: max }, items.length);
  const read = items.map((item) =>
    item === '' ? bad(reading, parameter.name, 'has an empty item', allowedOf(parameter), '') : readItem(parameter, name, item, reading),
  );
  if (read.some((item) => item === undefined)) {
    suggest(parameter, items, reading);
    return undefined;
  }
  if (new Set((read as string[]).map((item) => sameOf(item, parameter))).size < read.length)
    return bad(reading, parameter.name, 'holds the same item twice', 'distinct items', items);
  return read as string[];
}

/** Lists are written with spaces too, and values copied with them. */
const bare = (item: unknown): unknown => (typeof item === 'string' ? item.trim() : item);

/** The whole value as it was meant, where that is known of every item that is wrong; empty ones are left out. */
function suggest(parameter: Parameter, items: readonly unknown[], reading: Reading): void {
  const meant = items
    .map(bare)
    .filter((item) => item !== '')
    .map((item) => {
      const read = readValue(item, parameter);
      return read.ok ? String(read.value) : read.suggestion;
    });
  if (meant.length > 0 && meant.every((item) => item !== undefined)) reading.suggestion[parameter.name] = [...new Set(meant)].join(',');
}

function readItem(parameter: Parameter, name: string, raw: unknown, reading: Reading): string | number | boolean | undefined {
  const read = readValue(raw, parameter);
  if (read.ok) {
    const warning = `${name}: ${read.warning}`;
    // Of a list once, however many of its items it is about.
    if (read.warning !== undefined && !reading.warnings.includes(warning)) reading.warnings.push(warning);
    return read.value;
  }
  return bad(reading, parameter.name, read.issue, read.allowed, raw);
}

/** What a group of parameters asks for, in words. */
export const wantedOf = (group: readonly string[]): string => `one of ${group.join(', ')} is required`;

function checkGroups(endpoint: Endpoint, raw: RawParameters, reading: Reading): void {
  for (const group of endpoint.oneOfRequired) {
    const names = group.flatMap((name) => namesOf(endpoint.parameters.find((parameter) => parameter.name === name) as Parameter, endpoint));
    if (!names.some((name) => raw.has(name)))
      reading.problems.push({ param: group[0] as string, issue: wantedOf(group), allowed: group, got: null, code: 'missing_parameter' });
  }
}

const FIELD = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
/** Names in one list of fields. */
export const MOST_FIELDS = 100;

function readPresentation(endpoint: Endpoint, raw: RawParameters, reading: Reading): void {
  const format = raw.get('format');
  if (format !== undefined) {
    const formats = formatsOf(endpoint);
    const [sent, ...others] = format;
    const found = typeof sent === 'string' ? formats.find((known) => known === sent.toLowerCase()) : undefined;
    if (others.length > 0) bad(reading, 'format', 'was sent more than once', formats, format);
    else if (found === undefined)
      bad(reading, 'format', 'is not one of the formats of this answer (csv is for lists of rows)', formats, sent);
    else reading.format = found;
  }
  // Rows of several kinds need one set of columns.
  if (reading.format === 'csv' && 'field_case' in reading.variables && !reading.sent.has('field_case'))
    reading.variables.field_case = 'snake';
  readFields(endpoint, raw, reading);
}

function readFields({ answer }: Endpoint, raw: RawParameters, reading: Reading): void {
  const fields = raw.get('fields');
  if (fields === undefined) return;
  const names = itemsOf(fields);
  const fitting = names.length > 0 && names.length <= MOST_FIELDS;
  const sound = fitting && names.every((name) => typeof name === 'string' && name.length <= 100 && FIELD.test(name));
  const unknown = names.filter((name) => !answer.fields.has(name as string));
  if (!sound) bad(reading, 'fields', `must be 1 to ${MOST_FIELDS} field names, dot paths allowed`, 'e.g. condition_id,question', fields[0]);
  else if (unknown.length > 0) bad(reading, 'fields', 'names no field of this answer', [...answer.fields], unknown.join(','));
  else reading.fields = names as string[];
  if (fitting && unknown.length > 0 && unknown.length <= MOST_SUGGESTED) suggestFields(names, answer.fields, reading);
}

/** The whole list as it was meant, where that is known of every name that is wrong; empty ones are left out. */
function suggestFields(names: readonly unknown[], fields: ReadonlySet<string>, reading: Reading): void {
  const meant = names
    .map(bare)
    .filter((name) => name !== '')
    .map((name) => (typeof name !== 'string' || fields.has(name) ? name : nearest(name, [...fields])));
  if (meant.length > 0 && meant.every((name) => typeof name === 'string')) reading.suggestion.fields = [...new Set(meant)].join(',');
}
