import { UpstreamError } from '../../../workers/upstream';
import { decodeInstant } from './instant';
import { isFields } from './record';

/** Rows of seconds [from, to), whole: no row of these seconds is on another slice. */
export interface Slice {
  from: number;
  to: number;
  rows: unknown[];
  skipped: Record<string, number>;
}

/** Asks a listing for the rows of seconds start to end, both included, newest first. */
export type Ask = (window: { start: number; end: number; limit: number; offset: number }) => Promise<unknown>;

/** Rows asked for at once: the smallest page that is said to be served. */
export const PAGE_ROWS = 500;
/** Listings are said to refuse offsets beyond 10,000, some beyond 3,000. */
const OFFSET_CAP = 10_000;
/** A page may be cut shorter than asked for without a word; one as short as this never was. */
const SURELY_WHOLE = 50;
/** Of everybody's rows this much is asked for first. */
const LONGEST_S = 6 * 3_600;
const TORN_TRIES = 3;

/**
 * Reads [from, to) of a listing by time windows, oldest first. Equal rows are told apart by their number among each other, so a
 * slice is one whole answer: a window that does not fit in one is halved. Offsets are used only inside a single second that is too full.
 * `longest`: seconds asked for first.
 * A row of another time is left out and counted. Throws UpstreamError when the listing does not keep to its windows or offsets.
 */
export async function* readSpan(ask: Ask, from: number, to: number, longest = LONGEST_S): AsyncGenerator<Slice> {
  let length = Math.min(longest, to - from);
  for (let at = from; at < to;) {
    const end = Math.min(to, at + length);
    const rows = await wholeAnswer(ask, at, end);
    if (rows !== null) {
      yield { from: at, to: end, ...withinWindow(rows, at, end) };
      at = end;
      if (rows.length < PAGE_ROWS / 2) length = Math.min(longest, length * 2);
    } else if (end - at > 1) {
      length = Math.ceil((end - at) / 2);
    } else {
      yield { from: at, to: end, ...(await fullSecond(ask, at)) };
      at = end;
    }
  }
}

const listOf = (answer: unknown): unknown[] => {
  const rows = isFields(answer) ? answer.data : answer;
  if (!Array.isArray(rows)) throw new UpstreamError('the listing did not answer with rows', null);
  return rows as unknown[];
};

/** Unix second of a row; null where it tells none. */
export const secondOf = (row: unknown): number | null => {
  const at = isFields(row) ? decodeInstant(row.timestamp) : undefined;
  return at === undefined ? null : Math.floor(at.getTime() / 1_000);
};

/** The rows of a window in one answer; null when there are more than one answer holds. */
async function wholeAnswer(ask: Ask, from: number, to: number): Promise<unknown[] | null> {
  const window = { start: from, end: to - 1, limit: PAGE_ROWS };
  const rows = listOf(await ask({ ...window, offset: 0 }));
  // One odd row is no reason to read nothing any more.
  const { skipped } = withinWindow(rows, from, to);
  if ((skipped.outside_window ?? 0) * 2 > rows.length) throw new UpstreamError('the listing answered rows outside the window', null);
  if (rows.length >= PAGE_ROWS) return null;
  return rows.length > SURELY_WHOLE && following(listOf(await ask({ ...window, offset: rows.length })), rows).length > 0 ? null : rows;
}

/** The page, which must be another than the one before it: an answer without regard to offsets would be counted over and over. */
function following(page: unknown[], before: unknown[]): unknown[] {
  if (page.length > 0 && JSON.stringify(page) === JSON.stringify(before))
    throw new UpstreamError('the listing answered the same page again', null);
  return page;
}

const outside = (row: unknown, from: number, to: number): boolean => {
  const second = secondOf(row);
  return second !== null && (second < from || second >= to);
};

function withinWindow(rows: readonly unknown[], from: number, to: number): Pick<Slice, 'rows' | 'skipped'> {
  const own = rows.filter((row) => !outside(row, from, to));
  return { rows: own, skipped: own.length === rows.length ? {} : { outside_window: rows.length - own.length } };
}

/** All rows of a second that fills more than one answer, read page by page until two readings of its first page agree. */
async function fullSecond(ask: Ask, second: number): Promise<Pick<Slice, 'rows' | 'skipped'>> {
  const page = async (offset: number): Promise<unknown[] | null> => {
    if (offset >= OFFSET_CAP) return null;
    const answer = await ask({ start: second, end: second, limit: PAGE_ROWS, offset }).catch(refusedAt(offset));
    return answer === null ? null : listOf(answer);
  };
  for (let attempt = 1; ; attempt += 1) {
    const first = (await page(0)) ?? [];
    const rows = [...first];
    let next: unknown[] | null = first;
    while (next !== null && next.length > 0) {
      const before: unknown[] = next;
      next = await page(rows.length);
      if (next !== null) following(next, before);
      rows.push(...(next ?? []));
    }
    const agreed = JSON.stringify(await page(0)) === JSON.stringify(first);
    if (!agreed && attempt < TORN_TRIES) continue;
    const skipped: Record<string, number> = {};
    if (next === null) skipped.beyond_offset_cap = 1;
    if (!agreed) skipped.second_kept_changing = 1;
    return { rows, skipped };
  }
}

/** An offset that the listing refuses is the end of what it tells: null. */
const refusedAt =
  (offset: number) =>
  (error: unknown): null => {
    if (offset > 0 && error instanceof UpstreamError && (error.status === 400 || error.status === 422)) return null;
    throw error;
  };
