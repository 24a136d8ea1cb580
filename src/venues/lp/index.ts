import { eventsUntil } from '../../workers/feed-store';
import type { Venue } from '../venue';
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
  freshness: (db) => eventsUntil(db, 'lp'),
  rebuild,
  score,
  scoreTable: 'lp_score',
  factTables: [
    'lp_event',
    'lp_swap',
    'lp_position_event',
    'lp_reward',
    'dca_event',
    'lp_volume_hour',
    'token_price',
    'lp_pool',
    'lp_token',
  ],
});
