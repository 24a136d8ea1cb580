import type { Sql, Statement } from '../../../db/sql';
import { CURSOR_FORMS, timedPosition } from '../../../lib/cursor';
import { type PageRequest, type PagedList, byParent } from '../../../lib/connection';
import type { EventKind } from '../store/rows';
import type { PoolEventRow, PoolSwapRow } from './pools-events';

/** What events hang on: a pool, a provider or a position, by its address. */
export type EventParent = 'pool_address' | 'owner' | 'position_address';

/** Which of a parent's events; null: deposits, withdrawals and claims. */
export interface LinkedEventsFilter {
  kind: EventKind | null;
}

const page = (parent: EventParent): Statement => ({
  name: `lp_linked_events_${parent}`,
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[]) AS wanted(parent) CROSS JOIN LATERAL (
  SELECT pool_address, "timestamp", tx_id, position_address, kind, n, pool_type, owner, amount_x, amount_y, usd FROM lp_event AS event
  WHERE event.${parent} = wanted.parent AND event."timestamp" < $2::timestamptz AND ($3::text IS NULL OR kind = $3)
    AND ($4::timestamptz IS NULL OR ("timestamp", pool_address, tx_id, position_address, kind, n) < ($4, $5::text, $6::text, $7::text, $8::text, $9::smallint))
  ORDER BY "timestamp" DESC, pool_address DESC, tx_id DESC, position_address DESC, kind DESC, n DESC LIMIT $10) AS found
ORDER BY wanted.parent, found."timestamp" DESC, found.pool_address DESC, found.tx_id DESC, found.position_address DESC, found.kind DESC, found.n DESC`,
});

const PAGES = { pool_address: page('pool_address'), owner: page('owner'), position_address: page('position_address') };

const { instant, base58, index, word } = CURSOR_FORMS;

/** Deposits, withdrawals and claims by what they hang on, newest first. */
export const linkedEvents = (sql: Sql, of: EventParent): PagedList<PoolEventRow, LinkedEventsFilter> => ({
  name: `lp events by ${of}`,
  async list(parents, { filter, to, after, limit }: PageRequest<LinkedEventsFilter>) {
    const position = timedPosition(after, 6);
    return byParent(await sql.query<PoolEventRow & { parent: string }>(PAGES[of], [parents, to, filter.kind, ...position, limit]));
  },
  position: (row) => [row.timestamp.getTime(), row.pool_address, row.tx_id, row.position_address, row.kind, row.n],
  forms: [instant, base58, base58, base58, word, index],
});

const SWAPS: Statement = {
  name: 'lp_linked_swaps',
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[]) AS wanted(parent) CROSS JOIN LATERAL (
  SELECT pool_address, "timestamp", tx_id, outer_ix, inner_ix, pool_type, trader AS owner, usd, fee_usd,
    CASE WHEN x_to_y THEN amount_in ELSE -amount_out END AS amount_x, CASE WHEN x_to_y THEN -amount_out ELSE amount_in END AS amount_y
  FROM lp_swap AS swap WHERE swap.pool_address = wanted.parent AND swap."timestamp" < $2::timestamptz
    AND ($3::timestamptz IS NULL OR ("timestamp", tx_id, outer_ix, inner_ix) < ($3, $4::text, $5::smallint, $6::smallint))
  ORDER BY "timestamp" DESC, tx_id DESC, outer_ix DESC, inner_ix DESC LIMIT $7) AS found
ORDER BY wanted.parent, found."timestamp" DESC, found.tx_id DESC, found.outer_ix DESC, found.inner_ix DESC`,
};

/** Swaps of pools whose chain stream is read, newest first. */
export const poolSwaps = (sql: Sql): PagedList<PoolSwapRow, null> => ({
  name: 'lp swaps of pool',
  async list(parents, { to, after, limit }: PageRequest<null>) {
    const position = timedPosition(after, 4);
    return byParent(await sql.query<PoolSwapRow & { parent: string }>(SWAPS, [parents, to, ...position, limit]));
  },
  position: (row) => [row.timestamp.getTime(), row.tx_id, row.outer_ix, row.inner_ix],
  forms: [instant, base58, index, index],
});
