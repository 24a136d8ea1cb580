import type { Sql, Statement } from '../../../db/sql';
import { BEGINNING, type Timeframe, type Window, previousOnRecord, since, windowOf } from '../../../lib/timeframe';
import { bornAt } from './pools-trending';

const POOL_BORN: Statement = { name: 'lp_pool_born', text: `SELECT ${bornAt('$1::text')} AS at`, keyed: true };
const ALL_BORN: Statement = {
  name: 'lp_first_fact',
  text: 'SELECT least((SELECT min(hour) FROM lp_owner_hour), (SELECT min(hour) FROM lp_pool_hour)) AS at',
  keyed: true,
};

/** Instant of the first fact of a pool, if there is any. */
export const findBirth = async (sql: Sql, pool_address: string): Promise<Date | null> =>
  (await sql.query<{ at: Date | null }>(POOL_BORN, [pool_address]))[0]?.at ?? null;

/**
 * The part of a window in which the pool lives: from when it was made or, where nothing says so or facts are older, from its first fact; `all`
 * begins with the first fact. Empty where nothing tells of a life. `whole`: the pool has no fact before it.
 */
export async function lifeIn(
  sql: Sql,
  { timeframe, now, pool }: { timeframe: Timeframe; now: Date; pool: { pool_address: string; created_at: Date | null } },
): Promise<{ window: Window; whole: boolean }> {
  const born = await findBirth(sql, pool.pool_address);
  const first = born !== null && born < now ? born : null;
  const made = timeframe === 'all' && first !== null ? null : pool.created_at;
  const birth = first === null || (made !== null && made < first) ? made : first;
  const window = since(windowOf(timeframe, now), birth ?? now);
  return { window, whole: first !== null && window.from <= first };
}

/** A window that begins before everything begins with the hour of the first fact of any pool instead: months before it are not looked at. Empty where there is none. */
export async function factsIn(sql: Sql, window: Window): Promise<Window> {
  if (window.from > BEGINNING) return window;
  return since(window, (await findFirstFact(sql)) ?? window.to);
}

/** The equal window before one that ends now; null where it is not wholly on record. */
export const windowBefore = async (sql: Sql, timeframe: Timeframe, now: Date): Promise<Window | null> =>
  previousOnRecord(timeframe, now, await findFirstFact(sql));

/** The hour of the first fact of any pool. */
async function findFirstFact(sql: Sql): Promise<Date | null> {
  const [first] = await sql.query<{ at: Date | null }>(ALL_BORN, []);
  return first?.at ?? null;
}
