import type { pm_market as MarketRecord, pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import type { Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import { isResolved, statusOf, winnerOf } from '../market-state';

type Field = Resolver<MarketRecord, Record<string, never>>;

/** Fields of Market that depend on the answer's instant, and its outcomes. */
export const Market: Record<string, Field> = {
  status: (market, _, { now }) => statusOf(market, now),
  resolved_at: (market, _, { now }) => (isResolved(market, now) ? market.resolved_at : null),
  winning_outcome: (market, _, { now }) => winnerOf(market, now),
  outcomes: async (market, _, context) => {
    const outcomes = await context.loaders(makeLoaders).outcomes.load(market.condition_id);
    return outcomes.map((outcome): OutcomeRecord => ({ ...outcome, payout: isResolved(market, context.now) ? outcome.payout : null }));
  },
};
