import { AppError } from '../../../errors';
import type { Category } from '../../../lib/category';
import { groupedBy } from '../../../lib/grouped';
import { type Timeframe, type Window, windowOf } from '../../../lib/timeframe';
import { clear, roundTo } from '../../../lib/statistics';
import type { GraphContext, Resolver } from '../../venue';
import { byScore, independentOf } from '../consensus';
import { compareAmounts, less, meanScore, over, total } from '../exact';
import { makeMarketLoaders } from '../market-loaders';
import { cutAt } from '../queries/pieces';
import { type SmartWalletFlow, listSmartWalletFlows } from '../queries/smart-wallet-flows';
import { emptyWithin, smartRule } from './flows-scope';

type Direction = 'BUY' | 'SELL';
export type Strength = 'weak' | 'moderate' | 'strong';

interface Args {
  timeframe: Timeframe;
  category?: Category | null;
  min_score: number;
  min_smart_wallets: number;
  side?: Direction | null;
  sort_by: 'signal_score' | 'net_flow' | 'smart_wallet_count' | 'total_volume';
  limit: number;
}

interface Signal {
  condition_id: string;
  token_id: string;
  direction: Direction;
  flows: SmartWalletFlow[];
  buy_volume: string;
  sell_volume: string;
  net_flow: string;
  total_volume: string;
  independent: number | null;
  score: number;
}

/** Scores from which a signal is weak, moderate, strong; below there is none. */
export const STRENGTHS: readonly (readonly [Strength, number])[] = [
  ['strong', 65],
  ['moderate', 40],
  ['weak', 10],
];
/** Independent wallets from which their number adds nothing. */
export const ENOUGH_WALLETS = 10;
const TOP_WALLETS = 5;

/** markets/smart-signals: active markets by the direction of smart wallets' flow in the window. Throws empty_result when none has one. */
export const marketsSmartSignals: Resolver<unknown, Args> = async (_, args, context) => {
  const window = windowOf(args.timeframe, context.now);
  Object.assign(context.meta, { timeframe: args.timeframe, window });
  const rule = smartRule(context, window, args.min_score);
  const cut = cutAt([window.from, window.to]);
  const signalsOf = async (on_one_outcome: number): Promise<Signal[]> => {
    const scope = { category: args.category ?? null, on_one_outcome };
    const flows = await listSmartWalletFlows(context.sql, cut, rule, scope, context.now);
    return [...groupedBy(flows, (flow) => flow.condition_id).values()].flatMap((own) => signalOf(own) ?? []);
  };
  const signals = await signalsOf(args.min_smart_wallets);
  const kept = signals.filter(
    (signal) =>
      signal.flows.length >= args.min_smart_wallets && strengthOf(signal.score) !== null && (!args.side || signal.direction === args.side),
  );
  if (kept.length === 0) throw await emptyOf(context, args, await signalsOf(1));
  const shown = kept.sort((a, b) => ORDERS[args.sort_by](a, b) || (a.condition_id < b.condition_id ? -1 : 1)).slice(0, args.limit);
  context.meta.count = shown.length;
  return Promise.all(shown.map((signal) => describe(signal, window, context)));
};

/** empty_result that names a timeframe: this one with what its signal of most wallets would be found by; without one, a longer one. */
async function emptyOf(context: GraphContext, args: Args, signals: readonly Signal[]): Promise<AppError> {
  const [largest] = signals.filter((signal) => strengthOf(signal.score) !== null).sort((a, b) => b.flows.length - a.flows.length);
  if (largest === undefined) {
    const empty = await emptyWithin(context, args.timeframe, {
      condition_id: null,
      category: args.category ?? null,
      smart: true,
      active: true,
    });
    return signals.length === 0 || args.timeframe === 'all' ? empty : new AppError('empty_result', { suggestion: { timeframe: 'all' } });
  }
  const min_smart_wallets = Math.min(args.min_smart_wallets, largest.flows.length);
  const side = args.side && args.side !== largest.direction ? { side: largest.direction } : {};
  return new AppError('empty_result', { suggestion: { timeframe: args.timeframe, min_smart_wallets, ...side } });
}

const ORDERS: Record<Args['sort_by'], (a: Signal, b: Signal) => number> = {
  signal_score: (a, b) => b.score - a.score,
  net_flow: (a, b) => compareAmounts(b.net_flow, a.net_flow),
  smart_wallet_count: (a, b) => b.flows.length - a.flows.length,
  total_volume: (a, b) => compareAmounts(b.total_volume, a.total_volume),
};

