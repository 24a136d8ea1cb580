import type { ClientBase, Pool } from 'pg';
import { LONG_WORK, inTransaction } from '../db/transaction';
import type { Clock } from '../lib/clock';
import { FailureThrottle } from '../lib/failure-throttle';
import { type Repeated, repeat } from '../lib/repeat';
import { MINUTE_MS, isoDay, wholeSecond } from '../lib/time';
import type { Logger } from '../observability/logger';
import type { Venue } from '../venues/venue';

const CHECK_MS = 60_000;
const PULSE_MS = 60_000;
/** Clocks of processes beside each other differ by less. */
const CLOCKS_DIFFER_MS = 10 * MINUTE_MS;

const jobName = (venue: Venue): string => `score.${venue.name}`;

/** Whether a venue has been read far enough to be judged: a day that is judged before its feeds have caught up stays judged by what was known then. */
export type IsRead = (venue: Venue) => Promise<boolean>;

export const always: IsRead = () => Promise.resolve(true);

/** What one run did. */
export interface ScoreRun {
  venue: string;
  wallets: number;
  scored: number;
}

/** Runs the daily scores of one venue now, as of `at` to the second, as answers are. Null for a wing that scores nobody. */
export async function runScores(pool: Pool, venue: Venue, at: Date, progress: (wallets: number) => void): Promise<ScoreRun | null> {
  if (venue.score === undefined) return null;
  const now = wholeSecond(at);
  const run = await venue.score(pool, now, progress);
  await pool.query(
    `INSERT INTO source_cursor (source, venue, cursor, updated_at) VALUES ($1, $2, $3, now())
     ON CONFLICT (source) DO UPDATE SET cursor = EXCLUDED.cursor, updated_at = now()`,
    [jobName(venue), venue.name, JSON.stringify({ day: isoDay(now), as_of: now.toISOString() })],
  );
  return { venue: venue.name, ...run };
}

/** The newest run of a venue: the instant up to which it judges, and when it was written or announced, by the database's clock. */
interface LastRun {
  as_of: Date;
  written_at: Date;
}

/** The newest run of each venue; null before the first. */
export async function lastRuns(pool: Pool | ClientBase, venues: readonly Venue[]): Promise<Record<string, LastRun | null>> {
  const { rows } = await pool.query<{ source: string; as_of: string; updated_at: Date }>(
    "SELECT source, cursor->>'as_of' AS as_of, updated_at FROM source_cursor WHERE source LIKE 'score.%'",
  );
  const known = new Map(rows.map(({ source, as_of, updated_at }) => [source, { as_of: new Date(as_of), written_at: updated_at }]));
  return Object.fromEntries(venues.map((venue) => [venue.name, known.get(jobName(venue)) ?? null]));
}

/** Up to which instant each venue was last scored; null before the first run. */
export async function lastScored(pool: Pool | ClientBase, venues: readonly Venue[]): Promise<Record<string, Date | null>> {
  return Object.fromEntries(Object.entries(await lastRuns(pool, venues)).map(([venue, run]) => [venue, run?.as_of ?? null]));
}

/** Has servers make answers anew that they kept from before the newest runs, and what was built on these. */
export async function announceScores(pool: Pool): Promise<void> {
  await pool.query("UPDATE source_cursor SET updated_at = clock_timestamp() WHERE source LIKE 'score.%'");
}

/** Whether a run of that UTC day (`YYYY-MM-DD`) is kept; null for a wing that does not tell where. */
export async function keepsScoresOf(pool: Pool, { scoreTable }: Venue, day: string): Promise<boolean | null> {
  if (scoreTable === undefined) return null;
  const { rows } = await pool.query<{ kept: boolean }>(`SELECT EXISTS (SELECT 1 FROM ${scoreTable} WHERE day = $1::date) AS kept`, [day]);
  return rows[0]?.kept === true;
}

/** Whether a venue was scored on the UTC day of `now`, or a moment after it by a process whose clock is ahead: each would do the other's day again until both have turned. */
export async function isScored(pool: Pool | ClientBase, venue: Venue, now: Date): Promise<boolean> {
  const last = (await lastScored(pool, [venue]))[venue.name] ?? null;
  if (last === null) return false;
  const ahead = last.getTime() - now.getTime();
  return isoDay(last) === isoDay(now) || (ahead > 0 && ahead < CLOCKS_DIFFER_MS);
}

/** One process scores a venue's day: the others wait for it, and find it done. */
const scoreOnce = (pool: Pool, venue: Venue, now: Date): Promise<ScoreRun | null> =>
  inTransaction(
    pool,
    async (client) => {
      if (await isScored(client, venue, now)) return null;
      // A run may take longer than a connection is lent that is not asked anything.
      const pulse = repeat(() => client.query('SELECT 1').then(() => undefined, () => undefined), PULSE_MS); // prettier-ignore
      return runScores(pool, venue, now, () => undefined).finally(() => pulse.stop());
    },
    `${LONG_WORK}; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT pg_advisory_xact_lock(hashtext('${jobName(venue)}'))`,
  );

/**
 * Scores the venues that were not scored today, each by itself: what stops one stops no other. One that is not read far enough is left for the
 * next call, and so is a run that fails, which is logged unless it is `stopped`, and whoever has not begun then.
 */
export async function catchUpScores(
  pool: Pool,
  venues: readonly Venue[],
  now: Date,
  logger: Logger,
  isRead: IsRead = always,
  stopped: () => boolean = () => false,
): Promise<ScoreRun[]> {
  const runs: ScoreRun[] = [];
  for (const venue of venues) {
    if (stopped()) break;
    if (await isScored(pool, venue, now)) continue;
    try {
      if (!(await isRead(venue))) continue;
      const run = await scoreOnce(pool, venue, now);
      if (run !== null) runs.push(run);
    } catch (error) {
      if (!stopped()) logger.error({ err: error, venue: venue.name }, 'the daily scores failed');
    }
  }
  return runs;
}

/** Scores every venue when the UTC day has turned and it is read far enough; `first` says when it looks first. A run that fails is logged, and tried again. */
export function keepScores(
  pool: Pool,
  venues: readonly Venue[],
  clock: Clock,
  logger: Logger,
  isRead: IsRead,
  first: 'at once' | 'later',
): Repeated {
  const failing = new FailureThrottle();
  const run = async (stopped: () => boolean): Promise<void> => {
    try {
      for (const done of await catchUpScores(pool, venues, clock.now(), logger, isRead, stopped)) logger.info(done, 'scored');
    } catch (error) {
      if (!stopped()) failing.note(error, (untold) => logger.error({ err: error, untold }, 'it could not be seen who is scored'));
    }
  };
  return repeat(run, CHECK_MS, first);
}
