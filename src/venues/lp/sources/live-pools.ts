import type { Pool } from 'pg';
import { pageOf } from '../../../workers/pages';
import type { LiveSource, LiveStep, RecordedSource } from '../../../workers/source';
import { askInTurn } from '../../../workers/turns';
import { type Upstream, UpstreamError } from '../../../workers/upstream';
import type { PoolType } from '../chain-addresses';
import { dammV2Pools } from './damm-v2-pools';
import { dlmmPools } from './dlmm-pools';
import { integer, isObject } from './record';

/** Hosts of the index, by pool type. */
export type Indexes = Readonly<Record<PoolType, Upstream>>;

const SOURCES: Readonly<Record<PoolType, RecordedSource>> = { dlmm: dlmmPools, damm_v2: dammV2Pools };
/** The index's own limit of a page. */
const PAGE = 1_000;
/** Newest pools looked at between two readings of the whole list. */
const NEWEST = 100;
/** Pools known only from their events that are asked for at once. */
const BARE = 50;

interface PoolsCursor {
  /** When the whole list was last read; null: never. */
  whole_at: string | null;
  /** Bare pools up to this address were asked for. */
  bare_after: string;
}

/** `2026-03-11T12-00-00Z`, as page names say what time they are of. */
export const stampOf = (at: Date): string => at.toISOString().slice(0, 19).replace(/:/g, '-') + 'Z';

/**
 * The catalogue of both pool types: the whole list now and then, the newest pools in between, and those that events told of before any
 * list did. Liquidity and token prices come with it.
 */
export function livePools(indexes: Indexes, poll_ms: number, whole_every_ms: number): LiveSource {
  return {
    name: 'lp.pools',
    continues: null,
    gates: false,
    poll_ms,
    begin: () => ({ whole_at: null, bare_after: '' }) satisfies PoolsCursor,
    head: ({ now }) => Promise.resolve(now()),
    async *update(cursor, to, { signal, db }) {
      const known = cursor as unknown as PoolsCursor;
      const whole = known.whole_at === null || to.getTime() - Date.parse(known.whole_at) >= whole_every_ms;
      for (const type of ['dlmm', 'damm_v2'] as const)
        for await (const answer of lists(indexes[type], whole, signal))
          yield { pages: [pageFor(type, answer, to)], cursor, watermark: null };
      const bare = await listBare(db, known.bare_after);
      const next = {
        whole_at: whole ? to.toISOString() : known.whole_at,
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

async function* lists(index: Upstream, whole: boolean, signal: AbortSignal): AsyncGenerator<unknown> {
  if (!whole) return yield await index.get('/pools', { page: 1, page_size: NEWEST, sort_by: 'pool_created_at:desc' }, signal);
  // Oldest first: a pool that is made meanwhile comes last and moves no other.
  for (let page = 1, before: unknown; ; page += 1) {
    const answer = await index.get('/pools', { page, page_size: PAGE, sort_by: 'pool_created_at:asc' }, signal);
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
