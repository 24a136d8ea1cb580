import type { PoolClient } from 'pg';
import { analyze, analyzeIndexed, fillEmptied } from '../../../db/indexes';
import { writersTurn } from '../../../db/transaction';
import { TELL_ALL_DEVIATIONS } from './deviations';
import { TELL_ALL_COIN_DAYS, TELL_ALL_DAYS } from './drawdown';
import {
  TELL_COIN_BARS,
  TELL_COIN_HOURS,
  TELL_TRADERS,
  TELL_TRADER_DAYS,
  TELL_TRADER_HOURS,
  TELL_TRADER_LIVES,
  TELL_VOLUMES,
  tellCoins,
} from './hours';
import { tellLastDays } from './last-days';
import { TELL_ALL_TRIPS } from './round-trips';
import { SMART_ROLLUPS, TELL_SMART } from './smart-hours';
import { forgetStandings, tellStandings } from './standings';
import { TELL_TAKERS } from './takers';
import { retellTimings } from './timings';
import { TELL_TRADER_SUMS } from './trader-sums';

/** Rollups are added to, so two writers of them take turns: until the transaction ends. */
export async function lockRollups(client: PoolClient): Promise<void> {
  await client.query(writersTurn('perps'));
}

const ROLLUPS = [
  'perp_trader_hour',
  'perp_trader_day',
  'perp_trader_life',
  'perp_trader_sum',
  'perp_coin_hour',
  'perp_coin_day',
  'perp_coin_month',
  'perp_coin_quarter',
  'perp_coin_bar',
  'perp_volume_hour',
  'perp_coin_takers',
  'perp_trader',
  'perp_round_trip',
  'perp_position',
  'perp_trader_drawdown',
  'perp_trader_coin_drawdown',
  'perp_coin_last_day',
  ...SMART_ROLLUPS,
];

/** Groups as rows come in the order of the key: nearly as many groups as rows, of many columns, take less time and hardly any memory so. */
const inOrder = (statement: string): string[] => ['SET LOCAL enable_hashagg = off', statement, 'SET LOCAL enable_hashagg TO DEFAULT'];

/** Each reads what those before it wrote. */
const TELL = [
  ...inOrder(TELL_TRADER_HOURS),
  TELL_ALL_TRIPS,
  ...inOrder(TELL_TRADER_DAYS),
  TELL_TAKERS,
  TELL_TRADER_LIVES,
  TELL_TRADER_SUMS,
  TELL_TRADERS,
  tellLastDays('perp_coin_last_day'),
  TELL_COIN_BARS,
  TELL_COIN_HOURS,
  TELL_ALL_DEVIATIONS,
  tellCoins('day'),
  tellCoins('month'),
  tellCoins('quarter'),
  TELL_VOLUMES,
  TELL_ALL_DAYS,
  TELL_ALL_COIN_DAYS,
  ...TELL_SMART,
];

/** Not the days that a run of the scores is about to tell: it waits for the rollups in its turn. */
const FORGET_DEALT = 'DELETE FROM perp_dealt_day WHERE day IN (SELECT day FROM perp_dealt_day FOR UPDATE SKIP LOCKED)';

/** Of what one step sorts or groups so much stays in memory; the rest goes through files. */
const WORK_MEMORY = '256MB';

/** Recomputes every rollup of the wing from facts, inside the client's transaction; readers see the old ones until it ends. */
export async function rebuild(client: PoolClient, is_first_load = false): Promise<void> {
  await lockRollups(client);
  const stood = await forgetStandings(client);
  await client.query(`SET LOCAL work_mem = '${WORK_MEMORY}'`);
  await fillEmptied(client, is_first_load ? ROLLUPS : [], async () => {
    // What the daily scores keep is told by the next run of them.
    await client.query(FORGET_DEALT);
    for (const table of ROLLUPS) await client.query(`DELETE FROM ${table}`);
    await analyze(client, ['perp_fill (coin, timestamp)', 'perp_match (coin, timestamp)']);
    for (const statement of TELL) await client.query(statement);
  });
  await analyzeIndexed(client, ROLLUPS);
  if (stood !== null) await tellStandings(client, stood);
  await retellTimings(client);
}
