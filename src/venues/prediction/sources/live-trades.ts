import { pageOf } from '../../../workers/pages';
import type { LiveSource, LiveStep } from '../../../workers/source';
import type { Upstream } from '../../../workers/upstream';
import { dataApiTrades } from './data-api';
import { type Ask, type Slice, readSpan, secondOf } from './live-span';

/** How late rows may come and still be found. */
export interface Overlap {
  /** Read again by every poll. */
  quick_s: number;
  /** Read again by a poll every `deep_every_s`. */
  deep_s: number;
  deep_every_s: number;
}

export interface TradesCursor {
  /** Unix second of the newest row that was read: what the listing tells behind it may be all, or not all yet. */
  until: number;
  /** When a deep span was last read again. */
  deep_at: number;
  /** Whether the last deep poll found rows so often that a long silence is the listing's, not the market's. */
  busy: boolean;
}

export const unixSecond = (at: Date): number => Math.floor(at.getTime() / 1_000);

/** Where a poll begins, and whether it is a deep one: also after one by a clock that has been set back since. */
export function spanOf(cursor: TradesCursor, to: number, overlap: Overlap): { from: number; deep: boolean } {
  const since = to - cursor.deep_at;
  const deep = since < 0 || since >= overlap.deep_every_s;
  return { from: cursor.until - (deep ? overlap.deep_s : overlap.quick_s), deep };
}

/** A listing of everybody's trades that tells a row this often or oftener is never silent for so long, unless it lags while it answers. */
const BUSY_S = 5;
const SILENT_S = 600;

/** How far a poll has come: the cursor goes no further than the newest row, so that what a lagging listing tells later is read when it does. */
export class Reach {
  private newest: number;
  private rows = 0;
  /** Unix second of the newest row that this poll was told; 0 before the first. */
  told = 0;

  /** A poll up to `to`, from unix second `from` on; `deep`: whether it is a deep one. */
  constructor(
    private readonly known: TradesCursor,
    private readonly span: { from: number; to: Date; deep: boolean },
  ) {
    this.newest = known.until;
  }

  /** Where the feed stands with this slice, the last one read; the watermark is null once a busy listing has told nothing for too long. */
  with(slice: Slice): { at: TradesCursor; watermark: Date | null; done: boolean } {
    const { from, to, deep } = this.span;
    const { rows } = slice;
    for (const row of rows) this.told = Math.max(this.told, secondOf(row) ?? 0);
    this.newest = Math.max(this.newest, this.told);
    this.rows += rows.length;
    const until = slice.to * 1_000 > to.getTime() ? to : new Date(slice.to * 1_000);
    const done = until === to && deep;
    const busy = done ? this.rows * BUSY_S >= this.newest - from : this.known.busy;
    const silent = busy && unixSecond(until) - this.newest > SILENT_S;
    return {
      at: { until: this.newest, deep_at: done ? slice.to : this.known.deep_at, busy },
      watermark: silent ? null : until,
      done,
    };
  }
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
    late_ms: overlap.quick_s * 1_000,
    poll_ms,
    begin: (from) => ({ until: unixSecond(from), deep_at: unixSecond(from), busy: false }) satisfies TradesCursor,
    head: ({ now }) => Promise.resolve(now()),
    async *update(cursor, to, { signal }) {
      const known = cursor as unknown as TradesCursor;
      const end = unixSecond(to) + 1;
      const { from, deep } = spanOf(known, end, overlap);
      const reach = new Reach(known, { from, to, deep });
      for await (const slice of readSpan(askTrades(data, true, signal), from, end)) {
        const { at, watermark } = reach.with(slice);
        yield { pages: slice.rows.length === 0 ? [] : [tradesPage(true, slice)], cursor: { ...at }, watermark, skipped: slice.skipped };
      }
    },
  };
}
