import { cutting, segment } from '../../../db/segments';
import type { Sql } from '../../../db/sql';
import { DAY_MS } from '../../../lib/time';

/** When a segment can hold rows, by the four instants of the span it belongs to, in milliseconds (see Span). */
const HOLDS = {
  hours_from: (_from: number, first: number, last: number) => first < Math.min(last, upTo(first)),
  hours_to: (_from: number, first: number, last: number) => Math.max(first, down(last), upTo(first)) < last,
  facts_from: (from: number, first: number) => from < first,
  facts_to: (_from: number, _first: number, last: number, to: number) => last < to,
  days_from: (from: number, _first: number, _last: number, to: number) => from < Math.min(to, upTo(from)),
  days_to: (from: number, _first: number, _last: number, to: number) => Math.max(from, down(to), upTo(from)) < to,
} as const;
type Edge = keyof typeof HOLDS;

const upTo = (time: number): number => Math.ceil(time / DAY_MS) * DAY_MS;
const down = (time: number): number => Math.floor(time / DAY_MS) * DAY_MS;

/** A part of a statement that only says something where the span whose values start at `at` has this edge. */
export const edgeOf = (at: number, edge: Edge, sql: string): string => segment(`${at}:${edge}`, sql);

/** Sql that leaves out empty segments. `newest` tells when the newest fill was, in milliseconds. */
export const withoutEmpty = (sql: Sql, newest: () => Promise<number>): Sql =>
  cutting(sql, newest, (when, time) => {
    const [place, edge] = when.split(':') as [string, Edge];
    const at = Number(place);
    return HOLDS[edge](time(at), time(at + 1), time(at + 2), time(at + 3));
  });
