import type { PoolClient } from 'pg';
import { analyze, analyzeIndexed, fillEmptied } from '../../../db/indexes';
import { areWaiting } from '../store/waiting';
import { KNOWN_HOUR, knownHours, OWNER_HOUR, ownerHours, POOL_HOUR, poolHours } from './buckets';
import { lockRollups } from './recount';
import { DERIVED as FROM_FACTS, fill, flowHours } from './days';
import { rebuildOrders } from './orders';
import { OWNER_RESULT, ownerResults } from './owner-results';
import { POSITION_COLUMNS, positionSums } from './position-sums';
import { settleWaiting } from './settle';
import { SMART_DERIVED, smartFlowHours } from './smart';

const DERIVED = [...FROM_FACTS, ...SMART_DERIVED];

const REBUILT = [
  'lp_owner_hour',
  'lp_pool_hour',
  'lp_known_hour',
  'lp_position_sum',
  'lp_owner_result',
  ...DERIVED.map(([{ table }]) => table),
  'dca_order',
];

/** Room for sorting and hashing on one connection, in place of a few megabytes: hours are counted, and indexes made, of millions of rows. */
const ROOM = "SET LOCAL work_mem = '64MB'; SET LOCAL maintenance_work_mem = '256MB'";

/**
 * Recomputes every rollup of the wing from facts, inside the client's transaction; readers see the old ones until it ends. After a load
 * whose rollups come later, the facts that wait are written first.
 */
export async function rebuild(client: PoolClient): Promise<void> {
  await lockRollups(client);
  await client.query(ROOM);
  if (await areWaiting(client)) await settleWaiting(client);
  await fillEmptied(client, REBUILT, async () => {
    for (const table of REBUILT) await client.query(`DELETE FROM ${table}`);
    await fillAll(client);
  });
  await analyzeIndexed(client, REBUILT);
}

/** Hours of pools are written one after the other, as live pages write them: what a window of all pools reads lies together. */
const BY_HOUR = 'ORDER BY hour';

async function fillAll(client: PoolClient): Promise<void> {
  await analyze(client, [
    'lp_event (pool_address, timestamp)',
    'lp_swap (pool_address, timestamp)',
    'lp_volume_hour (pool_address)',
    'dca_event (timestamp)',
  ]);
  await client.query(`INSERT INTO lp_owner_hour (${OWNER_HOUR}) ${ownerHours('lp_event e')}`);
  await client.query(`INSERT INTO lp_pool_hour (${POOL_HOUR}) ${poolHours('lp_swap s', 'lp_volume_hour v')} ${BY_HOUR}`);
  await client.query(`INSERT INTO lp_known_hour (${KNOWN_HOUR}) ${knownHours('lp_event e')}`);
  await client.query(`INSERT INTO lp_position_sum (${POSITION_COLUMNS.join(', ')}) ${positionSums('lp_event e', null)}`);
  await client.query(
    `INSERT INTO lp_owner_result (${OWNER_RESULT}) ${ownerResults({
      events: 'lp_event e WHERE e.owner IS NOT NULL',
      positions: '(SELECT * FROM lp_position_sum WHERE owner IS NOT NULL)',
      counts: 'true',
    })}`,
  );
  for (const [derived, source] of DERIVED)
    await client.query(`${fill(derived, source)} ${derived === flowHours || derived === smartFlowHours ? BY_HOUR : ''}`);
  await rebuildOrders(client);
}
