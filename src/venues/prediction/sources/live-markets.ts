import type { Pool } from 'pg';
import { pageOf } from '../../../workers/pages';
import type { FeedCursor, LiveContext, LiveSource, LiveStep } from '../../../workers/source';
import { type Upstream, UpstreamError } from '../../../workers/upstream';
import { gammaMarkets } from './gamma-markets';
import { decodeInstant } from './instant';
import { isFields } from './record';

/** Gamma caps a page of /markets at 100 and refuses offsets beyond 10,000. */
const PAGE = 100;
const OFFSET_CAP = 10_000;
/** Changes are listed a little late: this much is read again every time. */
const OVERLAP_MS = 120_000;
/** Markets that are asked for at once by their ids. */
const BY_ID = 50;
/** What is left of the lap under way, and a whole one. */
const LAPS = 2;

interface MarketsCursor {
  /** Changes before this instant are in. */
  until: string;
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
      const { until, stub_after, laps = 0 } = cursor as unknown as Omit<MarketsCursor, 'laps'> & Partial<MarketsCursor>;
      const since = Date.parse(until) - OVERLAP_MS;
      // The cursor moves at the end: newest first, a break in between leaves a gap below.
      let owed = laps;
      for (const closed of [false, true]) if (!(yield* changes(gamma, closed, since, cursor, context.signal))) owed = LAPS;
      const asked = await listAsked(context.db, stub_after, owed > 0);
      const isDone = asked.length < BY_ID;
      const next = {
        until: to.toISOString(),
        stub_after: isDone ? '' : (asked.at(-1) as string),
        laps: isDone ? Math.max(0, owed - 1) : owed,
      };
      const pages = asked.length === 0 ? [] : await byIds(gamma, asked, context);
      yield { pages, cursor: next satisfies MarketsCursor, watermark: to };
    },
  };
}

/** What changed; tells whether the listing reached down to `since`. */
async function* changes(
  gamma: Upstream,
  closed: boolean,
  since: number,
  cursor: FeedCursor,
  signal: AbortSignal,
): AsyncGenerator<LiveStep, boolean> {
  for (let offset = 0; ; offset += PAGE) {
    if (offset > OFFSET_CAP) {
      yield { pages: [], cursor, watermark: null, skipped: { beyond_offset_cap: 1 } };
      return false;
    }
    const query = { limit: PAGE, offset, order: 'updatedAt', ascending: false, closed, include_tag: true };
    const markets = listOf(await gamma.get('/markets', query, signal));
    const changed = markets.filter((market) => changedAt(market) >= since);
    if (changed.length > 0) yield { pages: [page(`markets-closed=${closed}-${offset}.json`, changed)], cursor, watermark: null };
    if (changed.length < markets.length || markets.length === 0) return true;
  }
}

/** A market that does not say when it changed may have changed now. */
const changedAt = (market: unknown): number =>
  (isFields(market) ? decodeInstant(market.updatedAt)?.getTime() : undefined) ?? Number.POSITIVE_INFINITY;

function listOf(answer: unknown): unknown[] {
  if (!Array.isArray(answer)) throw new UpstreamError('/markets did not answer with a list', null);
  return answer as unknown[];
}

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

async function byIds(gamma: Upstream, condition_ids: string[], { signal }: LiveContext): Promise<LiveStep['pages']> {
  const found: unknown[] = [];
  for (const closed of [false, true])
    found.push(...listOf(await gamma.get('/markets', { condition_ids, closed, limit: PAGE, include_tag: true }, signal)));
  return found.length === 0 ? [] : [page('markets-by-id.json', found)];
}
