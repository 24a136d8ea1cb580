import { openDatabase, type Database, type Statements } from '../../../src/db/client';
import { makeContext } from '../../../src/graph/context';
import type { VenueName } from '../../../src/lib/venue-name';
import { buildSnapshots } from '../../../src/workers/snapshots';
import { wingOf } from '../../support/world';
import { type BenchWorld, openBenchWorld } from '../worlds';

/** A loaded and scored world, and the instant it is served as of. */
export interface EndpointsWorld {
  db: Statements;
  url: string;
  now: Date;
  facts: number;
  close(): Promise<void>;
}

/** Snapshots are filled before anybody asks, as a server fills them; once for a kept world. */
async function fillSnapshots(db: Database, name: VenueName, now: Date): Promise<void> {
  const venue = wingOf(name);
  const wanted = (venue.snapshots ?? []).reduce((sum, { parts }) => sum + parts.length, 0);
  const { rows } = await db.pool.query<{ kept: number }>('SELECT count(*)::int AS kept FROM snapshot WHERE venue = $1 AND as_of = $2', [
    name,
    now,
  ]);
  if ((rows[0]?.kept ?? 0) < wanted) await buildSnapshots(db.pool, venue, () => makeContext(db, now));
}

/** The kept world of about `size` facts, opened as the product opens its database. */
export const openWorld = async (name: VenueName, size: number): Promise<EndpointsWorld> => served(await openBenchWorld(name, size));

/** A kept world, opened as the product opens its database. */
export async function served(world: BenchWorld): Promise<EndpointsWorld> {
  const db = await openDatabase(world.url);
  await fillSnapshots(db, world.venue, world.now);
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
