import type { PoolClient } from 'pg';
import { type Appended, COMPLETE_EVENTS, insertEvents, insertSwaps, KEY, names, swapsSeen } from './facts';
import { copyInto } from './copy';
import type { Columns } from './insert';
import { POSITION, type PositionRow, savePositionsIn } from './positions';
import type { PoolRow } from './rows';
import { definitions, EVENT, STAGED_EVENTS, STAGED_SWAPS, SWAP } from './stage';

/** Facts of a load whose rollups come later: they wait here until its end, so that each is valued, and written to its table, once. */
export const WAITING_EVENTS = 'pg_temp.lp_waiting_event';
export const WAITING_SWAPS = 'pg_temp.lp_waiting_swap';

const WAITING_RESERVES = 'pg_temp.lp_waiting_reserve';
const WAITING_POSITIONS = 'pg_temp.lp_waiting_position';

type ReserveRow = Pick<PoolRow, 'pool_address' | 'reserve_x' | 'reserve_y' | 'reserve_at'>;
const RESERVE: Columns<ReserveRow> = [
  ['pool_address', 'text'],
  ['reserve_x', 'numeric'],
  ['reserve_y', 'numeric'],
  ['reserve_at', 'timestamptz'],
];

const SWAP_KEY = ['pool_address', 'timestamp', 'tx_id', 'outer_ix', 'inner_ix'] as const;

/** By time first: facts come by time, so both table and index grow at their ends. */
const byTime = (key: readonly string[]): string =>
  names(['timestamp', 'tx_id', ...key.filter((name) => name !== 'timestamp' && name !== 'tx_id')]);

const ROOMS = `
CREATE TEMP TABLE lp_waiting_event (${definitions(EVENT)}, UNIQUE (${byTime(KEY)})) ON COMMIT DROP;
CREATE TEMP TABLE lp_waiting_swap (${definitions(SWAP)}, UNIQUE (${byTime(SWAP_KEY)})) ON COMMIT DROP;
CREATE TEMP TABLE lp_waiting_reserve (place bigint GENERATED ALWAYS AS IDENTITY, ${definitions(RESERVE)}) ON COMMIT DROP;
CREATE TEMP TABLE lp_waiting_position (place bigint GENERATED ALWAYS AS IDENTITY, ${definitions(POSITION)}) ON COMMIT DROP`;

/** Whether facts may wait in this transaction: rooms were made. */
export async function areWaiting(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ open: boolean }>({
    name: 'lp_waiting_open',
    text: `SELECT to_regclass('${WAITING_SWAPS}') IS NOT NULL AS open`,
  });
  return rows[0]?.open === true;
}

/** Makes the rooms, which go when the transaction ends, unless they are there. */
export async function openWaiting(client: PoolClient): Promise<void> {
  if (!(await areWaiting(client))) await client.query(ROOMS);
}

/** What is staged and neither on record nor waiting. */
const admission = (from: string, to: string, record: string, key: readonly string[], columns: readonly string[]): string => `
INSERT INTO ${to} (${names(columns)}) SELECT ${names(columns, 'u')} FROM ${from} u
WHERE NOT EXISTS (SELECT 1 FROM ${record} r WHERE (${names(key, 'r')}) = (${names(key, 'u')}))
ON CONFLICT DO NOTHING`;

const ADMIT_EVENTS = admission(
  STAGED_EVENTS,
  WAITING_EVENTS,
  'lp_event',
  KEY,
  EVENT.map(([name]) => name),
);
const ADMIT_SWAPS = admission(
  STAGED_SWAPS,
  WAITING_SWAPS,
  'lp_swap',
  SWAP_KEY,
  SWAP.map(([name]) => name),
);

const amountOf = (side: 'x' | 'y', token: string): string =>
  `coalesce(e.amount_${side}, CASE WHEN e.raw_${side} IS NULL OR ${token}.decimals IS NULL THEN u.amount_${side} END)`;

