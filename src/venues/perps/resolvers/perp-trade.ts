import type { Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import type { FillRow } from '../queries/fills';

/** What a row of a trade list links to. */
export const perpTrade = {
  smart_score: (async ({ trader }, _args, context) =>
    (await context.loaders(makeLoaders).score.load(trader))?.score ?? null) as Resolver<FillRow>,
  trader_profile: (({ trader }) => ({ trader })) as Resolver<FillRow>,
  coin_info: (({ coin }, _args, context) => context.loaders(makeLoaders).coin.load(coin)) as Resolver<FillRow>,
};
