import type { LiveSource, UpstreamRates, UpstreamUrls } from '../../../workers/source';
import { makeUpstream } from '../../../workers/upstream';
import { liveChain } from './live-chain';
import { livePools, POOLS_PACES, type PoolsPaces } from './live-pools';
import { livePositions } from './live-positions';
import { chainReader } from './live-rpc';
import { liveVolumes } from './live-volumes';

/** How often feeds are polled, and how much one poll asks for. */
export interface LiveTuning extends PoolsPaces {
  chain_poll_ms: number;
  index_poll_ms: number;
  catalogue_poll_ms: number;
  pools_a_poll: number;
  positions_a_poll: number;
  /** Requests a second to the hosts. */
  rpc_per_second: number;
  dlmm_per_second: number;
  damm_per_second: number;
}

// The index states 30 requests a second for the bin program's host and 10 for the other; we stay below a third. Nodes differ: theirs to raise.
const TUNING: LiveTuning = {
  chain_poll_ms: 2_000,
  index_poll_ms: 5_000,
  catalogue_poll_ms: 30_000,
  ...POOLS_PACES,
  pools_a_poll: 10,
  positions_a_poll: 20,
  rpc_per_second: 500,
  dlmm_per_second: 10,
  damm_per_second: 3,
};

/**
 * The feeds of the pools: the chain by its `rpc` node, the catalogue, volumes and histories by the index's hosts `dlmm` and `damm`. Without one of
 * them the others would value nothing: all or none. `rates`: of them only the node's is heard, for nodes differ. Recurring orders are read from the chain, for no listing tells those of everybody.
 */
export function lpFeeds(upstreams: UpstreamUrls, rates: UpstreamRates = {}, tuning: LiveTuning = TUNING): LiveSource[] {
  const { rpc, dlmm, damm } = upstreams;
  if (rpc === undefined && dlmm === undefined && damm === undefined) return [];
  if (rpc === undefined || dlmm === undefined || damm === undefined)
    throw new Error('LP_RPC_URL, LP_DLMM_URL and LP_DAMM_URL must be set together.');
  const node = chainReader(makeUpstream({ url: rpc, per_second: rates.rpc ?? tuning.rpc_per_second }));
  const indexes = {
    dlmm: makeUpstream({ url: dlmm, per_second: tuning.dlmm_per_second }),
    damm_v2: makeUpstream({ url: damm, per_second: tuning.damm_per_second }),
  };
  return [
    livePools(indexes, tuning.catalogue_poll_ms, tuning),
    liveChain(node, tuning.chain_poll_ms),
    liveVolumes(indexes, tuning.index_poll_ms, tuning.pools_a_poll),
    livePositions(indexes.dlmm, tuning.index_poll_ms, tuning.positions_a_poll),
  ];
}
