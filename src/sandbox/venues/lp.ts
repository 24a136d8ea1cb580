import type { Clock } from '../../lib/clock';
import { slotOf } from '../simulator/lp/transactions';
import type { LpWorld } from '../simulator/lp';
import type { VenueWorld } from '../simulator/world';
import { type KnownTx, PoolsPast } from './lp-past';
import { type PretendUpstream, type Reply, startUpstreamServer } from './upstream-server';

/** The pools', with what tests may do to their chain. */
export interface PretendPools extends PretendUpstream {
  /** Transactions for which it holds are listed, and not found when they are asked for. */
  lose(tx: (signature: string) => boolean): void;
}

export interface PoolsUpstreamOptions {
  /** A world of pools. */
  world: VenueWorld;
  /** The chain and the index tell what happened from here on. */
  since: Date;
  clock: Clock;
  seed?: number;
}

/** A finalised block is this old. */
const FINALITY_MS = 13_000;
const LISTED_AT_MOST = 1_000;

/**
 * A Solana node (`getSlot`, `getBlockTime`, `getSignaturesForAddress`, `getTransaction`, batches) and the index of both pool types (`/pools`, one
 * pool, its volume history, histories of positions) over a simulated world that lives on as the clock goes.
 */
export async function startPoolsUpstream({ world, since, clock, seed = 1 }: PoolsUpstreamOptions): Promise<PretendPools> {
  if (!isOfPools(world)) throw new Error('This is not a world of pools.');
  const past = new PoolsPast(world, since);
  const catalogue = (at: Date): Row[] => world.catalogue(at);
  let lost: (signature: string) => boolean = () => false;
  const server = await startUpstreamServer(async ({ method, path, query, body }) => {
    const now = clock.now();
    await past.live(now);
    if (path === '/rpc')
      return method === 'POST' ? { status: 200, body: answerAll(body, { past, finalised: now.getTime() - FINALITY_MS, lost }) } : undefined;
    const [, host, ...rest] = path.split('/');
    return host === 'dlmm' || host === 'damm'
      ? indexed({ past, pools: catalogue(now) }, host === 'dlmm' ? 'dlmm' : 'damm_v2', rest, query)
      : undefined;
  }, seed);
  return {
    urls: { rpc: `${server.url}/rpc`, dlmm: `${server.url}/dlmm`, damm: `${server.url}/damm` },
    faults: server.faults,
    lose: (tx) => (lost = tx),
    stop: () => server.stop(),
  };
}

type Row = Readonly<Record<string, unknown>>;

const isOfPools = (world: VenueWorld): world is LpWorld => 'catalogue' in world;

interface Chain {
  past: PoolsPast;
  /** Newest finalised instant. */
  finalised: number;
  lost: (signature: string) => boolean;
}

interface Call {
  id: unknown;
  method: string;
  params: unknown[];
}

const answerAll = (body: unknown, chain: Chain): unknown =>
  Array.isArray(body) ? body.map((call) => answer(call as Call, chain)) : answer(body as Call, chain);

function answer({ id, method, params }: Call, chain: Chain): Record<string, unknown> {
  const make = METHODS[method];
  if (make === undefined) return { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } };
  return { jsonrpc: '2.0', id, result: make(params, chain) };
}

const METHODS: Readonly<Record<string, (params: unknown[], chain: Chain) => unknown>> = {
  getSlot: (_params, { finalised }) => slotOf(finalised),
  // Slots of 0.4 s: of an instant on a slot's edge the second is told that is surely over.
  getBlockTime: (_params, { finalised }) => Math.floor(finalised / 1_000),
  getSignaturesForAddress: ([address, options], chain) => signatures(String(address), (options ?? {}) as ListOptions, chain),
  getTransaction: ([signature], { past, finalised, lost }) => {
    const tx = past.bySignature.get(String(signature));
    return tx === undefined || tx.at * 1_000 > finalised || lost(tx.signature) ? null : tx.result;
  },
};

interface ListOptions {
  limit?: number;
  before?: string;
  until?: string;
}

