import path from 'node:path';
import type { Pool } from 'pg';
import { migrationsOf, newerThan } from '../../src/db/migrate';
import { makeLogger } from '../../src/observability/logger';
import type { VenueName } from '../../src/lib/venue-name';
import { listFeeds } from '../../src/workers/feed-store';
import { type IngestFigures, type Runner, makeRunner } from '../../src/workers/runner';
import type { LiveSource } from '../../src/workers/source';

/** A clock that tests turn forward. */
export class TurnedClock {
  constructor(private at: Date) {}
  now(): Date {
    return new Date(this.at);
  }
  turnTo(at: Date): void {
    this.at = at;
  }
}

export const noFigures: IngestFigures = { loaded: () => undefined, failed: () => undefined, visible: () => undefined };

/** What a newer version than this one has done to a database. */
export const newer = newerThan(migrationsOf(path.resolve(__dirname, '../..')));

/** How the feeds of pools are tuned to a pretended upstream: often, and as fast as it answers. */
export const LP_TUNING = {
  chain_poll_ms: 50,
  index_poll_ms: 50,
  catalogue_poll_ms: 50,
  held_every_ms: 3_600_000,
  whole_every_ms: 3_600_000,
  pools_a_poll: 40,
  positions_a_poll: 40,
  rpc_per_second: 20_000,
  dlmm_per_second: 1_000,
  damm_per_second: 1_000,
};

/** A runner that reads these feeds into a database. */
export function runnerOf(
  pool: Pool,
  venue: VenueName,
  feeds: LiveSource[],
  clock: { now(): Date },
  figures = noFigures,
  silence_ms = 20_000,
  logger = makeLogger('silent'),
): Runner {
  return makeRunner({ pool, feeds: { [venue]: feeds }, clock, logger, figures, newer, standby_ms: 200, silence_ms });
}

/** Waits until something is so. Throws when it is not in time. */
export async function until(so: () => Promise<boolean>, what: string, patience_ms = 240_000): Promise<void> {
  const end = Date.now() + patience_ms;
  while (!(await so())) {
    if (Date.now() > end) throw new Error(`Not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until these feeds have been read up to `at`. */
export function untilRead(pool: Pool, feeds: readonly string[], at: Date): Promise<void> {
  return until(
    async () => {
      const rows = await listFeeds(pool);
      return feeds.every((feed) => (rows.find((row) => row.feed === feed)?.watermark ?? 0) >= at);
    },
    `${feeds.join(', ')} read up to ${at.toISOString()}`,
  );
}
