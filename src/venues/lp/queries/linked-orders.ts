import { CURSOR_FORMS, timedPosition } from '../../../lib/cursor';
import type { Sql, Statement } from '../../../db/sql';
import { type PageRequest, type PagedList, byParent } from '../../../lib/connection';
import { ordersAsOf } from '../rollups/orders';

/** A recurring order; amounts in smallest units of the input token, decimal text. */
export interface OrderRow {
  order_address: string;
  owner: string | null;
  input_mint: string;
  output_mint: string;
  in_amount_per_cycle: string;
  /** Seconds. */
  cycle_frequency: string;
  remaining: string;
  last_cycle_at: Date;
  closed_at: Date | null;
}

/** What orders hang on: who placed them, or the token they sell or buy. */
export type OrderParent = 'owner' | 'input_mint' | 'output_mint';

const COLUMNS = 'order_address, owner, input_mint, output_mint, in_amount_per_cycle, cycle_frequency, remaining, last_cycle_at, closed_at';

const page = (by: OrderParent): Statement => ({
  name: `lp_linked_orders_${by}`,
  text: `WITH placed AS (
  SELECT o.*, row_number() OVER (PARTITION BY ${by} ORDER BY last_cycle_at DESC, order_address DESC) AS place FROM (${ordersAsOf('$2::timestamptz')}) o
  WHERE ${by} = ANY ($1::text[]) AND (NOT $3::boolean OR ((closed_at IS NULL OR closed_at >= $2) AND remaining > 0))
    AND ($4::timestamptz IS NULL OR (last_cycle_at, order_address) < ($4, $5::text))
)
SELECT ${by} AS parent, ${COLUMNS} FROM placed WHERE place <= $6 ORDER BY ${by}, place`,
});

const PAGES = { owner: page('owner'), input_mint: page('input_mint'), output_mint: page('output_mint') };

/** Recurring orders, the newest cycle first. */
export const linkedOrders = (sql: Sql, by: OrderParent): PagedList<OrderRow, { open_only: boolean }> => ({
  name: `lp orders by ${by}`,
  async list(parents, { filter, to, after, limit }: PageRequest<{ open_only: boolean }>) {
    const position = timedPosition(after, 2);
    return byParent(await sql.query<OrderRow & { parent: string }>(PAGES[by], [parents, to, filter.open_only, ...position, limit]));
  },
  position: ({ last_cycle_at, order_address }) => [last_cycle_at.getTime(), order_address],
  forms: [CURSOR_FORMS.instant, CURSOR_FORMS.base58],
});

const BY_ADDRESS: Statement = {
  name: 'lp_orders_by_address',
  text: `SELECT ${COLUMNS} FROM (${ordersAsOf('$1::timestamptz')}) o WHERE order_address = ANY ($2::text[])`,
};

/** Orders by their addresses, as of `now`; those that were opened. */
export async function listOrdersByAddress(sql: Sql, addresses: readonly string[], now: Date): Promise<Map<string, OrderRow>> {
  const rows = await sql.query<OrderRow>(BY_ADDRESS, [now, addresses]);
  return new Map(rows.map((row) => [row.order_address, row]));
}

const POOLS: Statement = {
  name: 'lp_linked_pools',
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[]) AS wanted(parent) CROSS JOIN LATERAL (
  SELECT * FROM (SELECT pool_address, coalesce((extract(epoch FROM created_at) * 1000)::bigint, 0) AS made FROM lp_pool
    WHERE (mint_x = wanted.parent OR mint_y = wanted.parent) AND (created_at IS NULL OR created_at <= $2::timestamptz)) pool
  WHERE $3::bigint IS NULL OR (made, pool_address) < ($3::bigint, $4::text)
  ORDER BY made DESC, pool_address DESC LIMIT $5) AS found
ORDER BY wanted.parent, found.made DESC, found.pool_address DESC`,
};

/** A pool by the time it was made, milliseconds since 1970; 0 where nothing tells it. */
export interface PoolPlace {
  pool_address: string;
  made: string;
}

/** Pools of a token, the newest first. */
export const tokenPools = (sql: Sql): PagedList<PoolPlace, null> => ({
  name: 'lp pools of token',
  list: async (parents, { to, after, limit }) =>
    byParent(await sql.query<PoolPlace & { parent: string }>(POOLS, [parents, to, after?.[0], after?.[1], limit])),
  position: ({ made, pool_address }) => [made, pool_address],
  forms: [CURSOR_FORMS.instant, CURSOR_FORMS.base58],
});
