import { CURSOR_FORMS, type CursorForm, type CursorPosition } from '../lib/cursor';
import { type ListPage, nextListCursor, openListPage } from '../lib/list-page';
import { isoDay, wholeSecond } from '../lib/time';
import { BEGINNING } from '../lib/timeframe';
import type { VenueName } from '../lib/venue-name';
import type { GraphContext } from './venue';

/** A page of a list, and the request as of the list's first page. */
export interface OpenList {
  page: ListPage;
  then: GraphContext;
}

type Cursor = string | null | undefined;

/**
 * The page behind a cursor, whose key's values have these forms, or the first one; meta tells as of when it is. Throws invalid_parameter for a
 * cursor of another list or older than a day.
 */
export function openList(context: GraphContext, cursor: Cursor, scope: unknown, forms: readonly CursorForm[]): OpenList {
  const page = openListPage(cursor, scope, context.now, forms);
  context.meta.as_of = page.as_of;
  return { page, then: context.at(page.as_of) };
}

/** The same of a list of which all pages go by the score run of the first: a newer one neither repeats nor drops a row. */
export function openScoredList(context: GraphContext, cursor: Cursor, scope: unknown, forms: readonly CursorForm[]): OpenList {
  const { page, then } = openList(context, cursor, scope, [CURSOR_FORMS.day, ...forms]);
  if (page.after === null) return { page, then };
  const [day, ...after] = page.after;
  return { page: { ...page, after }, then: context.at(page.as_of, String(day)) };
}

/**
 * The same of a list that facts may order anew: it is as of an instant before which no more of them come in the ordinary way, so that what is
 * read between two pages moves no row across the cursor.
 */
export function openSettledList(
  venue: VenueName,
  context: GraphContext,
  cursor: Cursor,
  scope: unknown,
  forms: readonly CursorForm[],
): OpenList {
  const settled = context.settled(venue);
  const begins = (cursor === null || cursor === undefined) && settled !== null && settled < context.now;
  return openScoredList(begins ? context.at(wholeSecond(settled)) : context, cursor, scope, forms);
}

/** The cursor behind a row with this sort key of a list that goes by the run of a day (YYYY-MM-DD); null: there was none yet. */
export const nextScoredCursor = (page: ListPage, day: string | null, key: CursorPosition, scope: unknown): string =>
  nextListCursor(page, [day ?? isoDay(BEGINNING), ...key], scope);
