import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import { sizeBeside } from '../../../lib/grid';
import { bucketOf } from '../../../lib/tiles';
import { HOUR_MS } from '../../../lib/time';
import type { Timeframe, Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { gridOf } from './buckets';
import { findSmartRun, getKnownCoin, openWindow, reachOf, warnUndirected, widerTimeframe } from './scope';
import type { Grain } from './pieces';
import { BOUGHT, SOLD, VOLUME_COLUMNS, matchRows, openRows, ownRows, smartRows, spanOf } from './span';

const SIZES = ['1h', '4h', '12h', '1d'] as const;

const GRAINS = { '1h': 'hour', '4h': 'hour', '12h': 'quarter', '1d': 'day' } as const;

export interface LongShortArgs {
  coin: string;
  timeframe: Timeframe;
  bucket_size: (typeof SIZES)[number];
}

/** A bucket. Figures are exact decimals as text. */
export interface LongShortRow {
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
}

/** Accounts by which side they took, of the span whose values start at `at`. */
const takersIn = (at: number, grain: Grain): string => `
  SELECT ${bucketOf('hour', '$6::interval')} AS bucket, count(DISTINCT trader) FILTER (WHERE taker_buy_usd > 0) AS buyers, count(DISTINCT trader) FILTER (WHERE taker_sell_usd > 0) AS sellers
  FROM ${ownRows(['taker_buy_usd', 'taker_sell_usd'], { coin: '$5' }, at, grain)} r GROUP BY 1`;

// $1 to $4: the window; $5: the coin; $6: bucket size; $7, $8: first and last bucket; $9: day of the score run, null before the first;
// $10: hours of a bucket; $11, $12: the whole buckets, [from, to), whose takers are counted; $13 to $20: the window before and after them.
const statement = (grain: Grain, is_told: boolean): Statement => ({
  name: `perps_long_short_ratio_${grain}${is_told ? '_told' : ''}`,
  keyed: true,
  text: `
WITH taken AS (
  SELECT ${bucketOf('hour', '$6::interval')} AS bucket, sum(bought_usd) AS bought, sum(sold_usd) AS sold, sum(matches) AS matches, sum(undirected) AS undirected
  FROM ${matchRows(['bought_usd', 'sold_usd', 'matches', 'undirected'], { coin: '$5' }, 1, grain)} r GROUP BY 1
),
takers AS (
  SELECT t.bucket, t.buyers, t.sellers FROM perp_coin_takers t WHERE t.coin = $5 AND t.hours = $10::int AND t.bucket >= $11 AND t.bucket < $12
  UNION ALL ${takersIn(13, grain)}
  UNION ALL ${takersIn(17, grain)}
),
smart AS (
  SELECT ${bucketOf('hour', '$6::interval')} AS bucket, sum(${BOUGHT}) AS bought, sum(${SOLD}) AS sold
  FROM ${smartRows(VOLUME_COLUMNS, { day: '$9', is_told }, { coin: '$5' }, grain)} r GROUP BY 1
),
opened AS (
  SELECT ${bucketOf('hour', '$6::interval')} AS bucket, sum(open_long_usd) AS longs, sum(open_short_usd) AS shorts FROM ${openRows({ coin: '$5' }, 1, grain)} r GROUP BY 1
)
SELECT bucket.bucket, coalesce(taken.bought, 0) AS long_volume, coalesce(taken.sold, 0) AS short_volume, taken.bought / nullif(taken.sold, 0) AS long_short_ratio,
  CASE WHEN $9::date IS NOT NULL THEN coalesce(smart.bought, 0) END AS smart_long_volume,
  CASE WHEN $9::date IS NOT NULL THEN coalesce(smart.sold, 0) END AS smart_short_volume,
  CASE WHEN smart.sold > 0 THEN coalesce(smart.bought, 0) / smart.sold END AS smart_long_short_ratio,
  100 * taken.bought / nullif(taken.bought + taken.sold, 0) AS long_pct, coalesce(buyers, 0) AS long_traders, coalesce(sellers, 0) AS short_traders,
  longs / nullif(shorts, 0) AS opening_long_short_ratio, coalesce(matches, 0)::int AS trade_count, coalesce(undirected, 0)::int AS undirected
FROM generate_series($7::timestamptz, $8::timestamptz, $6::interval) AS bucket(bucket)
LEFT JOIN taken ON taken.bucket = bucket.bucket LEFT JOIN opened ON opened.bucket = bucket.bucket LEFT JOIN smart ON smart.bucket = bucket.bucket
LEFT JOIN takers ON takers.bucket = bucket.bucket
ORDER BY bucket.bucket`,
});

/** Values $10 to $20: what of the window is whole buckets, and what lies before and after them. */
function takerValues({ from, to }: Window, hours: number): unknown[] {
  const length = hours * HOUR_MS;
  const first = new Date(Math.min(Math.ceil(from.getTime() / length) * length, to.getTime()));
  const last = new Date(Math.max(Math.floor(to.getTime() / length) * length, first.getTime()));
  return [hours, first, last, ...spanOf({ from, to: first }), ...spanOf({ from: last, to })];
}

/** Taker buys against taker sells of a coin over time. Throws not_found, empty_result, range_too_large. */
export async function longShortRatio(args: LongShortArgs, context: GraphContext): Promise<LongShortRow[]> {
  const { coin, first_seen: first } = await getKnownCoin(context, args.coin);
  const window = openWindow(args.timeframe, context);
  if (first === null || first >= context.now) throw new AppError('empty_result');
  const buckets = gridOf(window, args.bucket_size, args.timeframe === 'all' ? first : window.from, SIZES);
  const { day, is_told } = await findSmartRun(context);
  const reached = { from: window.from, to: await reachOf(window.to, context) };
  const values = [...spanOf(reached), coin, buckets.step, buckets.first, buckets.last, day, ...takerValues(reached, buckets.hours)];
  const rows = await context.sql.query<LongShortRow>(statement(GRAINS[args.bucket_size], is_told), values);
  if (rows.every(({ trade_count }) => trade_count === 0)) {
    const wider = widerTimeframe(args.timeframe);
    const whole = { from: first, to: window.to };
    const beside = wider?.timeframe === 'all' ? sizeBeside(whole, { size: args.bucket_size, allowed: SIZES }) : {};
    throw new AppError('empty_result', { suggestion: wider && { ...wider, ...beside } });
  }
  warnUndirected(context, rows);
  return rows;
}
