import type { QueryResultRow } from 'pg';
import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import type { Timeframe } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { type BucketSize, bucketOf, bucketsOf } from './buckets';
import { findRunDay, getCoin, openWindow, warnUndirected, widerTimeframe } from './scope';
import { BOUGHT, type Grain, SOLD, VOLUME_COLUMNS, matchRows, openRows, ownRows, scoredTraders, smartIn, spanOf } from './span';

export interface LongShortArgs {
  coin: string;
  timeframe: Timeframe;
  bucket_size: BucketSize;
}

/** A bucket. Figures are exact decimals as text. */
export interface LongShortRow extends QueryResultRow {
  bucket: Date;
  long_volume: string;
  short_volume: string;
  long_short_ratio: string | null;
  smart_long_volume: string | null;
  smart_short_volume: string | null;
  smart_long_short_ratio: string | null;
  long_pct: string | null;
  long_traders: number;
  short_traders: number;
  opening_long_short_ratio: string | null;
  trade_count: number;
  undirected: number;
  /** Own fills of the bucket, whoever's. */
  fills: number;
}

const SIZES = ['1h', '4h', '12h', '1d'] as const satisfies readonly BucketSize[];

// $1 to $4: the window; $5: the coin; $6: bucket size; $7, $8: first and last bucket; $9: day of the score run, null before the first.
const statement = (grain: Grain): Statement => ({
  name: `perps_long_short_ratio_${grain}`,
  text: `
WITH taken AS (
  SELECT ${bucketOf('hour', '$6')} AS bucket, sum(bought_usd) AS bought, sum(sold_usd) AS sold, sum(matches) AS matches, sum(undirected) AS undirected
  FROM ${matchRows(['bought_usd', 'sold_usd', 'matches', 'undirected'], { coin: '$5' }, 1, grain)} r GROUP BY 1
),
own AS (
  SELECT ${bucketOf('hour', '$6')} AS bucket, count(DISTINCT r.trader) FILTER (WHERE taker_buy_usd > 0) AS long_traders,
    count(DISTINCT r.trader) FILTER (WHERE taker_sell_usd > 0) AS short_traders, sum(fills) AS fills,
    sum(${BOUGHT}) FILTER (WHERE smart.trader IS NOT NULL) AS smart_bought, sum(${SOLD}) FILTER (WHERE smart.trader IS NOT NULL) AS smart_sold
  FROM ${ownRows([...VOLUME_COLUMNS, 'taker_buy_usd', 'taker_sell_usd', 'fills'], { coin: '$5' }, 1, grain)} r
  LEFT JOIN (${scoredTraders(smartIn('$9'))}) smart ON smart.trader = r.trader GROUP BY 1
),
opened AS (
  SELECT ${bucketOf('hour', '$6')} AS bucket, sum(open_long_usd) AS longs, sum(open_short_usd) AS shorts FROM ${openRows({ coin: '$5' }, 1, grain)} r GROUP BY 1
)
SELECT bucket.bucket, coalesce(bought, 0) AS long_volume, coalesce(sold, 0) AS short_volume, bought / nullif(sold, 0) AS long_short_ratio,
  CASE WHEN $9::date IS NOT NULL THEN coalesce(smart_bought, 0) END AS smart_long_volume,
  CASE WHEN $9::date IS NOT NULL THEN coalesce(smart_sold, 0) END AS smart_short_volume,
  CASE WHEN smart_sold > 0 THEN coalesce(smart_bought, 0) / smart_sold END AS smart_long_short_ratio,
  100 * bought / nullif(bought + sold, 0) AS long_pct, coalesce(long_traders, 0)::int AS long_traders, coalesce(short_traders, 0)::int AS short_traders,
  longs / nullif(shorts, 0) AS opening_long_short_ratio, coalesce(matches, 0)::int AS trade_count, coalesce(undirected, 0)::int AS undirected,
  coalesce(fills, 0)::int AS fills
FROM generate_series($7::timestamptz, $8::timestamptz, $6::interval) AS bucket(bucket)
LEFT JOIN taken ON taken.bucket = bucket.bucket LEFT JOIN own ON own.bucket = bucket.bucket LEFT JOIN opened ON opened.bucket = bucket.bucket
ORDER BY bucket.bucket`,
});

/** Taker buys against taker sells of a coin over time. Throws not_found, empty_result, range_too_large. */
export async function longShortRatio(args: LongShortArgs, context: GraphContext): Promise<LongShortRow[]> {
  const coin = await getCoin(context, args.coin);
  const window = openWindow(args.timeframe, context);
  const known = await context.prisma.perp_coin.findUnique({ where: { coin }, select: { first_seen: true } });
  const first = known?.first_seen ?? null;
  const empty = new AppError('empty_result', { suggestion: widerTimeframe(args.timeframe) });
  if (first === null || first >= context.now) throw empty;
  const buckets = bucketsOf(window, args.bucket_size, args.timeframe === 'all' ? first : window.from, SIZES);
  const day = await findRunDay(context);
  const values = [...spanOf(window), coin, buckets.step, buckets.first, buckets.last, day];
  const rows = await context.sql.query<LongShortRow>(statement(args.bucket_size === '1d' ? 'day' : 'hour'), values);
  const total = (of: (row: LongShortRow) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  if (total(({ fills }) => fills) === 0) throw empty;
  warnUndirected(
    context,
    total(({ undirected }) => undirected),
  );
  return rows;
}
