import type { Pool } from 'pg';
import { MINUTE_MS } from '../../../lib/time';
import { pageOf } from '../../../workers/pages';
import type { LiveSource, LiveStep, RecordedSource } from '../../../workers/source';
import { askInTurn, isRefusal } from '../../../workers/turns';
import { type Query, type Upstream, UpstreamError } from '../../../workers/upstream';
import type { PoolType } from '../chain-addresses';
import { dammV2Pools } from './damm-v2-pools';
import { dlmmPools } from './dlmm-pools';
import { integer, isObject } from './record';

/** Hosts of the index, by pool type. */
export type Indexes = Readonly<Record<PoolType, Upstream>>;

const SOURCES: Readonly<Record<PoolType, RecordedSource>> = { dlmm: dlmmPools, damm_v2: dammV2Pools };
/** The index's own limit of a page. */
const PAGE = 1_000;
/** Newest pools looked at between two readings of the list. */
const NEWEST = 100;
/** Pools known only from their events that are asked for at once. */
const BARE = 50;

/** How often the list is read, in milliseconds: those of its pools that hold something, and all of it. */
export interface PoolsPaces {
  held_every_ms: number;
  whole_every_ms: number;
}

/** A pool holds something when it holds more than this. */
export const HELD_USD = 1_000;
/**
 * Nearly all pools hold next to nothing, and every reading keeps a price for each of their tokens. All are read again within the hour, for as long
 * does a price count, and every hour is to have its liquidity.
 */
export const POOLS_PACES: PoolsPaces = { held_every_ms: 10 * MINUTE_MS, whole_every_ms: 50 * MINUTE_MS };

interface PoolsCursor {
  /** When the whole list was last read; null: never. */
  whole_at: string | null;
  /** When those that hold something were, be it with the whole list; left out: with it. */
  held_at?: string | null;
  /** Bare pools up to this address were asked for. */
  bare_after: string;
}

/** `2026-03-11T12-00-00Z`, as page names say what time they are of. */
export const stampOf = (at: Date): string => at.toISOString().slice(0, 19).replace(/:/g, '-') + 'Z';

/**
 * The catalogue of both pool types: the whole list now and then, those that hold something more often, the newest pools in between, and those that
 * events told of before any list did. Liquidity and token prices come with it.
 */
export function livePools(indexes: Indexes, poll_ms: number, { held_every_ms, whole_every_ms }: PoolsPaces = POOLS_PACES): LiveSource {
  return {
    name: 'lp.pools',
    continues: null,
    gates: false,
    poll_ms,
    begin: () => ({ whole_at: null, bare_after: '' }) satisfies PoolsCursor,
    head: ({ now }) => Promise.resolve(now()),
    async *update(cursor, to, { signal, db }) {
      const known = cursor as unknown as PoolsCursor;
      const { whole_at, held_at = whole_at } = known;
      const isDue = (last: string | null, every_ms: number): boolean => last === null || to.getTime() - Date.parse(last) >= every_ms;
      const reading = isDue(whole_at, whole_every_ms) ? 'whole' : isDue(held_at, held_every_ms) ? 'held' : 'newest';
      for (const type of ['dlmm', 'damm_v2'] as const)
        for await (const answer of LISTS[reading](indexes[type], signal))
          yield { pages: [pageFor(type, answer, to)], cursor, watermark: null };
      const bare = await listBare(db, known.bare_after);
      const next = {
        whole_at: reading === 'whole' ? to.toISOString() : whole_at,
        held_at: reading === 'newest' ? held_at : to.toISOString(),
        bare_after: bare.length < BARE ? '' : (bare.at(-1)?.pool_address ?? ''),
      };
      yield { ...(await asked(indexes, bare, to, signal)), cursor: next satisfies PoolsCursor, watermark: to };
    },
  };
}

const pageFor = (type: PoolType, record: unknown, at: Date): LiveStep['pages'][number] => ({
  source: SOURCES[type],
  page: pageOf(`${type}_pools_${stampOf(at)}.json`, 'json', [record]),
});

/** Pages of the index. */
type List = (index: Upstream, signal: AbortSignal) => AsyncGenerator<unknown>;

const LISTS: Readonly<Record<'whole' | 'held' | 'newest', List>> = {
  whole: (index, signal) => listed(index, {}, signal),
  held: listHeld,
  newest: async function* (index, signal) {
    yield await index.get('/pools', { page: 1, page_size: NEWEST, sort_by: 'pool_created_at:desc' }, signal);
  },
};

/** Those that hold something; all, where the index does not choose. */
async function* listHeld(index: Upstream, signal: AbortSignal): AsyncGenerator<unknown> {
  try {
    yield* listed(index, { filter_by: `tvl>${HELD_USD}` }, signal);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    yield* listed(index, {}, signal);
  }
}

async function* listed(index: Upstream, chosen: Query, signal: AbortSignal): AsyncGenerator<unknown> {
  // Oldest first: a pool that is made meanwhile comes last and moves no other.
  for (let page = 1, before: unknown; ; page += 1) {
    const answer = await index.get('/pools', { page, page_size: PAGE, sort_by: 'pool_created_at:asc', ...chosen }, signal);
    if (!isObject(answer) || !Array.isArray(answer.data)) throw new UpstreamError('/pools did not answer with a page', null);
    if (answer.data.length === 0) return;
    const [first] = answer.data as unknown[];
    const address = isObject(first) ? first.address : undefined;
    if (address !== undefined && address === before) throw new UpstreamError('/pools answered the same page again', null);
    before = address;
    yield answer;
    const pages = integer(answer.pages);
    // Where it does not say how many there are, an empty one is the end.
    if (pages !== null && page >= pages) return;
  }
}

interface BarePool {
  pool_address: string;
  pool_type: PoolType;
}

async function listBare(db: Pool, after: string): Promise<BarePool[]> {
  const { rows } = await db.query<BarePool>(
    'SELECT pool_address, pool_type FROM lp_pool WHERE NOT catalogued AND pool_address > $1 ORDER BY pool_address LIMIT $2',
    [after, BARE],
  );
  return rows;
}

async function asked(
  indexes: Indexes,
  bare: readonly BarePool[],
  to: Date,
  signal: AbortSignal,
): Promise<Pick<LiveStep, 'pages' | 'skipped'>> {
  const ask = ({ pool_address, pool_type }: BarePool): Promise<unknown> => indexes[pool_type].get(`/pools/${pool_address}`, {}, signal);
  const { told, skipped } = await askInTurn('pool', bare, ask, true);
  return { pages: told.map(({ one, answer }) => pageFor(one.pool_type, answer, to)), skipped };
}
