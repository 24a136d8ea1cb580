import type { Pool } from 'pg';
import { poolUntil } from '../db/pool';
import { withDeadline } from '../lib/deadline';
import { repeat } from '../lib/repeat';
import type { VenueName } from '../lib/venue-name';
import type { Venue } from '../venues/venue';
import { type FeedRow, NO_LAG, listFeeds } from './feed-store';
import { emptyReport } from './ingest';
import { lastRuns } from './scores';
import type { LiveSource } from './source';

/** A live feed as it stands. */
interface FeedState extends Pick<FeedRow, 'feed' | 'watermark' | 'last_event_at' | 'totals' | 'lag' | 'failure'> {
  /** Whether the venue's answers are stale when this feed is. */
  gates: boolean;
}

/** Where a venue's data stands. */
interface Freshness {
  last_event_at: Date | null;
  /** Time up to which the sources have been read: of the live feed that is furthest behind, else of what was recorded. */
  watermark: Date | null;
  /** Before this instant no more facts come in the ordinary way; null where none are expected, or nothing is read yet. */
  settled: Date | null;
  /** recorded: its upstreams are not polled, so nothing is expected to come and nothing grows stale. */
  mode: 'live' | 'recorded';
  feeds: readonly FeedState[];
}

/** Where each venue's data stands, asked of the store every few seconds and known at any moment. */
export interface FreshnessWatch {
  of(venue: VenueName): Freshness;
  all(): Record<string, Freshness>;
  /** Up to which instant the venue was last scored; null before the first run. */
  scoredAt(venue: VenueName): Date | null;
  /** Another text once the venue has been scored anew, or what was built on its scores has. */
  editionOf(venue: VenueName): string;
  stop(): Promise<void>;
}

const UNKNOWN: Freshness = { last_event_at: null, watermark: null, settled: null, mode: 'recorded', feeds: [] };

/** The live feeds of each venue that is polled. */
export type LiveFeeds = Readonly<Partial<Record<VenueName, readonly LiveSource[]>>>;

/** How often the store is asked. */
export const LOOK_EVERY_MS = 2_000;
/** The store tells within milliseconds; a look that takes so long is given up, with its connection. */
const LOOK_MS = 10_000;

/** Starts watching; the first figures are there when the promise resolves. A failed look keeps the figures of before, and is told to `failed`. */
export async function watchFreshness(
  pool: Pool,
  venues: readonly Venue[],
  live: LiveFeeds,
  failed: (error: Error) => void = () => undefined,
  everyMs = LOOK_EVERY_MS,
  lookMs = LOOK_MS,
): Promise<FreshnessWatch> {
  const known = new Map<VenueName, Freshness>();
  let runs: Awaited<ReturnType<typeof lastRuns>> = {};
  const ask = async (db: Pool): Promise<void> => {
    runs = await lastRuns(db, venues);
    const rows = await listFeeds(db);
    for (const venue of venues) known.set(venue.name, freshnessOf(await venue.freshness(db), live[venue.name] ?? [], rows));
  };
  const look = (): Promise<void> => withDeadline(lookMs, (signal) => ask(poolUntil(pool, signal)));
  await look();
  const looking = repeat(() => look().catch(failed), everyMs);
  return {
    of: (venue) => known.get(venue) ?? UNKNOWN,
    all: () => Object.fromEntries(known),
    scoredAt: (venue) => runs[venue]?.as_of ?? null,
    editionOf: (venue) => runs[venue]?.written_at.toISOString() ?? '',
    stop: () => looking.stop(),
  };
}

/** Where a venue's data stands, asked of the store now. */
export async function readFreshness(pool: Pool, venue: Venue, sources: readonly LiveSource[]): Promise<Freshness> {
  return freshnessOf(await venue.freshness(pool), sources, await listFeeds(pool));
}

/** A feed that has not begun stands where the recording ended. */
function freshnessOf(
  recorded: { last_event_at: Date | null; watermark: Date | null },
  sources: readonly LiveSource[],
  rows: readonly FeedRow[],
): Freshness {
  const feeds = sources.map(({ name, gates }): FeedState => {
    const row = rows.find(({ feed }) => feed === name);
    const { watermark = recorded.watermark, last_event_at = null, failure = null } = row ?? {};
    const totals = row?.totals ?? emptyReport();
    const lag = row?.lag ?? NO_LAG;
    return { feed: name, gates, watermark, last_event_at, failure, totals, lag };
  });
  if (feeds.length === 0) return { ...recorded, settled: null, mode: 'recorded', feeds };
  const marks = feeds.filter(({ gates }) => gates).map(({ watermark }) => watermark?.getTime() ?? Number.NEGATIVE_INFINITY);
  const furthestBehind = marks.length === 0 ? recorded.watermark?.getTime() : Math.min(...marks);
  const watermark = furthestBehind === undefined || furthestBehind === Number.NEGATIVE_INFINITY ? null : new Date(furthestBehind);
  return { last_event_at: recorded.last_event_at, watermark, settled: settledOf(sources, feeds), mode: 'live', feeds };
}

/** The watermark of the feed of facts that is furthest behind, less how late its facts come. */
function settledOf(sources: readonly LiveSource[], feeds: readonly FeedState[]): Date | null {
  const marks = sources.flatMap(({ late_ms }, place) =>
    late_ms === undefined ? [] : [(feeds[place]?.watermark?.getTime() ?? Number.NEGATIVE_INFINITY) - late_ms],
  );
  const first = Math.min(...marks);
  return Number.isFinite(first) ? new Date(first) : null;
}
