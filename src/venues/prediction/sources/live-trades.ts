import { pageOf } from '../../../workers/pages';
import type { LiveSource, LiveStep } from '../../../workers/source';
import type { Upstream } from '../../../workers/upstream';
import { dataApiTrades } from './data-api';
import { type Ask, type Slice, readSpan } from './live-span';

/** How late rows may come and still be found. */
export interface Overlap {
  /** Read again by every poll. */
  quick_s: number;
  /** Read again by a poll every `deep_every_s`. */
  deep_s: number;
  deep_every_s: number;
}

export interface TradesCursor {
  /** Unix second up to which rows were read. */
  until: number;
  /** When a deep span was last read again. */
  deep_at: number;
}

export const unixSecond = (at: Date): number => Math.floor(at.getTime() / 1_000);

/** Where a poll begins, and whether it is a deep one. */
export function spanOf(cursor: TradesCursor, to: number, overlap: Overlap): { from: number; deep: boolean } {
  const deep = to - cursor.deep_at >= overlap.deep_every_s;
  return { from: cursor.until - (deep ? overlap.deep_s : overlap.quick_s), deep };
}

/** Asks `/trades` for everybody's rows. */
export const askTrades =
  (data: Upstream, takerOnly: boolean, signal: AbortSignal): Ask =>
  (window) =>
    data.get('/trades', { takerOnly, ...window }, signal);

/** A slice as the recorded page it would be in an archive. */
export const tradesPage = (takerOnly: boolean, { from, to, rows }: Slice): LiveStep['pages'][number] => ({
  source: dataApiTrades,
  page: pageOf(`trades-takerOnly=${takerOnly}-${from}-${to}.json`, 'json', rows),
});

/** Takers' fills of all markets: each match once. They are the venue's volume. */
export function liveTrades(data: Upstream, poll_ms: number, overlap: Overlap): LiveSource {
  return {
    name: 'prediction.trades',
    continues: 'prediction.trades',
    gates: true,
    poll_ms,
    begin: (from) => ({ until: unixSecond(from), deep_at: unixSecond(from) }) satisfies TradesCursor,
    head: ({ now }) => Promise.resolve(now()),
    async *update(cursor, to, { signal }) {
      const known = cursor as unknown as TradesCursor;
      const end = unixSecond(to) + 1;
      const { from, deep } = spanOf(known, end, overlap);
      for await (const slice of readSpan(askTrades(data, true, signal), from, end)) {
        const whole = slice.to >= end;
        const until = Math.max(known.until, Math.min(slice.to, end - 1));
        yield {
          pages: slice.rows.length === 0 ? [] : [tradesPage(true, slice)],
          cursor: { until, deep_at: whole && deep ? end : known.deep_at } satisfies TradesCursor,
          watermark: whole ? to : new Date(until * 1_000),
          skipped: slice.skipped,
        };
      }
    },
  };
}
