import type { Category } from '../../../lib/category';
import { BUCKETS, type BucketSize, automaticSize, checkGrid } from '../../../lib/grid';
import type { Timeframe, Window } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { changePercent, over, percent, trendOf } from '../exact';
import { makeMarketLoaders } from '../market-loaders';
import { getFirstFill } from '../queries/newest-fill';
import { rankVolumes } from '../queries/volume-ranking';
import { type VolumeScope, listVolumeCells } from '../queries/volumes';
import { emptyWithin, smartRule, stretchOf, windowsOnRecord } from './flows-scope';

type GroupBy = 'market' | 'category' | 'hour_of_day' | 'day_of_week';

interface Args {
  timeframe: Timeframe;
  group_by: GroupBy;
  smart_money_only: boolean;
  limit: number;
  category?: Category | null;
  bucket_size: '1h' | '4h' | '1d' | 'auto';
}

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** Hours and weekdays are few: limit bounds markets and categories. */
const CUT_BY_LIMIT: readonly GroupBy[] = ['market', 'category'];
const MOST_LABELS = 24;

/** markets/volume-heatmap: how volume is spread over markets, categories, hours or weekdays. Throws empty_result for a window without trades, range_too_large for too many buckets or cells. */
export const marketsVolumeHeatmap: Resolver<unknown, Args> = async (_, args, context) => {
  const windows = await windowsOnRecord(args.timeframe, context);
  Object.assign(context.meta, { timeframe: args.timeframe, window: windows.window });
  const bucket_size = await bucketOf(args, windows.window, context);
  const smart = args.smart_money_only ? await smartRule(context, stretchOf(windows.cut)) : null;
  const scope: VolumeScope = { cut: windows.cut, shift: 0, category: args.category ?? null, smart };
  const isCut = CUT_BY_LIMIT.includes(args.group_by);
  const ranking = await rankVolumes(context.sql, args.group_by, scope, isCut ? args.limit : MOST_LABELS);
  if (ranking === null)
    throw await emptyWithin(context, args.timeframe, { condition_id: null, category: args.category ?? null, smart: args.smart_money_only });
  const { rows, gainer, loser, total_volume } = ranking;
  if (!isCut) context.meta.ineffective = { limit: `group_by=${args.group_by}` };
  else if (args.group_by === 'category' && args.category) context.meta.ineffective = { limit: 'one category' };
  context.meta.count = isCut ? rows.length : null;
  const keys = rows.map((row) => row.label);
  const [cells, labels] = await Promise.all([
    listVolumeCells(context.sql, args.group_by, scope, keys, BUCKETS[bucket_size]),
    labelsOf(context, args.group_by, [...keys, ...[gainer, loser].filter((key) => key !== null)]),
  ]);
  const label = (key: string): string => labels.get(key) as string;
  const conditionId = (key: string): string | null => (args.group_by === 'market' ? key : null);
  return {
    total_volume,
    total_trades: ranking.total_trades,
    breakdown: rows.map((row) => {
      const previous = windows.previous === null ? null : row.previous;
      return {
        label: label(row.label),
        volume: row.volume,
        trade_count: row.trades,
        pct_of_total: percent(row.volume, total_volume) ?? 0,
        volume_change_pct: changePercent(row.volume, previous),
        trend: trendOf(row.volume, previous),
        condition_id: conditionId(row.label),
      };
    }),
    biggest_gainer: gainer === null ? null : label(gainer),
    biggest_loser: loser === null ? null : label(loser),
    cells: cells.map((cell) => ({
      label: label(cell.label),
      bucket: cell.bucket,
      volume: cell.volume,
      trade_count: cell.trades,
      condition_id: conditionId(cell.label),
    })),
    hhi: over(ranking.squares, Number(total_volume) ** 2),
  };
};

async function labelsOf(context: GraphContext, group_by: GroupBy, keys: readonly string[]): Promise<Map<string, string>> {
  if (group_by === 'day_of_week') return new Map(keys.map((key) => [key, WEEKDAYS[Number(key) - 1] as string]));
  if (group_by !== 'market') return new Map(keys.map((key) => [key, key]));
  const markets = await context.loaders(makeMarketLoaders).shown.loadMany([...keys]);
  return new Map(keys.map((key, index) => [key, questionOf(markets[index]) ?? key]));
}

const questionOf = (market: unknown): string | null =>
  market instanceof Error || market === null ? null : (market as { question: string | null }).question;

/** The bucket asked for, or by the window's length. Throws range_too_large for too many, or too many cells of markets. */
async function bucketOf({ bucket_size, timeframe, group_by, limit }: Args, window: Window, context: GraphContext): Promise<BucketSize> {
  const size = bucket_size === 'auto' ? automaticSize(timeframe) : bucket_size;
  const from = timeframe === 'all' ? ((await getFirstFill(context.sql)) ?? window.to) : window.from;
  checkGrid({ from, to: window.to }, { size, allowed: ['1h', '4h', '1d'], rows: group_by === 'market' ? limit : 1 });
  return size;
}
