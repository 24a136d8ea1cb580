import { VENUES } from '../../src/app';
import type { VenueName } from '../../src/venues/venue';
import { runScores } from '../../src/workers/scores';
import { testDatabase } from './database';
import { type Subjects, subjectsOf } from './subjects';
import { loadWorld } from './world';

/** One database with a small scored world of every venue, the instant it is served as of, and what can be asked about. */
export interface ThreeWorlds {
  database: Awaited<ReturnType<typeof testDatabase>>;
  now: Date;
  subjects: Record<VenueName, Subjects>;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const NOW = new Date('2026-03-03T00:00:00Z');

/** Loads about `size` facts of each venue over the `days` before the instant they are served as of, and scores them. */
export async function threeWorlds(size: number, days: number): Promise<ThreeWorlds> {
  const database = await testDatabase();
  const start = new Date(NOW.getTime() - days * DAY_MS);
  const subjects = {} as Record<VenueName, Subjects>;
  for (const venue of VENUES) {
    await loadWorld(database.pool, venue.name, size, start, NOW);
    await database.pool.query('ANALYZE');
    await runScores(database.pool, venue, NOW, () => undefined);
    subjects[venue.name] = await subjectsOf(database.pool, venue.name);
  }
  await database.pool.query('ANALYZE');
  return { database, now: NOW, subjects, close: () => database.drop() };
}
