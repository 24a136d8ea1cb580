import type { RecordedPage, RecordedSource } from '../../../workers/source';
import { OUT_OF_SCOPE, decodeTime } from './fill';
import { loadFills, type RawFill } from './load-fills';

const SOURCE = 'perps.fills_by_block';

/**
 * The node's archive of fills, one block a line: `{local_time, block_time, block_number, events: [[user, fill], …]}`.
 * Both sides of every match, blocks in order, some without events.
 */
export const fillsByBlock: RecordedSource = {
  name: SOURCE,
  recognises: (first) => isBlock(first),
  harmless: OUT_OF_SCOPE,
  async load(page, client, options) {
    const reached = { cursor: { page: page.name } as Record<string, unknown>, watermark: null as number | null };
    return loadFills(SOURCE, fillsOf(page, reached), client, options, () => reached);
  },
};

interface Block {
  block_time: unknown;
  block_number?: unknown;
  events: unknown[];
}

/** Whether `value` is a line of the archive. */
export function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && 'block_time' in value && Array.isArray((value as Block).events);
}

async function* fillsOf(
  page: RecordedPage,
  reached: { cursor: Record<string, unknown>; watermark: number | null },
): AsyncGenerator<RawFill> {
  for await (const record of page.records) {
    if (!isBlock(record)) {
      yield { account: undefined, raw: null };
      continue;
    }
    const time = decodeTime(record.block_time);
    if (time !== undefined && time >= (reached.watermark ?? 0)) {
      reached.watermark = time;
      reached.cursor = { page: page.name, block_number: typeof record.block_number === 'number' ? record.block_number : null };
    }
    for (const event of record.events) yield rawFill(event);
  }
}

/** A `[user, fill]` pair of the archives. Anything else decodes to nothing and is counted as malformed. */
export function rawFill(event: unknown): RawFill {
  const [user, raw] = Array.isArray(event) && event.length === 2 ? (event as [unknown, unknown]) : [undefined, null];
  return { account: typeof user === 'string' ? user : undefined, raw };
}
