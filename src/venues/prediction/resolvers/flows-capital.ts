import { AppError } from '../../../errors';
import type { Category } from '../../../lib/category';
import { clear, roundTo } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import { type Timeframe, byLength, isLongest, windowOf, withShorter } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { compareAmounts, less, percent, total } from '../exact';
import { getFirstFill } from '../queries/newest-fill';
import { type VolumeRow, listVolumes } from '../queries/volumes';
import { type Windows, emptyWithin, smartRule, stretchOf, windowsOf } from './flows-scope';

interface Scope {
  smart_money_only: boolean;
  category?: Category | null;
  top_n_categories: number;
}

/** Buys and sells of one category in a window and in the one before; previous figures null where there is none. */
interface Flow {
  category: string;
  buy: string;
  sell: string;
  net: string;
  volume: string;
  trades: number;
  previous: { buy: string; sell: string; net: string } | null;
}

const ZERO = '0';
const byName = (a: { category: string }, b: { category: string }): number => (a.category < b.category ? -1 : 1);
const descending = (a: string, b: string): number => compareAmounts(b, a);

/** Flows of every category that traded in either window. */
async function loadFlows(
  context: GraphContext,
  windows: Windows,
  { smart_money_only, category }: Scope,
  smart = smart_money_only,
): Promise<Flow[]> {
  const rule = smart ? await smartRule(context, stretchOf(windows.cut)) : null;
  const rows = await listVolumes(context.sql, 'category', { cut: windows.cut, shift: 0, category: category ?? null, smart: rule });
  const current = windows.previous === null ? 1 : 2;
  const found = (name: string, part: number): VolumeRow | undefined => rows.find((row) => row.label === name && row.part === part);
  const amounts = (row: VolumeRow | undefined): Omit<Flow, 'category' | 'previous'> => {
    const [buy, sell] = [row?.buy_usdc ?? ZERO, row?.sell_usdc ?? ZERO];
    return { buy, sell, net: less(buy, sell), volume: row?.volume ?? ZERO, trades: row?.trades ?? 0 };
  };
  return [...new Set(rows.map((row) => row.label))].map((name) => ({
    category: name,
    ...amounts(found(name, current)),
    previous: current === 1 ? null : amounts(found(name, 1)),
  }));
}

/** markets/capital-flow: buys and sells by category. Throws empty_result when nothing was traded in both windows. */
export const marketsCapitalFlow: Resolver<unknown, Scope & { timeframe: Timeframe }> = async (_, args, context) => {
  const windows = windowsOf(args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window: windows.window });
  const [flows, smart] = await Promise.all([loadFlows(context, windows, args), loadFlows(context, windows, args, true)]);
  if (flows.length === 0)
    throw await emptyWithin(context, args.timeframe, { condition_id: null, category: args.category ?? null, smart: args.smart_money_only });
  const ordered = flows.sort((a, b) => descending(a.volume, b.volume) || byName(a, b));
  const shown = ordered.slice(0, args.top_n_categories);
  if (args.category) context.meta.ineffective = { top_n_categories: 'one category' };
  context.meta.count = shown.length;
  return {
    timeframe: args.timeframe,
    total_net_flow: total(flows.map((flow) => flow.net)),
    categories: shown.map((flow) => ({
      category: flow.category,
      current_buy_volume: flow.buy,
      current_sell_volume: flow.sell,
      current_net_flow: flow.net,
      previous_buy_volume: flow.previous?.buy ?? null,
      previous_sell_volume: flow.previous?.sell ?? null,
      previous_net_flow: flow.previous?.net ?? null,
      net_flow_change: flow.previous && less(flow.net, flow.previous.net),
      flow_trend: flow.previous && flowTrend(Number(flow.net), Number(flow.previous.net)),
      smart_net_flow: smart.find((one) => one.category === flow.category)?.net ?? ZERO,
      net_flow_pct_of_volume: percent(flow.net, flow.volume),
    })),
    ...extremes(flows),
  };
};

/** Categories with the largest net inflow and outflow; null where nobody has any. */
function extremes(flows: readonly Flow[]): { biggest_inflow: string | null; biggest_outflow: string | null } {
  const ranked = [...flows].sort((a, b) => descending(a.net, b.net) || byName(a, b));
  const [first, last] = [ranked[0], [...ranked].sort((a, b) => descending(b.net, a.net) || byName(a, b))[0]];
  return {
    biggest_inflow: first && Number(first.net) > 0 ? first.category : null,
    biggest_outflow: last && Number(last.net) < 0 ? last.category : null,
  };
}

type FlowTrend =
  | 'accelerating_in'
  | 'decelerating_in'
  | 'accelerating_out'
  | 'decelerating_out'
  | 'reversing_in'
  | 'reversing_out'
  | 'flat';

/** How a net flow `c` compares with the one before, `p`; a flow that ends slows down. Compared as they are told: exactly 5 % is not below it. */
export function flowTrend(c: number, p: number): FlowTrend {
  if (roundTo(Math.abs(c - p), 6) < roundTo(0.05 * Math.max(Math.abs(p), 1), 6)) return 'flat';
  if (c > 0) return p < 0 ? 'reversing_in' : c > p ? 'accelerating_in' : 'decelerating_in';
  if (c < 0) return p > 0 ? 'reversing_out' : c < p ? 'accelerating_out' : 'decelerating_out';
  return p > 0 ? 'decelerating_in' : 'decelerating_out';
}

/** markets/capital-flow-comparison: the same on two to four windows. Throws empty_result when none of them holds a trade. */
export const marketsCapitalFlowComparison: Resolver<
  unknown,
  Scope & { timeframes?: Timeframe[] | null; timeframe?: Timeframe | null }
