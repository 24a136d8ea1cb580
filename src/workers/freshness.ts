import type { Pool } from 'pg';
import type { Venue, VenueName } from '../venues/venue';

export interface Freshness {
  last_event_at: Date | null;
  watermark: Date | null;
}

/** Where each venue's data stands, asked of the store every few seconds and known at any moment. */
export interface FreshnessWatch {
  of(venue: VenueName): Freshness;
  all(): Record<string, Freshness>;
  stop(): void;
}

/** Starts watching; the first figures are there when the promise resolves. A failed look keeps the figures of before. */
export async function watchFreshness(pool: Pool, venues: readonly Venue[], everyMs = 2_000): Promise<FreshnessWatch> {
  const known = new Map<VenueName, Freshness>();
  const look = async (): Promise<void> => {
    for (const venue of venues) known.set(venue.name, await venue.freshness(pool));
  };
  await look();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    look()
      .catch(() => undefined)
      .finally(() => (busy = false));
  }, everyMs);
  timer.unref();
  return {
    of: (venue) => known.get(venue) ?? { last_event_at: null, watermark: null },
    all: () => Object.fromEntries(known),
    stop: () => clearInterval(timer),
  };
}
