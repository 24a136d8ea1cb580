import type { PoolClient } from 'pg';
import { notingEvents, notingSwaps } from '../rollups/changes';
import { recountOrders } from '../rollups/orders';
import { priceOnceAt, pricesAt } from '../rollups/price-at';
import { appendNew, type Columns } from './insert';
import type { DcaRow, PositionEventRow, RewardRow } from './rows';
import { EVENT, STAGED_EVENTS, STAGED_SWAPS, SWAP } from './stage';

/** How many facts were new, and how many known. */
export interface Appended {
  inserted: number;
  duplicates: number;
}

/** Smallest units to units of the token. Multiplied, not divided: nothing is rounded. */
const units = (raw: string, decimals: string): string => `${raw} * ('1e-' || ${decimals})::numeric`;

/** `$1` and `$2` are the tokens' amounts, `x` and `y` their prices: null when an amount that is not zero has no price. */
export const worth = (amountX: string, amountY: string): string =>
  `CASE WHEN (${amountX} = 0 OR x.usd IS NOT NULL) AND (${amountY} = 0 OR y.usd IS NOT NULL) THEN ${amountX} * coalesce(x.usd, 0) + ${amountY} * coalesce(y.usd, 0) END`;

/** How many rows a source holds: a page's are looked up one by one. */
type Rows = 'page' | 'many';

const tokensOf = (row: string, rows: Rows): string => {
  const price = rows === 'many' ? pricesAt : priceOnceAt;
  return `
LEFT JOIN lp_pool p ON p.pool_address = ${row}.pool_address
LEFT JOIN lp_token a ON a.mint = p.mint_x
LEFT JOIN lp_token b ON b.mint = p.mint_y
${price('p.mint_x', `${row}."timestamp"`, 'x')} ${price('p.mint_y', `${row}."timestamp"`, 'y')}`;
};

/** The key of lp_event. */
export const KEY = ['pool_address', 'timestamp', 'tx_id', 'position_address', 'kind', 'n'] as const;
/** Quoted column names, with an alias before each where one is given. */
export const names = (list: readonly string[], alias?: string): string =>
  list.map((name) => (alias ? `${alias}."${name}"` : `"${name}"`)).join(', ');
const kept = EVENT.map(([name]) => name).filter((name) => !['owner', 'amount_x', 'amount_y', 'stated_usd'].includes(name));

/** Statement that appends the events of a source: of a dlmm position's owner, as he was told last, else whom the event names, else who signed; stated USD before ours. */
export const insertEvents = (source: string, rows: Rows): string => `
INSERT INTO lp_event AS e (${names(kept)}, owner, amount_x, amount_y, usd, usd_stated)
SELECT ${names(kept, 'u')}, coalesce(o.owner, u.owner, u.signer), m.x, m.y, coalesce(u.stated_usd, ${worth('m.x', 'm.y')}), u.stated_usd IS NOT NULL
FROM ${source} u
LEFT JOIN lp_position o ON o.position_address = u.position_address AND o.pool_type = 'dlmm'
${tokensOf('u', rows)}
CROSS JOIN LATERAL (SELECT coalesce(u.amount_x, ${units('u.raw_x', 'a.decimals')}) AS x, coalesce(u.amount_y, ${units('u.raw_y', 'b.decimals')}) AS y) m
ON CONFLICT DO NOTHING`;
const INSERT_EVENTS = notingEvents(insertEvents(STAGED_EVENTS, 'page'));

/** What another feed knows of an event that is on record already: stated USD wins, the rest fills gaps. */
export const COMPLETE_EVENTS = notingEvents(`
UPDATE lp_event e SET
  amount_x = coalesce(e.amount_x, u.amount_x), amount_y = coalesce(e.amount_y, u.amount_y), raw_x = coalesce(e.raw_x, u.raw_x), raw_y = coalesce(e.raw_y, u.raw_y),
  stated_usd_x = coalesce(e.stated_usd_x, u.stated_usd_x), stated_usd_y = coalesce(e.stated_usd_y, u.stated_usd_y),
  usd = CASE WHEN u.stated_usd IS NOT NULL AND NOT e.usd_stated THEN u.stated_usd ELSE e.usd END, usd_stated = e.usd_stated OR u.stated_usd IS NOT NULL,
  owner = coalesce(e.owner, u.owner), signer = coalesce(e.signer, u.signer), bin_id = coalesce(e.bin_id, u.bin_id),
  liquidity_delta = coalesce(e.liquidity_delta, u.liquidity_delta), rebalance = e.rebalance OR u.rebalance, slot = coalesce(e.slot, u.slot),
  outer_ix = coalesce(e.outer_ix, u.outer_ix), inner_ix = coalesce(e.inner_ix, u.inner_ix), fee_payer = coalesce(e.fee_payer, u.fee_payer),
  programs = coalesce(e.programs, u.programs)
FROM ${STAGED_EVENTS} u
WHERE (${names(KEY, 'e')}) = (${names(KEY, 'u')})
  AND ((NOT e.usd_stated AND u.stated_usd IS NOT NULL) OR (e.raw_x IS NULL AND u.raw_x IS NOT NULL) OR (e.fee_payer IS NULL AND u.fee_payer IS NOT NULL)
    OR (e.owner IS NULL AND u.owner IS NOT NULL))`);

