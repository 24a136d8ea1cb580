import type { Venue } from '../venue';
import { counts, freshness } from './freshness';
import { dcaResolvers } from './resolvers/dca';
import { entries, rowLinks } from './resolvers/entries';
import { foundPoolResolvers } from './resolvers/found-pool';
import { links } from './resolvers/links';
import { operatorShareResolvers } from './resolvers/operator-share';
import { poolResolvers } from './resolvers/pool';
import { poolEventResolvers } from './resolvers/pool-event';
import { poolDetailResolvers } from './resolvers/pool-detail';
import { poolVolumeResolvers } from './resolvers/pool-volume';
import { poolsResolvers } from './resolvers/pools';
import { positionsResolvers } from './resolvers/positions';
import { providersResolvers } from './resolvers/providers';
import { queryResolvers } from './resolvers/query';
import { questions } from './resolvers/question';
import { rebuild } from './rollups/rebuild';
import { score } from './scoring/job';
import { methodology } from './methodology';
import { sources } from './sources/all';
import { lpFeeds } from './sources/live';

/** The liquidity-pool wing of an operator with these programs and fee payers. */
export const lpOf = (operatorAccounts: readonly string[]): Venue => ({
  name: 'lp',
  resolvers: {
    ...rowLinks,
    ...links,
    PoolEvent: { ...poolEventResolvers.PoolEvent },
    DlmmEvent: { ...poolEventResolvers.DlmmEvent, ...links.DlmmEvent },
    DammV2Event: { ...poolEventResolvers.DammV2Event, ...links.DammV2Event },
    LpEvent: { ...poolEventResolvers.LpEvent, ...links.LpEvent },
    Pool: { ...poolResolvers.Pool, ...links.Pool },
    LpToken: { ...poolResolvers.LpToken, ...links.LpToken },
    ...foundPoolResolvers,
    ...poolsResolvers,
    TrendingPool: { ...rowLinks.TrendingPool, ...poolsResolvers.TrendingPool },
    TopPool: { ...rowLinks.TopPool, ...poolsResolvers.TopPool },
    ...dcaResolvers,
    Query: {
      ...questions({
        ...queryResolvers.Query,
        ...poolsResolvers.Query,
        ...poolVolumeResolvers.Query,
        ...positionsResolvers.Query,
        ...poolDetailResolvers.Query,
        ...providersResolvers.Query,
        ...dcaResolvers.Query,
        ...operatorShareResolvers(operatorAccounts).Query,
      }),
      ...entries,
    },
  },
  methodology,
  sources,
  liveSources: (upstreams) => lpFeeds(upstreams),
  freshness,
  rebuild,
  score,
  counts,
});

/** The wing of nobody in particular: for loading, scoring and describing. */
export const lp: Venue = lpOf([]);
