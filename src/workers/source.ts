import type { Pool, PoolClient } from 'pg';
import type { Remainder } from './remainder';

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
  /** Called with the event times of facts that were really appended: how long an event takes to be visible is measured by it. */
  appended?(times: readonly Date[]): void;
  /** Resolves when what the page holds may be written; until then it is only decoded. Rejects when its turn never comes. Left out: at once. */
  turn?: Promise<unknown>;
  /** 'later': only facts, catalogue and cursor are written; the caller has the venue rebuild its rollups in the same transaction. */
  rollups?: 'later';
  /** What feeds remember from page to page of a load that is one transaction, by their own keys; gone with it. Left out: each page begins anew. */
  memory?: Map<string, unknown>;
  /** Takes what can wait until all pages of one transaction are in; the caller has it finished there. Left out: nothing waits. */
  remainder?: Remainder;
}

/** An upstream feed that can be read from recorded pages of the same format through the same code as live ones. */
export interface RecordedSource {
  /** `venue.feed`, e.g. `prediction.trades`; the key of its row in source_cursor. */
  name: string;
  /** Whether this is the feed's format, judged by the first record of a page. Must not throw on anything. */
  recognises(first: unknown, page: { name: string; format: RecordedPage['format'] }): boolean;
  /**
   * Decodes the page and appends what is new inside the transaction of `client`, which the caller opens and commits:
   * facts and cursor are one. Loading the same page twice inserts nothing the second time. Before `options.turn` the client is not used.
   */
  load(page: RecordedPage, client: PoolClient, options: LoadOptions): Promise<IngestReport>;
  /** Reasons by which it skips what no question asks for: they are no sign that the format has changed. */
  harmless?: readonly string[];
}

/** What a live feed remembers between two steps: JSON, its own matter. Kept in the row `live.<name>` of source_cursor. */
export type FeedCursor = Readonly<Record<string, unknown>>;

/** A half-open span of event time. */
export interface Span {
  from: Date;
  to: Date;
}

/** What a live feed may use while it reads. */
export interface LiveContext {
  /** Aborted when the process stops or another one reads this venue now; to be handed to every request. */
  signal: AbortSignal;
  /** For reading only: which wallets, positions or pools to ask for. Facts are written by the runner. */
  db: Pool;
  /** The clock's now: what time it is for the feed. */
  now(): Date;
}

/** A slice of an upstream, small enough for memory and one transaction (a few thousand records). */
export interface LiveStep {
  /** In the upstream's own format, each loaded by the code that loads recorded pages. Empty where nothing is new. */
  pages: readonly { source: RecordedSource; page: RecordedPage }[];
  /** Where the feed stands once the step is in: a crash before that reads the step again, and twice is once. */
  cursor: FeedCursor;
  /** Time up to which the upstream has been read once the step is in; null: no further than before. Moves on a quiet feed as well. */
  watermark: Date | null;
  /** reason -> how many records the feed left out before they became a page; a reason is a short snake_case word. */
  skipped?: Readonly<Record<string, number>>;
  /** The same of records in a form that cannot be read: a feed that tells nothing else is not read on. */
  unread?: Readonly<Record<string, number>>;
  /** The upstream took back or corrected something of this span; `pages` tell all of the span. See `LiveSource.invalidate`. */
  invalidates?: Span;
}

/**
 * A feed of a venue, read over the network: `head`, `update(from, to)`, `invalidate`. It asks and slices; cursors, transactions, retries of a
 * failed poll, back-off, metrics and the rule that one process reads a venue are the runner's. It must not keep state of its own that
 * matters: after a crash all it has is its cursor. Requests go through an `Upstream` (`upstream.ts`).
 */
export interface LiveSource {
  /** `venue.feed`, e.g. `prediction.trades`. */
  name: string;
  /** The recorded source it continues: the first poll starts where that feed's recording ended. Null: `now` less a day. */
  continues: string | null;
  /** Whether the venue's answers are stale when this feed is; false for feeds that only add to others (one account at a time). */
  gates: boolean;
  /** Facts are told no later than so far behind the watermark, but for those that only a deeper reading finds; left out: it tells none that order a list. */
  late_ms?: number;
  /** From the end of one poll to the beginning of the next, in milliseconds. */
  poll_ms: number;
  /** The cursor of a first poll that begins at `from`. */
  begin(from: Date): FeedCursor;
  /** Time up to which the upstream can be read now: usually now, or its newest block's time. */
  head(context: LiveContext): Promise<Date>;
  /** One poll: everything from `cursor` to `to`, in steps, oldest first where the upstream allows it. Throws when the upstream fails. */
  update(cursor: FeedCursor, to: Date, context: LiveContext): AsyncIterable<LiveStep>;
  /**
   * Takes the feed's facts of a span back and puts every rollup right that counted them, inside the caller's transaction;
   * tells how many were removed. Left out where the upstream never takes anything back.
   */
  invalidate?(client: PoolClient, span: Span): Promise<number>;
}

/** Base URLs of a venue's upstreams by name (`gamma`, `data`, …), as configured; a name that is not set is not there. */
export type UpstreamUrls = Readonly<Record<string, string>>;

/** Requests a second to upstreams, by the same names; a name that is not there is asked as its feeds see fit. */
export type UpstreamRates = Readonly<Record<string, number>>;
