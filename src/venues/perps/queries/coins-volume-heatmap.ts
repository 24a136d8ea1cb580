import { AppError } from '../../../errors';
import { automaticSize } from '../../../lib/grid';
import { bucketOf } from '../../../lib/tiles';
import { HOUR_MS } from '../../../lib/time';
import type { Timeframe } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { gridOf } from './buckets';
import { findFirstFill, findSmartRun, getSmartDay, openWindow, spanUpToNow, warnUndirected, widerTimeframe, without } from './scope';
import type { Grain } from './pieces';
import { BOUGHT, SOLD, VOLUME, VOLUME_COLUMNS, matchRows, smartRows, volumeRows } from './span';

export interface CoinsHeatmapArgs {
  timeframe: Timeframe;
  limit: number;
  bucket_size: '1h' | '4h' | '1d' | 'auto';
  smart_money_only: boolean;
}

/** A cell of the grid. */
export interface HeatmapCellRow {
  coin: string;
  bucket: Date;
  volume_usd: number;
  trade_count: number;
  smart_volume_usd: number | null;
  pct_of_bucket: number | null;
  net_volume_usd: number;
}

const SIZES = ['1h', '4h', '1d'] as const;

/** Whose sums are told: those of everybody's matches, or those of smart accounts, by sums over them all (`told`) or by their own. */
type Whose = 'market' | 'smart' | 'smart_told';

const VOLUMES: Record<Whose, string> = { market: 'volume_usd', smart: VOLUME, smart_told: VOLUME };
const COUNTS: Record<Whose, string> = { market: 'matches', smart: 'fills', smart_told: 'fills' };

/** Rows of the window $1 to $4; `day`: the parameter with the day of the score run, of which market rows know nothing. */
function rowsOf(whose: Whose, day: string, grain: Grain, coins?: string): string {
  const narrowed = coins === undefined ? {} : { coins };
  return whose === 'market'
    ? matchRows(['volume_usd', 'matches', 'bought_usd', 'sold_usd', 'undirected'], narrowed, 1, grain)
    : smartRows([...VOLUME_COLUMNS, 'fills'], { day, is_told: whose === 'smart_told' }, narrowed, grain);
}

const BUCKET = bucketOf('hour', '$5::interval');
const milliseconds = (instant: string): string => `date_part('epoch', ${instant}) * 1000`;

// $1 to $4: the window; $5: how many coins; $6: day of the score run.
const topText = (whose: Whose): string => `
SELECT coin FROM ${rowsOf(whose, '$6', 'month')} r GROUP BY coin HAVING sum(${COUNTS[whose]}) > 0 ORDER BY sum(${VOLUMES[whose]}) DESC, coin COLLATE "C" LIMIT $5`;

// $1 to $4: the window; $5: bucket size; $6: day of the score run.
const wholeText = (whose: Whose, grain: Grain): string => `
SELECT ${milliseconds('bucket')} AS bucket, usd::float8 FROM (
  SELECT ${BUCKET} AS bucket, sum(${VOLUMES[whose]}) AS usd FROM ${whose === 'market' ? volumeRows() : rowsOf(whose, '$6', grain)} r GROUP BY 1
) whole`;

// $1 to $4: the window; $5: bucket size; $6: coins; $7: day of the score run. By column: cells are many.
const cellsText = (whose: Whose, grain: Grain): string => `
SELECT json_agg(place) AS places, json_agg(${milliseconds('bucket')}) AS buckets, json_agg(usd) AS volumes, json_agg(trades) AS counts, json_agg(net_usd) AS nets, sum(undirected)::int AS undirected
FROM (
  SELECT array_position($6::text[], coin) AS place, ${BUCKET} AS bucket, sum(${VOLUMES[whose]}) AS usd, sum(${COUNTS[whose]}) AS trades,
    ${whose === 'market' ? 'sum(bought_usd) - sum(sold_usd) AS net_usd, sum(undirected)' : `sum(${BOUGHT}) - sum(${SOLD}) AS net_usd, 0`} AS undirected
  FROM ${rowsOf(whose, '$7', grain, '$6')} r GROUP BY coin, 2
) cell`;

/** By column, each null where there are no cells. */
interface Cells {
  /** From 1, among the coins. */
  places: number[] | null;
  /** Milliseconds. */
  buckets: number[];
  volumes: number[];
  counts: number[];
  nets: number[];
  undirected: number | null;
}

