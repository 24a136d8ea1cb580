import type { PoolClient } from 'pg';
import { inTransaction } from '../db/transaction';
import { writing } from '../workers/ingest';
import { makeDue } from '../workers/snapshots';
import { VENUES } from '../wings';
import { type Command, parseOptions } from './command';
import { withDatabase } from './open';

/** Recomputes every rollup from facts, one transaction a venue: readers see the old figures until the new ones are whole. */
export const command: Command = async (args, place) => {
  parseOptions(args, [], 'npm run rebuild');
  return withDatabase(place, async (db) => {
    for (const venue of VENUES) {
      const started = performance.now();
      const rebuild = async (client: PoolClient): Promise<void> => {
        await venue.rebuild?.(client);
        // With them a server tells again what answers are quick by, and rollups are not: within seconds, not when their time is over.
        await makeDue(client, venue);
      };
      await inTransaction(db.pool, rebuild, writing(venue.name));
      process.stdout.write(`${venue.name}: rebuilt in ${((performance.now() - started) / 1_000).toFixed(1)} s\n`);
    }
    return 0;
  });
};
