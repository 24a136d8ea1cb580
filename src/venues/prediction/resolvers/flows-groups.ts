import type { Category } from '../../../lib/category';
import { groupedBy } from '../../../lib/grouped';
import { roundTo } from '../../../lib/statistics';
import type { Timeframe } from '../../../lib/timeframe';
import type { Resolver } from '../../venue';
import { changePercent, compareAmounts, percent, total, trendOf } from '../exact';
import { type TraderRow, type VolumeRow, type VolumeScope, listTraders, listVolumes } from '../queries/volumes';
import { emptyWithin, smartRule, stretchOf, windowsOf } from './flows-scope';

interface Args {
  timeframe: Timeframe;
  group_by: 'category' | 'hour' | 'day';
  category?: Category | null;
  smart_money_only: boolean;
  limit: number;
  sort_by: 'volume' | 'volume_change_pct' | 'group';
}

interface Group {
  group: string;
  volume: string;
  previous_volume: string | null;
  volume_change_pct: number | null;
  [field: string]: unknown;
}

/** markets/volume-by-group: volume by category, hour or day beside the period before. Throws empty_result when nothing was traded in both. */
export const marketsVolumeByGroup: Resolver<unknown, Args> = async (_, args, context) => {
  const windows = windowsOf(args.timeframe, context.now, args.group_by !== 'category');
  Object.assign(context.meta, { timeframe: args.timeframe, window: windows.window });
  const smart = args.smart_money_only ? await smartRule(context, stretchOf(windows.cut)) : null;
  const shift = args.group_by === 'category' ? 0 : windows.shift;
  const scope: VolumeScope = { cut: windows.cut, shift, category: args.category ?? null, smart };
  const [rows, traders] = await Promise.all([
    listVolumes(context.sql, args.group_by, scope),
    listTraders(context.sql, args.group_by, scope),
  ]);
  if (rows.length === 0)
    throw await emptyWithin(context, args.timeframe, { condition_id: null, category: args.category ?? null, smart: args.smart_money_only });
  const groups = groupsOf(rows, traders, windows.previous === null ? 1 : 2);
  const volume = total(groups.map((group) => group.volume));
  const previous = windows.previous && total(groups.map((group) => group.previous_volume ?? '0'));
  const shown = groups.sort(ORDERS[args.sort_by]).slice(0, args.limit);
  if (args.group_by === 'category' && args.category) context.meta.ineffective = { limit: 'one category' };
  context.meta.count = shown.length;
  return {
    timeframe: args.timeframe,
    group_by: args.group_by,
    total_volume: volume,
    previous_total_volume: previous,
    volume_change_pct: changePercent(volume, previous),
    groups: shown,
  };
};

/** Groups in no order; rows of two parts are of the period before, and of the period, those of one of the period alone. */
export function groupsOf(rows: readonly VolumeRow[], traders: readonly TraderRow[], parts: 1 | 2): Group[] {
  const whole = total(rows.filter((row) => row.part === parts).map((row) => row.volume));
  const distinct = new Map(traders.map((row) => [row.label, row.traders]));
  return [...groupedBy(rows, (row) => row.label)].map(([label, own]) => {
    const of = (part: number): VolumeRow | undefined => own.find((row) => row.part === part);
    return groupOf(label, of(parts), parts === 1 ? null : (of(1) ?? { volume: '0', trades: 0 }), whole, distinct.get(label) ?? 0);
  });
}

function groupOf(
  group: string,
  row: VolumeRow | undefined,
  before: { volume: string; trades: number } | null,
  whole: string,
  unique_traders: number,
): Group {
  const volume = row?.volume ?? '0';
  return {
    group,
    volume,
    previous_volume: before?.volume ?? null,
    volume_change_pct: changePercent(volume, before?.volume ?? null),
    trade_count: row?.trades ?? 0,
    previous_trade_count: before?.trades ?? null,
    buy_volume: row?.buy_usdc ?? '0',
    sell_volume: row?.sell_usdc ?? '0',
    unique_traders,
    pct_of_total: percent(volume, whole) ?? 0,
    trend: trendOf(volume, before?.volume ?? null),
  };
}

/** What groups are ordered by: as it is told, for binary fractions make -99.99999999999999 of what fell to nothing. Without a change a group comes last. */
const changeOf = ({ volume_change_pct }: Group): number =>
  volume_change_pct === null ? Number.NEGATIVE_INFINITY : roundTo(volume_change_pct, 6);
const byGroup = (a: Group, b: Group): number => (a.group < b.group ? -1 : 1);
const ORDERS: Record<Args['sort_by'], (a: Group, b: Group) => number> = {
  volume: (a, b) => compareAmounts(b.volume, a.volume) || byGroup(a, b),
  volume_change_pct: (a, b) => changeOf(b) - changeOf(a) || byGroup(a, b),
  group: byGroup,
};