/** Appends the staged deposits, withdrawals and claims. */
export async function appendEvents(client: PoolClient, staged: number): Promise<Appended> {
  const { rows } = await client.query<{ n: number }>({ name: 'lp_append_events', text: INSERT_EVENTS });
  const inserted = rows[0]?.n ?? 0;
  if (inserted < staged) await client.query({ name: 'lp_complete_events', text: COMPLETE_EVENTS });
  return { inserted, duplicates: staged - inserted };
}

/** What was paid in, and what of the fee is the providers'. `m` holds the amounts, `s` the swap. */
export const SWAP_USD = 'm.amount_in * CASE WHEN s.x_to_y THEN x.usd ELSE y.usd END';
export const SWAP_FEE_USD = `s.raw_fee * CASE WHEN s.fee_on_x THEN ('1e-' || a.decimals)::numeric * x.usd WHEN NOT s.fee_on_x THEN ('1e-' || b.decimals)::numeric * y.usd END`;

/** Statement that appends the swaps of a source, valued. */
export const insertSwaps = (source: string, rows: Rows): string => `
INSERT INTO lp_swap AS s (${names(SWAP.map(([name]) => name))}, amount_in, amount_out, usd, fee_usd)
SELECT ${names(
  SWAP.map(([name]) => name),
  's',
)}, m.amount_in, m.amount_out, ${SWAP_USD}, ${SWAP_FEE_USD}
FROM ${source} s ${tokensOf('s', rows)}
CROSS JOIN LATERAL (SELECT
  ${units('s.raw_in', 'CASE WHEN s.x_to_y THEN a.decimals ELSE b.decimals END')} AS amount_in,
  ${units('s.raw_out', 'CASE WHEN s.x_to_y THEN b.decimals ELSE a.decimals END')} AS amount_out) m
ON CONFLICT DO NOTHING`;
const INSERT_SWAPS = notingSwaps(insertSwaps(STAGED_SWAPS, 'page'));
/** Statement that notes of which pools swaps were seen. */
export const swapsSeen = (source: string): string =>
  `UPDATE lp_pool p SET swaps_seen = true FROM (SELECT DISTINCT pool_address FROM ${source}) s WHERE p.pool_address = s.pool_address AND NOT p.swaps_seen`;

/** Appends the staged swaps and notes that their pools' chain stream is seen. */
export async function appendSwaps(client: PoolClient, staged: number): Promise<Appended> {
  const { rows } = await client.query<{ n: number }>({ name: 'lp_append_swaps', text: INSERT_SWAPS });
  const inserted = rows[0]?.n ?? 0;
  await client.query({ name: 'lp_swaps_seen', text: swapsSeen(STAGED_SWAPS) });
  return { inserted, duplicates: staged - inserted };
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

async function append<Row>(client: PoolClient, table: string, columns: Columns<Row>, rows: readonly Row[]): Promise<Appended> {
  const inserted = await appendNew(client, table, columns, rows);
  return { inserted, duplicates: rows.length - inserted };
}

export const saveRewards = (client: PoolClient, rows: readonly RewardRow[]): Promise<Appended> => append(client, 'lp_reward', REWARD, rows);
export const savePositionEvents = (client: PoolClient, rows: readonly PositionEventRow[]): Promise<Appended> =>
  append(client, 'lp_position_event', POSITION_EVENT, rows);
/** Appends events of recurring orders, and counts the orders anew unless that comes later. */
export async function saveDca(client: PoolClient, rows: readonly DcaRow[], later: boolean): Promise<Appended> {
  const appended = await append(client, 'dca_event', DCA, rows);
  if (appended.inserted > 0 && !later)
    await recountOrders(
      client,
      rows.map((row) => row.order_address),
    );
  return appended;
}
