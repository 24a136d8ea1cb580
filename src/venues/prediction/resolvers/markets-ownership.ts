import type { pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import { AppError } from '../../../errors';
import { gini, hhi } from '../../../lib/statistics';
import type { Resolver } from '../../venue';
import { less, over, percent, total } from '../exact';
import { groupedBy } from '../grouped';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { type HoldingRow, listHoldings, loadFirstBuys } from '../queries/market-holdings';
import { PM_TAGS } from '../scoring/tags';
import { SMART_SCORE } from '../scoring/tiers';
import { chosenOutcomes, getKnownMarket } from './markets-known';
import { unrealizedOf } from './markets-movers';
import { asOf } from './signals-views';

interface Args {
  condition_id: string;
  outcome?: string | null;
  limit: number;
  min_shares: number;
}

/** Upper ends of the sizes by value, USDC. */
const SIZES: readonly (readonly [string, number])[] = [
  ['<10', 10],
  ['10-100', 100],
  ['100-1k', 1_000],
  ['1k-10k', 10_000],
  ['10k+', Number.POSITIVE_INFINITY],
];

/** markets/ownership: who holds a market's tokens now. Throws not_found for an unknown market, empty_result when nobody does. */
export const marketsOwnership: Resolver<unknown, Args> = async (_, args, context) => {
  const known = await getKnownMarket(context, args.condition_id);
  const outcomes = chosenOutcomes(known, args.outcome);
  const run = await context.loaders(makeLoaders).scoreRun();
  context.meta.score_version = run?.version ?? null;
  const all = await listHoldings(context.sql, args.condition_id, null, run?.day ?? null, await asOf(context));
  const holdings = all.filter((holding) => Number(holding.shares) >= args.min_shares);
  const byToken = groupedBy(holdings, (holding) => holding.token_id);
  const prices = await context.loaders(makeMarketLoaders).prices.load({ condition_id: args.condition_id, at: context.now });
  const ranked = outcomes.map((outcome) => rankOf(byToken.get(outcome.token_id) ?? []));
  const listed = [...new Set(ranked.flatMap((own) => own.slice(0, args.limit).map((holding) => holding.wallet)))];
  const firstBuy = await loadFirstBuys(context.sql, [args.condition_id], listed, context.now);
  const shown = outcomes.map((outcome, index) => {
    const price = prices.find((one) => one.token_id === outcome.token_id)?.price ?? null;
    return ownershipOf(outcome, ranked[index] as HoldingRow[], price, args.limit, firstBuy);
  });
  if (shown.every((outcome) => outcome.holder_count === 0))
    throw new AppError('empty_result', { suggestion: args.min_shares > 0 ? { min_shares: 0 } : {} });
  context.meta.count = Math.max(...shown.map((outcome) => outcome.holders.length));
  const sides = groupedBy(holdings, (holding) => holding.wallet);
  return { ...known.market, outcomes: shown, overlap_holders: [...sides.values()].filter((own) => own.length > 1).length };
};

interface Ownership {
  holder_count: number;
  holders: unknown[];
  [field: string]: unknown;
}

const rankOf = (holdings: readonly HoldingRow[]): HoldingRow[] =>
  [...holdings].sort((a, b) => Number(less(b.shares, a.shares)) || (a.wallet < b.wallet ? -1 : 1));

type FirstBuy = (wallet: string, token_id: string) => Date | null;

function ownershipOf(
  outcome: OutcomeRecord,
  ranked: readonly HoldingRow[],
  price: number | null,
  limit: number,
  firstBuy: FirstBuy,
): Ownership {
  const amounts = ranked.map((holding) => Number(holding.shares));
  const whole = total(ranked.map((holding) => holding.shares));
  const share = (some: readonly HoldingRow[]): number => percent(total(some.map((holding) => holding.shares)), whole) ?? 0;
  const scored = (test: (score: number) => boolean): HoldingRow[] => ranked.filter(({ score }) => score !== null && test(score));
  return {
    outcome: outcome.outcome,
    token_id: outcome.token_id,
    outcome_index: outcome.outcome_index,
    price,
    holder_count: ranked.length,
    total_shares: whole,
    total_value_usdc: price === null ? null : Number(whole) * price,
    top1_pct: share(ranked.slice(0, 1)),
    top5_pct: share(ranked.slice(0, 5)),
    top10_pct: share(ranked.slice(0, 10)),
    hhi: hhi(amounts) ?? 0,
    gini: gini(amounts) ?? 0,
    smart_share_pct: share(scored((score) => score >= SMART_SCORE)),
    dumb_share_pct: share(scored((score) => score <= PM_TAGS.dumb_score)),
    holders: ranked.slice(0, limit).map((holding, index) => ({
      rank: index + 1,
      wallet: holding.wallet,
      wallet_score: holding.score,
      wallet_tags: holding.tags,
      shares: holding.shares,
      pct_of_outcome: percent(holding.shares, whole),
      value_usdc: price === null ? null : Number(holding.shares) * price,
      avg_buy_price: over(holding.paid_usdc, holding.paid_shares),
      unrealized_pnl_usdc: unrealizedOf(holding, price),
      first_buy_at: firstBuy(holding.wallet, outcome.token_id),
    })),
    distribution: SIZES.map(([size_bucket, below], index) => {
      const from = SIZES[index - 1]?.[1] ?? Number.NEGATIVE_INFINITY;
      const own = ranked.filter((holding) => {
        const value = Number(holding.shares) * (price ?? 0);
        return value >= from && value < below;
      });
      return { size_bucket, holder_count: own.length, shares: total(own.map((holding) => holding.shares)), pct_of_outcome: share(own) };
    }),
  };
}
