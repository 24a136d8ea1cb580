import type { Pool } from 'pg';
import type { Clock } from '../lib/clock';
import type { Logger } from '../observability/logger';
import type { Venue, VenueName } from '../venues/venue';
import { addReport, emptyReport, loadPage, recognise } from '../workers/ingest';
import { pageOf } from '../workers/pages';
import type { IngestReport } from '../workers/source';
import { lpWorld } from './simulator/lp';
import { perpsWorld } from './simulator/perps';
import { predictionWorld } from './simulator/prediction';
import type { VenueWorld, WorldOptions } from './simulator/world';

/** A world's length before the first start. */
const HISTORY_MS = 30 * 86_400_000;
const HOUR_MS = 3_600_000;

interface WorldChoice {
  size: number;
  seed: number;
}

/** A pretended upstream being loaded into its wing, up to a time. */
interface LoadedWorld {
  venue: Venue;
  world: VenueWorld;
  start: Date;
  /** Everything before this instant is loaded. */
  until: Date;
}

const cursorName = (venue: Venue): string => `sandbox.${venue.name}`;

/** The options a store's world was begun with, or null; throws one clear sentence when another world is in the store. */
async function begun(pool: Pool, venue: Venue, choice: WorldChoice): Promise<{ start: Date; until: Date } | null> {
  const { rows } = await pool.query<{ cursor: { seed: number; size: number; start: string }; watermark: Date }>(
    'SELECT cursor, watermark FROM source_cursor WHERE source = $1',
    [cursorName(venue)],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const { seed, size, start } = row.cursor;
  if (seed !== choice.seed || size !== choice.size) {
    throw new Error(
      `The store holds the simulated world WORLD=${size}:${seed}, not ${choice.size}:${choice.seed}. Remove the data folder (DATA_DIR) to begin another world.`,
    );
  }
  return { start: new Date(start), until: row.watermark };
}

/** Opens the venue's world where the store left it, or begins it 30 days before `now`. */
async function openWorld(
  pool: Pool,
  venue: Venue,
  make: (options: WorldOptions) => VenueWorld,
  choice: WorldChoice,
  now: Date,
): Promise<LoadedWorld> {
  const known = await begun(pool, venue, choice);
  const start = known?.start ?? new Date(Math.floor((now.getTime() - HISTORY_MS) / HOUR_MS) * HOUR_MS);
  return { venue, world: make({ ...choice, start }), start, until: known?.until ?? start };
}

/** Loads what the pretended upstream would have told between `loaded.until` and `to`, through the venue's own sources. */
async function advanceWorld(
  pool: Pool,
  loaded: LoadedWorld,
  choice: WorldChoice,
  to: Date,
  progress: (facts: number) => void,
): Promise<IngestReport> {
  const total = emptyReport();
  if (to <= loaded.until) return total;
  for (const simulated of loaded.world.pages(loaded.until, to)) {
    const { source, page } = await recognise(loaded.venue, pageOf(simulated.name, simulated.format, simulated.records));
    if (source === null) {
      if (simulated.records.length > 0)
        throw new Error(`The ${loaded.venue.name} wing does not recognise the simulated page ${simulated.name}.`);
      continue;
    }
    addReport(total, await loadPage(pool, source, page, { progress: () => undefined }));
    progress(simulated.facts);
  }
  // Written last: after a crash in between, pages are loaded again, and twice is once.
  await pool.query(
    `INSERT INTO source_cursor (source, venue, cursor, watermark, updated_at) VALUES ($1, $2, $3, $4, now())
     ON CONFLICT (source) DO UPDATE SET cursor = EXCLUDED.cursor, watermark = EXCLUDED.watermark, updated_at = now()`,
    [cursorName(loaded.venue), loaded.venue.name, JSON.stringify({ ...choice, start: loaded.start.toISOString() }), to],
  );
  loaded.until = to;
  return total;
}

const MAKERS: Record<VenueName, (options: WorldOptions) => VenueWorld> = { prediction: predictionWorld, perps: perpsWorld, lp: lpWorld };
/** How often the pretended upstreams are asked for what is new. */
const POLL_MS = 2_000;

export interface WorldsOptions {
  pool: Pool;
  venues: readonly Venue[];
  choice: WorldChoice;
  clock: Clock;
  /** The clock stands still: nothing new ever happens. */
  standing: boolean;
  logger: Logger;
}

/** The sandbox's three pretended upstreams. */
export interface LiveWorlds {
  /** About how many facts are still to be loaded. */
  expected: number;
  /** Loads everything up to now. */
  catchUp(progress: (facts: number) => void): Promise<void>;
  /** Goes on loading what is new every few seconds, until stopped. */
  keepAlive(): void;
  stop(): Promise<void>;
}

/** Opens the worlds of all venues; nothing is loaded before `catchUp`. */
export async function startWorlds({ pool, venues, choice, clock, standing, logger }: WorldsOptions): Promise<LiveWorlds> {
  const loaded = await Promise.all(venues.map((venue) => openWorld(pool, venue, MAKERS[venue.name], choice, clock.now())));
  const expected = loaded.reduce((sum, { until }) => sum + (choice.size * (clock.now().getTime() - until.getTime())) / HISTORY_MS, 0);
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();
  const advance = async (progress: (facts: number) => void): Promise<void> => {
    const now = clock.now();
    for (const world of loaded) await advanceWorld(pool, world, choice, now, progress);
  };
  const tick = (): void => {
    working = advance(() => undefined)
      .catch((error: Error) => logger.warn({ err: error }, 'the simulated upstream could not be read'))
      .finally(() => {
        if (timer !== undefined) timer = setTimeout(tick, POLL_MS);
      });
  };
  return {
    expected: Math.max(0, Math.round(expected)),
    catchUp: advance,
    keepAlive: () => {
      if (!standing) timer = setTimeout(tick, POLL_MS);
    },
    stop: async () => {
      clearTimeout(timer);
      timer = undefined;
      await working;
    },
  };
}
