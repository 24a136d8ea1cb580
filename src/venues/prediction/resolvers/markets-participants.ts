import type { pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import { AppError } from '../../../errors';
import { groupedBy } from '../../../lib/grouped';
import { gini, median } from '../../../lib/statistics';
import type { Resolver } from '../../venue';
import { over, percent, total } from '../exact';
import { makeLoaders } from '../loaders';
import { type MarketTier, type OutcomeTier, listParticipants } from '../queries/market-participants';
import type { Tier } from '../scoring/tiers';
import { getKnownMarket } from './markets-known';

const TIERS: readonly Tier[] = ['elite', 'smart', 'average', 'novice', 'unscored'];

/** markets/participants: who traded a market, by outcome and tier. Throws not_found for an unknown market, empty_result when nobody did. */
export const marketsParticipants: Resolver<unknown, { condition_id: string }> = async (_, { condition_id }, context) => {
  const { market, outcomes } = await getKnownMarket(context, condition_id);
  const run = await context.loaders(makeLoaders).scoreRun();
  context.meta.score_version = run?.version ?? null;
  const rows = await listParticipants(context.sql, condition_id, context.now, run?.day ?? null);
  const tiers = rows.filter((row): row is MarketTier => row.token_id === null);
  if (tiers.length === 0) throw new AppError('empty_result');
  const total_wallets = count(tiers, (tier) => tier.wallets);
  const total_usdc = usdcOf(tiers);
  const bets = tiers.flatMap((tier) => tier.bets);
  const byToken = groupedBy(rows.filter((row): row is OutcomeTier => row.token_id !== null), (row) => row.token_id); // prettier-ignore
  return {
    ...market,
    total_wallets,
    total_usdc,
    by_outcome: outcomes.map((outcome) => outcomeOf(outcome, byToken.get(outcome.token_id) ?? [], total_usdc)),
    tier_distribution: everyTier(tiers).map((tier) => ({
      ...tier,
      pct_wallets: percent(tier.wallet_count, total_wallets),
      pct_usdc: percent(tier.total_usdc, total_usdc) ?? 0,
    })),
    new_wallets: count(tiers, (tier) => tier.new_wallets),
    median_bet_usdc: median(bets),
    gini: gini(bets) ?? 0,
    bots_and_makers: { wallet_count: count(tiers, (tier) => tier.machines), total_usdc: total(tiers.map((tier) => tier.machines_usdc)) },
  };
};

const count = <Row>(rows: readonly Row[], of: (row: Row) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
const usdcOf = (rows: readonly { usdc: string }[]): string => total(rows.map((row) => row.usdc));

/** All tiers, also empty ones. */
function everyTier(rows: readonly (OutcomeTier | MarketTier)[]): { tier: Tier; wallet_count: number; total_usdc: string }[] {
  return TIERS.map((tier) => {
    const own = rows.find((row) => row.tier === tier);
    return { tier, wallet_count: own?.wallets ?? 0, total_usdc: own?.usdc ?? '0' };
  });
}

function outcomeOf(outcome: OutcomeRecord, rows: readonly OutcomeTier[], whole: string): Record<string, unknown> {
  const usdc = usdcOf(rows);
  return {
    ...outcome,
    wallet_count: count(rows, (row) => row.wallets),
    total_usdc: usdc,
    percentage: percent(usdc, whole) ?? 0,
    // In tenths, as scores are told: an exact half stays one.
    avg_score: over(Math.round(10 * Number(total(rows.map((row) => row.scores ?? '0')))), 10 * count(rows, (row) => row.scored)),
    avg_entry_price: over(total(rows.map((row) => row.buy_usdc)), total(rows.map((row) => row.buy_shares))),
    tiers: everyTier(rows),
  };
}