/** Volume of the coins with most of it, bucket by bucket; cells without a fill are there. Throws empty_result, range_too_large. */
export async function coinsVolumeHeatmap(args: CoinsHeatmapArgs, context: GraphContext): Promise<HeatmapCellRow[]> {
  const { sql } = context;
  const window = openWindow(args.timeframe, context);
  if (args.smart_money_only) await getSmartDay(context);
  const [{ day, is_told }, first, span] = await Promise.all([findSmartRun(context), findFirstFill(context), spanUpToNow(window, context)]);
  const empty = new AppError('empty_result', { suggestion: widerTimeframe(args.timeframe) ?? without(args, { smart_money_only: false }) });
  if (first === null || first >= context.now) throw empty;
  const start = args.timeframe === 'all' ? first : window.from;
  const size = args.bucket_size === 'auto' ? automaticSize(args.timeframe) : args.bucket_size;
  const grid = gridOf(window, size, start, SIZES, args.limit);
  const grain = size === '1d' ? 'day' : 'hour';
  const smart = is_told ? 'smart_told' : 'smart';
  const whose = args.smart_money_only ? smart : 'market';

  const ask = <Row extends object>(of: Whose, what: string, text: string, values: readonly unknown[]): Promise<Row[]> =>
    sql.query<Row>({ name: `perps_coins_heatmap_${what}_${of}`, text, keyed: of !== 'smart' }, [...span, ...values, ...(of === 'market' ? [] : [day])]); // prettier-ignore
  const cellsOf = async (of: Whose, coins: readonly string[]): Promise<Cells | undefined> =>
    (await ask<Cells>(of, `cells_${grain}`, cellsText(of, grain), [grid.step, coins]))[0];

  const [top, wholes] = await Promise.all([
    ask<{ coin: string }>(whose, 'top', topText(whose), [args.limit]),
    ask<{ bucket: number; usd: number }>(whose, `whole_${grain}`, wholeText(whose, grain), [grid.step]),
  ]);
  if (top.length === 0) throw empty;
  const coins = top.map(({ coin }) => coin);
  const [own, ofSmart] = await Promise.all([cellsOf(whose, coins), whose === 'market' && day !== null ? cellsOf(smart, coins) : undefined]);
  context.meta.count = coins.length;
  warnUndirected(context, [{ undirected: own?.undirected ?? 0 }]);

  const step = grid.hours * HOUR_MS;
  const buckets = (grid.last.getTime() - grid.first.getTime()) / step + 1;
  const numberOf = (bucket: number): number => (bucket - grid.first.getTime()) / step;
  const whole = new Map(wholes.map(({ bucket, usd }) => [numberOf(bucket), usd]));
  const rows = coins.flatMap((coin) =>
    Array.from({ length: buckets }, (_, number): HeatmapCellRow => ({
      coin,
      bucket: new Date(grid.first.getTime() + number * step),
      volume_usd: 0,
      trade_count: 0,
      smart_volume_usd: day === null ? null : 0,
      pct_of_bucket: (whole.get(number) ?? 0) > 0 ? 0 : null,
      net_volume_usd: 0,
    })),
  );
  const rowOf = ({ places, buckets: times }: Cells, cell: number): HeatmapCellRow =>
    rows[((places?.[cell] as number) - 1) * buckets + numberOf(times[cell] as number)] as HeatmapCellRow;
  for (const cell of own?.places?.keys() ?? []) {
    const { volumes, counts, nets, buckets: times } = own as Cells;
    const volume_usd = volumes[cell] as number;
    const usd = whole.get(numberOf(times[cell] as number)) ?? 0;
    Object.assign(rowOf(own as Cells, cell), {
      volume_usd,
      trade_count: counts[cell],
      net_volume_usd: nets[cell],
      pct_of_bucket: usd > 0 ? (100 * volume_usd) / usd : null,
      ...(whose === 'market' ? {} : { smart_volume_usd: volume_usd }),
    });
  }
  for (const cell of ofSmart?.places?.keys() ?? [])
    rowOf(ofSmart as Cells, cell).smart_volume_usd = (ofSmart as Cells).volumes[cell] as number;
  return rows;
}
