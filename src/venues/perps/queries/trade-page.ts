import { AppError } from '../../../errors';
import { listScope } from '../../../lib/cursor';
import { type ListPage, nextListCursor, openListPage } from '../../../lib/list-page';
import type { GraphContext } from '../../venue';
import { type FillFilter, type FillRow, POSITION_FORMS, listFills, positionOf } from './fills';

/** What every trade list is asked. */
interface TradeListArgs {
  limit: number;
  cursor?: string | null;
}

/** A page of a trade list, and the request as of the instant of its first page. */
interface TradePage {
  scope: unknown;
  limit: number;
  page: ListPage;
  then: GraphContext;
}

/** The page that a cursor points behind, or the first one. Throws invalid_parameter for a cursor of another list or older than a day. */
export function openTradePage(question: string, args: TradeListArgs, context: GraphContext): TradePage {
  const scope = listScope(question, args);
  const page = openListPage(args.cursor, scope, context.now, POSITION_FORMS);
  return { scope, limit: args.limit, page, then: context.at(page.as_of) };
}

/** Rows of one page; tells the answer's meta its length and the next cursor. Throws empty_result, on the first page with a suggestion. */
export async function tradePage(
  { scope, limit, page, then: { sql, meta } }: TradePage,
  filter: FillFilter,
  suggestion: Record<string, unknown> | undefined,
): Promise<FillRow[]> {
  const rows = await listFills(sql, filter, page.after, limit + 1);
  if (rows.length === 0) throw new AppError('empty_result', { suggestion: page.after === null ? suggestion : undefined });
  const shown = rows.slice(0, limit);
  meta.count = shown.length;
  meta.next_cursor = rows.length > shown.length ? nextListCursor(page, positionOf(shown.at(-1) as FillRow), scope) : null;
  return shown;
}