/** As COMPLETE_EVENTS, of events that wait: an amount that smallest units tell is not taken from elsewhere. */
const COMPLETE_WAITING = `
UPDATE ${WAITING_EVENTS} e SET
  amount_x = ${amountOf('x', 'a')}, amount_y = ${amountOf('y', 'b')}, raw_x = coalesce(e.raw_x, u.raw_x), raw_y = coalesce(e.raw_y, u.raw_y),
  stated_usd_x = coalesce(e.stated_usd_x, u.stated_usd_x), stated_usd_y = coalesce(e.stated_usd_y, u.stated_usd_y),
  stated_usd = coalesce(e.stated_usd, u.stated_usd), owner = coalesce(u.owner, e.owner), signer = coalesce(e.signer, u.signer),
  bin_id = coalesce(e.bin_id, u.bin_id), liquidity_delta = coalesce(e.liquidity_delta, u.liquidity_delta), rebalance = e.rebalance OR u.rebalance,
  slot = coalesce(e.slot, u.slot), outer_ix = coalesce(e.outer_ix, u.outer_ix), inner_ix = coalesce(e.inner_ix, u.inner_ix),
  fee_payer = coalesce(e.fee_payer, u.fee_payer), programs = coalesce(e.programs, u.programs)
FROM ${STAGED_EVENTS} u LEFT JOIN lp_pool p ON p.pool_address = u.pool_address
LEFT JOIN lp_token a ON a.mint = p.mint_x LEFT JOIN lp_token b ON b.mint = p.mint_y
WHERE (${names(KEY, 'e')}) = (${names(KEY, 'u')})
  AND ((e.stated_usd IS NULL AND u.stated_usd IS NOT NULL) OR (e.raw_x IS NULL AND u.raw_x IS NOT NULL) OR (e.fee_payer IS NULL AND u.fee_payer IS NOT NULL)
    OR (coalesce(e.owner, e.signer) IS NULL AND u.owner IS NOT NULL))`;

/** Lets the staged deposits, withdrawals and claims wait. Says which are new as if they were appended. */
export async function waitEvents(client: PoolClient, staged: number): Promise<Appended> {
  const { rowCount } = await client.query({ name: 'lp_wait_events', text: ADMIT_EVENTS });
  const inserted = rowCount ?? 0;
  if (inserted < staged) {
    // Planned each time: a plan that is kept dates from when little was waiting, and would read all that waits for every page.
    await client.query(COMPLETE_WAITING);
    await client.query({ name: 'lp_complete_events', text: COMPLETE_EVENTS });
  }
  return { inserted, duplicates: staged - inserted };
}

/** The same of swaps. */
export async function waitSwaps(client: PoolClient, staged: number): Promise<Appended> {
  const { rowCount } = await client.query({ name: 'lp_wait_swaps', text: ADMIT_SWAPS });
  const inserted = rowCount ?? 0;
  return { inserted, duplicates: staged - inserted };
}

/**
 * Lets reserves wait, in the order in which they were told. A pool's row that changed with every page would be found through all its versions of
 * the transaction, more of them from page to page.
 */
export const waitReserves = (client: PoolClient, rows: readonly ReserveRow[]): Promise<void> =>
  copyInto(client, WAITING_RESERVES, RESERVE, rows);

/** The newest reserves win; of one instant those told last. */
const APPLY_RESERVES = `
UPDATE lp_pool p SET reserve_x = r.reserve_x, reserve_y = r.reserve_y, reserve_at = r.reserve_at
FROM (SELECT DISTINCT ON (pool_address) * FROM ${WAITING_RESERVES} ORDER BY pool_address, reserve_at DESC, place DESC) r
WHERE p.pool_address = r.pool_address AND r.reserve_at >= coalesce(p.reserve_at, r.reserve_at)`;

/** Lets what is told of positions wait too: nearly every page tells a later time of whose they are. */
export const waitPositions = (client: PoolClient, rows: readonly PositionRow[]): Promise<void> =>
  copyInto(client, WAITING_POSITIONS, POSITION, rows);

/** Keeps what waits of positions. */
export async function settlePositions(client: PoolClient): Promise<void> {
  await savePositionsIn(client, WAITING_POSITIONS);
  await client.query(`TRUNCATE ${WAITING_POSITIONS}`);
}

/** Writes what waits to its tables, oldest first as facts come page by page, valued by the prices of now. */
export async function appendWaiting(client: PoolClient): Promise<void> {
  await client.query(insertEvents(WAITING_EVENTS, 'many'));
  await client.query(insertSwaps(WAITING_SWAPS, 'many'));
  await client.query(swapsSeen(WAITING_SWAPS));
  await client.query(APPLY_RESERVES);
}
