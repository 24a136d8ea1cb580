import type { Resolver, Resolvers } from '../../venue';
import { makeLoaders } from '../loaders';
import { makeLinkLoaders } from '../loaders-links';
import { poolNow } from './asked';
import { linkTargets } from './links';

/** Where an exploration begins: records by their ids. */
export const entries = {
  pool: ((_, { pool_address }, context) => poolNow(pool_address, context)) as Resolver<unknown, { pool_address: string }>,
  provider: ((_, { owner }, context) => context.loaders(makeLoaders).provider.load(owner)) as Resolver<unknown, { owner: string }>,
  lpPosition: ((_, { position_address }, context) => context.loaders(makeLinkLoaders).position.load(position_address)) as Resolver<
    unknown,
    { position_address: string }
  >,
  token: ((_, { mint }, context) => context.loaders(makeLoaders).token.load(mint)) as Resolver<unknown, { mint: string }>,
  recurringOrder: ((_, { order_address }, context) => context.loaders(makeLinkLoaders).order.load(order_address)) as Resolver<
    unknown,
    { order_address: string }
  >,
};

/** Rows of answers that name a pool, and rows that name a provider. */
const OF_POOLS = [
  'FoundPool',
  'LpHeatmapRow',
  'TrendingPool',
  'TopPool',
  'PoolDetail',
  'SmartPool',
  'PoolFeeAnalysis',
  'ActivePosition',
  'PositionSummary',
  'ProviderPool',
  'SharedPool',
];
const OF_PROVIDERS = [
  'PoolProvider',
  'PoolHolder',
  'SmartPoolProvider',
  'FeeClaimer',
  'ActivePosition',
  'PositionSummary',
  'TopProvider',
  'ProviderProfile',
  'ComparedProvider',
  'SharedPoolOwner',
];

/** What rows of answers lead to: the pool and the provider they are about. */
export const rowLinks: Resolvers = Object.fromEntries(
  [...new Set([...OF_POOLS, ...OF_PROVIDERS])].map((name) => [
    name,
    {
      ...(OF_POOLS.includes(name) && { pool: linkTargets.poolOf }),
      ...(OF_PROVIDERS.includes(name) && { provider: linkTargets.providerOf }),
    },
  ]),
);
