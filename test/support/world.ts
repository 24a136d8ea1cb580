import type { Pool } from 'pg';
import { VENUES } from '../../src/wings';
import { lpWorld } from '../../src/sandbox/simulator/lp';
import { perpsWorld } from '../../src/sandbox/simulator/perps';
import { predictionWorld } from '../../src/sandbox/simulator/prediction';
import type { WorldPage } from '../../src/sandbox/simulator/world';
import type { VenueName } from '../../src/lib/venue-name';
import type { Venue } from '../../src/venues/venue';
import { addReport, backfill, emptyReport, loadPages } from '../../src/workers/ingest';
import { pageOf } from '../../src/workers/pages';
import type { IngestReport, RecordedPage } from '../../src/workers/source';

/** Each venue's simulator. */
export const WORLDS = { prediction: predictionWorld, perps: perpsWorld, lp: lpWorld };

export const wingOf = (name: VenueName): Venue => VENUES.find((venue) => venue.name === name) as Venue;

/** Loads [from, to) of the venue's simulated world (seed 1), begun at `start`, through its own sources, as the sandbox does. */
export const loadWorld = (pool: Pool, name: VenueName, size: number, from: Date, to: Date, start = from): Promise<IngestReport> =>
  loadAtOnce(pool, name, WORLDS[name]({ seed: 1, size, start }).pages(from, to));

/**
 * Loads pages through the venue's own sources as a first load does, rollups at its end: sooner done than page by page, to the same outcome. Then statistics are
 * taken, as a server does by itself sooner or later: thousands of rows are looked through many times where statements are planned as for none.
 */
export async function loadAtOnce(pool: Pool, name: VenueName, pages: Iterable<WorldPage>): Promise<IngestReport> {
  const venue = wingOf(name);
  const report = await backfill(pool, venue, async (load) => {
    const total = emptyReport();
    await loadPages(venue, recorded(pages), load, { loaded: (_page, report) => addReport(total, report ?? emptyReport()) });
    return total;
  });
  await pool.query('ANALYZE');
  return report;
}

function* recorded(pages: Iterable<WorldPage>): Generator<RecordedPage> {
  for (const { name, format, records } of pages) yield pageOf(name, format, records);
}
