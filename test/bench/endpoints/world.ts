import { VENUES } from '../../../src/app';
import type { Database } from '../../../src/db/client';
import type { VenueName } from '../../../src/venues/venue';
import { runScores } from '../../../src/workers/scores';
import { testDatabase } from '../../support/database';
import { loadWorld } from '../../support/world';

/** A loaded and scored world, and the instant it is served as of. */
export interface EndpointsWorld {
  db: Pick<Database, 'pool' | 'prisma'>;
  url: string;
  now: Date;
  facts: number;
  close(): Promise<void>;
}

const START = new Date('2026-02-01T00:00:00Z');
const NOW = new Date('2026-03-03T00:00:00Z');

/** The venue's simulated world of about `size` facts in 30 days, scored at its end. */
export async function openWorld(name: VenueName, size: number): Promise<EndpointsWorld> {
  const database = await testDatabase();
  const { inserted } = await loadWorld(database.pool, name, size, START, NOW);
  const venue = VENUES.find((candidate) => candidate.name === name);
  if (venue !== undefined) await runScores(database.pool, venue, NOW, () => undefined);
  await database.pool.query('ANALYZE');
  return { db: database, url: database.url, now: NOW, facts: inserted, close: () => database.drop() };
}
