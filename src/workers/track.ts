import type { Pool, PoolClient } from 'pg';
import { sqlOf } from '../db/sql';
import { inTransaction, inTransactionUnlessBusy, writersTurn } from '../db/transaction';
import { type Repeated, repeat } from '../lib/repeat';
import { isoDay } from '../lib/time';
import type { Logger } from '../observability/logger';
import type { GraphContext, SignalTracking, Venue } from '../venues/venue';
import { type IsRead, always, isScored } from './scores';
import type { PendingSignal, Signal, SignalMark } from './signal';
import type { MakeContext } from './snapshots';
import { type Marked, MARKED, countMarks } from './track-record';

/** So long marks wait for writers of facts, whose transactions take a few seconds; a first load takes longer. */
const PATIENCE = '10s';

/** What one look at a venue's signals did. */
export interface TrackRun {
  venue: string;
  stored: number;
  marked: number;
}

/**
 * Stores today's signals of a venue, once it is scored today and read far enough, and marks those whose horizon has passed. The day's first
 * snapshot stays; `retake` takes one again that found nothing. Null for a wing without signals.
 */
export async function trackSignals(
  pool: Pool,
  venue: Venue,
  makeContext: MakeContext,
  retake = false,
  isRead: IsRead = always,
): Promise<TrackRun | null> {
  if (venue.signals === undefined) return null;
  const context = makeContext();
  const scored = venue.score === undefined || (await isScored(pool, venue, context.now));
  if (retake)
    await pool.query('DELETE FROM signal_snapshot WHERE venue = $1 AND day = $2 AND signals = 0', [venue.name, isoDay(context.now)]);
  const run = { venue: venue.name, stored: 0, marked: 0 };
  try {
    if (scored && (await isRead(venue))) run.stored = await storeSignals(pool, venue.name, venue.signals, context, false);
  } finally {
    run.marked = await markSignals(pool, venue.name, venue.signals, context);
  }
  return run;
}

/**
 * Stores what the signal endpoints say as of the context's now as the snapshot of its UTC day; endpoints that have one keep it. `backdated`: the day is
 * over. Tells the number of signals. Throws what an endpoint could not answer for, once the others are stored.
 */
export async function storeSignals(
  pool: Pool,
  venue: string,
  tracking: SignalTracking,
  context: GraphContext,
  backdated: boolean,
): Promise<number> {
  const day = isoDay(context.now);
  const { rows } = await pool.query<{ endpoint: string }>('SELECT endpoint FROM signal_snapshot WHERE venue = $1 AND day = $2', [
    venue,
    day,
  ]);
  const missing = tracking.endpoints.filter((endpoint) => !rows.some((row) => row.endpoint === endpoint));
  const failures: unknown[] = [];
  let stored = 0;
  // One after the other: nobody waits for them.
  for (const endpoint of missing) {
    const snapshot = { venue, endpoint, day, taken_at: context.now, backdated };
    try {
      const signals = await tracking.list(context, endpoint);
      if (await inTransaction(pool, (client) => storeSnapshot(client, snapshot, signals))) stored += signals.length;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return stored;
}

interface SnapshotKey {
  venue: string;
  endpoint: string;
  day: string;
  taken_at: Date;
  backdated: boolean;
}

/** Whether this process was the one that stored the snapshot. */
async function storeSnapshot(
  client: PoolClient,
  { venue, endpoint, day, taken_at, backdated }: SnapshotKey,
  signals: readonly Signal[],
): Promise<boolean> {
  const { rowCount } = await client.query(
    'INSERT INTO signal_snapshot (endpoint, day, venue, taken_at, signals, backdated) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING',
    [endpoint, day, venue, taken_at, signals.length, backdated],
  );
  if (rowCount === 0) return false;
  await client.query(
    `INSERT INTO signal (endpoint, day, rank, venue, taken_at, subject, part, direction, price)
     SELECT $1, $2, rank, $3, $4, subject, part, direction, price
     FROM jsonb_to_recordset($5::jsonb) AS row(rank int, subject text, part text, direction smallint, price numeric)`,
    [endpoint, day, venue, taken_at, JSON.stringify(signals.map((signal, index) => ({ ...signal, rank: index + 1 })))],
  );
  return true;
}

/** Marks what has come due by the context's now, unless the venue's facts are being written all the while: the next look does. Tells the number of marks. */
async function markSignals(pool: Pool, venue: string, tracking: SignalTracking, context: GraphContext): Promise<number> {
  const { rows: pending } = await pool.query<PendingSignal>(
    `SELECT endpoint, day::text, rank, taken_at, subject, part, direction::int, price::float8 AS price, horizon
     FROM signal CROSS JOIN unnest($2::text[]) AS due(horizon)
     WHERE venue = $1 AND taken_at < $3
       AND NOT EXISTS (SELECT 1 FROM signal_mark AS mark
         WHERE mark.endpoint = signal.endpoint AND mark.day = signal.day AND mark.rank = signal.rank AND mark.horizon = due.horizon)`,
    [venue, tracking.horizons, context.now],
  );
  if (pending.length === 0) return 0;
  const write = async (client: PoolClient): Promise<number> => storeMarks(client, await tracking.mark(sqlOf(client), pending, context.now));
  // Whoever writes facts takes back the marks that they change: he must see those that are written, and the marks what he wrote.
  return (await inTransactionUnlessBusy(pool, write, PATIENCE, writersTurn(venue))) ?? 0;
}

async function storeMarks(client: PoolClient, marks: readonly SignalMark[]): Promise<number> {
  const { rows } = await client.query<Marked>(
    `INSERT INTO signal_mark AS mark (endpoint, day, rank, horizon, at, hit, return_pct, baseline)
     SELECT endpoint, day, rank, horizon, at, hit, return_pct, baseline
     FROM jsonb_to_recordset($1::jsonb)
       AS row(endpoint text, day date, rank int, horizon text, at timestamptz, hit boolean, return_pct numeric, baseline numeric)
     ON CONFLICT DO NOTHING ${MARKED}`,
    [JSON.stringify(marks)],
  );
  await countMarks(client, rows);
  return rows.length;
}

/** Looks at the signals of every venue, every ten minutes by default; the first look is at once. A failed look is logged, the next one tries again. */
export function watchSignals(
  pool: Pool,
  venues: readonly Venue[],
  makeContext: MakeContext,
  logger: Logger,
  isRead: IsRead = always,
  everyMs = 600_000,
): Repeated {
  const look = async (stopped: () => boolean): Promise<void> => {
    for (const venue of venues) {
      const run = await trackSignals(pool, venue, makeContext, false, isRead).catch((error: Error) => {
        if (!stopped()) logger.error({ err: error, venue: venue.name }, 'signals could not be tracked');
        return null;
      });
      if (run !== null && run.stored + run.marked > 0) logger.info(run, 'signals tracked');
      if (stopped()) return;
    }
  };
  return repeat(look, everyMs, 'at once');
}
