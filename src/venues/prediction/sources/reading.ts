import type { PoolClient } from 'pg';
import { later } from '../../../lib/time';
import { moveCursors } from '../../../workers/recorded-cursor';
import { leaveOrDo } from '../../../workers/remainder';
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

/** Reads a page to its end in batches and notes how far it tells the feed, all inside the caller's transaction. */
export async function readPage<Row>(page: RecordedPage, client: PoolClient, options: LoadOptions, feed: Feed<Row>): Promise<IngestReport> {
  const reasons = new Reasons();
  const report: IngestReport = { read: 0, inserted: 0, duplicates: 0, skipped: reasons.counts };
  let newest: Date | null = null;
  const write = async (rows: Row[]): Promise<number> => {
    await options.turn;
    return feed.write(rows, client);
  };
  for await (const batch of ahead(batches(page, feed, reasons), write)) {
    report.inserted += batch.written;
    report.duplicates += batch.rows.length - batch.written;
    newest = batch.rows.reduce<Date | null>((latest, row) => later(latest, feed.timeOf(row)), newest);
    options.progress(batch.records);
  }
  report.read = report.inserted + report.duplicates + Object.values(reasons.counts).reduce((sum, count) => sum + count, 0);
  await options.turn;
  // A page tells how far its upstream was read by its newest event.
  const read = { source: feed.name, venue: 'prediction' as const, page: page.name, watermark: newest, last_event_at: newest };
  await leaveOrDo(options.remainder, client, moveCursors, read);
  return report;
}

interface Batch<Row> {
  rows: Row[];
  records: number;
}

async function* batches<Row>(page: RecordedPage, feed: Feed<Row>, reasons: Reasons): AsyncGenerator<Batch<Row>> {
  let batch: Batch<Row> = { rows: [], records: 0 };
  for await (const record of page.records) {
    batch.records += 1;
    for (const row of feed.decode(record, reasons)) {
      batch.rows.push(row);
      if (batch.rows.length < BATCH) continue;
      yield batch;
      batch = { rows: [], records: 0 };
    }
  }
  yield batch;
}

/** Writes each batch while the next one is decoded: one write at a time, in order. */
async function* ahead<Row>(
  source: AsyncIterable<Batch<Row>>,
  write: (rows: Row[]) => Promise<number>,
): AsyncGenerator<Batch<Row> & { written: number }> {
  let running: Promise<Batch<Row> & { written: number }> | null = null;
  try {
    for await (const batch of source) {
      if (running !== null) yield await running;
      running = (batch.rows.length === 0 ? Promise.resolve(0) : write(batch.rows)).then((written) => ({ ...batch, written }));
      // Its failure is met at the next turn; until then it must not count as unhandled.
      running.catch(() => undefined);
    }
    if (running !== null) yield await running;
    running = null;
  } finally {
    await running?.catch(() => undefined);
  }
}
