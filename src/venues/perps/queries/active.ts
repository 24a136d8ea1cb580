import { afterwards } from '../../../db/segments';
import { edgeOf } from './segments';
import { LIFE } from '../rollups/smart-trader-days';
import { type Narrowed, type Scored, narrow, nextDay } from './span';

// What tells accounts' last fills one by one, and what it is told by day.
const TABLES = {
  perp_trader: { coin: "''", days: "d.coin = ''", same: '' },
  perp_position: { coin: 'p.coin', days: "d.coin <> ''", same: ' AND f.coin = p.coin' },
} as const;

/**
 * How many accounts were filled in the window $1, $2 (the first whole hour of it), $4 of a statement, as a query: of all, or `coin` and `count`
 * for each coin. The days they were filled last tell it; facts are only looked at for accounts that went on after the window.
 */
export function activeIn(table: keyof typeof TABLES): string {
  const { coin, days, same } = TABLES[table];
  const rows = `
  SELECT d.coin, d.traders FROM perp_coin_last_day d WHERE ${days} AND $1::timestamptz IS NOT NULL AND d.day >= ${nextDay('$2')}
  ${edgeOf(1, 'days_from', `UNION ALL SELECT ${coin}, count(*) FROM ${table} p WHERE p.last_at >= $1 AND p.last_at < ${nextDay('$2')} GROUP BY 1`)}
  ${afterwards(
    '$4',
    `UNION ALL SELECT ${coin}, -count(*) FROM ${table} p WHERE p.last_at >= greatest($1::timestamptz, $4) AND NOT EXISTS (
    SELECT 1 FROM perp_fill f WHERE f.trader = p.trader AND f.timestamp >= $1 AND f.timestamp < $4${same}) GROUP BY 1`,
  )}`;
  return table === 'perp_trader'
    ? `SELECT coalesce(sum(traders), 0)::int FROM (${rows}) active`
    : `SELECT coin, sum(traders)::int AS count FROM (${rows}) active GROUP BY coin`;
}

/** Which accounts with at least a score were filled in that window, by coin and trader, where perp_smart_trader_day tells their lives. */
export const smartActiveIn = ({ day, least }: Pick<Scored, 'day' | 'least'>, narrowed: Pick<Narrowed, 'coin'> = {}): string => `
  SELECT p.coin, p.trader FROM perp_smart_trader_day p WHERE p.day = ${LIFE} AND p.score >= ${least} AND ${day}::date IS NOT NULL AND p.last_at >= $1${narrow('p', narrowed)}
  ${afterwards('$4', 'AND (p.last_at < $4 OR EXISTS (SELECT 1 FROM perp_fill f WHERE f.trader = p.trader AND f.coin = p.coin AND f.timestamp >= $1 AND f.timestamp < $4))')}`;
