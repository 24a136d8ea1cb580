import { AppError } from '../../../errors';
import { automaticSize } from '../../../lib/grid';
import { bucketOf } from '../../../lib/tiles';
import type { Timeframe } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { gridOf } from './buckets';
import { findFirstFill, findSmartRun, getSmartDay, openWindow, spanUpToNow, warnUndirected, widerTimeframe, without } from './scope';
import { BOUGHT, type Grain, SOLD, VOLUME, VOLUME_COLUMNS, matchRows, smartRows } from './span';

export interface CoinsHeatmapArgs {
  timeframe: Timeframe;
  limit: number;
  bucket_size: '1h' | '4h' | '1d' | 'auto';
  smart_money_only: boolean;
}

/** A cell of the grid. Figures are exact decimals as text. */
export interface HeatmapCellRow {
  coin: string;
  bucket: Date;
  volume_usd: string;
  trade_count: number;
  smart_volume_usd: string | null;
  pct_of_bucket: string | null;
  net_volume_usd: string;
  undirected: number;
}

const SIZES = ['1h', '4h', '1d'] as const;

const market = (grain: Grain): string =>
  `SELECT coin, ${bucketOf('hour', '$6::interval')} AS bucket, volume_usd, matches AS trade_count, bought_usd - sold_usd AS net_volume_usd, undirected
  FROM ${matchRows(['volume_usd', 'matches', 'bought_usd', 'sold_usd', 'undirected'], {}, 1, grain)} r`;
const smart = (grain: Grain, is_told: boolean): string =>
  `SELECT coin, ${bucketOf('hour', '$6::interval')} AS bucket, ${VOLUME} AS volume_usd, fills AS trade_count, ${BOUGHT} - (${SOLD}) AS net_volume_usd, 0 AS undirected
  FROM ${smartRows([...VOLUME_COLUMNS, 'fills'], { day: '$5', is_told }, {}, grain)} r`;

// $1 to $4: the window; $5: day of the score run, null before the first; $6: bucket size; $7, $8: first and last bucket; $9: how many coins.
// All coins are added up for their order and the sums of buckets alone; what smart accounts did is of the coins shown.
const text = (smart_money_only: boolean, grain: Grain, is_told: boolean): string => `
WITH told AS MATERIALIZED (${smart_money_only ? smart(grain, is_told) : market(grain)}),
top AS (SELECT coin, sum(volume_usd) AS volume_usd FROM told GROUP BY coin HAVING sum(trade_count) > 0 ORDER BY sum(volume_usd) DESC, coin COLLATE "C" LIMIT $9),
whole AS (SELECT bucket, sum(volume_usd) AS volume_usd FROM told GROUP BY bucket),
cell AS (SELECT coin, bucket, sum(volume_usd) AS volume_usd, sum(trade_count) AS trade_count, sum(net_volume_usd) AS net_volume_usd, sum(undirected) AS undirected
  FROM told WHERE coin IN (SELECT top.coin FROM top) GROUP BY coin, bucket),
smart AS (${
  smart_money_only
    ? 'SELECT coin, bucket, volume_usd FROM cell'
    : `SELECT coin, bucket, sum(volume_usd) AS volume_usd FROM (${smart(grain, is_told)}) s WHERE coin IN (SELECT top.coin FROM top) GROUP BY coin, bucket`
})
SELECT top.coin, bucket.bucket, coalesce(cell.volume_usd, 0) AS volume_usd, coalesce(cell.trade_count, 0)::int AS trade_count,
  CASE WHEN $5::date IS NOT NULL THEN coalesce(smart.volume_usd, 0) END AS smart_volume_usd,
  100 * coalesce(cell.volume_usd, 0) / nullif(whole.volume_usd, 0) AS pct_of_bucket, coalesce(cell.net_volume_usd, 0) AS net_volume_usd,
  coalesce(cell.undirected, 0)::int AS undirected
FROM top CROSS JOIN generate_series($7::timestamptz, $8::timestamptz, $6::interval) AS bucket(bucket)
LEFT JOIN cell ON cell.coin = top.coin AND cell.bucket = bucket.bucket
LEFT JOIN smart ON smart.coin = top.coin AND smart.bucket = bucket.bucket
LEFT JOIN whole ON whole.bucket = bucket.bucket
ORDER BY top.volume_usd DESC, top.coin COLLATE "C", bucket.bucket`;

/** Volume of the coins with most of it, bucket by bucket; cells without a fill are there. Throws empty_result, range_too_large. */
export async function coinsVolumeHeatmap(args: CoinsHeatmapArgs, context: GraphContext): Promise<HeatmapCellRow[]> {
  const window = openWindow(args.timeframe, context);
  if (args.smart_money_only) await getSmartDay(context);
  const [{ day, is_told }, first] = await Promise.all([findSmartRun(context), findFirstFill(context)]);
  const empty = new AppError('empty_result', { suggestion: widerTimeframe(args.timeframe) ?? without(args, { smart_money_only: false }) });
  if (first === null || first >= context.now) throw empty;
  const start = args.timeframe === 'all' ? first : window.from;
  const size = args.bucket_size === 'auto' ? automaticSize(args.timeframe) : args.bucket_size;
  const { first: from, last, step } = gridOf(window, size, start, SIZES, args.limit);
  const grain = size === '1d' ? 'day' : 'hour';
  const form = `${args.smart_money_only ? 'smart' : 'market'}_${grain}${is_told ? '_told' : ''}`;
  const statement = { name: `perps_coins_heatmap_${form}`, text: text(args.smart_money_only, grain, is_told), keyed: is_told };
  const rows = await context.sql.query<HeatmapCellRow>(statement, [
    ...(await spanUpToNow(window, context)),
    day,
    step,
    from,
    last,
    args.limit,
  ]);
  if (rows.length === 0) throw empty;
  context.meta.count = new Set(rows.map(({ coin }) => coin)).size;
  warnUndirected(context, rows);
  return rows;
}
