import type { Pool } from 'pg';
import { openDatabase } from '../../src/db/client';
import { LONG_WORK, inTransaction } from '../../src/db/transaction';
import { makeContext } from '../../src/graph/context';
import { DAY_MS } from '../../src/lib/time';
import type { VenueWorld, WorldPage } from '../../src/sandbox/simulator/world';
import type { VenueName } from '../../src/lib/venue-name';
import type { Venue } from '../../src/venues/venue';
import { type PageLoader, backfill, loadPages } from '../../src/workers/ingest';
import { pageOf } from '../../src/workers/pages';
import type { RecordedPage } from '../../src/workers/source';
import { runScores } from '../../src/workers/scores';
import { trackSignals } from '../../src/workers/track';
import { loadPage } from '../support/load-page';
import { WORLDS, wingOf } from '../support/world';
import { timed } from './measure';

export const WORLD_START = new Date('2026-01-02T00:00:00Z');
/** Up to here a world is loaded at once, and scored. */
export const WORLD_SCORED = new Date('2026-02-01T00:00:00Z');
/** Up to here a large world is read page by page: windows that end here begin and end within a day and within an hour, as those of a server do. */
export const WORLD_NOW = new Date('2026-02-01T13:27:00Z');

/** What building a world took. Seconds of the clock on the wall; `simulate_s` is the part of loading that made the pages. */
export interface BuiltWorld {
  facts: number;
  /** How many of them came after the score run, page by page. */
  live_facts: number;
  load_s: number;
  simulate_s: number;
  score_s: number;
  wallets: number;
  scored: number;
  peak_rss_mb: number;
  database_mb: number;
}

const NOTHING_BUILT: BuiltWorld = {
  facts: 0,
  live_facts: 0,
  load_s: 0,
  simulate_s: 0,
  score_s: 0,
  wallets: 0,
  scored: 0,
  peak_rss_mb: 0,
  database_mb: 0,
};

/** How a kept world was built. */
export async function builtOf(pool: Pool): Promise<BuiltWorld> {
  const { rows } = await pool.query<{ built: BuiltWorld }>('SELECT built FROM bench_world');
  return rows[0]?.built as BuiltWorld;
}

export interface WorldId {
  venue: VenueName;
  /** About how many facts it has up to the score run. */
  size: number;
  seed: number;
}

/** A world that lives day by day is scored every so many days, daily in its last month: a run takes seconds, a year of them hours. */
const SCORED_EVERY = 3;
const SCORED_DAILY = 30;
/** Rows of one feed that are handed over as one page. */
const JOINED_ROWS = 20_000;
const REPORT_MS = 10_000;

export const simulatorOf = (venue: VenueName, size: number, seed: number): VenueWorld => WORLDS[venue]({ seed, size, start: WORLD_START });

const feedOf = ({ name }: WorldPage): string => name.replace(/[\d-].*$/, '');

/**
 * The simulated pages as recordings would hold them: short pages of one wallet feed, which an upstream must cut at a thousand rows, are joined as long as
 * they follow each other. Other pages carry meaning in their names and stay as they are.
 */
export function* recordedPages(pages: Iterable<WorldPage>): Generator<WorldPage> {
  let open: WorldPage | undefined;
  for (const page of pages) {
    const joins = page.format === 'json' && ['trades', 'activity'].includes(feedOf(page));
    if (open !== undefined && joins && feedOf(open) === feedOf(page) && open.facts + page.facts <= JOINED_ROWS) {
      // Pages are served newest first.
      open = { ...open, records: [...page.records, ...open.records], facts: open.facts + page.facts };
      continue;
    }
    if (open !== undefined) yield open;
    open = joins ? page : undefined;
    if (!joins) yield page;
  }
  if (open !== undefined) yield open;
}

/** Loads and scores a world into an empty, migrated database. `tell` is handed a line of progress every ten seconds. */
export async function buildWorld(pool: Pool, { venue: name, size, seed }: WorldId, tell: (line: string) => void): Promise<BuiltWorld> {
  const venue = wingOf(name);
  const rss = watchMemory();
  const label = `${name} ${size.toLocaleString('en')}`;
  const started = performance.now();
  const pages = simulatorOf(name, size, seed).pages(WORLD_START, WORLD_SCORED);
  const { facts, simulate_s } = await backfill(pool, venue, (load) =>
    loadAll(load, venue, pages, (loaded, seconds) =>
      tell(
        `${label}: ${((100 * loaded) / size).toFixed(0)} %, ${Math.round(loaded / seconds).toLocaleString('en')} facts/s, ${rss.peak()} MB`,
      ),
    ),
  );
  const load_s = (performance.now() - started) / 1_000;
  await pool.query('VACUUM ANALYZE');
  const scoring = performance.now();
  const run = await runScores(pool, venue, WORLD_SCORED, () => undefined);
  const score_s = (performance.now() - scoring) / 1_000;
  await pool.query('VACUUM ANALYZE');
  const { rows } = await pool.query<{ mb: number }>('SELECT (pg_database_size(current_database()) / 1048576)::int AS mb');
  const built: BuiltWorld = {
    facts,
    live_facts: 0,
    load_s,
    simulate_s,
    score_s,
    wallets: run?.wallets ?? 0,
    scored: run?.scored ?? 0,
    peak_rss_mb: rss.stop(),
    database_mb: rows[0]?.mb ?? 0,
  };
  tell(`${label}: ${JSON.stringify(built)}`);
  return built;
}

