import type { Resolvers } from '../../venue';
import { entries, links, rowLinks } from './links';
import { perpTrade } from './perp-trade';
import { query } from './query';
import { scored, trader } from './trader';

const { smart_score, tags } = scored;

/** Resolver map of the wing: root fields that answer, and the types they are made of. */
export const resolvers: Resolvers = {
  Query: { ...query, ...entries },
  ...rowLinks,
  ...links,
  PerpTrade: { ...perpTrade, ...rowLinks.PerpTrade },
  PerpPosition: { ...rowLinks.PerpPosition, ...links.PerpPosition },
  PerpRoundTrip: { ...rowLinks.PerpRoundTrip, ...links.PerpRoundTrip },
  PerpScore: { ...rowLinks.PerpScore, ...links.PerpScore },
  Trader: { ...trader, ...links.Trader },
  TraderStats: scored,
  PerpLeaderboardRow: { smart_score, tags, ...rowLinks.PerpLeaderboardRow },
  PerpFreshWhale: { smart_score, ...rowLinks.PerpFreshWhale },
};
