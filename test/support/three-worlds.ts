import { VENUES } from '../../src/wings';
import { WORLD_SIZES } from '../../src/config';
import { standingClock } from '../../src/lib/clock';
import { startWorlds } from '../../src/sandbox/live-world';
import type { VenueName } from '../../src/lib/venue-name';
import { runScores } from '../../src/workers/scores';
import { type TestDatabase, copyOfFilled, testDatabase } from './database';
import { type Subjects, subjectsOf } from './subjects';
import { loadWorld } from './world';

/** One database with a small scored world of every venue, the instant it is served as of, and what can be asked about. */
export interface ThreeWorlds {
  database: TestDatabase;
  now: Date;
  subjects: Record<VenueName, Subjects>;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const NOW = new Date('2026-03-03T00:00:00Z');

/** About `size` facts of each venue over the `days` before the instant they are served as of, loaded and scored. */
export async function threeWorlds(size: number, days: number): Promise<ThreeWorlds> {
  const database = await testDatabase();
  await fillThreeWorlds(database, size, days);
  return served(database);
}

/** Three worlds of 4,000 facts over 20 days, for tests that do not mind which: made once a run, a copy for each test file. */
export const commonWorlds = async (): Promise<ThreeWorlds> =>
  served(await copyOfFilled('three_worlds', (database) => fillThreeWorlds(database, 4_000, 20)));

/** The worlds a sandbox begins with, scored. */
export async function sandboxWorlds(): Promise<ThreeWorlds> {
  const database = await testDatabase();
  const choice = { size: WORLD_SIZES.small as number, seed: 1 };
  const worlds = await startWorlds({ pool: database.pool, venues: VENUES, choice, clock: standingClock(NOW), standing: true });
  await worlds.catchUp(() => undefined);
  await score(database);
  return served(database);
}

async function fillThreeWorlds(database: TestDatabase, size: number, days: number): Promise<void> {
  const start = new Date(NOW.getTime() - days * DAY_MS);
  for (const { name } of VENUES) await loadWorld(database.pool, name, size, start, NOW);
  await score(database);
}

/** Statistics are taken before, as a server does by itself sooner or later, and of what the scores wrote. */
async function score({ pool }: TestDatabase): Promise<void> {
  await pool.query('ANALYZE');
  for (const venue of VENUES) await runScores(pool, venue, NOW, () => undefined);
  await pool.query('ANALYZE');
}

async function served(database: TestDatabase): Promise<ThreeWorlds> {
  const subjects = {} as Record<VenueName, Subjects>;
  for (const { name } of VENUES) subjects[name] = await subjectsOf(database.pool, name);
  return { database, now: NOW, subjects, close: () => database.drop() };
}
