import type { PoolClient } from 'pg';
import { addCoinHours, addMatchHours, addTraderHours, addTraders } from './hours';
import { TELL_ALL } from './round-trips';

/** Rollups are added to, so two writers of them take turns: until the transaction ends. */
export async function lockRollups(client: PoolClient): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock(hashtext('perps rollups'))");
}

/** Recomputes every rollup of the wing from facts, inside the client's transaction; readers see the old ones until it ends. */
export async function rebuild(client: PoolClient): Promise<void> {
  await lockRollups(client);
  for (const table of ['perp_trader_hour', 'perp_coin_hour', 'perp_trader', 'perp_round_trip', 'perp_position'])
    await client.query(`DELETE FROM ${table}`);
  await client.query(addTraderHours('perp_fill'));
  await client.query(addCoinHours('perp_fill'));
  await client.query(addMatchHours('perp_match'));
  await client.query(addTraders('perp_fill'));
  await client.query(TELL_ALL);
  await client.query('ANALYZE perp_trader_hour, perp_coin_hour, perp_trader, perp_round_trip, perp_position');
}
