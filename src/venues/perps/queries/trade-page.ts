import { AppError } from '../../../errors';
import { decodeCursor, encodeCursor } from '../../../lib/cursor';
import type { GraphContext } from '../../venue';
import { type FillFilter, type FillRow, POSITION_FORMS, listFills, positionOf } from './fills';

export interface TradePage {
  /** The question and its parameters but the cursor: what a cursor is bound to. */
  scope: Record<string, unknown>;
  limit: number;
  cursor: string | null | undefined;
  /** What to try where nothing is in scope. */
  suggestion?: Record<string, unknown> | undefined;
}

/** One page of a trade list; tells the answer's meta its length and the next cursor. Throws empty_result, invalid_parameter (cursor). */
export async function tradePage({ sql, meta }: GraphContext, filter: FillFilter, page: TradePage): Promise<FillRow[]> {
  const after = page.cursor == null ? null : decodeCursor(page.cursor, page.scope, POSITION_FORMS);
  const rows = await listFills(sql, filter, after, page.limit + 1);
  if (rows.length === 0) throw new AppError('empty_result', { suggestion: after === null ? page.suggestion : undefined });
  const shown = rows.slice(0, page.limit);
  meta.count = shown.length;
  meta.next_cursor = rows.length > shown.length ? encodeCursor(positionOf(shown.at(-1) as FillRow), page.scope) : null;
  return shown;
}
