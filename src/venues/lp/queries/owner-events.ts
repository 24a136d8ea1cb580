import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import type { PoolEventRow } from './pools-events';

const EVENTS: Statement = {
  name: 'lp_owner_events',
  keyed: true,
  text: `
SELECT pool_address, "timestamp", tx_id, position_address, kind, n, pool_type, owner, amount_x, amount_y, usd FROM lp_event
WHERE owner = $1 AND "timestamp" >= $2 AND "timestamp" < $3 AND ($4::text IS NULL OR pool_type = $4)
ORDER BY "timestamp" DESC, tx_id DESC, position_address DESC, kind DESC, n DESC LIMIT $5`,
};

/** Newest events of a provider in a window. */
export function listOwnerEvents(
  sql: Sql,
  owner: string,
  window: Window,
  pool_type: PoolType | null,
  limit: number,
): Promise<PoolEventRow[]> {
  return sql.query<PoolEventRow>(EVENTS, [owner, window.from, window.to, pool_type, limit]);
}
