import { AppError, notKnown } from '../../../errors';
import type { lp_pool as PoolRecord } from '../../../generated/prisma/client';
import { type BucketSize, type Grid, sizeBeside } from '../../../lib/grid';
import type { Timeframe } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import type { PoolType } from '../chain-addresses';
import { makeLoaders } from '../loaders';
import { lifeIn } from '../queries/buckets';
import type { PoolIds } from '../queries/pool-ids';

export type PoolTypeFilter = PoolType | 'all';
export const typeOf = (filter: PoolTypeFilter): PoolType | null => (filter === 'all' ? null : filter);

export interface AskedPool {
  pool_address: string;
  pool_type: PoolType | 'auto';
}

/** The pool, if it exists at this time. */
export async function poolNow(pool_address: string, context: GraphContext): Promise<PoolRecord | null> {
  const pool = await context.loaders(makeLoaders).pool.load(pool_address);
  return pool === null || (pool.created_at !== null && pool.created_at > context.now) ? null : pool;
}

/** The pool, if it exists at this time and is of the type asked for. Throws AppError not_found. */
export async function poolOf({ pool_address, pool_type }: AskedPool, context: GraphContext): Promise<PoolRecord> {
  const pool = await poolNow(pool_address, context);
  if (pool === null)
    throw notKnown('pool_address', pool_address, 'is no known pool', {
      method: 'GET',
      path: '/api/v1/lp/pools/search',
      note: 'pools by their name',
    });
  if (pool_type !== 'auto' && pool.pool_type !== pool_type) {
    throw new AppError('not_found', {
      message: `This pool is not a ${pool_type} pool.`,
      details: [{ param: 'pool_type', issue: 'is not the type of this pool', allowed: pool.pool_type, got: pool_type }],
      suggestion: { pool_type: pool.pool_type },
    });
  }
  return pool;
}

/** How many events of all rows have no USD value. */
export const unpricedOf = (rows: readonly { unpriced: number | string }[]): number =>
  rows.reduce((sum, row) => sum + Number(row.unpriced), 0);

export function warnOfUnpriced(count: number, how: string, { meta }: GraphContext): void {
  if (count > 0) meta.warnings.push(`${count} ${count === 1 ? 'event has' : 'events have'} no known USD value: ${how}`);
}

/** Which swaps an answer counts: those of streams that are read. */
export const warnOfSwaps = (seen: boolean, { meta }: GraphContext): void => void meta.warnings.push(`swaps: ${seen ? 'sampled' : 'none'}`);

/** The next longer window, for a suggestion; undefined when there is none. */
const WIDER: Partial<Record<Timeframe, Timeframe>> = {
  '24h': '7d',
  today: '7d',
  '7d': '30d',
  '30d': '90d',
  '90d': '365d',
  '365d': 'all',
  all: undefined,
};

const widerThan = (timeframe: Timeframe): Timeframe | undefined => (timeframe in WIDER ? WIDER[timeframe] : '24h');

/** Nothing in the window: suggests a wider one, and without the type where one was asked for and no window is wider. */
export function nothingIn(timeframe: Timeframe | null, dropped: Record<string, unknown> = {}): AppError {
  const wider = timeframe === null ? undefined : widerThan(timeframe);
  const suggestion = wider === undefined ? dropped : { timeframe: wider };
  return new AppError('empty_result', Object.keys(suggestion).length > 0 ? { suggestion } : {});
}

/** Nothing in the window of a pool's series: suggests a wider one, with buckets that are not too many of it. */
export async function nothingInSeries<Size extends BucketSize>(
  { sql, now }: GraphContext,
  pool: PoolRecord,
  timeframe: Timeframe,
  grid: Grid<Size>,
): Promise<AppError> {
  const wider = widerThan(timeframe);
  if (wider === undefined) return nothingIn(timeframe);
  const { window } = await lifeIn(sql, { timeframe: wider, now, pool });
  return new AppError('empty_result', { suggestion: { timeframe: wider, ...sizeBeside(window, grid) } });
}

/** What a suggestion without the type asked for changes. */
export const typeDropped = (pool_type: PoolTypeFilter): Record<string, unknown> => (pool_type === 'all' ? {} : { pool_type: 'all' });

/** What names the pools, by their addresses. */
export async function idsOf(addresses: readonly string[], context: GraphContext): Promise<Map<string, PoolIds | null>> {
  const { poolIds } = context.loaders(makeLoaders);
  const loaded = await Promise.all(addresses.map((address) => poolIds.load(address)));
  return new Map(addresses.map((address, place) => [address, loaded[place] as PoolIds | null]));
}

/** The identifying fields of each row's pool, with the row. */
export async function withIds<Row extends { pool_address: string }>(
  rows: readonly Row[],
  context: GraphContext,
): Promise<(Row & PoolIds)[]> {
  const ids = await idsOf([...new Set(rows.map((row) => row.pool_address))], context);
  // A spread copies the shape of the row, which has no room for as many more fields: a tenth of its speed.
  return rows.map((row) => Object.assign({}, row, ids.get(row.pool_address) as PoolIds));
}