/** Reads the hours after the score run page by page, as a server does; how many facts they were. */
export async function liveOn(pool: Pool, { venue: name, size, seed }: WorldId, tell: (line: string) => void): Promise<number> {
  const venue = wingOf(name);
  const pages = simulatorOf(name, size, seed).pages(WORLD_SCORED, WORLD_NOW);
  const { facts } = await loadAll(byPage(pool, venue), venue, pages, (loaded, seconds) =>
    tell(`${name} ${size.toLocaleString('en')}: ${loaded.toLocaleString('en')} facts of the day in ${seconds.toFixed(0)} s`),
  );
  await pool.query('VACUUM ANALYZE');
  return facts;
}

/** The instant at which a world that lives day by day is so many days old: in the day, as WORLD_NOW is. */
export const dayOf = (days: number): Date =>
  new Date(WORLD_START.getTime() + days * DAY_MS + (WORLD_NOW.getTime() - WORLD_SCORED.getTime()));

/**
 * Goes on with a world from `from` days (0: an empty, migrated database) until it is `days` old, as a server does: page by page, scored at midnights, its
 * signals stored on the days that were scored, and marked every day.
 */
export async function liveDays(pool: Pool, world: WorldId, from: number, days: number, tell: (line: string) => void): Promise<BuiltWorld> {
  const venue = wingOf(world.venue);
  const pages = simulatorOf(world.venue, world.size, world.seed);
  const load = byPage(pool, venue);
  const rss = watchMemory();
  const db = await openDatabase(pool.options.connectionString as string, { statement_timeout_ms: 0 });
  const built = from === 0 ? { ...NOTHING_BUILT } : await builtOf(pool);
  for (let day = from; day < days; day += 1) {
    const midnight = new Date(WORLD_START.getTime() + (day + 1) * DAY_MS);
    const read = async (since: Date, until: Date): Promise<void> => {
      const loading = await timed(() => loadAll(load, venue, pages.pages(since, until)));
      built.facts += loading.result.facts;
      built.load_s += loading.seconds;
    };
    await read(day === 0 ? WORLD_START : dayOf(day), midnight);
    if (day % SCORED_EVERY === 0 || days - day <= SCORED_DAILY) {
      const scoring = await timed(() => runScores(pool, venue, midnight, () => undefined));
      built.score_s += scoring.seconds;
      built.wallets = scoring.result?.wallets ?? 0;
      built.scored = scoring.result?.scored ?? 0;
    }
    await read(midnight, dayOf(day + 1));
    await trackSignals(pool, venue, () => makeContext(db, dayOf(day + 1)));
    if ((day + 1) % 10 === 0)
      tell(
        `${world.venue}: ${day + 1} of ${days} days, ${built.facts.toLocaleString('en')} facts, ${Math.round(built.load_s)} s loading, ${Math.round(built.score_s)} s scoring`,
      );
  }
  await db.close();
  await pool.query('VACUUM ANALYZE');
  const { rows } = await pool.query<{ mb: number }>('SELECT (pg_database_size(current_database()) / 1048576)::int AS mb');
  return { ...built, peak_rss_mb: Math.max(built.peak_rss_mb, rss.stop()), database_mb: rows[0]?.mb ?? 0 };
}

/** Recomputes all of the venue's rollups from its facts, in one transaction. */
export const rebuildWorld = (pool: Pool, venue: VenueName): Promise<void> =>
  inTransaction(pool, async (client) => wingOf(venue).rebuild?.(client), LONG_WORK);

/** Rebuilds and scores a world whose tables a migration changed. */
export async function renewWorld(pool: Pool, venue: VenueName, tell: (line: string) => void): Promise<void> {
  tell(`${venue}: migrated; rebuilding`);
  await rebuildWorld(pool, venue);
  await pool.query('VACUUM ANALYZE');
  await runScores(pool, wingOf(venue), WORLD_SCORED, () => undefined);
  // Whoever makes them anew tells the hours and wallets since, as a server does.
  await pool.query('DELETE FROM snapshot WHERE venue = $1', [venue]);
  await pool.query('VACUUM ANALYZE');
}

/** Each page in a transaction of its own, rollups included: as a live feed is read. */
export const byPage =
  (pool: Pool, venue: Venue): PageLoader =>
  (source, page, options) =>
    loadPage(pool, venue.name, source, page, options);

/** Loads pages one after the other by `load`; tells now and then how many facts are in, after how many seconds. */
export async function loadAll(
  load: PageLoader,
  venue: Venue,
  pages: Iterable<WorldPage>,
  tell: (facts: number, seconds: number) => void = () => undefined,
): Promise<{ facts: number; simulate_s: number }> {
  const started = performance.now();
  let [facts, simulated, told] = [0, 0, started];
  function* simulating(): Generator<RecordedPage> {
    let asked = performance.now();
    for (const { name, format, records } of recordedPages(pages)) {
      simulated += performance.now() - asked;
      yield pageOf(name, format, records);
      asked = performance.now();
    }
  }
  await loadPages(venue, simulating(), load, {
    loaded: (_page, report) => {
      facts += report?.inserted ?? 0;
      if (performance.now() - told < REPORT_MS) return;
      told = performance.now();
      tell(facts, (told - started) / 1_000);
    },
  });
  return { facts, simulate_s: simulated / 1_000 };
}

/** The largest resident set of this process, in MB, looked at four times a second. */
export function watchMemory(): { peak(): number; stop(): number } {
  let most = process.memoryUsage.rss();
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 250);
  const peak = (): number => Math.round(most / 1_048_576);
  return {
    peak,
    stop: () => {
      clearInterval(timer);
      return peak();
    },
  };
}
