import type { Category } from '../../../lib/category';
import { hhi } from '../../../lib/statistics';
import { type Timeframe, type Window, lengthOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { changePercent, less, percent, total, trendOf } from '../exact';
import { makeLoaders } from '../loaders';
import { getFirstFill } from '../queries/newest-fill';
import { type VolumeScope, listVolumeCells, listVolumes } from '../queries/volumes';
import { BUCKETS, type BucketSize, checkBuckets } from './flows-buckets';
import { emptyWithin, smartRule, stretchOf, windowsOf } from './flows-scope';

type GroupBy = 'market' | 'category' | 'hour_of_day' | 'day_of_week';

interface Args {
  timeframe: Timeframe;
  group_by: GroupBy;
  smart_money_only: boolean;
  limit: number;
  category?: Category | null;
  bucket_size: '1h' | '4h' | '1d' | 'auto';
}

/** A row of the grid; `key` is what it is grouped by. */
interface Row {
  key: string;
  volume: string;
  trades: number;
  previous: string | null;
  change: number | null;
}

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** Hours and weekdays are few: limit bounds markets and categories. */
const CUT_BY_LIMIT: readonly GroupBy[] = ['market', 'category'];

/** markets/volume-heatmap: how volume is spread over markets, categories, hours or weekdays. Throws empty_result for a window without trades, range_too_large for too many buckets or cells. */
export const marketsVolumeHeatmap: Resolver<unknown, Args> = async (_, args, context) => {
  const windows = windowsOf(args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window: windows.window });
  const bucket_size = await bucketOf(args, windows.window, context);
  const smart = args.smart_money_only ? await smartRule(context, stretchOf(windows.cut)) : null;
  const scope: VolumeScope = { cut: windows.cut, shift: 0, category: args.category ?? null, smart };
  const rows = await loadRows(context, args.group_by, scope, windows.previous !== null);
  if (rows.length === 0)
    throw await emptyWithin(context, { condition_id: null, category: args.category ?? null, smart: args.smart_money_only });
  const isCut = CUT_BY_LIMIT.includes(args.group_by);
  const shown = isCut ? rows.slice(0, args.limit) : rows;
  if (!isCut && rows.length > args.limit)
    context.meta.warnings.push('limit bounds markets and categories; all hours or weekdays are shown.');
  context.meta.count = isCut ? shown.length : null;
  const cells = await listVolumeCells(context.sql, args.group_by, scope, shown.map((row) => row.key), BUCKETS[bucket_size]); // prettier-ignore
  const [gainer, loser] = extremesOf(rows);
  const labels = await labelsOf(context, args.group_by, [...shown, gainer, loser].flatMap((row) => row?.key ?? [])); // prettier-ignore
  const label = (key: string): string => labels.get(key) as string;
  const volume = total(rows.map((row) => row.volume));
  return {
    total_volume: volume,
    total_trades: rows.reduce((sum, row) => sum + row.trades, 0),
    breakdown: shown.map((row) => ({
      label: label(row.key),
      volume: row.volume,
      trade_count: row.trades,
      pct_of_total: percent(row.volume, volume) ?? 0,
      volume_change_pct: row.change,
      trend: trendOf(row.volume, row.previous),
      condition_id: args.group_by === 'market' ? row.key : null,
    })),
    biggest_gainer: gainer === null ? null : label(gainer.key),
    biggest_loser: loser === null ? null : label(loser.key),
    cells: cells.map((cell) => ({ label: label(cell.label), bucket: cell.bucket, volume: cell.volume, trade_count: cell.trades })),
    hhi: hhi(rows.map((row) => Number(row.volume))),
  };
};

/** Rows that traded in the window, by volume. */
async function loadRows(context: GraphContext, group_by: GroupBy, scope: VolumeScope, compared: boolean): Promise<Row[]> {
  const found = await listVolumes(context.sql, group_by, scope);
  const before = new Map(found.filter((row) => compared && row.part === 1).map((row) => [row.label, row.volume]));
  const rows = found
    .filter((row) => row.part === (compared ? 2 : 1))
    .map(({ label, volume, trades }) => {
      const previous = compared ? (before.get(label) ?? '0') : null;
      return { key: label, volume, trades, previous, change: changePercent(volume, previous) };
    });
  return rows.sort((a, b) => Number(less(b.volume, a.volume)) || (a.key < b.key ? -1 : 1));
}

function extremesOf(rows: readonly Row[]): [Row | null, Row | null] {
  let [gainer, loser]: [Row | null, Row | null] = [null, null];
  for (const row of rows) {
    if (row.change === null) continue;
    if (row.change > 0 && (gainer === null || row.change > (gainer.change as number))) gainer = row;
    if (row.change < 0 && (loser === null || row.change < (loser.change as number))) loser = row;
  }
  return [gainer, loser];
}

async function labelsOf(context: GraphContext, group_by: GroupBy, keys: readonly string[]): Promise<Map<string, string>> {
  if (group_by === 'day_of_week') return new Map(keys.map((key) => [key, WEEKDAYS[Number(key) - 1] as string]));
  if (group_by !== 'market') return new Map(keys.map((key) => [key, key]));
  const markets = await context.loaders(makeLoaders).market.loadMany([...keys]);
  return new Map(keys.map((key, index) => [key, questionOf(markets[index]) ?? key]));
}

const questionOf = (market: unknown): string | null =>
  market instanceof Error || market === null ? null : (market as { question: string | null }).question;

/** The bucket asked for, or by the window's length: up to a day hours, up to a week four hours, else days. Throws range_too_large for too many, or too many cells of markets. */
async function bucketOf({ bucket_size, timeframe, group_by, limit }: Args, window: Window, context: GraphContext): Promise<BucketSize> {
  const length = lengthOf(timeframe);
  const size = bucket_size !== 'auto' ? bucket_size : length <= lengthOf('24h') ? '1h' : length <= lengthOf('7d') ? '4h' : '1d';
  const from = timeframe === 'all' ? ((await getFirstFill(context.sql)) ?? window.to) : window.from;
  checkBuckets({ from, to: window.to }, size, ['1h', '4h', '1d'], group_by === 'market' ? limit : 1);
  return size;
}
