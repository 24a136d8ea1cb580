import { AppError } from '../../../errors';
import { listScope } from '../../../lib/cursor';
import { nextListCursor } from '../../../lib/list-page';
import type { GraphContext } from '../../venue';
import { type OpenList, nextScoredCursor, openList, openScoredList } from '../../venue-lists';
import { makeLoaders } from '../loaders';
import { type FillFilter, type FillRow, POSITION_FORMS, listFills, positionOf } from './fills';

/** What every trade list is asked. */
interface TradeListArgs {
  limit: number;
  cursor?: string | null;
}

/** A page of a trade list, and the request as of the instant of its first page. */
interface TradePage extends OpenList {
  scope: unknown;
  limit: number;
}

/**
 * The page that a cursor points behind, or the first one; of a list of scored accounts (`byScore`) by the score run of the first one. Throws
 * invalid_parameter for a cursor of another list or older than a day.
 */
export function openTradePage(question: string, args: TradeListArgs, context: GraphContext, byScore = false): TradePage {
  const scope = listScope(question, args);
  const open = byScore ? openScoredList : openList;
  return { scope, limit: args.limit, ...open(context, args.cursor, scope, POSITION_FORMS) };
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
  const day = filter.whose !== null && 'day' in filter.whose ? filter.whose.day : undefined;
  const key = positionOf(shown.at(-1) as FillRow);
  const next = (): string => (day === undefined ? nextListCursor(page, key, scope) : nextScoredCursor(page, day, key, scope));
  meta.next_cursor = rows.length > shown.length ? next() : null;
  return day === undefined ? shown : withScores(shown, then);
}

/** Rows with the scores that they are listed by. */
const withScores = (rows: readonly FillRow[], { loaders }: GraphContext): Promise<FillRow[]> =>
  Promise.all(rows.map(async (row) => ({ ...row, smart_score: (await loaders(makeLoaders).score.load(row.trader))?.score ?? null })));
