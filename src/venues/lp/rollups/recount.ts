import type { PoolClient } from 'pg';
import { writersTurn } from '../../../db/transaction';
import { quarterOf } from '../../../lib/tiles';
import { HOURS, OWNER_DAYS, PAIRS, POSITIONS, SWAP_HOURS } from './changes';
import { moveCounts } from './counted-days';
import {
  BUCKET_LENGTHS,
  countedBucketOf,
  type Derived,
  fill,
  flowDays,
  flowHours,
  flowLives,
  flowMonths,
  flowQuarters,
  knownHours,
  monthOf,
  ownerCounts,
  ownerDays,
  ownerLives,
  ownerPools,
  poolDays,
  poolLives,
  poolMonths,
  poolQuarters,
  typeHours,
  typeSwapHours,
} from './days';
import { OWNER_RESULT, ownerResults } from './owner-results';
import { POSITION_COLUMNS, positionSums } from './position-sums';
import { barsInHours, inHours, recountsIn, type TimeSpan } from './recount-hours';
import { ON_SMART_DAY, smartDays, smartFlowDays, smartFlowHours, smartLives, smartPools } from './smart';

/** Writers of rollups take turns, until their transactions end: each recounts whole hours and positions. */
export async function lockRollups(client: PoolClient): Promise<void> {
  await client.query(writersTurn('lp'));
}

const CHANGED_HOURS = `(SELECT DISTINCT pool_address, hour FROM ${HOURS}) c`;
const changedDays = (hours: string): string => `(SELECT DISTINCT pool_address, date_trunc('day', hour, 'UTC') AS day FROM ${hours}) c`;
const changedQuarters = (hours: string): string => `(SELECT DISTINCT pool_address, ${quarterOf('hour')} AS quarter FROM ${hours}) c`;
const changedMonths = (hours: string): string => `(SELECT DISTINCT pool_address, ${monthOf('hour')} AS month FROM ${hours}) c`;
const changedPools = (hours: string): string => `(SELECT DISTINCT pool_address FROM ${hours}) c`;
/** Whatever the pool. */
const changedInAll = (hours: string): string => `(SELECT DISTINCT hour FROM ${hours}) c`;
const BARS_OF_HOUR = "JOIN lp_type_bar b ON b.bar >= c.hour AND b.bar < c.hour + interval '1 hour'";
const CHANGED_BUCKETS = `(SELECT DISTINCT pool_address, s.hours, ${countedBucketOf('hour')} AS bucket FROM ${HOURS} CROSS JOIN ${BUCKET_LENGTHS}) s`;
const ofMonths = (table: string): string =>
  `JOIN ${table} d ON d.pool_address = c.pool_address AND d.day >= c.month AND d.day < c.month + interval '1 month'`;
const CHANGED_OWNER_DAYS = `(SELECT DISTINCT pool_address, owner, day FROM ${OWNER_DAYS}) c`;
const CHANGED_POOL_DAYS = `(SELECT DISTINCT pool_address, day FROM ${OWNER_DAYS}) c`;
const CHANGED_PAIRS = `(SELECT DISTINCT pool_address, owner FROM ${OWNER_DAYS}) c`;
const CHANGED_OWNERS = `(SELECT DISTINCT owner FROM ${OWNER_DAYS}) c`;
const inDay = (a: string): string => `${a}.hour >= c.day AND ${a}.hour < c.day + interval '1 day'`;
const inQuarter = (a: string): string => `${a}.hour >= c.quarter AND ${a}.hour < c.quarter + interval '6 hours'`;

/**
 * A rollup that is counted from another one: it takes the rows `t` of its changed keys away, by `forget`, and counts them anew. `from` joins what they are
 * counted from.
 */
type Recount = readonly [rollup: Derived, changed: string, forget: string, from: string];

const OF_POOL = 't.pool_address = c.pool_address';
const OF_OWNER = 't.owner = c.owner';

