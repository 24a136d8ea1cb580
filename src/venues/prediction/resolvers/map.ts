import type { Resolvers } from '../../venue';
import { marketsCapitalFlow, marketsCapitalFlowComparison } from './flows-capital';
import { marketsVolumeByGroup } from './flows-groups';
import { marketsVolumeHeatmap } from './flows-heatmap';
import { Market } from './market';
import { marketsCategories } from './markets-categories';
import { marketsTrending } from './markets-trending';
import { platformStats } from './platform';
import { PmTrade } from './trade';
import { marketsTrades, tradesWhales } from './trades';
import { PmWallet } from './wallet';

/** Resolver map of the wing: root fields that answer, and the types they are made of. */
export const resolvers: Resolvers = {
  Query: {
    marketsTrades,
    tradesWhales,
    platformStats,
    marketsCategories,
    marketsTrending,
    marketsVolumeByGroup,
    marketsVolumeHeatmap,
    marketsCapitalFlow,
    marketsCapitalFlowComparison,
  },
  PmTrade,
  Market,
  PmWallet,
};
