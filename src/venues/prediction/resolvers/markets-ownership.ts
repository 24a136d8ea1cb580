import type { pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import { AppError } from '../../../errors';
import { gini, hhi } from '../../../lib/statistics';
import type { Resolver } from '../../venue';
import { over, percent } from '../exact';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { loadFirstBuys } from '../queries/market-holdings';
import { type OutcomeHolders, listOutcomeHolders } from '../queries/market-ownership';
import { chosenOutcomes, getKnownMarket } from './markets-known';
import { unrealizedOf } from './markets-movers';
import { asOf } from './signals-views';

interface Args {
  condition_id: string;
  outcome?: string | null;
  limit: number;
  min_shares: number;
}

/** Sizes by value, and their upper ends, USDC. */
const SIZES = ['<10', '10-100', '100-1k', '1k-10k', '10k+'] as const;
const SIZE_ENDS = [10, 100, 1_000, 10_000];

/** markets/ownership: who holds a market's tokens now. Throws not_found for an unknown market, empty_result when nobody does. */
export const marketsOwnership: Resolver<unknown, Args> = async (_, args, context) => {
  const [known, run, prices, as_of] = await Promise.all([
    getKnownMarket(context, args.condition_id),
    context.loaders(makeLoaders).scoreRun(),
    context.loaders(makeMarketLoaders).prices.load({ condition_id: args.condition_id, at: context.now }),
    asOf(context),
  ]);
  const outcomes = chosenOutcomes(known, args.outcome);
  context.meta.score_version = run?.version ?? null;
  const priceOf = (token_id: string): number | null => prices.find((one) => one.token_id === token_id)?.price ?? null;
  const scope = {
    condition_id: args.condition_id,
    outcomes: outcomes.map(({ token_id }) => ({ token_id, price: priceOf(token_id) })),
    sizes: SIZE_ENDS,
    min_shares: args.min_shares,
    limit: args.limit,
    score_day: run?.day ?? null,
  };
  const held = await listOutcomeHolders(context.sql, scope, as_of);
  if (held.length === 0) throw new AppError('empty_result', { suggestion: args.min_shares > 0 ? { min_shares: 0 } : {} });
  const listed = [...new Set(held.flatMap(({ holders }) => holders.map(({ wallet }) => wallet)))];
  const firstBuy = await loadFirstBuys(context.sql, listed.map((wallet) => ({ condition_id: args.condition_id, wallet })), context.now); // prettier-ignore
  const shown = outcomes.map((outcome) => {
    const own = held.find(({ token_id }) => token_id === outcome.token_id) ?? nobody(outcome.token_id);
    return ownershipOf(outcome, own, priceOf(outcome.token_id), firstBuy);
  });
  context.meta.count = Math.max(...shown.map((outcome) => outcome.holders.length));
  return { ...known.market, outcomes: shown, overlap_holders: held[0]?.overlap };
};

interface Ownership {
  holders: unknown[];
  [field: string]: unknown;
}

const nobody = (token_id: string): OutcomeHolders => ({
  token_id,
  holder_count: 0,
  shares: '0',
  top1: '0',
  top5: '0',
  top10: '0',
  smart: '0',
  dumb: '0',
  amounts: [],
  holders: [],
  sizes: SIZES.map(() => ({ holder_count: 0, shares: '0' })),
  overlap: 0,
});

type FirstBuy = (wallet: string, token_id: string) => Date | null;

function ownershipOf(outcome: OutcomeRecord, own: OutcomeHolders, price: number | null, firstBuy: FirstBuy): Ownership {
  const { holder_count, shares: whole } = own;
  // Added up from the largest on, whatever order they come in.
  const amounts = [...Float64Array.from(own.amounts).sort().reverse()];
  const share = (some: string): number => percent(some, whole) ?? 0;
  return {
    outcome: outcome.outcome,
    token_id: outcome.token_id,
    outcome_index: outcome.outcome_index,
    price,
    holder_count,
    total_shares: whole,
    total_value_usdc: price === null ? null : Number(whole) * price,
    top1_pct: share(own.top1),
    top5_pct: share(own.top5),
    top10_pct: share(own.top10),
    hhi: hhi(amounts) ?? 0,
    gini: gini(amounts) ?? 0,
    smart_share_pct: share(own.smart),
    dumb_share_pct: share(own.dumb),
    holders: own.holders.map((holder, index) => ({
      rank: index + 1,
      wallet: holder.wallet,
      wallet_score: holder.score,
      wallet_tags: holder.tags,
      shares: holder.shares,
      pct_of_outcome: percent(holder.shares, whole),
      value_usdc: price === null ? null : Number(holder.shares) * price,
      avg_buy_price: over(holder.paid_usdc, holder.paid_shares),
      unrealized_pnl_usdc: unrealizedOf(holder, price),
      first_buy_at: firstBuy(holder.wallet, outcome.token_id),
    })),
    distribution: SIZES.map((size_bucket, index) => {
      const { holder_count: holders, shares } = own.sizes[index] as { holder_count: number; shares: string };
      return { size_bucket, holder_count: holders, shares, pct_of_outcome: share(shares) };
    }),
  };
}
