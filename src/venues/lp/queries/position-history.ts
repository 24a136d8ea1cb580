import type { Sql, Statement } from '../../../db/sql';
import type { PoolEventRow } from './pools-events';
import { positionsAsOf, type PositionRow, valuedPositions } from './positions';

/** A position, or all positions of an owner in a pool. */
export type PositionKey = { position_address: string } | { owner: string; pool_address: string };

/** Numeric columns are decimal text. */
export interface HistoryEventRow extends PoolEventRow {
  /** Deposits minus withdrawals up to and with this event. */
  cumulative_net_usd: string;
  events: number;
}

export interface ValuedPositionRow extends PositionRow {
  deposits: number;
  pnl_usd: string | null;
  hodl_usd: string | null;
  kept_usd: string | null;
}

const POSITIONS: Record<'position' | 'owner', Statement> = {
  position: {
    name: 'lp_position_by_address',
    text: valued(positionsAsOf('p.position_address = $2 AND $3::text IS NULL', '$1::timestamptz')),
    keyed: true,
  },
  owner: {
    name: 'lp_positions_of_owner_in_pool',
    text: valued(positionsAsOf('p.pool_address = $3', '$1::timestamptz', (column) => `${column} = $2`)),
    keyed: true,
  },
};

function valued(positions: string): string {
  return `SELECT * FROM (${valuedPositions(`(${positions})`)}) v ORDER BY last_at DESC, pool_address, position_address`;
}

/** The positions of a key as of `now`, with their results, the last in use first: an address may have been one in several pools. */
export function listPositions(sql: Sql, key: PositionKey, now: Date): Promise<ValuedPositionRow[]> {
  return 'position_address' in key
    ? sql.query<ValuedPositionRow>(POSITIONS.position, [now, key.position_address, null])
    : sql.query<ValuedPositionRow>(POSITIONS.owner, [now, key.owner, key.pool_address]);
}

/** The order of the chain. Parts of a rebalance have one place: what it takes out comes before what it puts in again, so that no total holds both. */
const OLDEST_FIRST = '"timestamp", slot, tx_id, outer_ix, inner_ix, kind DESC, position_address, n';

const EVENTS: Statement = {
  name: 'lp_position_events',
  text: `
SELECT * FROM (
  SELECT pool_address, "timestamp", slot, tx_id, outer_ix, inner_ix, position_address, kind, n, pool_type, owner, amount_x, amount_y, usd,
    sum(CASE kind WHEN 'deposit' THEN coalesce(usd, 0) WHEN 'withdraw' THEN -coalesce(usd, 0) ELSE 0 END)
      OVER (ORDER BY ${OLDEST_FIRST}) AS cumulative_net_usd, count(*) OVER ()::int AS events
  FROM lp_event WHERE pool_address = $4 AND position_address = ANY($1) AND "timestamp" < $2
) e ORDER BY ${OLDEST_FIRST} LIMIT $3`,
};

/** Events of positions of one pool before `now`, oldest first. */
export function listPositionEvents(sql: Sql, positions: readonly PositionRow[], now: Date, limit: number): Promise<HistoryEventRow[]> {
  const addresses = positions.map(({ position_address }) => position_address);
  return sql.query<HistoryEventRow>(EVENTS, [addresses, now, limit, positions[0]?.pool_address ?? null]);
}
