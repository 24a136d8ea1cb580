import { cutting, segment } from '../../../db/segments';
import type { Sql } from '../../../db/sql';
import { QUARTER_MS } from '../../../lib/tiles';
import { DAY_MS } from '../../../lib/time';
import { PERP_BAR_MS } from '../rollups/hours';

/** When a segment can hold rows, by the four instants of the span it belongs to, in milliseconds (see Span); `torn`: facts of a bar that an end cuts. */
const HOLDS = {
  months: (_from: number, first: number, last: number) => nextMonth(first) < thisMonth(last),
  days_of_month: (_from: number, first: number, last: number) => Math.max(thisMonth(last), nextMonth(first)) < down(last),
  hours_from: (_from: number, first: number, last: number) => first < Math.min(last, up(first)),
  hours_to: (_from: number, first: number, last: number) => Math.max(first, down(last), up(first)) < last,
  quarters_from: (_from: number, first: number, last: number) => up(first, QUARTER_MS) < Math.min(down(last, QUARTER_MS), up(first)),
  quarters_to: (_from: number, first: number, last: number) => Math.max(down(last), up(first)) < down(last, QUARTER_MS),
  torn_quarter_from: (_from: number, first: number, last: number) => first < Math.min(last, up(first, QUARTER_MS)),
  torn_quarter_to: (_from: number, first: number, last: number) => Math.max(down(last, QUARTER_MS), up(first, QUARTER_MS)) < last,
  facts_from: (from: number, first: number) => from < first,
  facts_to: (_from: number, _first: number, last: number, to: number) => last < to,
  bars_from: (from: number, first: number) => up(from, PERP_BAR_MS) < first,
  bars_to: (_from: number, _first: number, last: number, to: number) => last < down(to, PERP_BAR_MS),
  torn_from: (from: number, first: number) => from < Math.min(first, up(from, PERP_BAR_MS)),
  torn_to: (_from: number, _first: number, last: number, to: number) => Math.max(last, down(to, PERP_BAR_MS)) < to,
  days_from: (from: number, _first: number, _last: number, to: number) => from < Math.min(to, up(from)),
  days_to: (from: number, _first: number, _last: number, to: number) => Math.max(from, down(to), up(from)) < to,
} as const;
type Edge = keyof typeof HOLDS;

const up = (time: number, length = DAY_MS): number => Math.ceil(time / length) * length;
const down = (time: number, length = DAY_MS): number => Math.floor(time / length) * length;

const thisMonth = (time: number): number => monthsFrom(time, 0);
const nextMonth = (time: number): number => (thisMonth(time) === time ? time : monthsFrom(time, 1));
function monthsFrom(time: number, months: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}

/** A part of a statement that only says something where the span whose values start at `at` has this edge. */
export const edgeOf = (at: number, edge: Edge, sql: string): string => segment(`${at}:${edge}`, sql);

/** Sql that leaves out empty segments. `newest` tells when the newest fill was, in milliseconds. */
export const withoutEmpty = (sql: Sql, newest: () => Promise<number>): Sql =>
  cutting(sql, newest, (when, time) => {
    const [place, edge] = when.split(':') as [string, Edge];
    const at = Number(place);
    return HOLDS[edge](time(at), time(at + 1), time(at + 2), time(at + 3));
  });