/** What is counted from providers' hours. */
const RECOUNT_DERIVED: readonly Recount[] = [
  [
    flowHours,
    CHANGED_HOURS,
    `${OF_POOL} AND t.hour = c.hour`,
    'JOIN lp_owner_hour o ON o.pool_address = c.pool_address AND o.hour = c.hour',
  ],
  [
    flowQuarters,
    changedQuarters(HOURS),
    `${OF_POOL} AND t.quarter = c.quarter`,
    `JOIN lp_flow_hour f ON f.pool_address = c.pool_address AND ${inQuarter('f')}`,
  ],
  [
    flowDays,
    changedDays(HOURS),
    `${OF_POOL} AND t.day = c.day`,
    `JOIN lp_flow_hour f ON f.pool_address = c.pool_address AND ${inDay('f')}`,
  ],
  [flowMonths, changedMonths(HOURS), `${OF_POOL} AND t.month = c.month`, ofMonths('lp_flow_day')],
  [flowLives, changedPools(HOURS), OF_POOL, 'JOIN lp_flow_month m ON m.pool_address = c.pool_address'],
  [typeHours, changedInAll(HOURS), 't.hour = c.hour', BARS_OF_HOUR],
  [knownHours, changedInAll(HOURS), 't.hour = c.hour', BARS_OF_HOUR],
  [
    ownerCounts,
    CHANGED_BUCKETS,
    't.pool_address = s.pool_address AND t.bucket = s.bucket AND t.hours = s.hours',
    'JOIN lp_owner_hour o ON o.pool_address = s.pool_address AND o.hour >= s.bucket AND o.hour < s.bucket + make_interval(hours => s.hours)',
  ],
  [
    ownerDays,
    CHANGED_OWNER_DAYS,
    `${OF_OWNER} AND t.day = c.day AND ${OF_POOL}`,
    `JOIN lp_owner_hour o ON o.owner = c.owner AND ${inDay('o')} AND o.pool_address = c.pool_address`,
  ],
  [ownerPools, CHANGED_PAIRS, `${OF_OWNER} AND ${OF_POOL}`, 'JOIN lp_owner_day d ON d.owner = c.owner AND d.pool_address = c.pool_address'],
  [ownerLives, CHANGED_OWNERS, OF_OWNER, 'JOIN lp_owner_pool p ON p.owner = c.owner'],
  [
    smartDays,
    CHANGED_OWNER_DAYS,
    `${OF_OWNER} AND t.day = c.day AND ${OF_POOL}`,
    'JOIN lp_owner_day d ON d.owner = c.owner AND d.day = c.day AND d.pool_address = c.pool_address',
  ],
  [smartPools, CHANGED_PAIRS, `${OF_OWNER} AND ${OF_POOL}`, 'JOIN lp_smart_day d ON d.owner = c.owner AND d.pool_address = c.pool_address'],
  [smartLives, CHANGED_OWNERS, OF_OWNER, 'JOIN lp_smart_pool p ON p.owner = c.owner'],
  [
    smartFlowDays,
    CHANGED_POOL_DAYS,
    `${OF_POOL} AND t.day = c.day`,
    'JOIN lp_smart_day d ON d.pool_address = c.pool_address AND d.day = c.day',
  ],
  [
    smartFlowHours,
    CHANGED_HOURS,
    `${OF_POOL} AND t.hour = c.hour`,
    `JOIN lp_owner_hour o ON o.pool_address = c.pool_address AND o.hour = c.hour ${ON_SMART_DAY}`,
  ],
];

/** What is counted from hours of pools. */
const RECOUNT_SWAPPED: readonly Recount[] = [
  [
    poolQuarters,
    changedQuarters(SWAP_HOURS),
    `${OF_POOL} AND t.quarter = c.quarter`,
    `JOIN lp_pool_hour h ON h.pool_address = c.pool_address AND ${inQuarter('h')}`,
  ],
  [
    poolDays,
    changedDays(SWAP_HOURS),
    `${OF_POOL} AND t.day = c.day`,
    `JOIN lp_pool_hour h ON h.pool_address = c.pool_address AND ${inDay('h')}`,
  ],
  [poolMonths, changedMonths(SWAP_HOURS), `${OF_POOL} AND t.month = c.month`, ofMonths('lp_pool_day')],
  [poolLives, changedPools(SWAP_HOURS), OF_POOL, 'JOIN lp_pool_month m ON m.pool_address = c.pool_address'],
  [typeSwapHours, changedInAll(SWAP_HOURS), 't.hour = c.hour', 'JOIN lp_pool_hour h ON h.hour = c.hour'],
];

const CHANGED_POSITIONS = `(SELECT DISTINCT position_address FROM ${POSITIONS}) d JOIN lp_event e ON e.position_address = d.position_address`;

/** Counts every hour and position anew that was noted, from facts: late, repeated and corrected facts come out the same. */
export async function recount(client: PoolClient): Promise<void> {
  const { events, swaps, positions, pairs } = await changesOf(client);
  if (events === null && swaps === null && !positions && !pairs) return;
  await lockRollups(client);
  if (events !== null) await recountEvents(client, events);
  if (swaps !== null) await recountPools(client, swaps);
  if (positions) await recountPositions(client);
  if (events !== null || positions || pairs) await recountResults(client);
  await client.query(
    `DELETE FROM ${HOURS}; DELETE FROM ${SWAP_HOURS}; DELETE FROM ${POSITIONS}; DELETE FROM ${OWNER_DAYS}; DELETE FROM ${PAIRS}`,
  );
}

/** The time that the noted hours take up, null where none is. */
interface Changes {
  events: TimeSpan | null;
  swaps: TimeSpan | null;
  /** Whether any position is noted, and anybody in a pool. */
  positions: boolean;
  pairs: boolean;
}

