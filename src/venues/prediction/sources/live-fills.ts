import type { Pool } from 'pg';
import type { LiveContext, LiveSource, LiveStep } from '../../../workers/source';
import type { Upstream } from '../../../workers/upstream';
import { retractFills } from '../rollups/retract';
import { decodeDataApiRow } from './data-api-row';
import { type Slice, readSpan } from './live-span';
import { type Overlap, Reach, type TradesCursor, askTrades, spanOf, tradesPage, unixSecond } from './live-trades';
import { NaturalKeys } from './natural-key';
import { isUnusable } from './record';

/** More missing rows than this in one poll are a fault of the listing, not a correction. */
const MOST_TAKEN_BACK = 200;

interface FillsCursor extends TradesCursor {
  /** Ids of kept fills that the last deep poll did not find in the listing. */
  doubted: readonly string[];
}

/**
 * Fills of takers and makers alike, so that every wallet's history is whole. The listing tells a reorganised chain's trades or corrected rows by
 * no longer telling the old ones: a kept fill that two deep polls in a row do not find, though they tell newer ones, is taken back, with the seconds around it read anew.
 */
export function liveFills(data: Upstream, poll_ms: number, overlap: Overlap): LiveSource {
  return {
    name: 'prediction.fills',
    continues: 'prediction.trades',
    gates: true,
    late_ms: overlap.quick_s * 1_000,
    poll_ms,
    begin: (from) => ({ until: unixSecond(from), deep_at: unixSecond(from), busy: false, doubted: [] }) satisfies FillsCursor,
    head: ({ now }) => Promise.resolve(now()),
    update: (cursor, to, context) => readFills(data, cursor as unknown as FillsCursor, to, overlap, context),
    invalidate: retractFills,
  };
}

async function* readFills(data: Upstream, known: FillsCursor, to: Date, overlap: Overlap, context: LiveContext): AsyncGenerator<LiveStep> {
  const end = unixSecond(to) + 1;
  const { from, deep } = spanOf(known, end, overlap);
  const doubted = new Set(known.doubted);
  const missing: string[] = [];
  const reach = new Reach(known, { from, to, deep });
  for await (const slice of readSpan(askTrades(data, false, context.signal), from, end)) {
    const { at, watermark, done } = reach.with(slice);
    // What is newer than the quick overlap may not be listed yet; behind the newest row it tells a listing may lag, or be out of order and tell nothing.
    const gone = deep ? await listGone(context.db, slice, Math.min(end - overlap.quick_s, reach.told)) : [];
    missing.push(...gone);
    const confirmed = gone.length <= MOST_TAKEN_BACK && gone.some((id) => doubted.has(id));
    yield {
      pages: [...(slice.rows.length === 0 ? [] : [tradesPage(false, slice)]), ...(confirmed ? await takers(data, slice, context) : [])],
      cursor: {
        ...at,
        doubted: done ? missing.slice(0, MOST_TAKEN_BACK) : known.doubted,
      } satisfies FillsCursor,
      watermark,
      skipped: { ...slice.skipped, ...(gone.length > MOST_TAKEN_BACK ? { implausible_retraction: gone.length } : {}) },
      ...(confirmed
        ? { invalidates: { from: new Date(slice.from * 1_000), to: new Date(Math.min(slice.to, reach.told + 1) * 1_000) } }
        : {}),
    };
  }
}

const KEPT_FILLS = `SELECT trade_id FROM pm_trade WHERE "timestamp" >= to_timestamp($1) AND "timestamp" < to_timestamp($2) AND side IN ('BUY', 'SELL')`;

/** Kept fills of the slice's seconds before `settled` that the listing does not tell. */
async function listGone(db: Pool, slice: Slice, settled: number): Promise<string[]> {
  const { rows } = await db.query<{ trade_id: string }>(KEPT_FILLS, [slice.from, Math.min(slice.to, settled)]);
  if (rows.length === 0) return [];
  const keys = new NaturalKeys();
  const told = new Set(
    slice.rows.flatMap((row) => {
      const decoded = decodeDataApiRow(row);
      return isUnusable(decoded) ? [] : [keys.idOf(decoded)];
    }),
  );
  return rows.map(({ trade_id }) => trade_id).filter((id) => !told.has(id));
}

/** Which fills of a slice are takers': they are removed with it, and told anew. */
async function takers(data: Upstream, slice: Slice, { signal }: LiveContext): Promise<LiveStep['pages']> {
  const pages: LiveStep['pages'][number][] = [];
  for await (const part of readSpan(askTrades(data, true, signal), slice.from, slice.to))
    if (part.rows.length > 0) pages.push(tradesPage(true, part));
  return pages;
}
