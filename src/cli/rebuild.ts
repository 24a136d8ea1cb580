import { inTransaction } from '../db/transaction';
import { writing } from '../workers/ingest';
import { VENUES } from '../wings';
import { type Command, parseOptions } from './command';
import { withDatabase } from './open';

/** Recomputes every rollup from facts, one transaction a venue: readers see the old figures until the new ones are whole. */
export const command: Command = async (args, place) => {
  parseOptions(args, [], 'npm run rebuild');
  return withDatabase(place, async (db) => {
    for (const venue of VENUES) {
      if (venue.rebuild === undefined) continue;
      const started = performance.now();
      await inTransaction(db.pool, venue.rebuild, writing(venue.name));
      process.stdout.write(`${venue.name}: rebuilt in ${((performance.now() - started) / 1_000).toFixed(1)} s\n`);
    }
    return 0;
  });
};
