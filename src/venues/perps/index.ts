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
  liveSources: perpsFeeds,
  freshness: (db) => eventsUntil(db, 'perps'),
  rebuild,
  score,
  async isScored(db, day) {
    const { rows } = await db.query<{ scored: boolean }>('SELECT EXISTS (SELECT 1 FROM perp_score WHERE day = $1::date) AS scored', [day]);
    return rows[0]?.scored === true;
  },
  signals,
  async counts(db) {
    const { rows } = await db.query<Record<string, number>>(
      'SELECT (SELECT count(*) FROM perp_fill)::int AS perp_fill, (SELECT count(*) FROM perp_match)::int AS perp_match, (SELECT count(*) FROM perp_coin)::int AS perp_coin',
    );
    return rows[0] as Record<string, number>;
  },
};
