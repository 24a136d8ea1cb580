import { afterwards } from '../../../db/segments';

/** Whether the account of a row `p` was filled in [$1, $4), its newest fill being no earlier than $1; in the row's coin, where it has one. */
const wasActive = (table: 'perp_trader' | 'perp_position'): string =>
  `p.last_at >= $1::timestamptz AND (p.last_at < $4::timestamptz ${afterwards(
    '$4',
    `OR EXISTS (
    SELECT 1 FROM perp_fill f WHERE f.trader = p.trader AND f.timestamp >= $1 AND f.timestamp < $4${table === 'perp_position' ? ' AND f.coin = p.coin' : ''})`,
  )})`;

/**
 * How many accounts were filled in the window [$1, $4) of a statement, as a query: of all, or `coin` and `count` for each coin. When each
 * was last tells it; facts are only looked at for accounts that went on after the window.
 */
export const activeIn = (table: 'perp_trader' | 'perp_position'): string =>
  table === 'perp_trader'
    ? `SELECT count(*)::int FROM perp_trader p WHERE ${afterwards('$4', 'p.first_at < $4 AND ')}${wasActive(table)}`
    : `SELECT p.coin, count(*)::int AS count FROM perp_position p WHERE ${wasActive(table)} GROUP BY p.coin`;