> = async (_, args, context) => {
  const timeframes = [...(args.timeframes ?? withShorter(args.timeframe ?? '30d'))].sort(byLength);
  const longest = timeframes.at(-1) as Timeframe;
  checkTimeframes(timeframes, args.timeframe ?? longest);
  Object.assign(context.meta, { timeframe: longest, window: windowOf(longest, context.now) });
  const columns = await Promise.all(timeframes.map((timeframe) => loadColumn(context, timeframe, args)));
  const names = [...new Set(columns.flatMap((column) => column.flows.map((flow) => flow.category)))];
  if (columns.every((column) => column.flows.every((flow) => flow.trades === 0))) {
    const scope = { condition_id: null, category: args.category ?? null, smart: args.smart_money_only };
    const { suggestion } = (await emptyWithin(context, longest, scope)).context;
    // A longer window is none of those that were named.
    throw new AppError('empty_result', suggestion && { suggestion: { timeframes: null, ...suggestion } });
  }
  const ranked = columns.map((column) => rankColumn(column, names));
  const last = ranked.at(-1) as Map<string, RankedFlow>;
  const order = [...names].sort(
    (a, b) => descending((last.get(a) as RankedFlow).volume, (last.get(b) as RankedFlow).volume) || (a < b ? -1 : 1),
  );
  const shown = order.slice(0, args.top_n_categories);
  if (args.category) context.meta.ineffective = { top_n_categories: 'one category' };
  context.meta.count = shown.length;
  return {
    timeframes,
    categories: shown.map((category) => compareCategory(category, ranked.map((column) => column.get(category) as RankedFlow))), // prettier-ignore
    totals: columns.map(({ timeframe, flows }) => ({
      timeframe,
      net_flow: total(flows.map((flow) => flow.net)),
      volume: total(flows.map((flow) => flow.volume)),
    })),
    biggest_inflow: columns.map(({ timeframe, flows }) => ({ timeframe, category: extremes(flows).biggest_inflow })),
    biggest_outflow: columns.map(({ timeframe, flows }) => ({ timeframe, category: extremes(flows).biggest_outflow })),
  };
};

function checkTimeframes(timeframes: readonly Timeframe[], longest: Timeframe): void {
  const issue =
    new Set(timeframes).size < timeframes.length
      ? 'holds one window twice'
      : timeframes.length < 2 || timeframes.length > 4
        ? 'must hold two to four windows'
        : null;
  if (issue !== null) throw new AppError('invalid_parameter', { details: [{ param: 'timeframes', issue, got: timeframes.join(',') }] });
  if (!isLongest(longest, timeframes))
    throw new AppError('invalid_parameter', {
      details: [{ param: 'timeframe', issue: 'is not the longest of timeframes', allowed: timeframes.at(-1), got: longest }],
    });
}

interface Column {
  timeframe: Timeframe;
  flows: Flow[];
  /** Length of the window; of `all`, since the first fill. */
  days: number;
}

async function loadColumn(context: GraphContext, timeframe: Timeframe, scope: Scope): Promise<Column> {
  const windows = windowsOf(timeframe, context.now);
  const flows = await loadFlows(context, windows, scope);
  const since = timeframe === 'all' ? ((await getFirstFill(context.sql)) ?? windows.window.from) : windows.window.from;
  return { timeframe, flows, days: (context.now.getTime() - since.getTime()) / DAY_MS };
}

interface RankedFlow extends Flow {
  timeframe: Timeframe;
  per_day: number;
  rank: number;
}

function rankColumn({ timeframe, flows, days }: Column, names: readonly string[]): Map<string, RankedFlow> {
  const nothing = { buy: ZERO, sell: ZERO, net: ZERO };
  const previous = timeframe === 'all' ? null : nothing;
  const empty = { ...nothing, volume: ZERO, trades: 0, previous };
  const all = names.map((category) => flows.find((flow) => flow.category === category) ?? { category, ...empty });
  const ranked = all.sort((a, b) => descending(a.net, b.net) || byName(a, b));
  return new Map(
    ranked.map((flow, index) => [flow.category, { ...flow, timeframe, per_day: days > 0 ? Number(flow.net) / days : 0, rank: index + 1 }]),
  );
}

function compareCategory(category: string, flows: readonly RankedFlow[]): Record<string, unknown> {
  const [shortest, longest] = [flows[0], flows.at(-1)] as [RankedFlow, RankedFlow];
  return {
    category,
    flows: flows.map((flow) => ({
      timeframe: flow.timeframe,
      buy_volume: flow.buy,
      sell_volume: flow.sell,
      net_flow: flow.net,
      previous_net_flow: flow.previous?.net ?? null,
      net_flow_change: flow.previous && less(flow.net, flow.previous.net),
      net_flow_per_day: flow.per_day,
      rank: flow.rank,
    })),
    momentum: momentumOf(shortest.per_day, longest.per_day),
    rank_change: longest.rank - shortest.rank,
  };
}

/** Daily flow of the shortest window against that of the longest. Binary fractions may make 1.4999999999999998 of what is 1.5 by its decimals. */
export function momentumOf(short: number, long: number): 'accelerating' | 'fading' | 'reversing' | 'steady' {
  if (short * long < 0) return 'reversing';
  if (long === 0) return short === 0 ? 'steady' : 'accelerating';
  const times = clear(short / long);
  return times >= 1.5 ? 'accelerating' : times <= 0.5 ? 'fading' : 'steady';
}
