import type { PoolClient } from 'pg';
import { areWaiting } from '../store/waiting';
import { KNOWN_HOUR, knownHours, OWNER_HOUR, ownerHours, POOL_HOUR, poolHours } from './buckets';
import { lockRollups } from './changes';
import { DERIVED, fill } from './days';
import { rebuildOrders } from './orders';
import { POSITION_COLUMNS, positionSums } from './position-sums';
import { settleWaiting } from './settle';

const REBUILT = ['lp_owner_hour', 'lp_pool_hour', 'lp_known_hour', 'lp_position_sum', ...DERIVED.map(([{ table }]) => table)];

/** Recomputes every rollup of the wing from facts, inside the client's transaction; readers see the old ones until it ends. */
export async function rebuild(client: PoolClient): Promise<void> {
  await lockRollups(client);
  if (await areWaiting(client)) await settleWaiting(client);
  for (const table of REBUILT) await client.query(`DELETE FROM ${table}`);
  await client.query(`INSERT INTO lp_owner_hour (${OWNER_HOUR}) ${ownerHours('lp_event e')}`);
  await client.query(`INSERT INTO lp_pool_hour (${POOL_HOUR}) ${poolHours('lp_swap s', 'lp_volume_hour v')}`);
  await client.query(`INSERT INTO lp_known_hour (${KNOWN_HOUR}) ${knownHours('lp_event e')}`);
  await client.query(`INSERT INTO lp_position_sum (${POSITION_COLUMNS.join(', ')}) ${positionSums('lp_event e', null)}`);
  for (const [derived, source] of DERIVED) await client.query(fill(derived, source));
  await rebuildOrders(client);
  await client.query(`ANALYZE ${REBUILT.join(', ')}, dca_order`);
}
