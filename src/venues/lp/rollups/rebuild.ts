import type { PoolClient } from 'pg';
import { analyze, analyzeIndexed, fillEmptied } from '../../../db/indexes';
import { areWaiting } from '../store/waiting';
import { POOL_BAR, poolBars, TYPE_BAR, typeBars } from './bars';
import { OWNER_HOUR, ownerHours, POOL_HOUR, poolHours } from './buckets';
import { lockRollups } from './recount';
import { DERIVED as FROM_FACTS, type Derived, fill, flowHours, poolDays, poolQuarters } from './days';
import { rebuildOrders } from './orders';
import { OWNER_RESULT, ownerResults } from './owner-results';
import { POSITION_COLUMNS, positionSums } from './position-sums';
import { settleWaiting } from './settle';
import { SMART_DERIVED, smartFlowHours } from './smart';

const DERIVED = [...FROM_FACTS, ...SMART_DERIVED];

const REBUILT = [
  'lp_owner_hour',
  'lp_pool_bar',
  'lp_pool_hour',
  'lp_type_bar',
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
export async function rebuild(client: PoolClient, is_first_load = false): Promise<void> {
  await lockRollups(client);
  await client.query(ROOM);
  if (await areWaiting(client)) await settleWaiting(client);
  const fill = async (): Promise<void> => {
    for (const table of REBUILT) await client.query(`DELETE FROM ${table}`);
    await fillAll(client);
  };
  await fillEmptied(client, is_first_load ? REBUILT : [], fill, true);
  await analyzeIndexed(client, REBUILT);
}

/** What pools came to is written time after time, as live pages write it: what a window of all pools reads lies together. The time is the second column. */
const BY_TIME = 'ORDER BY 2';
const WRITTEN_BY_TIME: readonly Derived[] = [flowHours, poolQuarters, poolDays, smartFlowHours];

async function fillAll(client: PoolClient): Promise<void> {
  await analyze(client, [
    'lp_event (pool_address, timestamp)',
    'lp_swap (pool_address, timestamp)',
    'lp_volume_hour (pool_address)',
    'dca_event (timestamp)',
  ]);
  await client.query(`INSERT INTO lp_owner_hour (${OWNER_HOUR}) ${ownerHours('lp_event e')}`);
  await client.query(`INSERT INTO lp_pool_bar (${POOL_BAR}) ${poolBars('lp_swap s')} ${BY_TIME}`);
  await client.query(`INSERT INTO lp_pool_hour (${POOL_HOUR}) ${poolHours('lp_pool_bar b', 'lp_volume_hour v')} ${BY_TIME}`);
  await client.query(`INSERT INTO lp_type_bar (${TYPE_BAR}) ${typeBars('lp_event e')}`);
  await client.query(`INSERT INTO lp_position_sum (${POSITION_COLUMNS.join(', ')}) ${positionSums('lp_event e', null)}`);
  await client.query(
    `INSERT INTO lp_owner_result (${OWNER_RESULT}) ${ownerResults({
      events: 'lp_event e WHERE e.owner IS NOT NULL',
      positions: '(SELECT * FROM lp_position_sum WHERE owner IS NOT NULL)',
      counts: 'true',
    })}`,
  );
  for (const [derived, source] of DERIVED)
    await client.query(`${fill(derived, source)} ${WRITTEN_BY_TIME.includes(derived) ? BY_TIME : ''}`);
  await rebuildOrders(client);
}
