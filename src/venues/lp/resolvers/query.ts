import type { AppError } from '../../../errors';
import { decodeCursor, encodeCursor, listScope } from '../../../lib/cursor';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolvers } from '../../venue';
import { POOL_TYPES, type PoolType } from '../chain-addresses';
import { makeLoaders } from '../loaders';
import { findBirth, windowBefore } from '../queries/buckets';
import { getPlatformStats, type PlatformStats } from '../queries/platform-stats';
import { EVENT_FORMS, eventPosition, listPoolEvents, listPoolSwaps, SWAP_FORMS, swapPosition } from '../queries/pools-events';
import type { PoolIds } from '../queries/pool-ids';
import { searchPools } from '../queries/pools-search';
import type { EventKind } from '../store/rows';
import { nothingIn, poolOf, type PoolTypeFilter, typeDropped, typeOf, unpricedOf, warnOfSwaps, warnOfUnpriced, withIds } from './asked';
import { shownEvent, type ShownEvent } from './pool-event';
import { nameScores } from './score-now';

interface PoolsEventsInput {
  pool_address: string;
  pool_type: PoolType | 'auto';
  limit: number;
  event_type: string | null;
  min_usd: number;
  owner: string | null;
  field_case: 'native' | 'snake';
  cursor: string | null;
}

const FILTER_WORDS: Record<string, EventKind | 'swap'> = {
  deposit: 'deposit',
  AddLiquidity: 'deposit',
  add_liquidity: 'deposit',
  withdraw: 'withdraw',
  RemoveLiquidity: 'withdraw',
  remove_liquidity: 'withdraw',
  claim: 'claim',
  ClaimFee: 'claim',
  claim_fee: 'claim',
  swap: 'swap',
};

/** Deposits, withdrawals and claims of a pool, or its swaps, newest first. */
async function lpPoolsEvents(_root: unknown, input: PoolsEventsInput, context: GraphContext): Promise<ShownEvent[]> {
  const [pool, ids, born] = await Promise.all([
    poolOf(input, context),
    context.loaders(makeLoaders).poolIds.load(input.pool_address),
    findBirth(context.sql, input.pool_address),
  ]);
  const { limit, min_usd, field_case } = input;
  const [kind, owner] = [input.event_type == null ? null : FILTER_WORDS[input.event_type], input.owner ?? null];
  const swaps = kind === 'swap';
  const scope = listScope('lp/pools/events', input);
  const after = input.cursor == null ? null : decodeCursor(input.cursor, scope, swaps ? SWAP_FORMS : EVENT_FORMS);
  const args = {
    pool_address: pool.pool_address,
    kind: swaps ? null : (kind ?? null),
    min_usd,
    owner,
    born: born ?? context.now,
    now: context.now,
    after,
    limit: limit + 1,
  };
  const page = swaps
    ? pageOf(await listPoolSwaps(context.sql, args), limit, swapPosition)
    : pageOf(await listPoolEvents(context.sql, args), limit, eventPosition);
  if (page.rows.length === 0) throw nothingOf({ event_type: input.event_type, min_usd, owner });
  const { meta } = context;
  meta.count = page.rows.length;
  meta.next_cursor = page.last === null ? null : encodeCursor(page.last, scope);
  warnOfUnpriced(page.rows.filter((row) => row.usd === null).length, 'shown without USD', context);
  if (swaps) warnOfSwaps(true, context);
  return page.rows.map((row) => shownEvent(row, ids as PoolIds, field_case === 'snake'));
}

/** A page and the position of its last row, where more rows follow. */
function pageOf<Row>(
  rows: Row[],
  limit: number,
  position: (row: Row) => ReturnType<typeof eventPosition>,
): { rows: Row[]; last: ReturnType<typeof eventPosition> | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, last: rows.length > limit && last !== undefined ? position(last) : null };
}

