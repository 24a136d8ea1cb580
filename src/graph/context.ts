import { setMaxListeners } from 'node:events';
import type { Statements } from '../db/client';
import { withoutNone } from '../db/segments';
import { sqlOver } from '../db/sql';
import { isoDay } from '../lib/time';
import type { AnswerMeta, GraphContext } from '../venues/venue';

export const emptyMeta = (): AnswerMeta => ({
  timeframe: null,
  window: null,
  count: null,
  next_cursor: null,
  score_version: null,
  warnings: [],
  ineffective: {},
  as_of: null,
  good_for_s: null,
  track_record: null,
});

/** What resolvers are handed for one request. `signal` cancels its statements in the database as well; `failed` hears of parts that were left out. */
export function makeContext(
  db: Statements,
  now: Date,
  signal?: AbortSignal,
  failed: GraphContext['failed'] = () => undefined,
  settled: GraphContext['settled'] = () => null,
): GraphContext {
  // A question may have a dozen statements under way at once, and each listens.
  if (signal !== undefined) setMaxListeners(0, signal);
  return contextAt(now, isoDay(now), {
    sql: withoutNone(sqlOver(db, signal)),
    prisma: db.prisma,
    signal,
    meta: emptyMeta(),
    failed,
    settled,
  });
}

function contextAt(
  now: Date,
  scored_until: string,
  request: Pick<GraphContext, 'sql' | 'prisma' | 'signal' | 'meta' | 'failed' | 'settled'>,
): GraphContext {
  const made = new Map<unknown, unknown>();
  const context: GraphContext = {
    ...request,
    now,
    scored_until,
    loaders<L>(make: (context: GraphContext) => L): L {
      if (!made.has(make)) made.set(make, make(context));
      return made.get(make) as L;
    },
    at: (instant, day = isoDay(instant)) =>
      instant.getTime() === now.getTime() && day === scored_until ? context : contextAt(instant, day, request),
  };
  return context;
}
