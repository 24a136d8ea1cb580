import { makePool } from '../../src/db/pool';
import { standingClock } from '../../src/lib/clock';
import { makeLogger } from '../../src/observability/logger';
import { lpFeeds } from '../../src/venues/lp/sources/live';
import { perpsFeeds } from '../../src/venues/perps/sources/live';
import { predictionFeeds } from '../../src/venues/prediction/sources/live';
import type { VenueName } from '../../src/lib/venue-name';
import { makeRunner } from '../../src/workers/runner';
import type { LiveSource, UpstreamUrls } from '../../src/workers/source';
import { LP_TUNING, newer } from '../support/feeds';
import type { FromReader, ReaderOrders } from './reader';

// A process that polls a venue's upstream until it is killed.

const tell = (message: FromReader): void => void process.send?.(message);

/** Quick polls, so that a process is killed in the middle of something. */
const FEEDS: Record<VenueName, (urls: UpstreamUrls) => LiveSource[]> = {
  prediction: (urls) =>
    predictionFeeds(urls, {
      poll_ms: 20,
      overlap: { quick_s: 20, deep_s: 600, deep_every_s: 120 },
      wallets_a_poll: 40,
      gamma_per_second: 1_000,
      data_per_second: 1_000,
      trades_per_second: 1_000,
    }),
  perps: (urls) => perpsFeeds(urls, { fills_ms: 20, meta_ms: 20, roles_ms: 20, roles_a_poll: 40, info_per_second: 1_000 }),
  lp: (urls) => lpFeeds(urls, {}, { ...LP_TUNING, chain_poll_ms: 20, index_poll_ms: 20, catalogue_poll_ms: 200 }),
};

function poll({ database_url, venue, now, urls, silence_ms }: ReaderOrders): void {
  const pool = makePool(database_url, { max: 8 });
  const feeds = { [venue]: FEEDS[venue](urls as UpstreamUrls) };
  const figures = { loaded: () => undefined, failed: () => undefined, visible: () => undefined };
  const clock = standingClock(new Date(now));
  const logger = makeLogger('silent');
  makeRunner({ pool, feeds, clock, logger, figures, newer, standby_ms: 20, ...(silence_ms && { silence_ms }) }).start();
  tell({ at: 'reading' });
}

process.on('message', (orders: ReaderOrders) => poll(orders));
tell({ at: 'ready' });
