import type { PoolClient } from 'pg';
import { appendNew, batchesOf, columnArrays, type Columns, ensureMonths, selectOf, unnestOf } from './insert';
import type { DcaRow, EventRow, PositionEventRow, RewardRow, SwapRow } from './rows';

export interface Appended {
  inserted: number;
  duplicates: number;
}

const EVENT: Columns<EventRow> = [
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

/** Amounts in units of the tokens where the pool's tokens are known. Multiplied, not divided: nothing is rounded. */
const INSERT_EVENTS = `
INSERT INTO lp_event (pool_address, "timestamp", tx_id, position_address, kind, n, pool_type, owner, signer, raw_x, raw_y, amount_x, amount_y,
  stated_usd_x, stated_usd_y, usd, usd_stated, bin_id, liquidity_delta, rebalance, slot, outer_ix, inner_ix, fee_payer, programs)
SELECT u.pool_address, u."timestamp", u.tx_id, u.position_address, u.kind, u.n, u.pool_type, coalesce(u.owner, o.owner, u.signer), u.signer, u.raw_x, u.raw_y,
  coalesce(u.amount_x, u.raw_x * ('1e-' || x.decimals)::numeric), coalesce(u.amount_y, u.raw_y * ('1e-' || y.decimals)::numeric),
  u.stated_usd_x, u.stated_usd_y, u.stated_usd, u.stated_usd IS NOT NULL, u.bin_id, u.liquidity_delta, u.rebalance, u.slot, u.outer_ix, u.inner_ix, u.fee_payer,
  string_to_array(nullif(u.programs, ''), ',')
FROM ${unnestOf(EVENT, 'u')}
LEFT JOIN lp_position o ON o.position_address = u.position_address AND o.pool_type = 'dlmm'
LEFT JOIN lp_pool p ON p.pool_address = u.pool_address
LEFT JOIN lp_token x ON x.mint = p.mint_x
LEFT JOIN lp_token y ON y.mint = p.mint_y
ON CONFLICT DO NOTHING`;

/** What another feed knows of an event that is on record already: stated USD wins, the rest fills gaps. */
const COMPLETE_EVENTS = `
UPDATE lp_event e SET
  amount_x = coalesce(e.amount_x, u.amount_x), amount_y = coalesce(e.amount_y, u.amount_y), raw_x = coalesce(e.raw_x, u.raw_x), raw_y = coalesce(e.raw_y, u.raw_y),
  stated_usd_x = coalesce(e.stated_usd_x, u.stated_usd_x), stated_usd_y = coalesce(e.stated_usd_y, u.stated_usd_y),
  usd = CASE WHEN u.stated_usd IS NOT NULL AND NOT e.usd_stated THEN u.stated_usd ELSE e.usd END, usd_stated = e.usd_stated OR u.stated_usd IS NOT NULL,
  owner = coalesce(u.owner, e.owner), signer = coalesce(e.signer, u.signer), bin_id = coalesce(e.bin_id, u.bin_id),
  liquidity_delta = coalesce(e.liquidity_delta, u.liquidity_delta), rebalance = e.rebalance OR u.rebalance, slot = coalesce(e.slot, u.slot),
  outer_ix = coalesce(e.outer_ix, u.outer_ix), inner_ix = coalesce(e.inner_ix, u.inner_ix), fee_payer = coalesce(e.fee_payer, u.fee_payer),
  programs = coalesce(e.programs, string_to_array(nullif(u.programs, ''), ','))
FROM ${unnestOf(EVENT, 'u')}
WHERE (e.pool_address, e."timestamp", e.tx_id, e.position_address, e.kind, e.n) = (u.pool_address, u."timestamp", u.tx_id, u.position_address, u.kind, u.n)
  AND ((NOT e.usd_stated AND u.stated_usd IS NOT NULL) OR (e.raw_x IS NULL AND u.raw_x IS NOT NULL) OR (e.fee_payer IS NULL AND u.fee_payer IS NOT NULL)
    OR (e.owner IS NULL AND u.owner IS NOT NULL))`;

/** Appends deposits, withdrawals and claims. */
export async function saveEvents(client: PoolClient, rows: readonly EventRow[]): Promise<Appended> {
  const distinct = distinctEvents(rows);
  await ensureMonths(
    client,
    'lp_event',
    distinct.map((row) => row.timestamp),
  );
  let inserted = 0;
  for (const batch of batchesOf(distinct)) {
    const values = columnArrays(EVENT, batch);
    const { rowCount } = await client.query({ name: 'lp_insert_events', text: INSERT_EVENTS, values });
    inserted += rowCount ?? 0;
    if (rowCount !== batch.length) await client.query({ name: 'lp_complete_events', text: COMPLETE_EVENTS, values });
  }
  return { inserted, duplicates: rows.length - inserted };
}

function distinctEvents(rows: readonly EventRow[]): EventRow[] {
  const distinct = new Map<string, EventRow>();
  for (const row of rows) {
    const key = `${row.pool_address}/${row.timestamp.getTime()}/${row.tx_id}/${row.position_address}/${row.kind}/${row.n}`;
    if (!distinct.has(key)) distinct.set(key, row);
  }
  return [...distinct.values()];
}

const SWAP: Columns<SwapRow> = [
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

const INSERT_SWAPS = `
INSERT INTO lp_swap (pool_address, "timestamp", tx_id, outer_ix, inner_ix, pool_type, trader, x_to_y, raw_in, raw_out, raw_fee, fee_on_x, bin_id, sqrt_price, slot,
  fee_payer, programs, amount_in, amount_out)
SELECT ${selectOf(SWAP, 'u')},
  u.raw_in * ('1e-' || CASE WHEN u.x_to_y THEN x.decimals ELSE y.decimals END)::numeric,
  u.raw_out * ('1e-' || CASE WHEN u.x_to_y THEN y.decimals ELSE x.decimals END)::numeric
FROM ${unnestOf(SWAP, 'u')}
LEFT JOIN lp_pool p ON p.pool_address = u.pool_address
LEFT JOIN lp_token x ON x.mint = p.mint_x
LEFT JOIN lp_token y ON y.mint = p.mint_y
ON CONFLICT DO NOTHING`;

/** Appends swaps and notes that their pools' chain stream is seen. */
export async function saveSwaps(client: PoolClient, rows: readonly SwapRow[]): Promise<Appended> {
  await ensureMonths(
    client,
    'lp_swap',
    rows.map((row) => row.timestamp),
  );
  let inserted = 0;
  for (const batch of batchesOf(rows)) {
    const { rowCount } = await client.query({ name: 'lp_insert_swaps', text: INSERT_SWAPS, values: columnArrays(SWAP, batch) });
    inserted += rowCount ?? 0;
  }
  const pools = [...new Set(rows.map((row) => row.pool_address))];
  await client.query('UPDATE lp_pool SET swaps_seen = true WHERE pool_address = ANY($1) AND NOT swaps_seen', [pools]);
  return { inserted, duplicates: rows.length - inserted };
}

const REWARD: Columns<RewardRow> = [
  ['pool_address', 'text'],
  ['timestamp', 'timestamptz'],
  ['tx_id', 'text'],
  ['outer_ix', 'smallint'],
  ['inner_ix', 'smallint'],
  ['pool_type', 'text'],
  ['position_address', 'text'],
  ['owner', 'text'],
  ['reward_index', 'smallint'],
  ['mint', 'text'],
  ['raw_amount', 'numeric'],
];

const POSITION_EVENT: Columns<PositionEventRow> = [
  ['position_address', 'text'],
  ['timestamp', 'timestamptz'],
  ['tx_id', 'text'],
  ['kind', 'text'],
  ['pool_address', 'text'],
  ['pool_type', 'text'],
  ['owner', 'text'],
  ['nft_mint', 'text'],
];

const DCA: Columns<DcaRow> = [
  ['order_address', 'text'],
  ['timestamp', 'timestamptz'],
  ['tx_id', 'text'],
  ['outer_ix', 'smallint'],
  ['inner_ix', 'smallint'],
  ['kind', 'text'],
  ['owner', 'text'],
  ['input_mint', 'text'],
  ['output_mint', 'text'],
  ['in_amount', 'numeric'],
  ['out_amount', 'numeric'],
  ['in_deposited', 'numeric'],
  ['in_amount_per_cycle', 'numeric'],
  ['unfilled_amount', 'numeric'],
  ['cycle_frequency', 'bigint'],
  ['opened_at', 'timestamptz'],
  ['fee_mint', 'text'],
  ['fee', 'numeric'],
  ['by_user', 'boolean'],
];

async function saveTimed<Row extends { timestamp: Date }>(
  client: PoolClient,
  table: string,
  columns: Columns<Row>,
  rows: readonly Row[],
): Promise<Appended> {
  await ensureMonths(
    client,
    table,
    rows.map((row) => row.timestamp),
  );
  const inserted = await appendNew(client, table, columns, rows);
  return { inserted, duplicates: rows.length - inserted };
}

export const saveRewards = (client: PoolClient, rows: readonly RewardRow[]): Promise<Appended> =>
  saveTimed(client, 'lp_reward', REWARD, rows);
export const savePositionEvents = (client: PoolClient, rows: readonly PositionEventRow[]): Promise<Appended> =>
  saveTimed(client, 'lp_position_event', POSITION_EVENT, rows);
export const saveDca = (client: PoolClient, rows: readonly DcaRow[]): Promise<Appended> => saveTimed(client, 'dca_event', DCA, rows);
