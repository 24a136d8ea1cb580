import type { PoolClient } from 'pg';
import type { IngestReport, LoadOptions } from '../../../workers/source';
import { addCount, addTo } from '../../../lib/grouped';
import { emptyReport } from '../../../workers/ingest';
import { type ReckonedFill, amountsOf } from './amounts';
import { appendFills } from './append';
import { chainOrder } from './chain';
import { moveCursor, type Reached } from './cursor';
import { decodeFill, keyOf, type Fill, type OrderedFill, type SkipReason } from './fill';
import { linkOf } from './ordinals';

/** A fill as the upstream sent it, with the account it belongs to where that is known. */
export interface RawFill {
  account: string | undefined;
  raw: unknown;
  /** Why it cannot be kept, where its surroundings say so. */
  skip?: SkipReason;
}

const BATCH = 5_000;

/**
 * Decodes fills and appends what is new in batches, then moves the source's cursor, all in the client's transaction.
 * `reached` says how far the upstream has been read beyond the fills themselves; asked when all fills are consumed.
 */
export async function loadFills(
  source: string,
  fills: AsyncIterable<RawFill>,
  client: PoolClient,
  options: LoadOptions,
  reached: () => Reached,
): Promise<IngestReport> {
  const report = emptyReport();
  let newest: number | null = null;
  let batch: Fill[] = [];
  let handled = 0;
  let writing = Promise.resolve();
  const write = async (full: Fill[], records: number): Promise<void> => {
    const ordered = inOrder(full);
    await options.turn;
    const inserted = await appendFills(client, ordered, options);
    report.inserted += inserted;
    report.duplicates += full.length - inserted;
    // Of a batch that holds known ones too, which are new is not told.
    if (inserted === full.length) options.appended?.(full.map(({ time }) => new Date(time)));
    options.progress(records);
  };
  // One batch is written while the next one is decoded.
  const flush = async (): Promise<void> => {
    await writing;
    writing = write(batch, handled);
    writing.catch(() => undefined);
    [batch, handled] = [[], 0];
  };
  try {
    for await (const { account, raw, skip } of fills) {
      const fill = skip ?? decodeFill(account, raw);
      // Fills of one millisecond are ordered among each other, so they stay in one batch.
      if (batch.length >= BATCH && typeof fill !== 'string' && fill.time !== batch.at(-1)?.time) await flush();
      report.read += 1;
      handled += 1;
      if (typeof fill === 'string') {
        addCount(report.skipped, fill);
        continue;
      }
      batch.push(fill);
      newest = Math.max(newest ?? fill.time, fill.time);
    }
    await flush();
  } finally {
    // Whatever fails, no statement is under way when the caller takes all back.
    await writing;
  }
  const { watermark, cursor } = reached();
  await moveCursor(client, source, { cursor, watermark: watermark ?? newest, last_event_at: newest });
  return report;
}

/** As in the store, what was told first of a key stays. */
function firstOfEach(fills: readonly Fill[]): Fill[] {
  const first = new Map<string, Fill>();
  for (const fill of fills) {
    const key = keyOf(fill);
    if (!first.has(key)) first.set(key, fill);
  }
  return [...first.values()];
}

/** Whether more fills are followed by older ones than by newer ones: lists that begin with the newest tell each millisecond backwards too. */
const areNewestFirst = (fills: readonly Fill[]): boolean =>
  fills.reduce((forwards, { time }, index) => forwards + Math.sign(time - (fills[index - 1]?.time ?? time)), 0) < 0;

/** Without repetitions, oldest first, each reckoned and with its place among the fills of its millisecond: places as given, chains put right. */
function inOrder(fills: readonly Fill[]): ReckonedFill[] {
  const distinct = firstOfEach(fills);
  if (areNewestFirst(fills)) distinct.reverse();
  const next = new Map<number, number>();
  const chains = new Map<string, OrderedFill[]>();
  const ordered = distinct.map((fill) => {
    const seq = next.get(fill.time) ?? 0;
    next.set(fill.time, seq + 1);
    // In place: a copy of so many fields takes as long as decoding them.
    const placed = fill as ReckonedFill;
    const { usd_value, open_size } = amountsOf(fill);
    placed.seq = seq;
    placed.usd_value = usd_value;
    placed.open_size = open_size;
    addTo(chains, `${fill.trader}|${fill.coin}|${fill.time}`, placed);
    return placed;
  });
  for (const chain of chains.values()) {
    if (chain.length < 2) continue;
    const places = chain.map(({ seq }) => seq);
    const order = chainOrder(chain.map(linkOf));
    order.forEach((index, place) => ((chain[index] as OrderedFill).seq = places[place] as number));
  }
  return ordered;
}
