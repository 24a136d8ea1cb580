import crypto from 'node:crypto';
import { AppError } from '../errors';

/** The position after the last row sent: the sort key's values, as JSON scalars. */
export type CursorPosition = readonly (string | number | null)[];

/** What a value of a position looks like as text. */
export interface CursorForm {
  test(text: string): boolean;
}

const DAY = /^[1-9]\d{3}-\d\d-\d\d$/;

/** A day that the calendar has. */
const isDay = (text: string): boolean => DAY.test(text) && new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8));

/** What values of positions look like as text. */
export const CURSOR_FORMS = {
  /** Milliseconds since 1970. */
  instant: /^\d{1,14}$/,
  /** Decimal text or a JSON number, of any sign. */
  number: /^-?\d{1,60}(\.\d{1,60})?(e[+-]?\d{1,2})?$/,
  /** A whole number of PostgreSQL's `bigint`. */
  bigint: /^-?\d{1,18}$/,
  /** A place among few. */
  index: /^\d{1,4}$/,
  day: { test: isDay },
  base58: /^[1-9A-HJ-NP-Za-km-z]{0,100}$/,
  evm_address: /^0x[0-9a-f]{40}$/,
  condition_id: /^0x[0-9a-f]{64}$/,
  coin: /^[A-Za-z0-9:]{1,29}$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  word: /^[A-Za-z_]{1,40}$/,
} as const;

/** The form, or nothing at all. */
export const orNull = (form: RegExp): RegExp => new RegExp(`${form.source}|^null$`);

/** What the cursors of a question's list are bound to: all its parameters but the cursor itself, in any order; null is left out. */
export const listScope = (question: string, parameters: object): unknown => [
  question,
  Object.entries(parameters)
    .filter(([name, value]) => name !== 'cursor' && value !== null && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1)),
];

/**
 * Opaque text of a position in a list, bound to the list: `scope` names the question and all its parameters but the
 * cursor itself, so that a cursor used with other parameters, or changed on its way, is refused instead of skipping rows.
 */
export function encodeCursor(position: CursorPosition, scope: unknown): string {
  return textOf([fingerprint(scope, position), ...position]);
}

const textOf = (value: readonly unknown[]): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Most characters of a cursor: a position of several keys, some of them transaction ids, is longer than other texts. */
export const LONGEST_CURSOR = 512;
const MARK = /^[\w-]{10}$/;

/** Whether a text is a cursor of some list: of which one, decodeCursor tells. */
export function isCursor(text: string): boolean {
  if (text.length > LONGEST_CURSOR) return false;
  const [mark, ...position] = parse(text);
  const sound = typeof mark === 'string' && MARK.test(mark) && position.length > 0 && position.every(isScalar);
  return sound && textOf([mark, ...position]) === text;
}

/** Whether a cursor was made for a list of this scope: whether its values have the list's forms, decodeCursor tells. */
export const belongsTo = (cursor: string, scope: unknown): boolean => encodeCursor(positionIn(cursor), scope) === cursor;

/** The values of a cursor, of whichever list and in whatever form. */
export const positionIn = (cursor: string): CursorPosition => parse(cursor).slice(1) as CursorPosition;

/** What is wrong with any other one. */
export const FOREIGN_CURSOR = {
  issue: 'is not a cursor of this list; send the other parameters unchanged',
  allowed: 'meta.next_cursor of the previous page',
};

/** The position inside a cursor of the same scope whose values have these forms. Throws AppError invalid_parameter for any other text. */
export function decodeCursor(cursor: string, scope: unknown, forms: readonly CursorForm[]): CursorPosition {
  const position = positionIn(cursor);
  // Anyone can make a cursor: its mark tells mistakes, the forms keep forgeries from the database.
  const sound =
    position.length === forms.length && forms.every((form, index) => isScalar(position[index]) && form.test(String(position[index])));
  if (!sound || !belongsTo(cursor, scope))
    throw new AppError('invalid_parameter', { details: [{ param: 'cursor', ...FOREIGN_CURSOR, got: cursor.slice(0, 80) }] });
  return position;
}

/** The values of a position that begins with an instant, as a statement takes them; `length` times null where there is none. */
export const timedPosition = (position: CursorPosition | null, length: number): (CursorPosition[number] | Date)[] =>
  position === null ? Array.from({ length }, () => null) : [new Date(Number(position[0])), ...position.slice(1)];

function parse(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const isScalar = (value: unknown): boolean =>
  value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));

function fingerprint(scope: unknown, position: readonly unknown[]): string {
  return crypto
    .createHash('sha256')
    .update(JSON.stringify([scope, position]))
    .digest('base64url')
    .slice(0, 10);
}
