import type { PoolClient } from 'pg';

/**
 * One recorded upstream page: a file. `records` yields the file's rows as parsed from JSON, NDJSON or CSV (CSV cells are
 * strings, keys are the header's). A JSON file that is one object yields that object; one that is an array, its items.
 */
export interface RecordedPage {
  /** File name without folder: also the scope of running numbers in natural keys. */
  name: string;
  format: 'json' | 'ndjson' | 'csv';
  records: AsyncIterable<unknown>;
}

/** What became of the records of a page. read = inserted + duplicates + Σ skipped, counted in facts of the venue. */
export interface IngestReport {
  read: number;
  inserted: number;
  duplicates: number;
  /** reason -> how many; a reason is a short snake_case word. */
  skipped: Record<string, number>;
}

export interface LoadOptions {
  /** The account whose fills a page holds, where the upstream format does not say (`--account`). */
  account?: string;
  /** Called with the number of records handled since the last call. */
  progress(records: number): void;
}

/** An upstream feed that can be read from recorded pages of the same format through the same code as live ones. */
export interface RecordedSource {
  /** `venue.feed`, e.g. `prediction.trades`; the key of its row in source_cursor. */
  name: string;
  /** Whether this is the feed's format, judged by the first record of a page. Must not throw on anything. */
  recognises(first: unknown, page: { name: string; format: RecordedPage['format'] }): boolean;
  /**
   * Decodes the page and appends what is new inside the transaction of `client`, which the caller opens and commits:
   * facts and cursor are one. Loading the same page twice inserts nothing the second time.
   */
  load(page: RecordedPage, client: PoolClient, options: LoadOptions): Promise<IngestReport>;
}
