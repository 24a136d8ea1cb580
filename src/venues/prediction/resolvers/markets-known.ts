import type { pm_market as MarketRecord, pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import { AppError, notKnown } from '../../../errors';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';
import { isListed } from '../market-state';

/** A market with its outcomes in the venue's order. */
export interface KnownMarket {
  market: MarketRecord;
  outcomes: OutcomeRecord[];
}

/** A market by its id. Throws not_found for one that is unknown, or not listed yet. Whoever asks asks for the venue's state next, which is read beside it. */
export async function getKnownMarket(context: GraphContext, condition_id: string): Promise<KnownMarket> {
  const { market, outcomes, state } = context.loaders(makeLoaders);
  const [record, tokens] = await Promise.all([market.load(condition_id), outcomes.load(condition_id), state()]);
  if (record === null || !isListed(record, context.now)) {
    throw notKnown('condition_id', condition_id, 'is no known market', {
      method: 'GET',
      path: '/api/v1/markets/search',
      note: 'markets by words of their question',
    });
  }
  return { market: record, outcomes: tokens };
}

/** The outcomes a name or token id stands for: one, or all when nothing is asked. Throws invalid_parameter for an outcome the market has not. */
export function chosenOutcomes({ outcomes }: KnownMarket, wanted: string | null | undefined): OutcomeRecord[] {
  if (wanted === null || wanted === undefined) return outcomes;
  // Some are listed with a blank before or after them.
  const plain = (name: string): string => name.trim().toLowerCase();
  const chosen =
    outcomes.find((one) => one.token_id === wanted) ??
    outcomes.find((one) => one.outcome === wanted) ??
    outcomes.find((one) => plain(one.outcome) === plain(wanted));
  if (chosen === undefined) {
    throw new AppError('invalid_parameter', {
      details: [
        { param: 'outcome', issue: 'is no outcome of this market', allowed: outcomes.map((one) => one.outcome), got: wanted.slice(0, 200) },
      ],
    });
  }
  return [chosen];
}
