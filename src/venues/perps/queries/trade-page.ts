import { AppError } from '../../../errors';
import { CURSOR_FORMS, listScope } from '../../../lib/cursor';
import { type ListPage, nextListCursor, openListPage } from '../../../lib/list-page';
import type { GraphContext } from '../../venue';
import { byScoreRun, makeLoaders } from '../loaders';
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

/**
 * The page that a cursor points behind, or the first one; of a list of scored accounts (`byScore`) by the score run of the first one. Throws
 * invalid_parameter for a cursor of another list or older than a day.
 */
export function openTradePage(question: string, args: TradeListArgs, context: GraphContext, byScore = false): TradePage {
  const scope = listScope(question, args);
  const page = openListPage(args.cursor, scope, context.now, byScore ? [CURSOR_FORMS.day, ...POSITION_FORMS] : POSITION_FORMS);
  const then = context.at(page.as_of);
  context.meta.as_of = page.as_of;
  if (!byScore || page.after === null) return { scope, limit: args.limit, page, then };
  const [day, ...after] = page.after;
  return { scope, limit: args.limit, page: { ...page, after }, then: byScoreRun(then, day as string) };
}

/** Rows of one page; tells the answer's meta its length and the next cursor. Throws empty_result, on the first page with a suggestion. */
export async function tradePage(
  { scope, limit, page, then }: TradePage,
  filter: FillFilter,
  suggestion: Record<string, unknown> | undefined,
): Promise<FillRow[]> {
  const { sql, meta } = then;
  const rows = await listFills(sql, filter, page.after, limit + 1);
  if (rows.length === 0) throw new AppError('empty_result', { suggestion: page.after === null ? suggestion : undefined });
  const shown = rows.slice(0, limit);
  meta.count = shown.length;
  const run = filter.whose !== null && 'day' in filter.whose ? [filter.whose.day] : [];
  meta.next_cursor = rows.length > shown.length ? nextListCursor(page, [...run, ...positionOf(shown.at(-1) as FillRow)], scope) : null;
  return run.length === 0 ? shown : withScores(shown, then);
}

/** Rows with the scores that they are listed by. */
const withScores = (rows: readonly FillRow[], { loaders }: GraphContext): Promise<FillRow[]> =>
  Promise.all(rows.map(async (row) => ({ ...row, smart_score: (await loaders(makeLoaders).score.load(row.trader))?.score ?? null })));
