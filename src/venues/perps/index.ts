import { eventsUntil } from '../../workers/feed-store';
import type { Venue } from '../venue';
import { entries, links, rowLinks } from './resolvers/links';
import { methodology } from './methodology';
import { perpPosition } from './resolvers/perp-position';
import { perpTrade } from './resolvers/perp-trade';
import { query } from './resolvers/query';
import { scored, trader } from './resolvers/trader';
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
  resolvers: {
    ...rowLinks,
    ...links,
    Query: { ...query, ...entries },
    PerpTrade: perpTrade,
    PerpPosition: { ...perpPosition, ...links.PerpPosition },
    Trader: { ...trader, ...links.Trader },
    TraderStats: scored,
    PerpLeaderboardRow: { smart_score: scored.smart_score, tags: scored.tags, trader_profile: perpPosition.trader_profile },
    PerpFreshWhale: { smart_score: scored.smart_score, trader_profile: perpPosition.trader_profile },
    PerpSmartWallet: { trader_profile: perpPosition.trader_profile },
  },
  methodology,
  sources: [fillsByBlock, nodeFills, userFills, meta, roles],
  liveSources: (upstreams) => perpsFeeds(upstreams),
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