/** Nothing to show; the suggestion drops the filters that were sent. */
const nothingOf = ({ event_type, min_usd, owner }: { event_type: string | null; min_usd: number; owner: string | null }): AppError =>
  nothingIn(null, {
    ...(min_usd > 0 && { min_usd: 0 }),
    ...(event_type != null && { event_type: null }),
    ...(owner !== null && { owner: null }),
  });

interface FoundPool extends PoolIds {
  volume_usd: string | null;
  event_count: number;
  unique_lps: number;
  created_at: Date | null;
  match: string;
}

/** Pools by address, mint, symbol, name or pair, with what happened in them in the last 7 days. */
async function lpPoolsSearch(
  _root: unknown,
  input: { query: string; pool_type: PoolTypeFilter; limit: number },
  context: GraphContext,
): Promise<FoundPool[]> {
  const window = windowOf('7d', context.now);
  const rows = await searchPools(context.sql, { query: input.query, pool_type: typeOf(input.pool_type), limit: input.limit, window });
  if (rows.length === 0) throw nothingIn(null, typeDropped(input.pool_type));
  const { meta } = context;
  meta.count = rows.length;
  meta.window = window;
  warnOfUnpriced(unpricedOf(rows), 'left out of volume', context);
  warnOfSwaps(
    rows.some((row) => row.swaps_seen),
    context,
  );
  return (await withIds(rows, context)).map((row) => ({
    ...row,
    event_count: Number(row.event_count),
    unique_lps: Number(row.unique_lps),
  }));
}

interface TypeTotals {
  pool_type: PoolType;
  volume_usd: string;
  event_count: number;
  lp_count: number;
  pool_count: number;
  fees_usd: string | null;
}

/** Totals of all providers in a window. Volume is deposits plus withdrawals. */
async function lpPlatformStats(
  _root: unknown,
  input: { pool_type: PoolTypeFilter; timeframe: Timeframe },
  context: GraphContext,
): Promise<Record<string, unknown>> {
  const { timeframe } = input;
  const window = windowOf(timeframe, context.now);
  const pool_type = typeOf(input.pool_type);
  const args = { pool_type, window, previous: await windowBefore(context.sql, timeframe, context.now) };
  const [stats] = await Promise.all([getPlatformStats(context.sql, args), nameScores(context)]);
  Object.assign(context.meta, { timeframe, window });
  const all = stats.totals.find((row) => row.pool_type === null);
  if (all === undefined) throw nothingIn(timeframe, typeDropped(input.pool_type));
  if (timeframe === 'all') context.meta.window = { from: all.first_at, to: window.to };
  warnOfUnpriced(Number(all.unpriced), 'counted, left out of sums', context);
  warnOfSwaps(
    stats.earned.some((row) => Number(row.swaps) > 0),
    context,
  );
  return {
    total_volume_usd: all.volume_usd,
    total_events: Number(all.event_count),
    active_lps: Number(all.lp_count),
    active_pools: Number(all.pool_count),
    by_pool_type: (pool_type === null ? POOL_TYPES : [pool_type]).map((type) => typeTotals(type, stats)),
    deposits_usd: all.deposits_usd,
    withdrawals_usd: all.withdrawals_usd,
    net_flow_usd: all.net_flow_usd,
    fees_claimed_usd: all.fees_claimed_usd,
    new_lps: Number(stats.extras.new_lps),
    smart_lps: Number(stats.extras.smart_lps),
    volume_change_pct: all.volume_change_pct,
  };
}

function typeTotals(pool_type: PoolType, { totals, earned }: PlatformStats): TypeTotals {
  const row = totals.find((candidate) => candidate.pool_type === pool_type);
  return {
    pool_type,
    volume_usd: row?.volume_usd ?? '0',
    event_count: Number(row?.event_count ?? 0),
    lp_count: Number(row?.lp_count ?? 0),
    pool_count: Number(row?.pool_count ?? 0),
    fees_usd: earned.find((candidate) => candidate.pool_type === pool_type)?.fees_usd ?? null,
  };
}

export const queryResolvers: Resolvers = { Query: { lpPoolsEvents, lpPoolsSearch, lpPlatformStats } };
