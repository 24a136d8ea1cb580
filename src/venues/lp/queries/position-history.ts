import type { Sql, Statement } from '../../../db/sql';
import { earliestOf, latestOf } from '../../../lib/time';
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

/** A row of lp_position_sum, as of then. */
export interface PositionSumRow extends PositionRow {
  deposits: number;
  first_at: Date;
}

export interface ValuedPositionRow extends PositionSumRow {
  pnl_usd: string | null;
  hodl_usd: string | null;
  kept_usd: string | null;
}

const LAST_IN_USE_FIRST = 'ORDER BY last_at DESC, pool_address COLLATE "C", position_address COLLATE "C"';

const POSITIONS: Record<'position' | 'owner', Statement> = {
  position: {
    name: 'lp_position_by_address',
    text: `SELECT * FROM (${positionsAsOf('p.position_address = $2 AND $3::text IS NULL', '$1::timestamptz')}) s ${LAST_IN_USE_FIRST}`,
    keyed: true,
  },
  owner: {
    name: 'lp_positions_of_owner_in_pool',
    text: `SELECT * FROM (${positionsAsOf('p.pool_address = $3', '$1::timestamptz', (column) => `${column} = $2`)}) s ${LAST_IN_USE_FIRST}`,
    keyed: true,
  },
};

/** The positions of a key as of `now`, the last in use first: an address may have been one in several pools. */
export function listPositions(sql: Sql, key: PositionKey, now: Date): Promise<PositionSumRow[]> {
  return 'position_address' in key
    ? sql.query<PositionSumRow>(POSITIONS.position, [now, key.position_address, null])
    : sql.query<PositionSumRow>(POSITIONS.owner, [now, key.owner, key.pool_address]);
}

const VALUED: Statement = {
  name: 'lp_positions_valued',
  keyed: true,
  text: `SELECT * FROM (${valuedPositions('jsonb_populate_recordset(NULL::lp_position_sum, $1::jsonb)', { from: '$2', to: '$3' })}) v ${LAST_IN_USE_FIRST}`,
};

/** The same positions with their results, in the same order: prices are looked for about their closes alone. */
export function listResults(sql: Sql, positions: readonly PositionSumRow[]): Promise<ValuedPositionRow[]> {
  const closes = positions.flatMap(({ closed_at }) => closed_at ?? []);
  const between = closes.length === 0 ? [null, null] : [earliestOf(closes), latestOf(closes)];
  return sql.query<ValuedPositionRow>(VALUED, [JSON.stringify(positions), ...between]);
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
  FROM lp_event WHERE pool_address = $1 AND position_address = ANY($2) AND "timestamp" BETWEEN $4 AND $5
) e ORDER BY ${OLDEST_FIRST} LIMIT $3`,
};

/** Events of positions of one pool, one at least, as far as these tell of them, oldest first. */
export function listPositionEvents(sql: Sql, positions: readonly PositionSumRow[], limit: number): Promise<HistoryEventRow[]> {
  const addresses = positions.map(({ position_address }) => position_address);
  const life = [earliestOf(positions.map(({ first_at }) => first_at)), latestOf(positions.map(({ last_at }) => last_at))];
  return sql.query<HistoryEventRow>(EVENTS, [positions[0]?.pool_address, addresses, limit, ...life]);
}
