import type { Pool } from 'pg';
import { pageOf } from '../../../workers/pages';
import type { FeedCursor, LiveSource, LiveStep } from '../../../workers/source';
import type { Upstream } from '../../../workers/upstream';
import { gammaMarkets } from './gamma-markets';
import { decodeInstant } from './instant';
import { MarketsListing, PAGE } from './markets-listing';
import { isFields } from './record';

/** Changes are listed a little late: this much is read again every time. */
const OVERLAP_MS = 120_000;
/** Markets that are asked for at once by their ids. */
const BY_ID = 50;
/** What is left of the lap under way, and a whole one. */
const LAPS = 2;

interface MarketsCursor {
  /** Changes of open markets before this instant are in: by the upstream's clock, which may be behind ours. */
  until: string;
  /** The same of closed ones: their listing may lag behind the other. Left out: as far as that one. */
  closed_until?: string;
  /** Markets up to this id were asked for by it in this lap. */
  stub_after: string;
  /** Laps in which not only stubs are asked for, since the listing did not reach down to what was known. */
  laps: number;
}

/**
 * The catalogue: markets in the order they last changed, newest first, down to what is known; open and closed ones are listed
 * apart. Then, by their ids, the markets that trades told of and no listing did; after an outage in which more changed than the listing reaches,
 * all that are not settled.
 */
export function liveMarkets(gamma: Upstream, poll_ms: number): LiveSource {
  return {
    name: 'prediction.markets',
    continues: 'prediction.markets',
    gates: true,
    poll_ms,
    begin: (from) => ({ until: from.toISOString(), stub_after: '', laps: 0 }) satisfies MarketsCursor,
    head: ({ now }) => Promise.resolve(now()),
    async *update(cursor, to, context) {
      const known = cursor as unknown as Omit<MarketsCursor, 'laps'> & Partial<MarketsCursor>;
      const { until, closed_until = until, stub_after, laps = 0 } = known;
      // The cursor moves at the end: newest first, a break in between leaves a gap below.
      let owed = laps;
      const listing = new MarketsListing(gamma, context.signal);
      const newest = async function* (closed: boolean, from: string): AsyncGenerator<LiveStep, string> {
        const read = yield* changes(listing, closed, Date.parse(from) - OVERLAP_MS, cursor);
        if (!read.whole) owed = LAPS;
        return new Date(Math.max(Date.parse(from), ...read.changedAt.filter((at) => at <= to.getTime()))).toISOString();
      };
      const reached = { until: yield* newest(false, until), closed_until: yield* newest(true, closed_until) };
      const asked = await listAsked(context.db, stub_after, owed > 0);
      const isDone = asked.length < BY_ID;
      const next = {
        ...reached,
        stub_after: isDone ? '' : (asked.at(-1) as string),
        laps: isDone ? Math.max(0, owed - 1) : owed,
      };
      const pages = asked.length === 0 ? [] : await byIds(listing, asked);
      yield { pages, cursor: next satisfies MarketsCursor, watermark: to };
    },
  };
}

interface Changes {
  /** Whether the listing reached down to what was known. */
  whole: boolean;
  /** When the markets of its first page changed: the newest of all. */
  changedAt: number[];
}

/** What changed since then. */
async function* changes(listing: MarketsListing, closed: boolean, since: number, cursor: FeedCursor): AsyncGenerator<LiveStep, Changes> {
  const pages = listing.pages({ order: 'updatedAt', ascending: false, closed });
  let newest: number[] = [];
  for (let number = 0; ; number += 1) {
    const { value, done } = await pages.next();
    if (done === true) {
      if (value !== null) yield { pages: [], cursor, watermark: null, skipped: { [value]: 1 } };
      return { whole: value === null, changedAt: newest };
    }
    if (number === 0) newest = value.map(changedAt);
    const changed = value.filter((market) => changedAt(market) >= since);
    if (changed.length > 0) yield { pages: [page(`markets-closed=${closed}-${number * PAGE}.json`, changed)], cursor, watermark: null };
    if (changed.length < value.length) return { whole: true, changedAt: newest };
  }
}

/** A market that does not say when it changed may have changed now. */
const changedAt = (market: unknown): number =>
  (isFields(market) ? decodeInstant(market.updatedAt)?.getTime() : undefined) ?? Number.POSITIVE_INFINITY;

const page = (name: string, records: unknown[]): LiveStep['pages'][number] => ({
  source: gammaMarkets,
  page: pageOf(name, 'json', records),
});

async function listAsked(db: Pool, after: string, unsettled: boolean): Promise<string[]> {
  const { rows } = await db.query<{ condition_id: string }>(
    'SELECT condition_id FROM pm_market WHERE (is_stub OR ($3 AND resolved_at IS NULL)) AND condition_id > $1 ORDER BY condition_id LIMIT $2',
    [after, BY_ID, unsettled],
  );
  return rows.map(({ condition_id }) => condition_id);
}

async function byIds(listing: MarketsListing, condition_ids: string[]): Promise<LiveStep['pages']> {
  const found: unknown[] = [];
  for (const closed of [false, true]) {
    const { value } = await listing.pages({ condition_ids, closed }).next();
    if (Array.isArray(value)) found.push(...(value as unknown[]));
  }
  return found.length === 0 ? [] : [page('markets-by-id.json', found)];
}
