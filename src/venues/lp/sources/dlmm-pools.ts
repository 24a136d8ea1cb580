import type { RecordedSource } from '../../../workers/source';
import { loadPage } from './page-load';
import { recognisesPools, readPools } from './pool-pages';

/** Pages of `/pools` of the bin program's index, or single pools. */
export const dlmmPools: RecordedSource = {
  name: 'lp.dlmm_pools',
  recognises: (first) => recognisesPools(first, 'dlmm'),
  load: (page, client, options) => loadPage('lp.dlmm_pools', page, client, options, (records, load) => readPools(records, load, 'dlmm')),
};
