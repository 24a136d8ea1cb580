import type { Sql } from '../../../db/sql';
import { SPAN_MARK } from './span';
import { opened, type Span } from './window-span';

/**
 * Sql in which a span that ends after everything there is ends with its month instead: the hour, day and month that are going on are read whole, from their
 * rows, in place of their facts, hours and days. `newest` tells when something happened or changed last, in milliseconds; asked only where it matters.
 */
export const openEnded = (sql: Sql, newest: () => Promise<number>): Sql => ({
  query: async (statement, values) => {
    const spans = [...new Set([...statement.text.matchAll(SPAN_MARK)].map(([, place]) => Number(place) - 1))];
    if (spans.length === 0) return sql.query(statement, values);
    const last = await newest();
    const all = [...values];
    for (const at of spans) {
      const span = all.slice(at, at + 6) as Span;
      if (last < span[1].getTime()) all.splice(at, 6, ...opened(span));
    }
    return sql.query(statement, all);
  },
});
