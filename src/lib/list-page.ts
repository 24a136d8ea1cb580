import { AppError } from '../errors';
import { CURSOR_FORMS, type CursorForm, type CursorPosition, decodeCursor, encodeCursor } from './cursor';
import { DAY_MS } from './time';

/** How long a list may be read on from its first page. */
const LIFE_MS = DAY_MS;

/** Where a list goes on: all its pages are as of the first one's instant, so that what happens meanwhile neither moves nor drops a row. */
export interface ListPage {
  as_of: Date;
  /** Sort key of the last row sent; null on the first page. */
  after: CursorPosition | null;
}

/** The page behind a cursor, whose key's values have these forms, or the first one. Throws invalid_parameter for a cursor of another list or older than a day. */
export function openListPage(cursor: string | null | undefined, scope: unknown, now: Date, forms: readonly CursorForm[]): ListPage {
  if (cursor === null || cursor === undefined) return { as_of: now, after: null };
  const [time, ...after] = decodeCursor(cursor, scope, [CURSOR_FORMS.instant, ...forms]);
  const age = now.getTime() - Number(time);
  if (age >= 0 && age <= LIFE_MS) return { as_of: new Date(Number(time)), after };
  throw new AppError('invalid_parameter', {
    details: [
      {
        param: 'cursor',
        issue: 'is too old, or not of this list; begin again without it',
        allowed: 'meta.next_cursor of a page less than a day old',
        got: cursor.slice(0, 80),
      },
    ],
  });
}

/** The cursor behind a row with this sort key. */
export const nextListCursor = (page: ListPage, key: CursorPosition, scope: unknown): string =>
  encodeCursor([page.as_of.getTime(), ...key], scope);
