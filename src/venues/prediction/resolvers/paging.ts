import { CURSOR_FORMS } from '../../../lib/cursor';
import { TIMEFRAMES, type Timeframe, type Window, lengthOf, windowOf } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { type OpenList, nextScoredCursor, openScoredList, openSettledList } from '../../venue-lists';
import { makeLoaders } from '../loaders';
import { type RowPosition, type TradeRow, beforeAll } from '../queries/trade-row';

/** A page of a list, newest first, inside a window that stands still from page to page. */
export interface Page {
  window: Window;
  after: RowPosition;
  scope: unknown;
  /** The request as of the list's first page, and by its score run. */
  then: GraphContext;
  list: OpenList['page'];
}

/**
 * The page a cursor points behind, or the first one. A cursor carries the end of the first page's window and its score run, so that rows and
 * runs which come in between shift nothing and the figures of all pages agree; of `merged` rows, which facts may move, it is settled. Names the
 * window in meta. Throws AppError invalid_parameter for a cursor of another list or older than a day.
 */
export function openPage(
  cursor: string | null | undefined,
  scope: unknown,
  timeframe: Timeframe,
  context: GraphContext,
  merged = false,
): Page {
  const open = merged ? openSettledList.bind(null, 'prediction') : openScoredList;
  const { page: list, then } = open(context, cursor, scope, [CURSOR_FORMS.instant, CURSOR_FORMS.uuid]);
  const window = windowOf(timeframe, list.as_of);
  Object.assign(context.meta, { timeframe, window });
  if (list.after === null) return { window, after: beforeAll(then.now), scope, then, list };
  const [at, trade_id] = list.after;
  return { window, after: { timestamp: new Date(Number(at)), trade_id: String(trade_id) }, scope, then, list };
}

/** Cuts rows that were asked with one too many, and tells in meta where the next page begins. */
export async function closePage(rows: TradeRow[], limit: number, { list, scope, then }: Page): Promise<TradeRow[]> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const run = await then.loaders(makeLoaders).scoreRun();
  const next = (row: TradeRow): string => nextScoredCursor(list, run?.day ?? null, [row.timestamp.getTime(), row.trade_id], scope);
  then.meta.next_cursor = rows.length > limit && last ? next(last) : null;
  then.meta.count = shown.length;
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
