import type { Sql, Statement } from '../../../db/sql';
import { type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import { bornAt } from './pools-trending';

const POOL_BORN: Statement = { name: 'lp_pool_born', text: `SELECT ${bornAt('$1::text')} AS at`, keyed: true };
const ALL_BORN: Statement = {
  name: 'lp_first_fact',
  text: 'SELECT least((SELECT min(hour) FROM lp_owner_hour), (SELECT min(hour) FROM lp_pool_hour)) AS at',
};

/**
 * The part of a window in which the pool lives: from when it was made or, where nothing says so or facts are older, from its first fact; `all`
 * begins with the first fact. Empty where nothing tells of a life. `whole`: the pool has no fact before it.
 */
export async function lifeIn(
  sql: Sql,
  { timeframe, now, pool }: { timeframe: Timeframe; now: Date; pool: { pool_address: string; created_at: Date | null } },
): Promise<{ window: Window; whole: boolean }> {
  const born = (await sql.query<{ at: Date | null }>(POOL_BORN, [pool.pool_address]))[0]?.at ?? null;
  const first = born !== null && born < now ? born : null;
  const made = timeframe === 'all' && first !== null ? null : pool.created_at;
  const birth = first === null || (made !== null && made < first) ? made : first;
  const window = since(windowOf(timeframe, now), birth ?? now);
  return { window, whole: first !== null && window.from <= first };
}

/** Hour of the first fact of any pool. */
export async function findFirstHour(sql: Sql): Promise<Date | null> {
  return (await sql.query<{ at: Date | null }>(ALL_BORN, []))[0]?.at ?? null;
}

/** The window without what lies before `birth`. */
export const since = ({ from, to }: Window, birth: Date): Window => ({ from: birth > from ? birth : from, to });
