import type { Venue } from '../venue';
import { counts, freshness } from './freshness';
import { rebuild } from './rollups/rebuild';
import { score } from './scoring/job';
import { methodology } from './methodology';
import { resolversOf } from './resolvers/map';
import { sources } from './sources/all';
import { lpFeeds } from './sources/live';

/** The liquidity-pool wing of an operator with these programs and fee payers. */
export const lpOf = (operatorAccounts: readonly string[]): Venue => ({
  name: 'lp',
  resolvers: resolversOf(operatorAccounts),
  methodology,
  sources,
  liveSources: lpFeeds,
  freshness,
  rebuild,
  score,
  counts,
});

/** The wing of nobody in particular: for loading, scoring and describing. */
export const lp: Venue = lpOf([]);
