import { bucketsOf, checkGrid } from '../../../lib/grid';
import { DAY_MS } from '../../../lib/time';
import { type Timeframe, since } from '../../../lib/timeframe';
import type { GraphContext, Resolvers } from '../../venue';
import { makeLoaders } from '../loaders';
import { lifeIn } from '../queries/buckets';
import { getFeeTotals, listClaimers, listFeeBuckets } from '../queries/fee-analysis';
import { findPrice, getHoldings, getPoolTotals } from '../queries/pool-detail';
import { volumeKnown } from '../queries/pool-volume-history';
import { type AskedPool, nothingInSeries, poolOf, warnOfSwaps, warnOfUnpriced } from './asked';
import { nameScores, scoreNow } from './score-now';

const HOLDERS = 10;

/** One pool: its life, its last day, who provides. */
async function lpPoolsDetail(_root: unknown, input: AskedPool, context: GraphContext): Promise<unknown> {
  const { sql, now, meta } = context;
  const pool = await poolOf(input, context);
  const { pool_address } = pool;
  const [totals, holdings, price, liquidity_usd, ids] = await Promise.all([
    getPoolTotals(sql, pool_address, now),
    getHoldings(sql, pool_address, now, HOLDERS),
    findPrice(sql, pool_address, now),
    context.loaders(makeLoaders).liquidity.load(pool_address),
    context.loaders(makeLoaders).poolIds.load(pool_address),
    nameScores(context),
  ]);
  warnOfUnpriced(totals.unpriced, 'counted, left out of sums', context);
  warnOfSwaps(totals.swaps > 0, context);
  const known = pool.as_of === null || pool.as_of <= now ? (pool.lifetime_volume_usd?.toString() ?? null) : null;
  if (totals.swap_usd === null && known !== null) meta.warnings.push('total_volume_usd: as the catalogue states it');
  const volume = totals.swap_usd ?? known;
  return {
    ...totals,
    ...holdings,
    ...ids,
    total_volume_usd: volume,
    total_events: totals.events + totals.swaps,
    volume_by_action: [
      { action: 'deposit', usd: totals.deposit_usd },
      { action: 'withdraw', usd: totals.withdraw_usd },
      { action: 'swap', usd: volume },
      { action: 'claim', usd: totals.claim_usd },
    ],
    created_at: pool.created_at,
    liquidity_usd,
    bin_step: pool.bin_step,
    top_lps: await Promise.all(holdings.top_lps.map(async (row) => ({ ...row, lp_score: await scoreNow(row.owner, context) }))),
    price,
  };
}

interface FeeInput extends AskedPool {
  timeframe: Timeframe;
  limit: number;
  bucket_size: '1h' | '4h' | '1d';
}

/** Who claims how much and how often, beside what the pool's swaps generated. */
async function lpPoolsFeeAnalysis(_root: unknown, input: FeeInput, context: GraphContext): Promise<unknown> {
  const { sql, now, meta } = context;
  const { timeframe, limit, bucket_size } = input;
  const pool = await poolOf(input, context);
  const { pool_address, created_at } = pool;
  const { window, whole: life } = await lifeIn(sql, { timeframe, now, pool });
  const grid = { size: bucket_size, allowed: ['1h', '4h', '1d'] } as const;
  checkGrid(window, grid);
  const buckets = bucketsOf(window, bucket_size);
  const settledAt = created_at === null ? window.from : new Date(Math.min(created_at.getTime() + DAY_MS, now.getTime()));
  const [totals, series, claimers, known] = await Promise.all([
    getFeeTotals(sql, { pool_address, window, life, settled: since(window, settledAt) }),
    listFeeBuckets(sql, pool_address, window, bucket_size),
    listClaimers(sql, { pool_address, window, life, limit }),
    volumeKnown(sql, pool, window, bucket_size),
    nameScores(context),
  ]);
  if (totals.claims === 0) throw await nothingInSeries(context, pool, timeframe, grid);
  Object.assign(meta, { timeframe, window, count: claimers.length });
  warnOfUnpriced(totals.unpriced, 'counted, left out of sums', context);
  warnOfUnpriced(totals.unpriced_swaps, 'left out of volume', context);
  warnOfSwaps(totals.swaps > 0, context);
  const nothing = { fees_claimed: '0', claims: 0, volume_usd: null, fee_rate_pct: null };
  const found = new Map(series.map((row) => [row.bucket.getTime(), row]));
  return {
    ...totals,
    pool_address,
    pool_type: pool.pool_type,
    volume_usd: totals.volume_usd ?? (known.known ? '0' : null),
    time_series: buckets.map((bucket) => {
      const row = found.get(bucket.getTime()) ?? nothing;
      return { ...row, bucket, volume_usd: row.volume_usd ?? (known.within(bucket) ? '0' : null) };
    }),
    top_claimers: await Promise.all(claimers.map(async (row) => ({ ...row, lp_score: await scoreNow(row.owner, context) }))),
  };
}

export const poolDetailResolvers = { Query: { lpPoolsDetail, lpPoolsFeeAnalysis } } satisfies Resolvers;
