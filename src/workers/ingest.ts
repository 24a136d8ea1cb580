import type { Pool } from 'pg';
import { LONG_WORK, inTransaction, writersTurn } from '../db/transaction';
import { addCount } from '../lib/grouped';
import type { VenueName } from '../lib/venue-name';
import type { Venue } from '../venues/venue';
import { listPages, openPage } from './pages';
import { inTurns } from './read-ahead';
import { Remainder } from './remainder';
import type { IngestReport, LoadOptions, RecordedPage, RecordedSource } from './source';

export const emptyReport = (): IngestReport => ({ read: 0, inserted: 0, duplicates: 0, skipped: {} });

/** Adds `part` to `total`, in place. */
export function addReport(total: IngestReport, part: IngestReport): void {
  total.read += part.read;
  total.inserted += part.inserted;
  total.duplicates += part.duplicates;
  for (const [reason, count] of Object.entries(part.skipped)) addCount(total.skipped, reason, count);
}

/** Which feed a page is of, judged by its first record, and the page with that record still in it. Source null: none of the venue's. */
export async function recognise(venue: Venue, page: RecordedPage): Promise<{ source: RecordedSource | null; page: RecordedPage }> {
  const iterator = page.records[Symbol.asyncIterator]();
  const first = await iterator.next();
  const source = first.done ? null : (venue.sources.find((candidate) => candidate.recognises(first.value, page)) ?? null);
  return { source, page: { ...page, records: rejoin(first, iterator) } };
}

async function* rejoin(first: IteratorResult<unknown>, rest: AsyncIterator<unknown>): AsyncGenerator<unknown> {
  try {
    for (let next = first; !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Begins a transaction that writes facts of a venue. */
export const writing = (venue: string): string => `${LONG_WORK}; ${writersTurn(venue)}`;

/** What `ingestFrom` tells while it works. */
export interface IngestListener {
  page(name: string, source: string | null): void;
  progress(records: number): void;
}

/** How one page gets into the store: in a transaction that it shares with those beside it, or with all. */
export type PageLoader = (source: RecordedSource, page: RecordedPage, options: LoadOptions) => Promise<IngestReport>;

/** What is told of pages on their way; report null: the page is of no feed of the venue's. */
export interface PageListener<Page> extends Partial<IngestListener> {
  loaded(page: Page, report: IngestReport | null): void;
}

/** Loads pages in their order by `load`, each through the feed that recognises it; the next ones are decoded while one is written. Whatever fails tells the page's name. */
export const loadPages = <Page extends RecordedPage>(
  venue: Venue,
  pages: Iterable<Page>,
  load: PageLoader,
  listener: PageListener<Page>,
  account?: string,
): Promise<void> =>
  inTurns(pages, async (opened, turn) => {
    try {
      const { source, page } = await recognise(venue, opened);
      listener.page?.(page.name, source?.name ?? null);
      const options = { account, turn, progress: (records: number) => listener.progress?.(records) };
      const report = source === null ? null : await load(source, page, options);
      await turn;
      listener.loaded(opened, report);
    } catch (cause) {
      // Which of a thousand pages it was.
      throw new Error(`${opened.name}: ${(cause as Error).message}`, { cause });
    }
  });

/**
 * Loads the recorded pages at `location` (a file, or a folder in name order) into the venue's tables. Twice is once. Rollups 'later', for a first
 * load of much: all pages in one transaction, and the rollups computed once, from all facts, at its end. The outcome is the same; nothing is
 * visible, and nothing kept, before all of it is in.
 */
export function ingestFrom(
  pool: Pool,
  venue: Venue,
  location: string,
  options: Pick<LoadOptions, 'account' | 'rollups'>,
  listener: IngestListener,
): Promise<IngestReport> {
  const pages = (load: PageLoader): Promise<IngestReport> => ingestPages(venue, location, options.account, listener, load);
  return options.rollups === 'later' ? backfill(pool, venue, pages) : together(pool, venue.name, pages);
}

/** So long pages join a transaction that has begun: others wait no longer for what is new, nor other writers of the venue for their turn. */
const JOINED_MS = 5_000;

/**
 * Runs `pages` with a loader under which pages that follow each other share transactions, one after the other, and what they leave to the end is done
 * once in each. What fails takes back what its own transaction holds.
 */
export async function together<T>(pool: Pool, venue: VenueName, pages: (load: PageLoader) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const remainder = new Remainder();
  let since: number | null = null;
  const begin = async (): Promise<void> => {
    if (since !== null) return;
    await client.query(`BEGIN; ${writing(venue)}`);
    since = performance.now();
  };
  const commit = async (): Promise<void> => {
    if (since === null) return;
    await remainder.finish(client);
    await client.query('COMMIT');
    since = null;
  };
  const load: PageLoader = async (source, page, options) => {
    const turn = Promise.resolve(options.turn).then(begin);
    // Work that has not asked for its turn yet hears of a failure when it does; until then it must not count as unhandled.
    turn.catch(() => undefined);
    const report = await source.load(page, client, { ...options, turn, remainder });
    await turn;
    if (since !== null && performance.now() - since >= JOINED_MS) await commit();
    return report;
  };
  let lost: Error | undefined;
  try {
    const result = await pages(load);
    await commit();
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((cause: Error) => (lost = cause));
    throw error;
  } finally {
    // A connection that did not take it back in time is closed: what its next user writes would be part of a transaction that never ends.
    client.release(lost);
  }
}

/** Runs `pages` with a loader that leaves rollups alone, then has the venue rebuild them, all in one transaction. */
export function backfill<T>(pool: Pool, venue: Venue, pages: (load: PageLoader) => Promise<T>): Promise<T> {
  return inTransaction(
    pool,
    async (client) => {
      const [memory, remainder] = [new Map<string, unknown>(), new Remainder()];
      const result = await pages((source, page, options) => source.load(page, client, { ...options, rollups: 'later', memory, remainder }));
      await remainder.finish(client);
      await venue.rebuild?.(client, true);
      return result;
    },
    writing(venue.name),
  );
}

function* opened(files: readonly string[]): Generator<RecordedPage> {
  for (const file of files) yield openPage(file);
}

async function ingestPages(
  venue: Venue,
  location: string,
  account: string | undefined,
  listener: IngestListener,
  load: PageLoader,
): Promise<IngestReport> {
  const total = emptyReport();
  const unrecognised = { ...emptyReport(), skipped: { unrecognised_file: 1 } };
  const loaded = (_page: RecordedPage, report: IngestReport | null): void => addReport(total, report ?? unrecognised);
  await loadPages(venue, opened(listPages(location)), load, { ...listener, loaded }, account);
  return total;
}
