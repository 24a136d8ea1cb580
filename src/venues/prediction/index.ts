import type { PoolClient } from 'pg';
import { eventsUntil } from '../../workers/feed-store';
import { analyze } from '../../db/indexes';
import type { Venue } from '../venue';
import { alphaSnapshot } from './resolvers/alpha-callers';
import { expertsSnapshot } from './resolvers/experts';
import { insidersSnapshot } from './resolvers/insiders';
import { methodology } from './methodology';
import { resolvers } from './resolvers/map';
import { similarSnapshot } from './resolvers/markets-similar';
import { opportunitiesSnapshot } from './resolvers/signals-opportunities';
import { signals } from './resolvers/signals-track';
import { rebuildHours } from './rollups/hours';
import { rebuildLatest } from './rollups/latest-fills';
import { attachMonths } from './rollups/months-due';
import { rebuildPositions } from './rollups/positions-rebuild';
import { rebuildVolumes } from './rollups/volumes';
import { noteAllFollowed } from './scoring/follow-days';
import { score } from './scoring/job';
import { dataApiActivity, dataApiTrades } from './sources/data-api';
import { gammaMarkets } from './sources/gamma-markets';
import { predictionFeeds } from './sources/live';

/** Room for sorting and grouping on one connection, in place of a few megabytes: positions and hours are made, and indexes, of millions of rows. */
const ROOM = "SET LOCAL work_mem = '128MB'; SET LOCAL maintenance_work_mem = '256MB'";

async function rebuild(client: PoolClient, is_first_load = false): Promise<void> {
  await client.query(ROOM);
  await attachMonths(client);
  await analyze(client, ['pm_trade (condition_id, wallet)', 'pm_market (condition_id)', 'pm_outcome (condition_id)']);
  await rebuildPositions(client, is_first_load);
  await rebuildHours(client, is_first_load);
  await rebuildVolumes(client);
  await rebuildLatest(client);
  // By the next daily run.
  await noteAllFollowed(client);
}

/** The prediction-market wing. */
export const prediction: Venue = {
  name: 'prediction',
  resolvers,
  methodology,
  sources: [gammaMarkets, dataApiActivity, dataApiTrades],
  liveSources: (upstreams) => predictionFeeds(upstreams),
  freshness: (db) => eventsUntil(db, 'prediction', [gammaMarkets.name]),
  rebuild,
  score,
  scoreTable: 'pm_wallet_score',
  signals,
  snapshots: [opportunitiesSnapshot, similarSnapshot, insidersSnapshot, alphaSnapshot, expertsSnapshot],
  factTables: ['pm_market', 'pm_outcome', 'pm_trade', 'pm_wallet'],
};
