import { AppError } from '../../../errors';
import type { Category } from '../../../lib/category';
import { roundTo } from '../../../lib/statistics';
import type { GraphContext, Resolver } from '../../venue';
import { less } from '../exact';
import { makeMarketLoaders } from '../market-loaders';
import { leaderOf } from '../market-prices';
import { type ListedMarket, findNextEnd, listEnding } from '../queries/market-lists';
import { type LifetimeVolume, loadLifetimeVolumes } from '../queries/market-volumes';
import { type SmartView, loadSmartViews } from './signals-views';

interface Args {
  hours: number;
  category?: Category | null;
  limit: number;
  offset: number;
  sort_by: 'end_date' | 'category' | 'volume' | 'smart_money_wallets';
  sort_order: 'asc' | 'desc';
}

interface Ending {
  market: ListedMarket & { end_date: Date };
  volume: LifetimeVolume;
  view: SmartView;
}

const HOUR_MS = 3_600_000;
const MOST_HOURS = 72;

/** markets/closing-soon: active markets that end within so many hours. Throws empty_result when none does. */
export const marketsClosingSoon: Resolver<unknown, Args> = async (_, args, context) => {
  const markets = await listEnding(context.sql, args.category ?? null, context.now, new Date(context.now.getTime() + args.hours * HOUR_MS));
  const ids = markets.map((market) => market.condition_id);
  const [volumes, views] = await Promise.all([loadLifetimeVolumes(context.sql, ids, context.now), loadSmartViews(context, ids)]);
  const all = markets.map((market): Ending => ({
    market: market as Ending['market'],
    volume: volumes(market.condition_id),
    view: views(market.condition_id),
  }));
  const sign = args.sort_order === 'asc' ? 1 : -1;
  const shown = all
    .sort((a, b) => sign * ORDERS[args.sort_by](a, b) || byEnd(a, b) || byId(a, b))
    .slice(args.offset, args.offset + args.limit);
  if (shown.length === 0) throw new AppError('empty_result', { suggestion: await suggestionOf(args, all.length, context) });
  context.meta.count = shown.length;
  return Promise.all(shown.map((one) => describe(one, context)));
};

const byEnd = (a: Ending, b: Ending): number => a.market.end_date.getTime() - b.market.end_date.getTime();
const byId = (a: Ending, b: Ending): number => (a.market.condition_id < b.market.condition_id ? -1 : 1);
const ORDERS: Record<Args['sort_by'], (a: Ending, b: Ending) => number> = {
  end_date: byEnd,
  category: (a, b) => (a.market.category < b.market.category ? -1 : a.market.category > b.market.category ? 1 : 0),
  volume: (a, b) => Number(less(a.volume.total, b.volume.total)),
  smart_money_wallets: (a, b) => a.view.wallets - b.view.wallets,
};

async function suggestionOf({ category }: Args, found: number, context: GraphContext): Promise<Record<string, unknown>> {
  if (found > 0) return { offset: 0 };
  const next = await findNextEnd(context.sql, category ?? null, context.now);
  const hours = next === null ? Number.POSITIVE_INFINITY : Math.ceil((next.getTime() - context.now.getTime()) / HOUR_MS);
  if (hours <= MOST_HOURS) return { hours };
  return category ? { category: null } : {};
}

async function describe({ market, volume, view }: Ending, context: GraphContext): Promise<Record<string, unknown>> {
  const priced = await context.loaders(makeMarketLoaders).prices.load({ condition_id: market.condition_id, at: context.now });
  const leader = leaderOf(priced);
  return {
    ...market,
    hours_until_close: roundTo((market.end_date.getTime() - context.now.getTime()) / HOUR_MS, 1),
    leader_outcome: leader?.outcome ?? null,
    leader_price: leader?.price ?? null,
    total_volume_usdc: volume.total,
    volume_24h_usdc: volume.last_24h,
    smart_money_outcome: priced.find((outcome) => outcome.token_id === view.token_id)?.outcome ?? null,
    smart_money_wallets: view.wallets,
  };
}