/** Newest first, like a node lists them. */
function signatures(
  address: string,
  { limit = LISTED_AT_MOST, before, until }: ListOptions,
  { past, finalised }: Chain,
): Record<string, unknown>[] {
  const listed: Record<string, unknown>[] = [];
  let found = before === undefined;
  for (let i = past.txs.length - 1; i >= 0 && listed.length < Math.min(limit, LISTED_AT_MOST); i -= 1) {
    const tx = past.txs[i] as KnownTx;
    if (tx.signature === until) break;
    if (found && tx.at * 1_000 <= finalised && tx.accounts.includes(address)) listed.push(row(tx));
    if (tx.signature === before) found = true;
  }
  return listed;
}

const row = ({ signature, slot, at, err }: KnownTx): Record<string, unknown> => ({
  signature,
  slot,
  blockTime: at,
  err,
  memo: null,
  confirmationStatus: 'finalized',
});

type PoolType = 'dlmm' | 'damm_v2';
const typeOf = (pool: Readonly<Record<string, unknown>>): PoolType => ('bin_step' in (pool.pool_config as object) ? 'dlmm' : 'damm_v2');

/** What the index knows now, and its answers below a host. */
interface Index {
  past: PoolsPast;
  pools: readonly Row[];
}

function indexed({ past, pools }: Index, type: PoolType, [what, address, ...rest]: string[], query: URLSearchParams): Reply | undefined {
  if (what === 'positions' && address !== undefined && rest.join('/') === 'historical')
    return {
      status: 200,
      body: { events: [...(past.histories.get(address) ?? [])].sort((a, b) => (b.blockTime as number) - (a.blockTime as number)) },
    };
  if (what !== 'pools') return undefined;
  if (address === undefined) {
    const chosen = choose(pools, query.get('filter_by'));
    return chosen === null ? { status: 400, body: { error: 'invalid filter_by' } } : { status: 200, body: listing(chosen, type, query) };
  }
  const pool = pools.find((one) => one.address === address);
  if (pool === undefined || typeOf(pool) !== type) return undefined;
  return rest.length === 0
    ? { status: 200, body: pool }
    : rest.join('/') === 'volume/history'
      ? { status: 200, body: volumes(past, address, query) }
      : undefined;
}

type Told = Row[string];
const COMPARED: Readonly<Record<string, (told: Told, bound: string) => boolean>> = {
  '>': (told, bound) => Number(told) > Number(bound),
  '<': (told, bound) => Number(told) < Number(bound),
  '>=': (told, bound) => Number(told) >= Number(bound),
  '<=': (told, bound) => Number(told) <= Number(bound),
  '=': (told, bound) => String(told) === bound,
};

/** The pools of which every part of `tvl>1000 && is_blacklisted=false` holds; null where a part is not of that form. */
function choose(pools: readonly Row[], filter: string | null): readonly Row[] | null {
  if (filter === null) return pools;
  let chosen = pools;
  for (const part of filter.split('&&')) {
    const [, field = '', sign = '', bound = ''] = /^(\w+)(>=|<=|>|<|=)([\w.-]+)$/.exec(part.trim()) ?? [];
    const holds = COMPARED[sign];
    if (holds === undefined) return null;
    chosen = chosen.filter((pool) => holds(pool[field], bound));
  }
  return chosen;
}

function listing(rows: readonly Row[], type: PoolType, query: URLSearchParams): Record<string, unknown> {
  const size = Math.min(Number(query.get('page_size') ?? 10), LISTED_AT_MOST);
  const page = Number(query.get('page') ?? 1);
  const sign = query.get('sort_by') === 'pool_created_at:desc' ? -1 : 1;
  const pools = rows
    .filter((pool) => typeOf(pool) === type)
    .sort((a, b) => sign * (Number(a.created_at) - Number(b.created_at)) || (String(a.address) < String(b.address) ? -1 : 1));
  return {
    total: pools.length,
    pages: Math.ceil(pools.length / size),
    current_page: page,
    page_size: size,
    data: pools.slice((page - 1) * size, page * size),
  };
}

function volumes(past: PoolsPast, address: string, query: URLSearchParams): Record<string, unknown> {
  const [from, to] = [Number(query.get('start_time') ?? 0), Number(query.get('end_time') ?? Number.MAX_SAFE_INTEGER)];
  const data = (past.volumes.get(address) ?? []).filter(
    (bucket) => (bucket.timestamp as number) >= from && (bucket.timestamp as number) <= to,
  );
  return { start_time: from, end_time: to, timeframe: '1h', data };
}
