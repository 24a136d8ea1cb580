import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolvers } from '../../venue';
import { POOL_TYPES } from '../chain-addresses';
import { windowBefore } from '../queries/buckets';
import { findVolumeShare, listOperatorShares, type OperatorShareRow } from '../queries/operator-share';
import { changePercent } from '../queries/platform-stats';
import { nothingIn, type PoolTypeFilter, typeDropped, typeOf, warnOfUnpriced } from './asked';

const NOTHING: Omit<OperatorShareRow, 'pool_type'> = {
  total_events: 0,
  operator_events: 0,
  total_volume_usd: '0',
  operator_volume_usd: '0',
  operator_share_pct: null,
  operator_event_share_pct: null,
  unique_operator_lps: 0,
  unknown_events: 0,
  unpriced: 0,
};

interface ShareInput {
  pool_type: PoolTypeFilter;
  timeframe: Timeframe;
}

/** The share of `accounts` in the events whose transactions were read. */
async function shareOf(accounts: readonly string[], input: ShareInput, context: GraphContext): Promise<unknown> {
  const { sql, now, meta } = context;
  const { timeframe } = input;
  const pool_type = typeOf(input.pool_type);
  const window = windowOf(timeframe, now);
  const previous = await windowBefore(sql, timeframe, now);
  const [rows, earlier] = await Promise.all([
    listOperatorShares(sql, { pool_type, window, accounts }),
    previous === null ? null : findVolumeShare(sql, { pool_type, window: previous, accounts }),
  ]);
  const all = rows.find((row) => row.pool_type === null);
  if (all === undefined) throw nothingIn(timeframe, typeDropped(input.pool_type));
  Object.assign(meta, { timeframe, window });
  const { unknown_events } = all;
  if (unknown_events > 0)
    meta.warnings.push(`${unknown_events} ${unknown_events === 1 ? 'event' : 'events'} left out: their transactions were not read`);
  warnOfUnpriced(all.unpriced, 'counted, left out of sums', context);
  return {
    ...all,
    by_pool_type: (pool_type === null ? POOL_TYPES : [pool_type]).map((type) => ({
      ...(rows.find((row) => row.pool_type === type) ?? NOTHING),
      pool_type: type,
    })),
    change_pct: all.operator_share_pct === null ? null : changePercent(Number(all.operator_share_pct), Number(earlier ?? 0)),
  };
}

/** Resolvers for an operator with these programs and fee payers. */
export const operatorShareResolvers = (accounts: readonly string[]) =>
  ({
    Query: { lpPlatformOperatorShare: (_root: unknown, input: ShareInput, context: GraphContext) => shareOf(accounts, input, context) },
  }) satisfies Resolvers;
