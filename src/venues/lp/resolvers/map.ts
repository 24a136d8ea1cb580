import type { Resolvers } from '../../venue';
import { dcaResolvers } from './dca';
import { entries, rowLinks } from './entries';
import { linkTargets, links } from './links';
import { operatorShareResolvers } from './operator-share';
import { liquidity_usd, poolResolvers } from './pool';
import { poolDetailResolvers } from './pool-detail';
import { poolEventResolvers } from './pool-event';
import { poolVolumeResolvers } from './pool-volume';
import { poolsResolvers } from './pools';
import { positionsResolvers } from './positions';
import { providersResolvers } from './providers';
import { queryResolvers } from './query';
import { questions } from './question';

/** Resolver map of the wing of an operator with these programs and fee payers: root fields that answer, and the types they are made of. */
export const resolversOf = (operatorAccounts: readonly string[]): Resolvers => ({
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
  ...rowLinks,
  ...links,
  PoolEvent: { ...poolEventResolvers.PoolEvent },
  DlmmEvent: { ...poolEventResolvers.DlmmEvent, ...links.DlmmEvent },
  DammV2Event: { ...poolEventResolvers.DammV2Event, ...links.DammV2Event },
  LpEvent: { ...poolEventResolvers.LpEvent, ...links.LpEvent },
  Pool: { ...poolResolvers.Pool, ...links.Pool },
  LpToken: { ...poolResolvers.LpToken, ...links.LpToken },
  ActivePosition: { ...rowLinks.ActivePosition, position: linkTargets.positionOf },
  FoundPool: { liquidity_usd, ...rowLinks.FoundPool },
  TrendingPool: { liquidity_usd, ...rowLinks.TrendingPool },
  TopPool: { liquidity_usd, ...rowLinks.TopPool },
  DcaPressure: dcaResolvers.DcaPressure,
});
