import type { RecordedSource } from '../../../workers/source';
import { dammV2Pools } from './damm-v2-pools';
import { dlmmPairs } from './dlmm-pairs';
import { dlmmPools } from './dlmm-pools';
import { positionHistory } from './position-history';
import { positionLegacy } from './position-legacy';
import { positionOwner } from './position-owner';
import { tokens } from './tokens';
import { transactions } from './transactions';
import { volumeHistory } from './volume-history';

/** Every feed of the venue; each knows its own format from the first record. */
export const sources: RecordedSource[] = [
  transactions,
  positionHistory,
  positionLegacy,
  positionOwner,
  dlmmPools,
  dammV2Pools,
  dlmmPairs,
  volumeHistory,
  tokens,
];
