import { SPIKE } from '../../../lib/spike';
import { previousWindow, type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolvers } from '../../venue';
import { makeLoaders } from '../loaders';
import type { PoolIds } from '../queries/pool-ids';
import { listHeld, listTopPools, type PoolsTopSort } from '../queries/pools-top';
import { windowBefore } from '../queries/buckets';
import { listTrendingPools } from '../queries/pools-trending';
import { listProvided } from '../queries/provided';
import { listSmartPools, type SmartPoolsSort } from '../queries/smart-pools';
import { nothingIn, type PoolTypeFilter, typeDropped, typeOf, unpricedOf, warnOfSwaps, warnOfUnpriced, withIds } from './asked';
import { nameScores } from './score-now';

/** What an answer over a window says about itself and about the swaps it counts. */
export function describe(
  context: GraphContext,
  { timeframe, window, rows }: { timeframe: Timeframe; window: Window; rows: readonly { unpriced: number; swaps: number }[] },
): void {
  Object.assign(context.meta, { timeframe, window, count: rows.length });
  warnOfUnpriced(unpricedOf(rows), 'left out of volume', context);
  warnOfSwaps(
    rows.some((row) => row.swaps > 0),
    context,
  );
}

/** Rows with the identifying fields of their pools, in an answer that names the formula of its scores. */
async function withIdsAndScores<Row extends { pool_address: string }>(
  rows: readonly Row[],
  context: GraphContext,
): Promise<(Row & PoolIds)[]> {
  const [shown] = await Promise.all([withIds(rows, context), nameScores(context)]);
  return shown;
}

/** The same with what providers did in the pools in the window; what the pools hold, which each row is asked for, is loaded meanwhile. */
async function withProviders<Row extends { pool_address: string; swaps: number }>(
  rows: readonly Row[],
  window: Window,
  context: GraphContext,
): Promise<(Row & PoolIds & { event_count: number; unique_lps: number; smart_lp_count: number })[]> {
  const addresses = rows.map(({ pool_address }) => pool_address);
  const [provided, shown] = await Promise.all([
    listProvided(context.sql, window, addresses),
    withIdsAndScores(rows, context),
    context.loaders(makeLoaders).liquidity.loadMany(addresses),
  ]);
  return shown.map((row) => {
    const own = provided.get(row.pool_address);
    const { unique_lps = 0, smart_lp_count = 0 } = own ?? {};
    return { ...row, event_count: row.swaps + (own?.provided ?? 0), unique_lps, smart_lp_count };
  });
}

interface PoolsTrendingInput {
  timeframe: Timeframe;
  pool_type: PoolTypeFilter;
  limit: number;
  min_volume_usd: number;
}

/** Pools whose swap volume stands out against their own earlier windows. */
async function lpPoolsTrending(_root: unknown, input: PoolsTrendingInput, context: GraphContext): Promise<unknown> {
  const { timeframe, min_volume_usd, limit } = input;
  const window = windowOf(timeframe, context.now);
  const earlier = earlierWindows(timeframe, context.now);
  const [rows, before] = await Promise.all([
    listTrendingPools(context.sql, { pool_type: typeOf(input.pool_type), window, earlier, min_volume_usd, limit }),
    windowBefore(context.sql, timeframe, context.now),
  ]);
  if (rows.length === 0) throw nothingIn(timeframe, { ...typeDropped(input.pool_type), ...(min_volume_usd > 0 && { min_volume_usd: 0 }) });
  describe(context, { timeframe, window, rows });
  const shown = await withProviders(rows, window, context);
  return before === null ? shown.map((row) => ({ ...row, volume_change_pct: null })) : shown;
}

/** The windows of equal length before the window of `timeframe`, newest first. */
function earlierWindows(timeframe: Timeframe, now: Date): Window[] {
  const previous = previousWindow(timeframe, now);
  if (previous === null) return [];
  const length = previous.to.getTime() - previous.from.getTime();
  const back = (time: Date, steps: number): Date => new Date(time.getTime() - steps * length);
  return Array.from({ length: SPIKE.windows }, (_, i) => ({ from: back(previous.from, i), to: back(previous.to, i) }));
}

interface PoolsTopInput {
  sort_by: PoolsTopSort;
  timeframe: Timeframe;
  pool_type: PoolTypeFilter;
  limit: number;
  min_liquidity_usd: number;
  exclude_anomalous: boolean;
}

/** Pools ranked over a window. */
async function lpPoolsTop(_root: unknown, input: PoolsTopInput, context: GraphContext): Promise<unknown> {
  const { timeframe, min_liquidity_usd } = input;
  const window = windowOf(timeframe, context.now);
  const rows = await listTopPools(context.sql, { ...input, pool_type: typeOf(input.pool_type), window });
  if (rows.length === 0)
    throw nothingIn(timeframe, { ...typeDropped(input.pool_type), ...(min_liquidity_usd > 0 && { min_liquidity_usd: 0 }) });
  describe(context, { timeframe, window, rows });
  const [held, shown] = await Promise.all([listHeld(context.sql, window, rows), withProviders(rows, window, context)]);
  warnOfUnpriced(
    [...held.values()].reduce((sum, { unpriced_events }) => sum + unpriced_events, 0),
    'in the lives of these pools, left out of sums',
    context,
  );
  return shown.map((row, i) => ({ ...row, ...held.get(row.pool_address), rank: i + 1 }));
}

interface SmartWalletInput {
  timeframe: Timeframe;
  pool_type: PoolTypeFilter;
  limit: number;
  min_smart_lps: number;
  sort_by: SmartPoolsSort;
}

/** Pools where the best providers take part most. */
async function lpPoolsSmartWallet(_root: unknown, input: SmartWalletInput, context: GraphContext): Promise<unknown> {
  const { timeframe, min_smart_lps } = input;
  const window = windowOf(timeframe, context.now);
  const rows = await listSmartPools(context.sql, { ...input, pool_type: typeOf(input.pool_type), window });
  if (rows.length === 0) throw nothingIn(timeframe, { ...typeDropped(input.pool_type), ...(min_smart_lps > 1 && { min_smart_lps: 1 }) });
  Object.assign(context.meta, { timeframe, window, count: rows.length });
  warnOfUnpriced(unpricedOf(rows), 'counted, left out of sums', context);
  return {
    pools: (await withIdsAndScores(rows, context)).map((row) => Object.assign(row, { token_a: row.token_x, token_b: row.token_y })),
  };
}

export const poolsResolvers = { Query: { lpPoolsTrending, lpPoolsTop, lpPoolsSmartWallet } } satisfies Resolvers;
