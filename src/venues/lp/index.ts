import type { Venue } from '../venue';
import { counts, freshness } from './freshness';
import { dcaResolvers } from './resolvers/dca';
import { foundPoolResolvers } from './resolvers/found-pool';
import { operatorShareResolvers } from './resolvers/operator-share';
import { poolResolvers } from './resolvers/pool';
import { poolEventResolvers } from './resolvers/pool-event';
import { poolDetailResolvers } from './resolvers/pool-detail';
import { poolVolumeResolvers } from './resolvers/pool-volume';
import { poolsResolvers } from './resolvers/pools';
import { positionsResolvers } from './resolvers/positions';
import { providersResolvers } from './resolvers/providers';
import { queryResolvers } from './resolvers/query';
import { rebuild } from './rollups/changes';
import { score } from './scoring/job';
import { sources } from './sources/all';

/** The liquidity-pool wing. */
export const lp: Venue = {
  name: 'lp',
  resolvers: {
    ...poolEventResolvers,
    ...poolResolvers,
    ...foundPoolResolvers,
    ...poolsResolvers,
    ...dcaResolvers,
    Query: {
      ...queryResolvers.Query,
      ...poolsResolvers.Query,
      ...poolVolumeResolvers.Query,
      ...positionsResolvers.Query,
      ...poolDetailResolvers.Query,
      ...providersResolvers.Query,
      ...dcaResolvers.Query,
      ...operatorShareResolvers.Query,
    },
  },
  sources,
  freshness,
  rebuild,
  score,
  counts,
};
