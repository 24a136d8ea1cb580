import type { Resolver } from '../../venue';
import { makeLoaders } from '../loaders';
import type { PositionRow } from '../queries/held';

/** What a position links to. */
export const perpPosition = {
  trader_profile: (({ trader }) => ({ trader })) as Resolver<PositionRow>,
  coin_info: (({ coin }, _args, context) => context.loaders(makeLoaders).coin.load(coin)) as Resolver<PositionRow>,
};
