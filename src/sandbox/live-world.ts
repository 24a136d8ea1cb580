import type { Pool } from 'pg';
import type { Clock } from '../lib/clock';
import { DAY_MS, HOUR_MS } from '../lib/time';
import type { VenueName } from '../lib/venue-name';
import type { Venue } from '../venues/venue';
import { type PageLoader, backfill, loadPages, together } from '../workers/ingest';
import { pageOf } from '../workers/pages';
import type { RecordedPage } from '../workers/source';
import { lpWorld } from './simulator/lp';
import { type PerpsWorld, perpsWorld } from './simulator/perps';
import { predictionWorld } from './simulator/prediction';
import type { VenueWorld, WorldOptions, WorldPage } from './simulator/world';
import { startPoolsUpstream } from './venues/lp';
import { startPerpsUpstream } from './venues/perps';
import { startPredictionUpstream } from './venues/prediction';
import type { PretendUpstream } from './venues/upstream-server';

/** A world's length before the first start. */
const HISTORY_MS = 30 * DAY_MS;

interface WorldChoice {
  size: number;
  seed: number;
}

/** A venue's world on its way into the store. */
interface LoadedWorld {
  venue: Venue;
  world: VenueWorld;
  start: Date;
  /** Its past when it was begun: loaded in bulk, as an operator loads an archive. */
  history_to: Date;
  /** Everything before this instant was loaded in bulk. */
  until: Date;
}

const cursorName = (venue: Venue): string => `sandbox.${venue.name}`;

/** Opens the venue's world where the store left it, or begins it 30 days before `now`. Throws one clear sentence when another world is in the store. */
async function openWorld(
  pool: Pool,
  venue: Venue,
  make: (options: WorldOptions) => VenueWorld,
  choice: WorldChoice,
  now: Date,
): Promise<LoadedWorld> {
  const begun = new Date(Math.floor((now.getTime() - HISTORY_MS) / HOUR_MS) * HOUR_MS);
  // Written before anything is loaded: a load that is cut off goes on with the same world.
  await pool.query(
    'INSERT INTO source_cursor (source, venue, cursor, watermark, updated_at) VALUES ($1, $2, $3, $4, now()) ON CONFLICT (source) DO NOTHING',
    [cursorName(venue), venue.name, JSON.stringify({ ...choice, start: begun, history_to: now }), begun],
  );
  const { rows } = await pool.query<{ cursor: WorldChoice & { start: string; history_to?: string }; watermark: Date }>(
    'SELECT cursor, watermark FROM source_cursor WHERE source = $1',
    [cursorName(venue)],
  );
  const { cursor, watermark } = rows[0] as (typeof rows)[number];
  if (cursor.seed !== choice.seed || cursor.size !== choice.size) {
    throw new Error(
      `The store holds the simulated world WORLD=${cursor.size}:${cursor.seed}, not ${choice.size}:${choice.seed}. Remove the data folder (DATA_DIR) to begin another world.`,
    );
  }
  const start = new Date(cursor.start);
  return {
    venue,
    world: make({ ...choice, start }),
    start,
    history_to: new Date(cursor.history_to ?? watermark),
    until: watermark,
  };
}

/** Loads what the venue's upstream would have told between `loaded.until` and `to` as recorded pages, through the venue's own sources. */
async function advanceWorld(pool: Pool, loaded: LoadedWorld, to: Date, progress: (facts: number) => void): Promise<void> {
  if (to <= loaded.until) return;
  const pages = (load: PageLoader): Promise<void> => loadWorldPages(loaded, to, load, progress);
  // All of a first load is one transaction, which adds up once: half the work of doing so page by page.
  if (loaded.until <= loaded.start) await backfill(pool, loaded.venue, pages);
  else await together(pool, loaded.venue.name, pages);
  // Written last: after a crash in between, pages are loaded again, and twice is once.
  await pool.query('UPDATE source_cursor SET watermark = $2, updated_at = now() WHERE source = $1', [cursorName(loaded.venue), to]);
  loaded.until = to;
}

async function loadWorldPages(
  { venue, world, until }: LoadedWorld,
  to: Date,
  load: PageLoader,
  progress: (facts: number) => void,
): Promise<void> {
  await loadPages(venue, simulatedPages(world.pages(until, to)), load, {
    loaded: ({ simulated }, report) => {
      if (report !== null) progress(simulated.facts);
      else if (simulated.records.length > 0) throw new Error(`The ${venue.name} wing does not recognise this simulated page.`);
    },
  });
}

