import os from 'node:os';
import { type Config, makeConfig } from '../config';
import { type Database, openDatabase } from '../db/client';
import { locateDatabase } from '../db/location';
import { migrate, migrationsOf } from '../db/migrate';
import type { Place } from './command';

const LEAST_URGENT = 19;

/**
 * Runs `work` over the configured database (joined where it runs, started where it does not), migrated, and lets go of it once no other process uses it.
 * What is not `urgent` leaves the processor to answers, in the embedded database too. Throws where a newer version has migrated it, unless the work is
 * `outdated: 'fine'`: what is counted by this one is not what that one answers from.
 */
export async function withDatabase<T>(
  place: Place,
  work: (db: Database, config: Config) => Promise<T>,
  { outdated, urgent = true }: { outdated?: 'fine'; urgent?: boolean } = {},
): Promise<T> {
  const config = makeConfig(process.env, place.root);
  const location = await locateDatabase(config.databaseUrl, config.dataDir);
  // Not before: a database that is started here may be joined by others.
  if (!urgent) os.setPriority(LEAST_URGENT);
  try {
    const { newer } = await migrate(location.url, migrationsOf(place.root));
    if (newer.length > 0 && outdated !== 'fine')
      throw new Error(`A newer version than this one has migrated the database (${newer.join(', ')}): run this command by it.`);
    const db = await openDatabase(location.url, { statement_timeout_ms: 0, yields: !urgent && location.embedded });
    try {
      return await work(db, config);
    } finally {
      await db.close();
    }
  } finally {
    await location.untilAlone(() => process.stderr.write(WAITING)).finally(() => location.release());
  }
}

const WAITING = 'The database that this command started is in use by another process: this one ends after it. Ctrl-C ends both.\n';
