import { BAR_MS, QUARTER_MS } from '../../../lib/tiles';
import { DAY_MS, HOUR_MS } from '../../../lib/time';
import type { BucketSize } from '../../../lib/grid';
import type { Window } from '../../../lib/timeframe';

/** Parameters of a span: see `spanOf`. */
export type Span = [from: Date, to: Date, wholeFrom: Date, wholeTo: Date, dayFrom: Date, dayTo: Date];

/**
 * A window as six instants, the parameters of `swapsIn`, `flowsIn` and `eventsIn`: its ends, inside them the whole hours, and inside
 * those the whole UTC days, both of which rollups answer; what lies before and after the hours is read from facts, so that
 * windows are exact. Without whole days both of their ends are the last quarter of a day that begins in the hours, else the end of these.
 */
export function spanOf(window: Window): Span {
  const { from, to } = window;
  const [, , wholeFrom, wholeTo] = hourSpanOf(window);
  const [dayFrom, dayTo] = daysIn(wholeFrom, wholeTo);
  if (dayFrom < dayTo) return [from, to, wholeFrom, wholeTo, dayFrom, dayTo];
  const quarter = quarterOfTime(wholeTo);
  const none = quarter >= wholeFrom ? quarter : wholeTo;
  return [from, to, wholeFrom, wholeTo, none, none];
}

const daysIn = (from: Date, to: Date): [Date, Date] => [
  new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS),
  new Date(Math.floor(to.getTime() / DAY_MS) * DAY_MS),
];
const quarterOfTime = (time: Date): Date => new Date(Math.floor(time.getTime() / QUARTER_MS) * QUARTER_MS);

/**
 * The same without days, for buckets that are shorter than a day: both ends of the days are the start of the hours. A window that ends before the first hour begins
 * has none; both of their ends are then the last quarter of an hour that begins in it, else its end.
 */
export function hourSpanOf({ from, to }: Window): Span {
  const first = Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS;
  const bar = Math.floor(to.getTime() / BAR_MS) * BAR_MS;
  const wholeFrom = first <= to.getTime() ? first : bar >= from.getTime() ? bar : to.getTime();
  const wholeTo = Math.max(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS, wholeFrom);
  return [from, to, new Date(wholeFrom), new Date(wholeTo), new Date(wholeFrom), new Date(wholeFrom)];
}

/** The same by quarters of a day in place of days, for buckets of some; by hours where the window holds no whole day. */
function quarterSpanOf(window: Window): Span {
  const [from, to, wholeFrom, wholeTo, ...days] = hourSpanOf(window);
  const [dayFrom, dayTo] = daysIn(wholeFrom, wholeTo);
  if (dayFrom >= dayTo) return [from, to, wholeFrom, wholeTo, ...days];
  const last = quarterOfTime(wholeTo);
  return [from, to, wholeFrom, wholeTo, last, last];
}

/** The span of a window that is told in buckets: no rollup in it is longer than they are. */
export const spanOfBuckets = (window: Window, size: BucketSize): Span =>
  size === '1d' ? spanOf(window) : size === '12h' ? quarterSpanOf(window) : hourSpanOf(window);

/**
 * The same span where nothing happened at its end or after it: its hours, and its days where it may have any, go on to the end of that month. One without an
 * hour stays as it is.
 */
export function opened(span: Span): Span {
  const [from, to, wholeFrom, wholeTo, dayFrom, dayTo] = span;
  if (wholeFrom.getTime() % HOUR_MS !== 0) return span;
  const end = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1));
  if (dayFrom.getTime() === wholeFrom.getTime() && dayTo.getTime() === wholeFrom.getTime())
    return [from, to, wholeFrom, end, wholeFrom, wholeFrom];
  const [firstDay, lastDay] = daysIn(wholeFrom, wholeTo);
  const byQuarter = dayFrom.getTime() === dayTo.getTime() && firstDay < lastDay;
  return [from, to, wholeFrom, end, byQuarter ? end : firstDay, end];
}
