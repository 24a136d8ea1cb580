import type { Resolvers } from '../../venue';
import { Market } from './market';
import { platformStats } from './platform';
import { PmTrade } from './trade';
import { marketsTrades, tradesWhales } from './trades';
import { PmWallet } from './wallet';

/** Resolver map of the wing: root fields that answer, and the types they are made of. */
export const resolvers: Resolvers = {
  Query: { marketsTrades, tradesWhales, platformStats },
  PmTrade,
  Market,
  PmWallet,
};
