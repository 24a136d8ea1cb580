import type { RecordedSource } from '../../../workers/source';
import { loadPage } from './page-load';
import { recognisesPools, readPools } from './pool-pages';

/** Pages of `/pools` of the constant-product program's index, or single pools. */
export const dammV2Pools: RecordedSource = {
  name: 'lp.damm_v2_pools',
  recognises: (first) => recognisesPools(first, 'damm_v2'),
  load: (page, client, options) =>
    loadPage('lp.damm_v2_pools', page, client, options, (records, load) => readPools(records, load, 'damm_v2')),
};
