import type { GraphContext, Resolvers } from '../../venue';
import { makeLoaders } from '../loaders';

/** Of a row that names a pool: the value of its reserves now, and its record. */
export const foundPoolResolvers: Resolvers = {
  FoundPool: {
    liquidity_usd: ({ pool_address }: { pool_address: string }, _args: unknown, context: GraphContext) =>
      context.loaders(makeLoaders).liquidity.load(pool_address),
    pool: ({ pool_address }: { pool_address: string }, _args: unknown, context: GraphContext) =>
      context.loaders(makeLoaders).pool.load(pool_address),
  },
};