function* simulatedPages(pages: Iterable<WorldPage>): Generator<RecordedPage & { simulated: WorldPage }> {
  for (const simulated of pages) yield { ...pageOf(simulated.name, simulated.format, simulated.records), simulated };
}

const MAKERS: Record<VenueName, (options: WorldOptions) => VenueWorld> = { prediction: predictionWorld, perps: perpsWorld, lp: lpWorld };

/** How a pretended upstream is started over a world: it tells what happened from `since` on. */
type UpstreamStarter = (options: { world: VenueWorld; since: Date; clock: Clock; seed?: number }) => Promise<PretendUpstream>;

const STARTERS: Record<VenueName, UpstreamStarter> = {
  prediction: startPredictionUpstream,
  perps: (options) => startPerpsUpstream({ ...options, world: options.world as PerpsWorld }),
  lp: startPoolsUpstream,
};

/** A pretended upstream tells this much of what is in the store already: feeds look back. */
const LOOK_BACK_MS = HOUR_MS;
/** Share of requests a pretended upstream refuses, so that it is met as upstreams are. */
const BUSY = 0.005;

export interface WorldsOptions {
  pool: Pool;
  venues: readonly Venue[];
  choice: WorldChoice;
  clock: Clock;
  /** The clock stands still: nothing new ever happens. */
  standing: boolean;
}

/** The sandbox's pretended venues. */
export interface LiveWorlds {
  /** About how many facts are still to be loaded in bulk. */
  expected: number;
  /** Loads the past in bulk; where the clock stands still, everything up to now. */
  catchUp(progress: (facts: number) => void): Promise<void>;
  /** Starts an upstream for each venue unless the clock stands still, and tells their URLs. After `catchUp`. */
  startUpstreams(): Promise<Partial<Record<VenueName, Record<string, string>>>>;
  stop(): Promise<void>;
}

/** Opens the worlds of these venues; nothing is loaded before `catchUp`. */
export async function startWorlds({ pool, venues, choice, clock, standing }: WorldsOptions): Promise<LiveWorlds> {
  const worlds = await Promise.all(venues.map((venue) => openWorld(pool, venue, MAKERS[venue.name], choice, clock.now())));
  const targetOf = (world: LoadedWorld): Date => (standing ? clock.now() : world.history_to);
  const missing = worlds.reduce((sum, world) => sum + Math.max(0, targetOf(world).getTime() - world.until.getTime()), 0);
  const upstreams: PretendUpstream[] = [];
  let over = false;
  return {
    expected: Math.round((choice.size * missing) / HISTORY_MS),
    catchUp: async (progress) => {
      for (const world of worlds) await advanceWorld(pool, world, targetOf(world), progress);
    },
    startUpstreams: async () => {
      const urls: Partial<Record<VenueName, Record<string, string>>> = {};
      for (const world of standing ? [] : worlds) {
        const start = STARTERS[world.venue.name];
        const upstream = await start({ world: world.world, since: await knownUntil(pool, world), clock, seed: choice.seed });
        upstream.faults.busy = BUSY;
        upstreams.push(upstream);
        // One that came up too late would listen for ever, and keep the process from ending.
        if (over) await upstream.stop();
        if (over) throw new Error('Stopped while it was starting.');
        urls[world.venue.name] = { ...upstream.urls };
      }
      return urls;
    },
    stop: async () => {
      over = true;
      await Promise.all(upstreams.map((upstream) => upstream.stop()));
    },
  };
}

/** Where the feed that is furthest behind goes on, and some time before. Recordings that ended long before the bulk did are continued by none. */
async function knownUntil(pool: Pool, { venue, until }: LoadedWorld): Promise<Date> {
  const { rows } = await pool.query<{ mark: Date | null }>(
    `SELECT min(watermark) AS mark FROM source_cursor WHERE venue = $1 AND source NOT LIKE 'sandbox.%' AND source NOT LIKE 'score.%'
       AND (source LIKE 'live.%' OR watermark > $2::timestamptz - interval '1 day')`,
    [venue.name, until],
  );
  return new Date(Math.min(until.getTime(), rows[0]?.mark?.getTime() ?? until.getTime()) - LOOK_BACK_MS);
}
