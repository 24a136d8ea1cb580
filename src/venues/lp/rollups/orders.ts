import type { PoolClient } from 'pg';
import { afterwards } from '../../../db/segments';

const ORDER_COLUMNS =
  'order_address, owner, input_mint, output_mint, in_amount_per_cycle, cycle_frequency, remaining, last_cycle_at, closed_at, changed_at';

const sumOf = (kind: string): string => `coalesce(sum(d.in_amount) FILTER (WHERE d.kind = '${kind}'), 0)`;
// Of two openings in one second the place on the chain decides, whatever order they were read in.
const openedBy = (column: string): string =>
  `(array_agg(d.${column} ORDER BY d."timestamp", d.tx_id, d.outer_ix, d.inner_ix) FILTER (WHERE d.kind = 'opened'))[1]`;

/**
 * Select of orders from the events of `source`: a FROM item, and join, over `dca_event d`. Orders whose opening was not seen are left out:
 * nothing tells what they still hold. One that is opened again at the address of a closed one begins anew.
 */
const orderSums = (source: string): string => `
SELECT * FROM (
  SELECT d.order_address, ${openedBy('owner')} AS owner, ${openedBy('input_mint')} AS input_mint, ${openedBy('output_mint')} AS output_mint,
    ${openedBy('in_amount_per_cycle')} AS in_amount_per_cycle, ${openedBy('cycle_frequency')} AS cycle_frequency,
    ${openedBy('in_deposited')} + ${sumOf('deposit')} - ${sumOf('filled')} - ${sumOf('withdraw')} AS remaining,
    coalesce(max(d."timestamp") FILTER (WHERE d.kind = 'filled'), ${openedBy('opened_at')}, ${openedBy('"timestamp"')}) AS last_cycle_at,
    min(d."timestamp") FILTER (WHERE d.kind = 'closed') AS closed_at, max(d."timestamp") AS changed_at
  FROM (SELECT d.*, max(d."timestamp") FILTER (WHERE d.kind = 'opened') OVER (PARTITION BY d.order_address) AS begun FROM ${source}) d
  WHERE begun IS NULL OR d."timestamp" >= begun GROUP BY d.order_address
) o WHERE input_mint IS NOT NULL AND output_mint IS NOT NULL AND in_amount_per_cycle > 0 AND cycle_frequency > 0 AND remaining IS NOT NULL`;

/** Orders as of the instant `now` (SQL): kept ones, of which a condition may hold, and of those that changed later what the events before it say. */
export const ordersAsOf = (now: string, condition = 'true'): string => `
SELECT ${ORDER_COLUMNS} FROM dca_order WHERE changed_at < ${now} AND ${condition}
${afterwards(now, `UNION ALL SELECT * FROM (${orderSums(`(SELECT order_address FROM dca_order WHERE changed_at >= ${now}) c JOIN dca_event d ON d.order_address = c.order_address AND d."timestamp" < ${now}`)}) later WHERE ${condition}`)}`;

/** The same for orders that are open and hold something: what closed an order, or emptied it, changed it. */
export const openOrdersAsOf = (now: string): string => ordersAsOf(now, 'closed_at IS NULL AND remaining > 0');

/** Counts orders anew from their events. */
export async function recountOrders(client: PoolClient, orders: readonly string[]): Promise<void> {
  const distinct = [...new Set(orders)];
  await client.query("SELECT pg_advisory_xact_lock(hashtext('lp orders'))");
  await client.query({ name: 'lp_forget_orders', text: 'DELETE FROM dca_order WHERE order_address = ANY($1)', values: [distinct] });
  await client.query({
    name: 'lp_recount_orders',
    text: `INSERT INTO dca_order (${ORDER_COLUMNS}) ${orderSums('dca_event d WHERE d.order_address = ANY($1)')}`,
    values: [distinct],
  });
}

/** Recomputes all orders from facts. */
export async function rebuildOrders(client: PoolClient): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock(hashtext('lp orders'))");
  await client.query('DELETE FROM dca_order');
  await client.query(`INSERT INTO dca_order (${ORDER_COLUMNS}) ${orderSums('dca_event d')}`);
}