const CHANGES = `SELECT e.*, s.*, EXISTS (SELECT 1 FROM ${POSITIONS}) AS positions, EXISTS (SELECT 1 FROM ${PAIRS}) AS pairs
FROM (SELECT min(hour) AS events_from, max(hour) + interval '1 hour' AS events_to FROM ${HOURS}) e,
  (SELECT min(hour) AS swaps_from, max(hour) + interval '1 hour' AS swaps_to FROM ${SWAP_HOURS}) s`;

async function changesOf(client: PoolClient): Promise<Changes> {
  const { rows } = await client.query<
    Record<'events_from' | 'events_to' | 'swaps_from' | 'swaps_to', Date | null> & { positions: boolean; pairs: boolean }
  >({
    name: 'lp_changes',
    text: CHANGES,
  });
  const [row] = rows;
  const spanOf = (from: Date | null | undefined, to: Date | null | undefined): TimeSpan | null => (from && to ? [from, to] : null);
  return {
    events: spanOf(row?.events_from, row?.events_to),
    swaps: spanOf(row?.swaps_from, row?.swaps_to),
    positions: row?.positions === true,
    pairs: row?.pairs === true,
  };
}

const CHANGED_HOLDERS = `SELECT p.pool_address, p.owner FROM ${POSITIONS} d JOIN lp_position_sum p ON p.position_address = d.position_address WHERE p.owner IS NOT NULL`;
const CHANGED_TURNERS = `SELECT e.pool_address, e.owner FROM ${POSITIONS} d JOIN lp_event e ON e.position_address = d.position_address WHERE e.rebalance AND e.owner IS NOT NULL`;

async function recountPositions(client: PoolClient): Promise<void> {
  // Who held them before, and who does after.
  await client.query(`INSERT INTO ${PAIRS} ${CHANGED_HOLDERS}`);
  await client.query(`DELETE FROM lp_position_sum p USING ${POSITIONS} d WHERE p.position_address = d.position_address`);
  await client.query({
    name: 'lp_recount_positions',
    text: `INSERT INTO lp_position_sum (${POSITION_COLUMNS.join(', ')}) ${positionSums(CHANGED_POSITIONS, null)}`,
  });
  await client.query(`INSERT INTO ${PAIRS} ${CHANGED_HOLDERS} UNION ${CHANGED_TURNERS}`);
}

const RESULTS_OF = `(SELECT pool_address, owner FROM ${PAIRS} UNION SELECT pool_address, owner FROM ${OWNER_DAYS} WHERE owner <> '') c`;

async function recountResults(client: PoolClient): Promise<void> {
  await client.query(`DELETE FROM lp_owner_result t USING ${RESULTS_OF} WHERE t.owner = c.owner AND t.pool_address = c.pool_address`);
  await client.query({
    name: 'lp_recount_results',
    text: `INSERT INTO lp_owner_result (${OWNER_RESULT}) ${ownerResults({
      events: `${RESULTS_OF} JOIN lp_event e ON e.owner = c.owner AND e.pool_address = c.pool_address WHERE true`,
      positions: `(SELECT p.* FROM ${RESULTS_OF} JOIN lp_position_sum p ON p.owner = c.owner AND p.pool_address = c.pool_address)`,
      counts: 'true',
    })}`,
  });
}

async function recountEvents(client: PoolClient, span: TimeSpan): Promise<void> {
  const { owners, types } = recountsIn(span);
  await client.query({ ...owners, values: span });
  await client.query(`DELETE FROM lp_type_bar t USING ${changedInAll(HOURS)} WHERE t.bar >= c.hour AND t.bar < c.hour + interval '1 hour'`);
  await client.query({ ...types, values: span });
  await moveCounts(client, '-', { pairs: CHANGED_PAIRS, owners: CHANGED_OWNERS });
  await countAnew(client, RECOUNT_DERIVED);
  await moveCounts(client, '', { pairs: CHANGED_PAIRS, owners: CHANGED_OWNERS });
}

async function recountPools(client: PoolClient, span: TimeSpan): Promise<void> {
  const { swaps, pools } = recountsIn(span);
  await client.query(`DELETE FROM lp_pool_bar b USING ${barsInHours(SWAP_HOURS, 'b')}`);
  await client.query({ ...swaps, values: span });
  await client.query(`DELETE FROM lp_pool_hour h USING ${inHours(SWAP_HOURS, 'h')}`);
  await client.query({ ...pools, values: span });
  await countAnew(client, RECOUNT_SWAPPED);
}

async function countAnew(client: PoolClient, rollups: readonly Recount[]): Promise<void> {
  for (const [rollup, changed, forget, from] of rollups) {
    await client.query(`DELETE FROM ${rollup.table} t USING ${changed} WHERE ${forget}`);
    await client.query({ name: `recount_${rollup.table}`, text: fill(rollup, `${changed} ${from}`) });
  }
}
