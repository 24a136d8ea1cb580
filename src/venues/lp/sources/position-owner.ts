import type { RecordedSource } from '../../../workers/source';
import { barePool, noFacts, type OwnershipRow } from '../store/rows';
import { loadPage, type PageLoad, type Write } from './page-load';
import { address, isObject, type Json } from './record';

/** `/position/{a}` and `/position_v2/{a}` of the older index: whose the position is. Their totals are not ours to keep. */
export const positionOwner: RecordedSource = {
  name: 'lp.position_owner',
  recognises: (first) => isPosition(first),
  load: (page, client, options) => loadPage('lp.position_owner', page, client, options, readPositions),
};

const isPosition = (position: unknown): position is Json =>
  isObject(position) && 'address' in position && 'pair_address' in position && 'owner' in position;

function readPositions(records: unknown[], { log, writer }: PageLoad): Write {
  const facts = noFacts();
  for (const record of records) {
    const row = isPosition(record) ? ownership(record) : null;
    if (row === null) {
      log.skip('unusable_position');
      continue;
    }
    facts.ownerships.push(row);
    facts.pools.push(barePool(row.pool_address as string, 'dlmm'));
  }
  log.read += facts.ownerships.length;
  return () => writer.owners(facts);
}

/** Owners of these positions never change, so the record needs no time. */
function ownership(position: Json): OwnershipRow | null {
  const position_address = address(position.address);
  const pool_address = address(position.pair_address);
  const owner = address(position.owner);
  if (position_address === null || pool_address === null || owner === null) return null;
  return { position_address, pool_address, pool_type: 'dlmm', owner, at: new Date(0) };
}
