import { AppError } from '../../../errors';
import { median } from '../../../lib/statistics';
import { MINUTE_MS } from '../../../lib/time';
import type { GraphContext, Resolver } from '../../venue';
import { over, percent, total } from '../exact';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import type { PricedOutcome } from '../market-prices';
import { statusOf } from '../market-state';
import { type BuyerRow, type HoldingRow, listFirstBuyers, listHoldings } from '../queries/market-holdings';
import { findFillSpan } from '../queries/market-series';
import { SMART_SCORE } from '../scoring/tiers';
import { type KnownMarket, chosenOutcomes, getKnownMarket } from './markets-known';
import { asOf } from './signals-views';

interface Args {
  condition_id: string;
  outcome?: string | null;
  min_usdc: number;
  limit: number;
  exclude_market_makers: boolean;
  smart_money_only: boolean;
}

/** markets/early-movers: first buyers of a market. Throws not_found for an unknown market, empty_result when nobody in scope bought. */
export const marketsEarlyMovers: Resolver<unknown, Args> = async (_, args, context) => {
  const [known, run] = await Promise.all([getKnownMarket(context, args.condition_id), context.loaders(makeLoaders).scoreRun()]);
  const outcomes = chosenOutcomes(known, args.outcome);
  context.meta.score_version = run?.version ?? null;
  const scope = {
    condition_id: args.condition_id,
    token_ids: outcomes.map((outcome) => outcome.token_id),
    min_usdc: args.min_usdc,
    without_tag: args.exclude_market_makers ? 'market_maker' : null,
    min_score: args.smart_money_only ? SMART_SCORE : null,
    score_day: run?.day ?? null,
  };
  const [buyers, opened_at, prices, as_of] = await Promise.all([
    listFirstBuyers(context.sql, scope, args.limit, context.now),
    openingOf(known, context),
    context.loaders(makeMarketLoaders).prices.load({ condition_id: args.condition_id, at: context.now }),
    asOf(context),
  ]);
  if (buyers.length === 0)
    throw new AppError('empty_result', { suggestion: args.smart_money_only ? { smart_money_only: false } : { min_usdc: 0 } });
  const holdings = await listHoldings(context.sql, args.condition_id, buyers.map((buyer) => buyer.wallet), as_of); // prettier-ignore
  const movers = buyers.map((buyer, index) => {
    const holding = holdings.find((one) => one.wallet === buyer.wallet && one.token_id === buyer.token_id);
    return { rank: index + 1, ...moverOf(buyer, holding, prices, opened_at) };
  });
  context.meta.count = movers.length;
  return { ...known.market, opened_at, status: statusOf(known.market, context.now), movers, summary: summaryOf(buyers) };
};

/** Creation or first fill, whichever is earlier. */
async function openingOf({ market }: KnownMarket, context: GraphContext): Promise<Date> {
  const first = (await findFillSpan(context.sql, market.condition_id, context.now))?.first ?? context.now;
  return market.created_at !== null && market.created_at < first ? market.created_at : first;
}

function moverOf(
  buyer: BuyerRow,
  holding: HoldingRow | undefined,
  prices: readonly PricedOutcome[],
  opened_at: Date,
): Record<string, unknown> {
  const outcome = prices.find((one) => one.token_id === buyer.token_id);
  const avg_buy_price = over(buyer.buy_usdc, buyer.buy_shares) as number;
  const price = outcome?.price ?? null;
  return {
    wallet: buyer.wallet,
    wallet_score: buyer.score,
    wallet_tags: buyer.tags,
    outcome: outcome?.outcome ?? buyer.token_id,
    token_id: buyer.token_id,
    first_buy_at: buyer.first_buy_at,
    minutes_after_open: (buyer.first_buy_at.getTime() - opened_at.getTime()) / MINUTE_MS,
    entry_price: over(buyer.first_usdc, buyer.first_shares),
    avg_buy_price,
    buy_usdc: buyer.buy_usdc,
    shares: buyer.buy_shares,
    current_price: price,
    price_multiple: price === null ? null : over(price, avg_buy_price),
    still_holding: holding !== undefined && Number(holding.shares) > 0,
    realized_pnl_usdc: holding?.gain ?? 0,
    unrealized_pnl_usdc: holding === undefined ? null : unrealizedOf(holding, price),
  };
}

/** Value less cost of open shares; null when nothing is open or no price is known. */
export const unrealizedOf = (
  { is_open, shares, cost }: Pick<HoldingRow, 'is_open' | 'shares' | 'cost'>,
  price: number | null,
): number | null => (is_open && Number(shares) > 0 && price !== null ? Number(shares) * price - Number(cost) : null);

function summaryOf(buyers: readonly BuyerRow[]): Record<string, unknown> {
  const wallets = new Map(buyers.map((buyer) => [buyer.wallet, buyer]));
  const smart = [...wallets.values()].filter((buyer) => buyer.score !== null && buyer.score >= SMART_SCORE);
  return {
    smart_share_pct: percent(smart.length, wallets.size),
    median_entry_price: median(buyers.map((buyer) => over(buyer.first_usdc, buyer.first_shares) as number)),
    early_buy_usdc: total(buyers.map((buyer) => buyer.buy_usdc)),
  };
}
