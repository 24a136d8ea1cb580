import { eventsUntil } from '../../workers/feed-store';
import type { Venue } from '../venue';
import { methodology } from './methodology';
import { resolvers } from './resolvers/map';
import { rebuild } from './rollups/rebuild';
import { score } from './scoring/job';
import { signals } from './signals';
import { fillsByBlock } from './sources/fills-by-block';
import { perpsFeeds } from './sources/live';
import { meta } from './sources/meta';
import { nodeFills } from './sources/node-fills';
import { roles } from './sources/roles';
import { userFills } from './sources/user-fills';

/** The perpetual-futures wing. */
export const perps: Venue = {
  name: 'perps',
  resolvers,
  methodology,
  sources: [fillsByBlock, nodeFills, userFills, meta, roles],
  liveSources: (upstreams) => perpsFeeds(upstreams),
  freshness: (db) => eventsUntil(db, 'perps'),
  rebuild,
  score,
  scoreTable: 'perp_score',
  signals,
  factTables: ['perp_fill', 'perp_match', 'perp_coin'],
};
