import type { Category } from '../../../lib/category';
import { groupedBy } from '../../../lib/grouped';
import { SPIKE } from '../../../lib/spike';
import { type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { changePercent, compareAmounts, over, total } from '../exact';
import { makeMarketLoaders } from '../market-loaders';
import { leaderOf } from '../market-prices';
import { type SmartFlowRow, listSmartFlows } from '../queries/market-flows';
import { type SpikeRow, type TrendingOrder, type TrendingRow, listSpikes, listTrending } from '../queries/market-trending';
import { type Cut, cutAt } from '../queries/pieces';
import { listTakersOn } from '../queries/taker-counts';
import { emptyWithin, smartRule, windowBefore } from './flows-scope';

interface Args {
  timeframe: Timeframe;
  limit: number;
  category?: Category | null;
  sort_by: TrendingOrder;
}

/** markets/trending: active markets by what was traded in the window. Throws empty_result when nothing was. */
export const marketsTrending: Resolver<unknown, Args> = async (_, args, context) => {
  const window = windowOf(args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  const own = cutAt([window.from, window.to]);
  const rule = await smartRule(context, window);
  const cut = cutOf(args.timeframe, window);
  const shown = await listTrending(
    context.sql,
    cut,
    { category: args.category ?? null, order: args.sort_by, limit: args.limit, smart: { cut: own, rule } },
    context.now,
  );
  if (shown.length === 0)
    throw await emptyWithin(context, args.timeframe, { condition_id: null, category: args.category ?? null, smart: false, active: true });
  context.meta.count = shown.length;
  const ids = shown.map((row) => row.condition_id);
  const told = Promise.all([
    windowBefore(args.timeframe, context),
    listSmartFlows(context.sql, own, rule, ids).then((rows) => groupedBy(rows, (flow) => flow.condition_id)),
    listTakersOn(context.sql, window, ids).then((rows) => new Map(rows.map((row) => [row.condition_id, row.wallets]))),
    hasEarlier(cut) ? listSpikes(context.sql, cut, shown).then((rows) => new Map(rows.map((row) => [row.condition_id, row]))) : new Map(),
  ]);
  return Promise.all(shown.map((row) => describe(row, told, window, context)));
};

/** The window before where it is on record; smart flows, numbers of takers, and what was traded before, by market. */
type Told = Promise<
  readonly [Window | null, ReadonlyMap<string, SmartFlowRow[]>, ReadonlyMap<string, number>, ReadonlyMap<string, SpikeRow>]
>;

/** Whether there are parts before the last one: of everything there are none. */
const hasEarlier = ({ bounds }: Cut): boolean => bounds.length > 2;

function cutOf(timeframe: Timeframe, { from, to }: Window): Cut {
  if (timeframe === 'all' || from.getTime() === to.getTime()) return cutAt([from, to]);
  const length = to.getTime() - from.getTime();
  return cutAt(Array.from({ length: SPIKE.windows + 2 }, (_, index) => new Date(from.getTime() - (SPIKE.windows - index) * length)));
}

async function describe(row: TrendingRow, told: Told, window: Window, context: GraphContext): Promise<Record<string, unknown>> {
  const { prices, shown } = context.loaders(makeMarketLoaders);
  const { condition_id } = row;
  const [[compared, smart, takers, spikes], record, current, before] = await Promise.all([
    told,
    shown.load(condition_id),
    prices.load({ condition_id, at: context.now }),
    prices.load({ condition_id, at: window.from, opening: true }),
  ]);
  const { previous: traded = null, spike = null } = spikes.get(condition_id) ?? {};
  const previous = compared && traded;
  const flows = smart.get(condition_id) ?? [];
  const leader = leaderOf(current);
  const start = before.find((outcome) => outcome.token_id === leader?.token_id)?.price ?? null;
  const favoured = flows
    .filter((flow) => Number(flow.net_usdc) > 0)
    .sort((a, b) => compareAmounts(b.net_usdc, a.net_usdc) || (a.token_id < b.token_id ? -1 : 1))[0];
  return {
    ...record,
    period_volume_usdc: row.volume,
    period_trade_count: row.trades,
    volume_spike_multiplier: spike,
    smart_money_wallets_active: flows[0]?.wallets ?? 0,
    smart_money_net_direction: current.find((outcome) => outcome.token_id === favoured?.token_id)?.outcome ?? null,
    buy_sell_ratio: over(row.buy_usdc, row.sell_usdc),
    leader_price: leader?.price ?? null,
    leader_outcome: leader?.outcome ?? null,
    previous_volume_usdc: previous,
    volume_change_pct: changePercent(row.volume, previous),
    smart_money_net_flow_usdc: total(flows.map((flow) => flow.net_usdc)),
    unique_traders: takers.get(condition_id) ?? 0,
    price_change: leader === null || start === null ? null : leader.price - start,
  };
}
