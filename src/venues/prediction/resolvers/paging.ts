import { CURSOR_FORMS } from '../../../lib/cursor';
import { nextListCursor, openListPage } from '../../../lib/list-page';
import { TIMEFRAMES, type Timeframe, type Window, lengthOf, windowOf } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { type RowPosition, type TradeRow, beforeAll } from '../queries/trade-row';

/** A page of a list, newest first, inside a window that stands still from page to page. */
export interface Page {
  window: Window;
  after: RowPosition;
}

/**
 * The page a cursor points behind, or the first one. A cursor carries the end of the first page's window, so that rows which arrive
 * in between shift nothing and the figures of all pages agree. Throws AppError invalid_parameter for a cursor of another list or older than a day.
 */
export function openPage(cursor: string | null | undefined, scope: unknown, timeframe: Timeframe, now: Date): Page {
  const { as_of, after } = openListPage(cursor, scope, now, [CURSOR_FORMS.instant, CURSOR_FORMS.uuid]);
  const window = windowOf(timeframe, as_of);
  if (after === null) return { window, after: beforeAll(now) };
  const [at, trade_id] = after;
  return { window, after: { timestamp: new Date(Number(at)), trade_id: String(trade_id) } };
}

/** Cuts rows that were asked with one too many, and tells in meta where the next page begins. */
export function closePage(rows: TradeRow[], limit: number, page: Page, scope: unknown, meta: GraphContext['meta']): TradeRow[] {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const first = { as_of: page.window.to, after: null };
  meta.next_cursor = rows.length > limit && last ? nextListCursor(first, [last.timestamp.getTime(), last.trade_id], scope) : null;
  meta.count = shown.length;
  return shown;
}

/** The shortest timeframe whose window ends at `to` and holds `time`. */
export function timeframeWith(time: Date, to: Date): Timeframe {
  const fitting = TIMEFRAMES.filter((token) => token !== 'today' && windowOf(token, to).from <= time);
  return fitting.sort((a, b) => lengthOf(a) - lengthOf(b))[0] ?? 'all';
}

/** What would bring rows: the shortest window that holds the newest one; where there is none, fewer filters, which are not told. */
export const suggestionOf = (newest: TradeRow | undefined, to: Date): { timeframe: Timeframe } | undefined =>
  newest && { timeframe: timeframeWith(newest.timestamp, to) };
