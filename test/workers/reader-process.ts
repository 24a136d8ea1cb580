import { Pool } from 'pg';
import { standingClock } from '../../src/lib/clock';
import { makeLogger } from '../../src/observability/logger';
import { predictionFeeds } from '../../src/venues/prediction/sources/live';
import { makeRunner } from '../../src/workers/runner';
import type { UpstreamUrls } from '../../src/workers/source';
import type { FromReader, ReaderOrders } from './reader';

// A process that polls the prediction market until it is killed.

const tell = (message: FromReader): void => void process.send?.(message);

/** Quick polls, so that a process is killed in the middle of something. */
const TUNING = {
  poll_ms: 20,
  overlap: { quick_s: 20, deep_s: 600, deep_every_s: 120 },
  wallets_a_poll: 40,
  gamma_per_second: 1_000,
  data_per_second: 1_000,
};

function poll({ database_url, now, urls }: ReaderOrders): void {
  const pool = new Pool({ connectionString: database_url, max: 8 });
  const feeds = { prediction: predictionFeeds(urls as UpstreamUrls, TUNING) };
  const figures = { loaded: () => undefined, failed: () => undefined, visible: () => undefined };
  makeRunner({ pool, feeds, clock: standingClock(new Date(now)), logger: makeLogger('silent'), figures, standby_ms: 20 }).start();
  tell({ at: 'reading' });
}

process.on('message', (orders: ReaderOrders) => poll(orders));
tell({ at: 'ready' });
