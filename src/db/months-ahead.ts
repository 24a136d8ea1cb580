import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../lib/clock';
import { type Repeated, repeat } from '../lib/repeat';
import { DAY_MS, HOUR_MS } from '../lib/time';
import type { Logger } from '../observability/logger';
import { inTransactionUnlessBusy } from './transaction';

/** How far ahead of now months are made: whoever writes next month's first fact finds its partition there. */
const AHEAD_MS = 35 * DAY_MS;
const CHECK_MS = 6 * HOUR_MS;
/** Rather try again later than queue: what waits for a lock on a table holds up whoever comes after it. */
const PATIENCE = '2s';

const MONTHLY = `
SELECT DISTINCT parent.relname AS name FROM pg_inherits JOIN pg_class AS parent ON parent.oid = inhparent JOIN pg_class AS child ON child.oid = inhrelid
WHERE parent.relkind = 'p' AND pg_table_is_visible(parent.oid) AND child.relname ~ ('^' || parent.relname || '_[0-9]{6}$') ORDER BY 1`;

const MISSING = `
SELECT count(*)::int AS n FROM generate_series(date_trunc('month', $2::timestamptz, 'UTC') AT TIME ZONE 'UTC', $3::timestamptz AT TIME ZONE 'UTC', interval '1 month') AS month
WHERE to_regclass(quote_ident($1 || '_' || to_char(month, 'YYYYMM'))) IS NULL`;

/**
 * Makes the monthly partitions from the month of `now` to that of 35 days later, of every table that has monthly partitions already, one
 * transaction a table. Readers are never held up; a table that others hold for longer than two seconds is left for next time. Returns how many
 * partitions were made.
 */
export async function makeMonthsAhead(pool: Pool, now: Date): Promise<number> {
  const until = new Date(now.getTime() + AHEAD_MS);
  const { rows: tables } = await pool.query<{ name: string }>(MONTHLY);
  let made = 0;
  for (const { name } of tables) {
    const { rows } = await pool.query<{ n: number }>(MISSING, [name, now, until]);
    const missing = rows[0]?.n ?? 0;
    if (missing > 0 && (await make(pool, name, now, until))) made += missing;
  }
  return made;
}

/** False where the table was busy. */
async function make(pool: Pool, table: string, from: Date, to: Date): Promise<boolean> {
  const ensure = (client: PoolClient): Promise<unknown> => client.query('SELECT ensure_month_partitions($1, $2, $3)', [table, from, to]);
  return (await inTransactionUnlessBusy(pool, ensure, PATIENCE)) !== undefined;
}

/** Makes what is missing now; its failure is logged, for loaders make what they need themselves. */
export async function catchUpMonths(pool: Pool, now: Date, logger: Logger): Promise<void> {
  try {
    const made = await makeMonthsAhead(pool, now);
    if (made > 0) logger.info({ made }, 'partitions made ahead');
  } catch (error) {
    logger.warn({ err: error }, 'partitions could not be made ahead');
  }
}

/** Makes months ahead every few hours, the first time in a few hours. */
export const keepMonthsAhead = (pool: Pool, clock: Clock, logger: Logger): Repeated =>
  repeat(() => catchUpMonths(pool, clock.now(), logger), CHECK_MS);
