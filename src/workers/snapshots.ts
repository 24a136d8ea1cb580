import type { ClientBase, Pool } from 'pg';
import { inTransaction } from '../db/transaction';
import { inTime } from '../lib/deadline';
import { type Repeated, repeat } from '../lib/repeat';
import { FailureThrottle } from '../lib/failure-throttle';
import type { Logger } from '../observability/logger';
import type { GraphContext, Snapshot, Venue } from '../venues/venue';
import { MOST_AGE_MS, bodyOf } from './snapshot';

/** A context of the graph as of now. */
export type MakeContext = () => GraphContext;

/** Rebuilds every snapshot of a venue now. */
export async function buildSnapshots(pool: Pool, venue: Venue, makeContext: MakeContext): Promise<void> {
  for (const snapshot of venue.snapshots ?? []) await build(pool, venue, snapshot, makeContext);
}

/** Forgets every snapshot of a venue: answers are made from the facts until the next ones are built. */
export async function dropSnapshots(pool: Pool, venue: Venue): Promise<void> {
  await pool.query('DELETE FROM snapshot WHERE venue = $1', [venue.name]);
}

/** Has every snapshot of a venue built at the watch's next look; copies are served until then. */
export async function makeDue(client: ClientBase, venue: Venue): Promise<void> {
  await client.query("UPDATE snapshot SET built_at = 'epoch' WHERE venue = $1", [venue.name]);
}

async function build(pool: Pool, venue: Venue, snapshot: Snapshot, makeContext: MakeContext): Promise<void> {
  const context = makeContext();
  await snapshot.refresh?.(pool, context.now);
  // All parts are ready before the first is shown.
  const bodies: string[] = [];
  for (const part of snapshot.parts) bodies.push(JSON.stringify(await bodyOf(context, snapshot, part, true)));
  // Another process may have shown a later copy meanwhile: that one stays, unless a clock since set back made it.
  await pool.query(
    `INSERT INTO snapshot (name, part, venue, as_of, built_at, body) SELECT $1, part, $2, $3, now(), body FROM unnest($4::text[], $5::jsonb[]) AS row(part, body)
     ON CONFLICT (name, part) DO UPDATE SET as_of = EXCLUDED.as_of, built_at = EXCLUDED.built_at, body = EXCLUDED.body
     WHERE snapshot.as_of <= EXCLUDED.as_of OR snapshot.as_of > $6`,
    [snapshot.name, venue.name, context.now, snapshot.parts, bodies, makeContext().now],
  );
}

/** Copies that are kept, by the snapshot's name: the instant its oldest part is as of, and whether that is served still. */
export async function listKept(pool: Pool, venues: readonly Venue[], now: Date): Promise<Record<string, { as_of: Date; served: boolean }>> {
  const { rows } = await pool.query<{ name: string; part: string; as_of: Date }>('SELECT name, part, as_of FROM snapshot');
  const kept = venues
    .flatMap(({ snapshots = [] }) => snapshots)
    .flatMap(({ name, parts }) => {
      const times = rows.filter((row) => row.name === name && parts.includes(row.part)).map(({ as_of }) => as_of.getTime());
      if (times.length === 0) return [];
      const oldest = Math.min(...times);
      return [[name, { as_of: new Date(oldest), served: now.getTime() - oldest <= MOST_AGE_MS }] as const];
    });
  return Object.fromEntries(kept);
}

/**
 * Whether a snapshot lacks a part or was last built longer ago than its time, by the database's clock, or by a clock since set back. By the clock as it is, not as it was
 * when the transaction began: a copy that another process showed since is not ahead of it.
 */
async function isDue(pool: Pool | ClientBase, { name, every_s, parts }: Snapshot): Promise<boolean> {
  const { rows } = await pool.query<{ fresh: number }>(
    `SELECT count(*)::int AS fresh FROM snapshot WHERE name = $1 AND part = ANY($3) AND built_at > clock_timestamp() - make_interval(secs => $2) AND built_at <= clock_timestamp()`,
    [name, every_s, parts],
  );
  return (rows[0]?.fresh ?? 0) < parts.length;
}

/** One process builds a snapshot that is due: another that comes meanwhile leaves it to that one. */
const buildOnce = (pool: Pool, venue: Venue, snapshot: Snapshot, makeContext: MakeContext): Promise<void> =>
  inTransaction(
    pool,
    async (client) => {
      const { rows } = await client.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock(hashtext($1)) AS mine', [
        `snapshot ${snapshot.name}`,
      ]);
      if (rows[0]?.mine === true && (await isDue(client, snapshot))) await build(pool, venue, snapshot, makeContext);
    },
    'SET LOCAL idle_in_transaction_session_timeout = 0',
  );

/**
 * Keeps the snapshots of all venues fresh; the first look is at once. Copies too old to be served, or of a later clock, are dropped first.
 * A snapshot that cannot be built, or not within `longestMs`, is logged (unless the watch was stopped), and keeps its last good copy.
 */
export function watchSnapshots(
  pool: Pool,
  venues: readonly Venue[],
  makeContext: MakeContext,
  logger: Logger,
  everyMs = 15_000,
  longestMs = MOST_AGE_MS,
): Repeated {
  let looked = false;
  const failing = new FailureThrottle();
  const look = async (stopped: () => boolean): Promise<void> => {
    if (!looked) await drop(pool, makeContext().now);
    looked = true;
    for (const venue of venues) {
      for (const snapshot of venue.snapshots ?? []) {
        if (stopped()) return;
        if (!(await isDue(pool, snapshot))) continue;
        // Whatever it waits for: the others are not to grow too old meanwhile.
        await inTime(longestMs, () => buildOnce(pool, venue, snapshot, makeContext)).catch((error: Error) => {
          const tell = (untold: number): void =>
            logger.error({ err: error, snapshot: snapshot.name, untold }, 'a snapshot could not be built');
          if (!stopped()) failing.note(error, tell, snapshot.name);
        });
      }
    }
  };
  const safely = (stopped: () => boolean): Promise<void> =>
    look(stopped).catch((error: Error) => {
      if (!stopped()) failing.note(error, (untold) => logger.error({ err: error, untold }, 'snapshots could not be looked at'));
    });
  return repeat(safely, everyMs, 'at once');
}

async function drop(pool: Pool, now: Date): Promise<void> {
  await pool.query('DELETE FROM snapshot WHERE as_of > $1 OR as_of < $2', [now, new Date(now.getTime() - MOST_AGE_MS)]);
}
