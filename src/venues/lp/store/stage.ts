import type { PoolClient } from 'pg';
import { copyInto } from './copy';
import type { Columns } from './insert';
import type { EventRow, SwapRow } from './rows';

/** Deposits, withdrawals, claims and swaps of a page wait here until prices of their minutes are known. */
export const STAGED_EVENTS = 'pg_temp.lp_staged_event';
export const STAGED_SWAPS = 'pg_temp.lp_staged_swap';

export const EVENT: Columns<EventRow> = [
  ['pool_address', 'text'],
  ['timestamp', 'timestamptz'],
  ['tx_id', 'text'],
  ['position_address', 'text'],
  ['kind', 'text'],
  ['n', 'smallint'],
  ['pool_type', 'text'],
  ['owner', 'text'],
  ['signer', 'text'],
  ['raw_x', 'numeric'],
  ['raw_y', 'numeric'],
  ['amount_x', 'numeric'],
  ['amount_y', 'numeric'],
  ['stated_usd_x', 'numeric'],
  ['stated_usd_y', 'numeric'],
  ['stated_usd', 'numeric'],
  ['bin_id', 'integer'],
  ['liquidity_delta', 'numeric'],
  ['rebalance', 'boolean'],
  ['slot', 'bigint'],
  ['outer_ix', 'smallint'],
  ['inner_ix', 'smallint'],
  ['fee_payer', 'text'],
  ['programs', 'text[]'],
];

export const SWAP: Columns<SwapRow> = [
  ['pool_address', 'text'],
  ['timestamp', 'timestamptz'],
  ['tx_id', 'text'],
  ['outer_ix', 'smallint'],
  ['inner_ix', 'smallint'],
  ['pool_type', 'text'],
  ['trader', 'text'],
  ['x_to_y', 'boolean'],
  ['raw_in', 'numeric'],
  ['raw_out', 'numeric'],
  ['raw_fee', 'numeric'],
  ['fee_on_x', 'boolean'],
  ['bin_id', 'integer'],
  ['sqrt_price', 'numeric'],
  ['slot', 'bigint'],
  ['fee_payer', 'text'],
  ['programs', 'text[]'],
];

/** The columns of a temporary table. */
export const definitions = <Row>(columns: Columns<Row>): string => columns.map(([name, type]) => `"${name}" ${type}`).join(', ');

const ROOMS = `
CREATE TEMP TABLE lp_staged_event (${definitions(EVENT)}) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE lp_staged_swap (${definitions(SWAP)}) ON COMMIT DELETE ROWS`;

const STATE = `SELECT to_regclass('${STAGED_SWAPS}') IS NOT NULL AS open,
  pg_relation_size(to_regclass('${STAGED_EVENTS}')) > 0 AS events, pg_relation_size(to_regclass('${STAGED_SWAPS}')) > 0 AS swaps`;

/** Makes the waiting rooms of this connection, or empties those that an earlier page of the transaction used. */
export async function openStage(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ open: boolean; events: boolean; swaps: boolean }>({ name: 'lp_stage_state', text: STATE });
  const [state] = rows;
  if (state?.open !== true) return void (await client.query(ROOMS));
  const used = [...(state.events ? [STAGED_EVENTS] : []), ...(state.swaps ? [STAGED_SWAPS] : [])];
  if (used.length > 0) await client.query(`TRUNCATE ${used.join(', ')}`);
}

export const stageEvents = (client: PoolClient, rows: readonly EventRow[]): Promise<void> => copyInto(client, STAGED_EVENTS, EVENT, rows);
export const stageSwaps = (client: PoolClient, rows: readonly SwapRow[]): Promise<void> => copyInto(client, STAGED_SWAPS, SWAP, rows);
