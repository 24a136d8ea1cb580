import { AppError } from '../../../errors';
import type { Category } from '../../../lib/category';
import { roundTo } from '../../../lib/statistics';
import { HOUR_MS } from '../../../lib/time';
import type { GraphContext, Resolver } from '../../venue';
import { compareAmounts } from '../exact';
import { makeMarketLoaders } from '../market-loaders';
import { type PricedOutcome, leaderOf } from '../market-prices';
import { type EndingMarket, findNextEnd, listEnding } from '../queries/market-lists';
import { type LifetimeVolume, loadLifetimeVolumes } from '../queries/market-volumes';
import { type SmartView, loadSmartViews } from './signals-views';

/** Orders that the list itself tells, and those that need what is known about each market. */
type ListOrder = 'end_date' | 'category';
type MeasuredOrder = 'volume' | 'smart_money_wallets';

interface Args {
  hours: number;
  category?: Category | null;
  limit: number;
  offset: number;
  sort_by: ListOrder | MeasuredOrder;
  sort_order: 'asc' | 'desc';
}

interface Listed {
  market: EndingMarket;
}

interface Ending extends Listed {
  volume: LifetimeVolume;
  view: SmartView;
}
const MOST_HOURS = 72;

/** markets/closing-soon: active markets that end within so many hours. Throws empty_result when none does. */
export const marketsClosingSoon: Resolver<unknown, Args> = async (_, args, context) => {
  const markets = await listEnding(context.sql, args.category ?? null, context.now, new Date(context.now.getTime() + args.hours * HOUR_MS));
  const listed = markets.map((market) => ({ market }));
  const shown = isListOrder(args.sort_by)
    ? await measureShown(pageOf(listed, LIST_ORDERS[args.sort_by], args), context)
    : pageOf(await measure(listed, context), MEASURED_ORDERS[args.sort_by], args);
  if (shown.length === 0) throw new AppError('empty_result', { suggestion: await suggestionOf(args, listed.length, context) });
  context.meta.count = shown.length;
  return Promise.all(shown.map((one) => describe(one, context)));
};

async function measure(listed: readonly Listed[], context: GraphContext): Promise<Ending[]> {
  const ids = listed.map(({ market }) => market.condition_id);
  const [volumes, views] = await Promise.all([loadLifetimeVolumes(context.sql, ids, context.now), loadSmartViews(context, ids)]);
  return listed.map(({ market }) => ({ market, volume: volumes(market.condition_id), view: views(market.condition_id) }));
}

/** The same of markets that are all shown: their prices are asked for at once. */
async function measureShown(shown: readonly Listed[], context: GraphContext): Promise<Ending[]> {
  const [measured] = await Promise.all([measure(shown, context), Promise.all(shown.map((one) => loadPrices(one, context)))]);
  return measured;
}

const loadPrices = ({ market }: Listed, context: GraphContext): Promise<PricedOutcome[]> =>
  context.loaders(makeMarketLoaders).prices.load({ condition_id: market.condition_id, at: context.now });

function pageOf<Row extends Listed>(rows: Row[], order: (a: Row, b: Row) => number, { sort_order, offset, limit }: Args): Row[] {
  const sign = sort_order === 'asc' ? 1 : -1;
  return rows.sort((a, b) => sign * order(a, b) || byEnd(a, b) || byId(a, b)).slice(offset, offset + limit);
}

const byEnd = (a: Listed, b: Listed): number => a.market.end_date.getTime() - b.market.end_date.getTime();
const byId = (a: Listed, b: Listed): number => (a.market.condition_id < b.market.condition_id ? -1 : 1);
const LIST_ORDERS: Record<ListOrder, (a: Listed, b: Listed) => number> = {
  end_date: byEnd,
  category: (a, b) => (a.market.category < b.market.category ? -1 : a.market.category > b.market.category ? 1 : 0),
};
const MEASURED_ORDERS: Record<MeasuredOrder, (a: Ending, b: Ending) => number> = {
  volume: (a, b) => compareAmounts(a.volume.total, b.volume.total),
  smart_money_wallets: (a, b) => a.view.wallets - b.view.wallets,
};
const isListOrder = (order: Args['sort_by']): order is ListOrder => order in LIST_ORDERS;

async function suggestionOf({ category }: Args, found: number, context: GraphContext): Promise<Record<string, unknown>> {
  if (found > 0) return { offset: 0 };
  const next = await findNextEnd(context.sql, category ?? null, context.now);
  const hours = next === null ? Number.POSITIVE_INFINITY : Math.ceil((next.getTime() - context.now.getTime()) / HOUR_MS);
  if (hours <= MOST_HOURS) return { hours };
  return category ? { category: null } : {};
}

async function describe({ market, volume, view }: Ending, context: GraphContext): Promise<Record<string, unknown>> {
  const priced = await loadPrices({ market }, context);
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
