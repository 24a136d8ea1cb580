import type { pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import { AppError } from '../../../errors';
import { gini, mean, median } from '../../../lib/statistics';
import type { Resolver } from '../../venue';
import { over, percent, total } from '../exact';
import { groupedBy } from '../grouped';
import { makeLoaders } from '../loaders';
import { type ParticipantRow, listParticipants } from '../queries/market-participants';
import { MACHINE_TAGS, type Tier, tierOf } from '../scoring/tiers';
import { getKnownMarket } from './markets-known';

const TIERS: readonly Tier[] = ['elite', 'smart', 'average', 'novice', 'unscored'];

/** markets/participants: who traded a market, by outcome and tier. Throws not_found for an unknown market, empty_result when nobody did. */
export const marketsParticipants: Resolver<unknown, { condition_id: string }> = async (_, { condition_id }, context) => {
  const { market, outcomes } = await getKnownMarket(context, condition_id);
  const run = await context.loaders(makeLoaders).scoreRun();
  context.meta.score_version = run?.version ?? null;
  const rows = await listParticipants(context.sql, condition_id, context.now, run?.day ?? null);
  if (rows.length === 0) throw new AppError('empty_result');
  const wallets = [...groupedBy(rows, (row) => row.wallet).values()].map(walletOf);
  const whole = total(rows.map((row) => row.usdc));
  const bets = wallets.map((wallet) => Number(wallet.usdc));
  const machines = wallets.filter((wallet) => wallet.tags.some((tag) => (MACHINE_TAGS as readonly string[]).includes(tag)));
  const byToken = groupedBy(rows, (row) => row.token_id);
  return {
    ...market,
    total_wallets: wallets.length,
    total_usdc: whole,
    by_outcome: outcomes.map((outcome) => outcomeOf(outcome, byToken.get(outcome.token_id) ?? [], whole)),
    tier_distribution: tiersOf(wallets).map((tier) => ({
      ...tier,
      pct_wallets: percent(tier.wallet_count, wallets.length),
      pct_usdc: percent(tier.total_usdc, whole) ?? 0,
    })),
    new_wallets: wallets.filter((wallet) => wallet.is_new).length,
    median_bet_usdc: median(bets),
    gini: gini(bets) ?? 0,
    bots_and_makers: { wallet_count: machines.length, total_usdc: total(machines.map((wallet) => wallet.usdc)) },
  };
};

type Participant = Pick<ParticipantRow, 'score' | 'tags' | 'usdc' | 'is_new'>;

const walletOf = (rows: readonly ParticipantRow[]): Participant => ({
  ...(rows[0] as ParticipantRow),
  usdc: total(rows.map((row) => row.usdc)),
});

/** All tiers, also empty ones. */
function tiersOf(wallets: readonly Participant[]): { tier: Tier; wallet_count: number; total_usdc: string }[] {
  const groups = groupedBy(wallets, ({ score }) => tierOf(score === null ? null : Number(score)));
  return TIERS.map((tier) => {
    const own = groups.get(tier) ?? [];
    return { tier, wallet_count: own.length, total_usdc: total(own.map((wallet) => wallet.usdc)) };
  });
}

function outcomeOf(outcome: OutcomeRecord, rows: readonly ParticipantRow[], whole: string): Record<string, unknown> {
  const usdc = total(rows.map((row) => row.usdc));
  return {
    ...outcome,
    wallet_count: rows.length,
    total_usdc: usdc,
    percentage: percent(usdc, whole) ?? 0,
    avg_score: mean(rows.flatMap((row) => (row.score === null ? [] : [Number(row.score)]))),
    avg_entry_price: over(total(rows.map((row) => row.buy_usdc)), total(rows.map((row) => row.buy_shares))),
    tiers: tiersOf(rows),
  };
}
