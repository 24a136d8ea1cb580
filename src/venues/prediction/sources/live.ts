import type { LiveSource, UpstreamUrls } from '../../../workers/source';
import { atMost, makeUpstream } from '../../../workers/upstream';
import { liveActivity } from './live-activity';
import { liveFills } from './live-fills';
import { liveMarkets } from './live-markets';
import { type Overlap, liveTrades } from './live-trades';

/** How often feeds are polled and how far back they look. */
export interface LiveTuning {
  poll_ms: number;
  overlap: Overlap;
  /** Wallets whose activity one poll asks for. */
  wallets_a_poll: number;
  /** Requests a second to the catalogue's and the wallets' host. */
  gamma_per_second: number;
  data_per_second: number;
  /** Of the latter, to `/trades`: for both of its feeds together. */
  trades_per_second: number;
}

// The venue states 300 /markets and 200 /trades requests in 10 s (1,000 of the Data API in all), and queues beyond; we stay at a third, and of /trades below three quarters, for both feeds of those catch up at once.
const TUNING: LiveTuning = {
  poll_ms: 2_000,
  overlap: { quick_s: 20, deep_s: 600, deep_every_s: 120 },
  wallets_a_poll: 40,
  gamma_per_second: 10,
  data_per_second: 30,
  trades_per_second: 14,
};

/** The feeds of the prediction market: the catalogue by its `gamma` host, wallets by its `data` host. Half of them are of no use: both or none. */
export function predictionFeeds(upstreams: UpstreamUrls, tuning: LiveTuning = TUNING): LiveSource[] {
  const { gamma, data } = upstreams;
  if (gamma === undefined && data === undefined) return [];
  if (gamma === undefined || data === undefined) throw new Error('PREDICTION_GAMMA_URL and PREDICTION_DATA_URL must be set together.');
  const catalogue = makeUpstream({ url: gamma, per_second: tuning.gamma_per_second });
  const wallets = makeUpstream({ url: data, per_second: tuning.data_per_second });
  const trades = atMost(tuning.trades_per_second, wallets);
  return [
    liveMarkets(catalogue, tuning.poll_ms * 2),
    liveTrades(trades, tuning.poll_ms, tuning.overlap),
    liveFills(trades, tuning.poll_ms, tuning.overlap),
    liveActivity(wallets, tuning.poll_ms, tuning.wallets_a_poll),
  ];
}
