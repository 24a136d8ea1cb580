import { SingleBar } from 'cli-progress';
import { VENUES, contextsOver } from '../app';
import { runScores } from '../workers/scores';
import { buildSnapshots } from '../workers/snapshots';
import { trackSignals } from '../workers/track';
import type { Command } from './command';
import { withDatabase } from './open';

/** Runs the daily scores and builds the snapshots now, as of the clock, stores the day's signals, and returns when they are visible in answers. */
export const command: Command = (_args, place) =>
  withDatabase(place, async (db, config) => {
    for (const venue of VENUES) {
      const bar = new SingleBar({
        format: `${venue.name}: {value} wallets, {duration_formatted}`,
        noTTYOutput: true,
        notTTYSchedule: 5_000,
        stream: process.stderr,
      });
      bar.start(0, 0);
      const run = await runScores(db.pool, venue, config.clock.now(), (wallets) => bar.increment(wallets)).finally(() => bar.stop());
      await buildSnapshots(db.pool, venue, contextsOver(db, config));
      await trackSignals(db.pool, venue, contextsOver(db, config), true);
      process.stdout.write(`${JSON.stringify(run ?? { venue: venue.name, wallets: 0, scored: 0 })}\n`);
    }
    return 0;
  });
