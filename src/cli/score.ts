import type { Config } from '../config';
import type { Database } from '../db/client';
import { untilReplayed } from '../db/replica';
import { pause } from '../lib/deadline';
import { backdateSignals } from '../workers/backdate';
import { LOOK_EVERY_MS } from '../workers/freshness';
import { announceScores, lastRuns, runScores } from '../workers/scores';
import { buildSnapshots } from '../workers/snapshots';
import { trackSignals } from '../workers/track';
import { VENUES, contextsOver } from '../wings';
import { type Command, parseOptions } from './command';
import { withDatabase } from './open';
import { progressBar } from './progress';

const USAGE = 'npm run score [-- --past DAYS]';
const MOST_DAYS = 90;
/** More than a look takes where the store is not overrun. */
const LOOK_TAKES_MS = 500;

/**
 * Runs the daily scores and builds the snapshots now, as of the clock, stores the day's signals, and returns when they are visible in answers. With `--past`
 * instead: tells the signals of so many past days that nobody stored, with the scores of then; a line of JSON a day.
 */
export const command: Command = async (args, place) => {
  const { past } = parseOptions(args, ['past'], USAGE);
  if (past === undefined) return withDatabase(place, scoreNow);
  const days = Number(past);
  if (!Number.isInteger(days) || days < 1 || days > MOST_DAYS) throw new Error(`--past takes 1 to ${MOST_DAYS} days. Usage: ${USAGE}`);
  return withDatabase(place, (db, config) => scorePast(db, config, days), { urgent: false });
};

async function scoreNow(db: Database, config: Config): Promise<number> {
  for (const venue of VENUES) {
    const bar = progressBar(`${venue.name}: {value} wallets, {duration_formatted}`, process.stderr, 5_000);
    bar.start(0, 0);
    const run = await runScores(db.pool, venue, config.clock.now(), (wallets) => bar.increment(wallets)).finally(() => bar.stop());
    await buildSnapshots(db.pool, venue, contextsOver(db, config));
    await trackSignals(db.pool, venue, contextsOver(db, config), true);
    process.stdout.write(`${JSON.stringify(run ?? { venue: venue.name, wallets: 0, scored: 0 })}\n`);
  }
  // A server beside this one may have kept answers meanwhile, and learns of the run when it looks next.
  await announceScores(db.pool);
  await untilAnswered(db, config);
  await pause(LOOK_EVERY_MS + LOOK_TAKES_MS);
  return 0;
}

/** Answers come from a replica later. */
async function untilAnswered({ pool }: Database, { replicaUrl }: Config): Promise<void> {
  if (replicaUrl === false) return;
  const announced = await lastRuns(pool, VENUES);
  const isThere = async (replica: Database): Promise<boolean> => {
    const replayed = await lastRuns(replica.pool, VENUES);
    return Object.entries(announced).every(([venue, run]) => run === null || (replayed[venue]?.written_at ?? 0) >= run.written_at);
  };
  await untilReplayed(replicaUrl, isThere, (host) =>
    process.stderr.write(`Replica: ${host} lacks the scores, waiting until it has replayed them\n`),
  );
}

async function scorePast(db: Database, config: Config, days: number): Promise<number> {
  for (const venue of VENUES)
    await backdateSignals(
      db.pool,
      venue,
      contextsOver(db, config),
      () => config.clock.now(),
      days,
      (day) => process.stdout.write(`${JSON.stringify(day)}\n`),
    );
  return 0;
}
