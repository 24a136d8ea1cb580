import type { lp_pool as PoolRecord, lp_token as TokenRecord } from '../../../generated/prisma/client';
import type { GraphContext, Resolver, Resolvers } from '../../venue';
import { makeLoaders } from '../loaders';
import { symbolsOf } from './pool-event';

/** `token_x` or `token_y` as fields of a pool record. */
const symbol =
  (side: 'token_x' | 'token_y', only?: 'damm_v2') =>
  async (pool: PoolRecord, _args: unknown, context: GraphContext): Promise<string | null> =>
    only !== undefined && pool.pool_type !== only ? null : (await symbolsOf(pool, context))[side];

const token =
  (side: 'mint_x' | 'mint_y') =>
  async (pool: PoolRecord, _args: unknown, context: GraphContext): Promise<TokenRecord | null> => {
    const mint = pool[side];
    return mint === null ? null : context.loaders(makeLoaders).token.load(mint);
  };

/** USD value now of the reserves of the pool that a record or row names. */
export const liquidity_usd: Resolver<{ pool_address: string }> = ({ pool_address }, _args, context) =>
  context.loaders(makeLoaders).liquidity.load(pool_address);

export const poolResolvers: Resolvers = {
  Pool: {
    token_x: symbol('token_x'),
    token_y: symbol('token_y'),
    token_a: symbol('token_x', 'damm_v2'),
    token_b: symbol('token_y', 'damm_v2'),
    token_x_mint: (pool: PoolRecord) => pool.mint_x,
    token_y_mint: (pool: PoolRecord) => pool.mint_y,
    base_fee_pct: (pool: PoolRecord) => pool.base_fee_pct?.toString() ?? null,
    liquidity_usd,
    x: token('mint_x'),
    y: token('mint_y'),
  },
  LpToken: {
    price_usd: ({ mint }: TokenRecord, _args: unknown, context: GraphContext) => context.loaders(makeLoaders).price.load(mint),
  },
};
