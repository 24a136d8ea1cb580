import { HOUR_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';

const FIRST_SLICE_MS = HOUR_MS;
const GROWTH = 8;

/**
 * Reads a window from its end backwards in growing slices until `read` has found enough: lists that show the newest rows
 * need not look at all of a long window. Each slice begins anew at the end; the last one is the whole window.
 */
export async function readBackward<Row>(
  window: Window,
  until: Date,
  read: (slice: Window, whole: boolean) => Promise<Row[] | null>,
): Promise<Row[]> {
  for (let length = FIRST_SLICE_MS; ; length *= GROWTH) {
    const from = new Date(Math.max(window.from.getTime(), until.getTime() - length));
    const whole = from.getTime() === window.from.getTime();
    const rows = await read({ from, to: window.to }, whole);
    if (rows !== null) return rows;
    if (whole) return [];
  }
}
