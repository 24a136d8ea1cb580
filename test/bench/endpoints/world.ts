import { openDatabase, type Database } from '../../../src/db/client';
import type { VenueName } from '../../../src/venues/venue';
import { openBenchWorld } from '../worlds';

/** A loaded and scored world, and the instant it is served as of. */
export interface EndpointsWorld {
  db: Pick<Database, 'pool' | 'prisma'>;
  url: string;
  now: Date;
  facts: number;
  close(): Promise<void>;
}

/** The kept world of about `size` facts, opened as the product opens its database. */
export async function openWorld(name: VenueName, size: number): Promise<EndpointsWorld> {
  const world = await openBenchWorld(name, size);
  const db = await openDatabase(world.url);
  return {
    db,
    url: world.url,
    now: world.now,
    facts: world.facts,
    close: async () => {
      await db.close();
      await world.close();
    },
  };
}
