import { AppError } from '../../../errors';
import { automaticSize } from '../../../lib/grid';
import { bucketOf, millisecondsOf } from '../../../lib/tiles';
import { HOUR_MS } from '../../../lib/time';
import type { Timeframe } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { gridOf } from './buckets';
import { findFirstFill, findSmartRun, getSmartDay, openWindow, spanUpToNow, warnUndirected, widerTimeframe, without } from './scope';
import type { Grain, Part } from './pieces';
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
function rowsOf(whose: Whose, day: string, grain: Grain, coins?: string, part?: Part): string {
  const narrowed = coins === undefined ? {} : { coins };
  return whose === 'market'
    ? matchRows(['volume_usd', 'matches', 'bought_usd', 'sold_usd', 'undirected'], narrowed, 1, grain, part)
    : smartRows([...VOLUME_COLUMNS, 'fills'], { day, is_told: whose === 'smart_told' }, narrowed, grain, part);
}

const BUCKET = bucketOf('hour', '$5::interval');

// $1 to $4: the window; $5: how many coins; $6: day of the score run.
const topText = (whose: Whose): string => `
SELECT coin FROM ${rowsOf(whose, '$6', 'month')} r GROUP BY coin HAVING sum(${COUNTS[whose]}) > 0 ORDER BY sum(${VOLUMES[whose]}) DESC, coin COLLATE "C" LIMIT $5`;

// $1 to $4: the window; $5: bucket size; $6: day of the score run.
const wholeText = (whose: Whose, grain: Grain): string => `
SELECT ${millisecondsOf('bucket')} AS bucket, usd::float8 FROM (
  SELECT ${BUCKET} AS bucket, sum(${VOLUMES[whose]}) AS usd FROM ${whose === 'market' ? volumeRows() : rowsOf(whose, '$6', grain)} r GROUP BY 1
) whole`;

/** What is told of a cell; of smart accounts beside the market their volume alone. */
type Told = 'all' | 'volumes';

// $1 to $4: the window; $5: bucket size; $6: coins; $7: day of the score run. By column: cells are many. A bucket that is as long as what tells it whole has one row: that is
// not added up. Smart accounts who are not told have a row each.
function cellsText(whose: Whose, told: Told, grain: Grain, isUnit: boolean): string {
  const net = whose === 'market' ? ['bought_usd', 'sold_usd'] : [BOUGHT, SOLD];
  const columns = (sum: (column: string) => string): string =>
    [
      `${sum(VOLUMES[whose])} AS usd`,
      ...(told === 'all'
        ? [`${sum(COUNTS[whose])} AS trades`, `${net.map(sum).join(' - ')} AS net_usd`, `${whose === 'market' ? sum('undirected') : '0'} AS undirected`]
        : []),
    ].join(', '); // prettier-ignore
  const summed = (part: Part): string =>
    `SELECT coin, ${BUCKET} AS bucket, ${columns((column) => `sum(${column})`)} FROM ${rowsOf(whose, '$7', grain, '$6', part)} r GROUP BY coin, 2`;
  const single = `SELECT coin, hour AS bucket, ${columns((column) => `(${column})`)} FROM ${rowsOf(whose, '$7', grain, '$6', 'whole')} r WHERE $5::interval IS NOT NULL`;
  return `
SELECT json_agg(coin) AS coins, json_agg(${millisecondsOf('bucket')}) AS buckets, json_agg(usd) AS volumes${
    told === 'all' ? ', json_agg(trades) AS counts, json_agg(net_usd) AS nets, sum(undirected)::int AS undirected' : ''
  }
FROM (${isUnit && whose !== 'smart' ? `${single} UNION ALL ${summed('torn')}` : summed('all')}) cell`;
}

/** By column, each null where there are no cells. */
interface Cells {
  coins: string[] | null;
  /** Milliseconds. */
  buckets: number[];
  volumes: number[];
  /** These are told of all but smart accounts beside the market. */
  counts?: number[];
  nets?: number[];
  undirected?: number | null;
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

  const ask = <Row extends object>(of: Whose, what: string, text: string, values: readonly unknown[], keyed = of !== 'smart'): Promise<Row[]> =>
    sql.query<Row>({ name: `perps_coins_heatmap_${what}_${of}`, text, keyed }, [...span, ...values, ...(of === 'market' ? [] : [day])]); // prettier-ignore
  const isUnit = size !== '4h';
  const cellsOf = async (of: Whose, told: Told, coins: readonly string[]): Promise<Cells | undefined> =>
    // Of longer buckets a plan for all windows looks up coin by coin, up to twice as long as all of them are read.
    (await ask<Cells>(of, `${told}_${size}`, cellsText(of, told, grain, isUnit), [grid.step, coins], of !== 'smart' && size === '1h'))[0];

  const [top, wholes] = await Promise.all([
    ask<{ coin: string }>(whose, 'top', topText(whose), [args.limit]),
    ask<{ bucket: number; usd: number }>(whose, `whole_${grain}`, wholeText(whose, grain), [grid.step]),
  ]);
  if (top.length === 0) throw empty;
  const coins = top.map(({ coin }) => coin);
  const [own, ofSmart] = await Promise.all([
    cellsOf(whose, 'all', coins),
    whose === 'market' && day !== null ? cellsOf(smart, 'volumes', coins) : undefined,
  ]);
  context.meta.count = coins.length;
  warnUndirected(context, [{ undirected: own?.undirected ?? 0 }]);

  const step = grid.hours * HOUR_MS;
  const begin = grid.first.getTime();
  const buckets = (grid.last.getTime() - begin) / step + 1;
  const rank = new Map(coins.map((coin, place) => [coin, place]));
  /** Where cells stand in the grid; beyond it those of what came outside of its buckets while this was asked. */
  const placesOf = (cells: Cells | undefined): number[] =>
    (cells?.coins ?? []).map((coin, cell) => {
      const number = ((cells as Cells).buckets[cell] as number) - begin;
      return number >= 0 && number < buckets * step ? (rank.get(coin) as number) * buckets + number / step : coins.length * buckets;
    });
  /** Values of cells, by their places in the grid. */
  const inGrid = (places: readonly number[], values: readonly number[] = []): Float64Array => {
    const grown = new Float64Array(coins.length * buckets);
    places.forEach((place, cell) => (grown[place] = values[cell] as number));
    return grown;
  };
  const places = placesOf(own);
  const [volumes, counts, nets] = [own?.volumes, own?.counts, own?.nets].map((values) => inGrid(places, values)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const smartVolumes = whose === 'market' ? inGrid(placesOf(ofSmart), ofSmart?.volumes) : volumes;
  const whole = new Float64Array(buckets);
  for (const { bucket, usd } of wholes) whole[(bucket - begin) / step] = usd;
  const starts = Array.from({ length: buckets }, (_, number) => new Date(begin + number * step));
  return Array.from(volumes, (volume_usd, place): HeatmapCellRow => {
    const number = place % buckets;
    const all = whole[number] as number;
    return {
      coin: coins[(place - number) / buckets] as string,
      bucket: starts[number] as Date,
      volume_usd,
      trade_count: counts[place] as number,
      smart_volume_usd: day === null ? null : (smartVolumes[place] as number),
      pct_of_bucket: all > 0 ? (100 * volume_usd) / all : null,
      net_volume_usd: nets[place] as number,
    };
  });
}
