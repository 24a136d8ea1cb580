import { type Config, makeConfig } from '../config';
import { type Database, openDatabase } from '../db/client';
import { locateDatabase } from '../db/location';
import { migrate, migrationsOf } from '../db/migrate';
import type { Place } from './command';

/**
 * Runs `work` over the configured database (joined where it runs, started where it does not), migrated, and lets go of it once no other process uses it.
 * Throws where a newer version has migrated it, unless the work is `outdated: 'fine'`: what is counted by this one is not what that one answers from.
 */
export async function withDatabase<T>(
  place: Place,
  work: (db: Database, config: Config) => Promise<T>,
  { outdated }: { outdated?: 'fine' } = {},
): Promise<T> {
  const config = makeConfig(process.env, place.root);
  const location = await locateDatabase(config.databaseUrl, config.dataDir);
  try {
    const { newer } = await migrate(location.url, migrationsOf(place.root));
    if (newer.length > 0 && outdated !== 'fine')
      throw new Error(`A newer version than this one has migrated the database (${newer.join(', ')}): run this command by it.`);
    const db = await openDatabase(location.url, { statement_timeout_ms: 0 });
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
