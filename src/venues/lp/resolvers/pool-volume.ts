import type { AppError } from '../../../errors';
import { automaticSize, bucketsOf, checkGrid } from '../../../lib/grid';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolvers } from '../../venue';
import { factsIn, lifeIn } from '../queries/buckets';
import type { PoolIds } from '../queries/pool-ids';
import { listPoolVolume, type PoolVolumeRow, volumeKnown } from '../queries/pool-volume-history';
import { listActionCells, listPoolCells, type PoolCellsArgs } from '../queries/volume-heatmap';
import {
  type AskedPool,
  idsOf,
  nothingIn,
  nothingInSeries,
  poolOf,
  type PoolTypeFilter,
  typeDropped,
  typeOf,
  warnOfUnpriced,
} from './asked';
import { describe } from './pools';

/** Swap volume, and what else was done, per bucket of the pool's life in the window. */
async function lpPoolsVolumeHistory(
  _root: unknown,
  input: AskedPool & { timeframe: Timeframe; bucket_size: '1h' | '4h' | '12h' | '1d' },
  context: GraphContext,
): Promise<unknown> {
  const { sql, now, meta } = context;
  const { timeframe, bucket_size } = input;
  const pool = await poolOf(input, context);
  const { window } = await lifeIn(sql, { timeframe, now, pool });
  const grid = { size: bucket_size, allowed: ['1h', '4h', '12h', '1d'] } as const;
  checkGrid(window, grid);
  const buckets = bucketsOf(window, bucket_size);
  const [rows, known] = await Promise.all([
    listPoolVolume(sql, { pool_address: pool.pool_address, window, bucket_size }),
    volumeKnown(sql, pool, window, bucket_size),
  ]);
  if (!rows.some(isBusy)) throw await nothingInSeries(context, pool, timeframe, grid);
  describe(context, { timeframe, window, rows });
  meta.count = null;
  warnOfUnpriced(
    rows.reduce((sum, row) => sum + row.unpriced_events, 0),
    'counted, left out of sums',
    context,
  );
  warnOfUnpriced(rows[0]?.unpriced_before ?? 0, 'before the window, left out of sums', context);
  const found = new Map(rows.map((row) => [row.bucket.getTime(), row]));
  let net = (rows[0] as PoolVolumeRow).net_before_usd;
  return buckets.map((bucket) => {
    const row = found.get(bucket.getTime());
    if (row !== undefined) net = row.net_liquidity_usd;
    return { bucket, net_liquidity_usd: net, ...filled(row, known.within(bucket)) };
  });
}

/** Whether anything was done in a bucket: an hour of which no volume is stated has a row too. */
const isBusy = (row: PoolVolumeRow): boolean => eventsOf(row) > 0 || Number(row.volume_usd ?? 0) > 0;
const eventsOf = (row: PoolVolumeRow): number => row.deposits + row.withdrawals + row.claims + row.swaps;

/** A bucket's figures; zeros where nothing happened, null where nothing tells the volume, or the fees of what was swapped. */
function filled(row: PoolVolumeRow | undefined, known: boolean): Record<string, unknown> {
  const volume_usd = row?.volume_usd ?? (known ? '0' : null);
  const quiet = row === undefined || (row.volume_usd === null && row.swaps === 0);
  const action = (name: string, count: number, usd: string | null): Record<string, unknown> => ({ action: name, count, usd });
  return {
    volume_usd,
    event_count: row === undefined ? 0 : eventsOf(row),
    action_breakdown: [
      action('deposit', row?.deposits ?? 0, row?.deposit_usd ?? '0'),
      action('withdraw', row?.withdrawals ?? 0, row?.withdraw_usd ?? '0'),
      action('swap', row?.swaps ?? 0, volume_usd),
      action('claim', row?.claims ?? 0, row?.claim_usd ?? '0'),
    ],
    fees_usd: row?.fees_usd ?? (known && quiet ? '0' : null),
    unique_lps: row?.unique_lps ?? 0,
  };
}

interface HeatmapInput {
  pool_type: PoolTypeFilter;
  timeframe: Timeframe;
  group_by: 'pool' | 'action';
  limit: number;
  bucket_size: '1h' | '4h' | '1d' | 'auto';
}

/** Volume by pool or by action, and time. Throws empty_result, range_too_large for too many buckets or cells. */
async function lpPlatformVolumeHeatmap(_root: unknown, input: HeatmapInput, context: GraphContext): Promise<unknown> {
  const { sql, now, meta } = context;
  const { timeframe, group_by, limit } = input;
  const window = await factsIn(sql, windowOf(timeframe, now));
  const bucket_size = input.bucket_size === 'auto' ? automaticSize(timeframe) : input.bucket_size;
  checkGrid(window, { size: bucket_size, allowed: ['1h', '4h', '1d'], rows: group_by === 'pool' ? limit : 1 });
  const scope = { pool_type: typeOf(input.pool_type), window, bucket_size };
  if (group_by === 'pool') return poolCells(input, { ...scope, life: timeframe === 'all', limit }, context);
  const rows = await listActionCells(sql, scope);
  if (rows.length === 0) throw nothingOf(input);
  describe(context, { timeframe, window, rows });
  meta.count = null;
  meta.ineffective = { limit: 'group_by=action' };
  return rows;
}

const nothingOf = ({ timeframe, pool_type }: HeatmapInput): AppError => nothingIn(timeframe, typeDropped(pool_type));

/** The cells of pools, each with what names its pool. */
async function poolCells(input: HeatmapInput, args: PoolCellsArgs, context: GraphContext): Promise<unknown> {
  const { pools, cells, ...counted } = await listPoolCells(context.sql, args);
  if (cells.length === 0) throw nothingOf(input);
  describe(context, { timeframe: input.timeframe, window: args.window, rows: [counted] });
  context.meta.count = pools.length;
  const ids = await idsOf(pools, context);
  return cells.map(({ pool_address, bucket, volume_usd, event_count, pct_of_bucket }) => {
    const { pool_type, token_x, token_y } = ids.get(pool_address) as PoolIds;
    return { action: 'all', bucket, pool_type, volume_usd, event_count, pool_address, token_x, token_y, pct_of_bucket };
  });
}

export const poolVolumeResolvers = { Query: { lpPoolsVolumeHistory, lpPlatformVolumeHeatmap } } satisfies Resolvers;
