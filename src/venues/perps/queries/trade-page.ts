import { AppError } from '../../../errors';
import { type ListPage, nextListCursor, openListPage } from '../../../lib/list-page';
import type { GraphContext } from '../../venue';
import { type FillFilter, type FillRow, POSITION_FORMS, listFills, positionOf } from './fills';

/** What a trade list is asked: its question with all parameters but the cursor, which a cursor is bound to. */
type TradeScope = Record<string, unknown> & { question: string; limit: number };

/** A page of a trade list, and the request as of the instant of its first page. */
interface TradePage {
  scope: TradeScope;
  page: ListPage;
  then: GraphContext;
}

/** The page that a cursor points behind, or the first one. Throws invalid_parameter for a cursor of another list or older than a day. */
export function openTradePage({ cursor, ...asked }: TradeScope & { cursor?: string | null }, context: GraphContext): TradePage {
  const scope = asked as TradeScope;
  const page = openListPage(cursor, scope, context.now, POSITION_FORMS);
  return { scope, page, then: context.at(page.as_of) };
}

/** Rows of one page; tells the answer's meta its length and the next cursor. Throws empty_result, on the first page with a suggestion. */
export async function tradePage(
  { scope, page, then: { sql, meta } }: TradePage,
  filter: FillFilter,
  suggestion: Record<string, unknown> | undefined,
): Promise<FillRow[]> {
  const rows = await listFills(sql, filter, page.after, scope.limit + 1);
  if (rows.length === 0) throw new AppError('empty_result', { suggestion: page.after === null ? suggestion : undefined });
  const shown = rows.slice(0, scope.limit);
  meta.count = shown.length;
  meta.next_cursor = rows.length > shown.length ? nextListCursor(page, positionOf(shown.at(-1) as FillRow), scope) : null;
  return shown;
}
