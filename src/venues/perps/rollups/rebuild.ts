import type { PoolClient } from 'pg';
import {
  addCoinDays,
  addCoinHours,
  addMatches,
  addTraders,
  keepTraderDays,
  keepTraderHours,
  keepTraderLives,
  traderHoursOf,
} from './hours';
import { TELL_ALL_DAYS } from './drawdown';
import { TELL_ALL } from './round-trips';

/** Rollups are added to, so two writers of them take turns: until the transaction ends. */
export async function lockRollups(client: PoolClient): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock(hashtext('perps rollups'))");
}

const ROLLUPS = [
  'perp_trader_hour',
  'perp_trader_day',
  'perp_trader_life',
  'perp_coin_hour',
  'perp_coin_day',
  'perp_trader',
  'perp_round_trip',
  'perp_position',
  'perp_trader_drawdown',
];

/** Recomputes every rollup of the wing from facts, inside the client's transaction; readers see the old ones until it ends. */
export async function rebuild(client: PoolClient): Promise<void> {
  await lockRollups(client);
  // What the daily scores keep is told by the next run of them.
  for (const table of [...ROLLUPS, 'perp_dealt', 'perp_dealt_day']) await client.query(`DELETE FROM ${table}`);
  await client.query(keepTraderHours(`(${traderHoursOf('perp_fill')}) hours`));
  await client.query(keepTraderDays('perp_trader_hour'));
  await client.query(keepTraderLives('perp_trader_day'));
  await client.query(addCoinHours('perp_fill'));
  await client.query(addCoinDays('perp_fill'));
  await client.query(addMatches('perp_match', 'hour'));
  await client.query(addMatches('perp_match', 'day'));
  await client.query(addTraders('perp_fill'));
  await client.query(TELL_ALL);
  await client.query(TELL_ALL_DAYS);
  await client.query(`ANALYZE ${ROLLUPS.join(', ')}`);
}
