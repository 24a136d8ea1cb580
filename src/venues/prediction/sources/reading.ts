import type { PoolClient } from 'pg';
import type { IngestReport, LoadOptions, RecordedPage } from '../../../workers/source';
import { Reasons } from './record';

/** Rows handed to the database at once: large enough to be quick, small enough for one statement. */
const BATCH = 5_000;

/** How a feed turns a page's records into rows of the store. */
export interface Feed<Row> {
  name: string;
  /** Rows of one record; each reason that a part of it was unusable goes to `reasons`. Counts one fact per row or reason. */
  decode(record: unknown, reasons: Reasons): Iterable<Row>;
  /** Writes a batch; tells how many rows were new. */
  write(rows: Row[], client: PoolClient): Promise<number>;
  /** Time of the event a row tells of. */
  timeOf(row: Row): Date | null;
}

/** Reads a page to its end in batches and writes the feed's row in source_cursor, all inside the caller's transaction. */
export async function readPage<Row>(page: RecordedPage, client: PoolClient, options: LoadOptions, feed: Feed<Row>): Promise<IngestReport> {
  const reasons = new Reasons();
  const report: IngestReport = { read: 0, inserted: 0, duplicates: 0, skipped: reasons.counts };
  let newest: Date | null = null;
  let rows: Row[] = [];
  let records = 0;
  const flush = async (): Promise<void> => {
    const inserted = rows.length === 0 ? 0 : await feed.write(rows, client);
    report.read += rows.length;
    report.inserted += inserted;
    report.duplicates += rows.length - inserted;
    rows = [];
    options.progress(records);
    records = 0;
  };
  for await (const record of page.records) {
    records += 1;
    for (const row of feed.decode(record, reasons)) {
      rows.push(row);
      const time = feed.timeOf(row);
      if (time !== null && (newest === null || time > newest)) newest = time;
      if (rows.length >= BATCH) await flush();
    }
  }
  await flush();
  report.read += Object.values(reasons.counts).reduce((sum, count) => sum + count, 0);
  await touchCursor(client, feed.name, page.name, newest);
  return report;
}

// A page tells how far its upstream was read by its newest event; an older page never turns the mark back.
async function touchCursor(client: PoolClient, source: string, page: string, newest: Date | null): Promise<void> {
  await client.query(
    `INSERT INTO source_cursor (source, venue, cursor, watermark, last_event_at, updated_at) VALUES ($1, 'prediction', $2, $3, $3, now())
     ON CONFLICT (source) DO UPDATE SET cursor = EXCLUDED.cursor, updated_at = now(),
       watermark = GREATEST(source_cursor.watermark, EXCLUDED.watermark), last_event_at = GREATEST(source_cursor.last_event_at, EXCLUDED.last_event_at)`,
    [source, JSON.stringify({ page }), newest],
  );
}
