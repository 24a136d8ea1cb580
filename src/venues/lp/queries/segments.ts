import { cutting, segment } from '../../../db/segments';
import type { Sql } from '../../../db/sql';

/** A part of a statement that only says something where its parameter `$from` is before `$to`, both instants. */
export const unlessEmpty = (from: number, to: number, sql: string): string => segment(`${from}<${to}`, sql);

/** Sql that leaves out empty segments. `newest` tells when a position changed last, in milliseconds. */
export const withoutEmpty = (sql: Sql, newest: () => Promise<number>): Sql =>
  cutting(sql, newest, (when, time) => {
    const [from, to] = when.split('<').map(Number) as [number, number];
    return time(from) < time(to);
  });
