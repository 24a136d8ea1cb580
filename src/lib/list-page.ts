import { AppError } from '../errors';
import { CLOCKS_DIFFER_MS } from './clock';
import { CURSOR_FORMS, type CursorForm, type CursorPosition, decodeCursor, encodeCursor, positionIn } from './cursor';
import { DAY_MS } from './time';

/** How long a list may be read on from its first page. */
const LIFE_MS = DAY_MS;

/** Where a list goes on: all its pages are as of the first one's instant, so that what happens meanwhile neither moves nor drops a row. */
export interface ListPage {
  as_of: Date;
  /** Sort key of the last row sent; null on the first page. */
  after: CursorPosition | null;
}

/** What is wrong with a cursor of a list that cannot be read on. */
export const STALE_CURSOR = {
  issue: 'is too old, or not of this list; begin again without it',
  allowed: 'meta.next_cursor of a page less than a day old',
};

/** Whether a list of a page like `openListPage` makes can still be read on behind this cursor. */
export const isFresh = (cursor: string, now: Date): boolean => isOpen(positionIn(cursor)[0], now);

/** The first page may be another process's, whose clock is ahead. */
function isOpen(time: CursorPosition[number] | undefined, now: Date): boolean {
  const age = now.getTime() - Number(time);
  return age >= -CLOCKS_DIFFER_MS && age <= LIFE_MS;
}

/** The page behind a cursor, whose key's values have these forms, or the first one. Throws invalid_parameter for a cursor of another list or older than a day. */
export function openListPage(cursor: string | null | undefined, scope: unknown, now: Date, forms: readonly CursorForm[]): ListPage {
  if (cursor === null || cursor === undefined) return { as_of: now, after: null };
  const [time, ...after] = decodeCursor(cursor, scope, [CURSOR_FORMS.instant, ...forms]);
  if (isOpen(time, now)) return { as_of: new Date(Number(time)), after };
  throw new AppError('invalid_parameter', { details: [{ param: 'cursor', ...STALE_CURSOR, got: cursor.slice(0, 80) }] });
}

/** The cursor behind a row with this sort key. */
export const nextListCursor = (page: ListPage, key: CursorPosition, scope: unknown): string =>
  encodeCursor([page.as_of.getTime(), ...key], scope);