/** Strength of a score as it is told, in tenths; null below the weakest. */
export const strengthOf = (score: number): Strength | null => STRENGTHS.find(([, from]) => roundTo(score, 1) >= from)?.[0] ?? null;

/**
 * The outcome that smart wallets buy most, weighted by score; where they only sell, the one they sell most. One that is bought by weight and
 * sold by money, or the reverse, has no direction.
 */
function signalOf(flows: readonly SmartWalletFlow[]): Signal | null {
  const outcomes = [...groupedBy(flows, (flow) => flow.token_id)].map(([token_id, own]) => ({
    token_id,
    own,
    pull: clear(own.reduce((sum, flow) => sum + byScore(flow.score) * flow.net_usdc, 0)),
    net: clear(own.reduce((sum, flow) => sum + flow.net_usdc, 0)),
  }));
  const directed = outcomes.filter(({ pull, net }) => pull * net > 0);
  const ranked = directed.sort((a, b) => b.pull - a.pull || (a.token_id < b.token_id ? -1 : 1));
  const [best, worst] = [ranked[0], ranked.at(-1)];
  const chosen = best !== undefined && best.pull > 0 ? best : worst;
  if (chosen === undefined) return null;
  const [buy_volume, sell_volume] = [total(chosen.own.map((flow) => flow.buy_usdc)), total(chosen.own.map((flow) => flow.sell_usdc))];
  const [net_flow, total_volume] = [less(buy_volume, sell_volume), total([buy_volume, sell_volume])];
  const independent = independentOf(
    chosen.own.map((flow) => ({
      token_id: flow.token_id,
      opened_at: flow.first_at,
      weight: byScore(flow.score) * Math.abs(flow.net_usdc),
    })),
  );
  const score = clear(
    100 * Math.abs(over(net_flow, total_volume) ?? 0) * Math.sqrt(Math.min(independent ?? 0, ENOUGH_WALLETS) / ENOUGH_WALLETS),
  );
  const { condition_id } = chosen.own[0] as SmartWalletFlow;
  return {
    condition_id,
    token_id: chosen.token_id,
    direction: chosen.pull > 0 ? 'BUY' : 'SELL',
    flows: chosen.own,
    buy_volume,
    sell_volume,
    net_flow,
    total_volume,
    independent,
    score,
  };
}

async function describe(signal: Signal, window: Window, context: GraphContext): Promise<Record<string, unknown>> {
  const { condition_id, token_id, flows } = signal;
  const { prices, shown } = context.loaders(makeMarketLoaders);
  const [record, current, before] = await Promise.all([
    shown.load(condition_id),
    prices.load({ condition_id, at: context.now }),
    prices.load({ condition_id, at: window.from, opening: true }),
  ]);
  const outcome = current.find((one) => one.token_id === token_id);
  const [price, start] = [outcome?.price ?? null, before.find((one) => one.token_id === token_id)?.price ?? null];
  return {
    ...record,
    signal_direction: signal.direction,
    outcome: outcome?.outcome ?? token_id,
    token_id,
    smart_wallet_count: flows.length,
    smart_buyers: flows.filter((flow) => flow.net_usdc > 0).length,
    smart_sellers: flows.filter((flow) => flow.net_usdc < 0).length,
    buy_volume: signal.buy_volume,
    sell_volume: signal.sell_volume,
    net_flow: signal.net_flow,
    total_volume: signal.total_volume,
    avg_score: meanScore(flows.map((flow) => flow.score)),
    signal_score: signal.score,
    signal_strength: strengthOf(signal.score),
    price,
    price_change: price === null || start === null ? null : price - start,
    avg_entry_price: over(signal.buy_volume, total(flows.map((flow) => flow.buy_shares))),
    independent_wallets: signal.independent,
    top_wallets: topOf(flows),
  };
}

function topOf(flows: readonly SmartWalletFlow[]): Record<string, unknown>[] {
  const ranked = [...flows].sort((a, b) => Math.abs(b.net_usdc) - Math.abs(a.net_usdc) || (a.wallet < b.wallet ? -1 : 1));
  return ranked.slice(0, TOP_WALLETS).map((flow) => {
    // Who only sold, for less than is counted of a dollar, bought nothing.
    const bought = flow.net_usdc > 0 || (flow.net_usdc === 0 && Number(flow.buy_shares) > 0);
    return {
      wallet: flow.wallet,
      score: flow.score,
      side: bought ? 'BUY' : 'SELL',
      usdc: Math.abs(flow.net_usdc),
      price: bought ? over(flow.buy_usdc, flow.buy_shares) : over(flow.sell_usdc, flow.sell_shares),
      timestamp: flow.last_at,
    };
  });
}
