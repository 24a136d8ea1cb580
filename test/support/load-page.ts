import type { Pool } from 'pg';
import type { VenueName } from '../../src/lib/venue-name';
import { together } from '../../src/workers/ingest';
import type { IngestReport, LoadOptions, RecordedPage, RecordedSource } from '../../src/workers/source';

/** Loads one page of a venue in a transaction of its own. */
export const loadPage = (
  pool: Pool,
  venue: VenueName,
  source: RecordedSource,
  page: RecordedPage,
  options: LoadOptions,
): Promise<IngestReport> => together(pool, venue, (load) => load(source, page, options));
