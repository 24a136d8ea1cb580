import type { pm_market as MarketRecord } from '../../../generated/prisma/client';
import type { Category } from '../../../lib/category';
import { type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { changePercent, less, over, total } from '../exact';
import { groupedBy } from '../grouped';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { leaderOf } from '../market-prices';
import { type SmartFlowRow, listSmartCounts, listSmartFlows, listTakerCounts } from '../queries/market-flows';
import { type TrendingRow, listTrending } from '../queries/market-trending';
import { type Cut, cutAt } from '../queries/pieces';
import { emptyWithin, smartRule } from './flows-scope';

interface Args {
  timeframe: Timeframe;
  limit: number;
  category?: Category | null;
  sort_by: 'volume' | 'volume_spike' | 'trade_count' | 'smart_money_inflow';
}

/** Equal windows before the asked one that a spike is measured against; fewer than three tell nothing. */
const EARLIER_WINDOWS = 7;
const FEWEST_WINDOWS = 3;
/** USDC added to both sides, so that small markets do not spike on small change. */
const SPIKE_FLOOR = 1_000;

interface Row extends TrendingRow {
  spike: number | null;
  smart_net: string;
}

/** markets/trending: active markets by what was traded in the window. Throws empty_result when nothing was. */
export const marketsTrending: Resolver<unknown, Args> = async (_, args, context) => {
  const window = windowOf(args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  const own = cutAt([window.from, window.to]);
  const rule = await smartRule(context, window);
  const [traded, flows] = await Promise.all([
    listTrending(context.sql, cutOf(args.timeframe, window), args.category ?? null, context.now),
    listSmartFlows(context.sql, own, rule, null),
  ]);
  if (traded.length === 0) throw await emptyWithin(context, { condition_id: null, category: args.category ?? null, smart: false });
  const byMarket = groupedBy(flows, (flow) => flow.condition_id);
  const rows = traded.map((row): Row => ({
    ...row,
    spike: args.timeframe === 'all' ? null : spikeOf(row),
    smart_net: total((byMarket.get(row.condition_id) ?? []).map((flow) => flow.net_usdc)),
  }));
  const shown = rows.sort(ORDERS[args.sort_by]).slice(0, args.limit);
  context.meta.count = shown.length;
  const ids = shown.map((row) => row.condition_id);
  const [takers, smart] = await Promise.all([listTakerCounts(context.sql, own, ids), listSmartCounts(context.sql, own, rule, ids)]);
  const count = (rows: typeof takers, id: string): number => rows.find((row) => row.condition_id === id)?.wallets ?? 0;
  return Promise.all(
    shown.map((row) =>
      describe(
        row,
        byMarket.get(row.condition_id) ?? [],
        window,
        args.timeframe,
        { takers: count(takers, row.condition_id), smart: count(smart, row.condition_id) },
        context,
      ),
    ),
  );
};

function cutOf(timeframe: Timeframe, { from, to }: Window): Cut {
  if (timeframe === 'all' || from.getTime() === to.getTime()) return cutAt([from, to]);
  const length = to.getTime() - from.getTime();
  return cutAt(Array.from({ length: EARLIER_WINDOWS + 2 }, (_, index) => new Date(from.getTime() - (EARLIER_WINDOWS - index) * length)));
}

/** Volume against the mean of the earlier windows since the market's first fill (definition D-SPIKE). */
function spikeOf({ volume, earlier, parts_before }: TrendingRow): number | null {
  if (parts_before < FEWEST_WINDOWS) return null;
  return (Number(volume) + SPIKE_FLOOR) / (Number(earlier) / parts_before + SPIKE_FLOOR);
}

const byVolume = (a: Row, b: Row): number => Number(less(b.volume, a.volume)) || (a.condition_id < b.condition_id ? -1 : 1);
const ORDERS: Record<Args['sort_by'], (a: Row, b: Row) => number> = {
  volume: byVolume,
  volume_spike: (a, b) => (b.spike ?? -1) - (a.spike ?? -1) || byVolume(a, b),
  trade_count: (a, b) => b.trades - a.trades || byVolume(a, b),
  smart_money_inflow: (a, b) => Number(less(b.smart_net, a.smart_net)) || byVolume(a, b),
};

async function describe(
  row: Row,
  flows: readonly SmartFlowRow[],
  window: Window,
  timeframe: Timeframe,
  wallets: { takers: number; smart: number },
  context: GraphContext,
): Promise<Record<string, unknown>> {
  const { market, outcomes } = context.loaders(makeLoaders);
  const { prices } = context.loaders(makeMarketLoaders);
  const { condition_id } = row;
  const [record, tokens, current, before] = await Promise.all([
    market.load(condition_id) as Promise<MarketRecord>,
    outcomes.load(condition_id),
    prices.load({ condition_id, at: context.now }),
    prices.load({ condition_id, at: window.from, opening: true }),
  ]);
  const leader = leaderOf(current);
  const start = before.find((outcome) => outcome.token_id === leader?.token_id)?.price ?? null;
  const favoured = flows
    .filter((flow) => Number(flow.net_usdc) > 0)
    .sort((a, b) => Number(less(b.net_usdc, a.net_usdc)) || (a.token_id < b.token_id ? -1 : 1))[0];
  return {
    ...record,
    period_volume_usdc: row.volume,
    period_trade_count: row.trades,
    volume_spike_multiplier: row.spike,
    smart_money_wallets_active: wallets.smart,
    smart_money_net_direction: tokens.find((token) => token.token_id === favoured?.token_id)?.outcome ?? null,
    buy_sell_ratio: over(row.buy_usdc, row.sell_usdc),
    leader_price: leader?.price ?? null,
    leader_outcome: leader?.outcome ?? null,
    previous_volume_usdc: timeframe === 'all' ? null : row.previous,
    volume_change_pct: changePercent(row.volume, timeframe === 'all' ? null : row.previous),
    smart_money_net_flow_usdc: row.smart_net,
    unique_traders: wallets.takers,
    price_change: leader === null || start === null ? null : leader.price - start,
  };
}
