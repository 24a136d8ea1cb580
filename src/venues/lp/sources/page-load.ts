import type { PoolClient } from 'pg';
import { addCount } from '../../../lib/grouped';
import { moveCursors } from '../../../workers/recorded-cursor';
import { leaveOrDo } from '../../../workers/remainder';
import type { IngestReport, LoadOptions, RecordedPage } from '../../../workers/source';
import { KnownCatalogue } from '../store/known';
import { PageWriter } from '../store/save';

/** Records are written in groups of this many. */
const GROUP = 2_000;

/** How far a feed has been read: times in the page, not of the reading. */
interface FeedTimes {
  /** Newest event in the page. */
  last_event_at: Date | null;
  /** Time the page is as of, where it says so. */
  as_of: Date | null;
}

/** What became of a page so far, and the newest times in it. */
class PageLog {
  read = 0;
  readonly skipped: Record<string, number> = {};
  readonly times: FeedTimes = { last_event_at: null, as_of: null };

  skip(reason: string, count = 1): void {
    if (count === 0) return;
    this.read += count;
    addCount(this.skipped, reason, count);
  }

  /** Events of the future would push the cursor past what can follow; they are the upstream's mistake, kept as they are. */
  saw(time: Date): void {
    if (this.times.last_event_at === null || time > this.times.last_event_at) this.times.last_event_at = time;
  }
}

/** A page being loaded. */
export interface PageLoad {
  page: RecordedPage;
  log: PageLog;
  writer: PageWriter;
}

/** Writes what was read of a group. */
export type Write = () => Promise<void>;

const MEMORY = 'lp.known';

function knownOf({ memory }: LoadOptions): KnownCatalogue {
  const known = (memory?.get(MEMORY) as KnownCatalogue | undefined) ?? new KnownCatalogue();
  memory?.set(MEMORY, known);
  return known;
}

/**
 * Loads a page group by group: `read` decodes a group, logs what it read, and tells how to write it. One group is decoded while the one
 * before it is written. Values are settled and the cursor moved at the end, so that a page is one step, whatever its size.
 */
export async function loadPage(
  source: string,
  page: RecordedPage,
  client: PoolClient,
  options: LoadOptions,
  read: (records: unknown[], load: PageLoad) => Write | Promise<Write>,
): Promise<IngestReport> {
  const writer = new PageWriter(client, options.rollups === 'later', knownOf(options), options.remainder);
  const load: PageLoad = { page, log: new PageLog(), writer };
  let group: unknown[] = [];
  let writing: Promise<unknown> = Promise.resolve(options.turn);
  // Its failure is met at the next turn; until then it must not count as unhandled.
  writing.catch(() => undefined);
  const flush = async (): Promise<void> => {
    const records = group;
    group = [];
    const write = await read(records, load);
    await writing;
    writing = write().then(() => options.progress(records.length));
    writing.catch(() => undefined);
  };
  try {
    for await (const record of page.records) {
      group.push(record);
      if (group.length >= GROUP) await flush();
    }
    if (group.length > 0) await flush();
  } finally {
    // Whatever fails, no statement is under way when the caller takes all back.
    await writing;
  }
  await load.writer.settle();
  const { last_event_at, as_of } = load.log.times;
  const told = { source, venue: 'lp' as const, page: page.name, watermark: as_of ?? last_event_at, last_event_at };
  await leaveOrDo(options.remainder, client, moveCursors, told);
  if (load.writer.appended.length > 0) options.appended?.(load.writer.appended);
  const { log } = load;
  return { read: log.read, ...writer.saved, skipped: log.skipped };
}
