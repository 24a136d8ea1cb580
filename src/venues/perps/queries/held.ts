import type { GraphContext } from '../../venue';
import { cleanStart, tripsOf, fillsSince } from '../rollups/round-trips';
import { priceBefore } from './price';
import { afterwards } from '../../../db/segments';

/**
 * Common table expressions that end in `held`: positions as of an instant, of the keys `p` that the condition keeps. Those with
 * fills after it are told from facts again, back to a round trip that stands.
 */
export const heldAt = (instant: string, condition: string): string => `
${afterwards(
  instant,
  `ahead AS MATERIALIZED (
  SELECT p.trader, p.coin, coalesce(${cleanStart('p', instant)}, '-infinity') AS since FROM perp_position p WHERE p.last_at >= ${instant} AND ${condition}
),
${tripsOf(fillsSince('ahead', `timestamp < ${instant}`), null)},`,
)}
held AS (
  SELECT p.trader, p.coin, p.is_long, abs(p.size) AS size, p.peak_size, p.opened_at, p.last_at, p.opened_size, p.opened_usd, p.gross_pnl
  FROM perp_position p WHERE p.last_at < ${instant} AND p.size <> 0 AND ${condition}
  ${afterwards(
    instant,
    `UNION ALL
  SELECT trader, coin, is_long, abs(size), peak_size, opened_at, last_at, opened_size, opened_usd, gross_pnl FROM trip WHERE is_newest AND NOT is_closed`,
  )}
)`;

/** A position rebuilt from fills. Figures are exact decimals as text. */
export interface PositionRow {
  trader: string;
  coin: string;
  direction: 'Long' | 'Short';
  size: string;
  usd_value: string;
  entry_price: string | null;
  opened_at: Date | null;
  last_trade: Date;
  realized_pnl: string;
}

/** Columns of PositionRow over `held h`, at the last price before an instant: `price`, where it is at hand. */
export const positionColumns = (
  instant: string,
  price = priceBefore('h.coin', instant),
): string => `h.trader, h.coin, CASE WHEN h.is_long THEN 'Long' ELSE 'Short' END AS direction, h.size,
  h.size * ${price} AS usd_value, h.opened_usd / nullif(h.opened_size, 0) AS entry_price, h.opened_at, h.last_at AS last_trade,
  h.gross_pnl AS realized_pnl`;

// $1: now; $2: accounts. Positions carry noise: those shown with the same value are equal.
const POSITIONS = {
  name: 'perps_positions',
  text: `
WITH ${heldAt('$1::timestamptz', 'p.trader = ANY ($2::text[])')},
priced AS MATERIALIZED (SELECT coin, ${priceBefore('coin', '$1::timestamptz')} AS price FROM (SELECT DISTINCT coin FROM held) own)
SELECT * FROM (SELECT ${positionColumns('$1::timestamptz', 'priced.price')} FROM held h JOIN priced USING (coin)) position ORDER BY trader, round(usd_value, 6) DESC, coin COLLATE "C"`,
};

/** What each account holds now, the largest first. */
export async function listPositions({ sql, now }: GraphContext, traders: readonly string[]): Promise<Map<string, PositionRow[]>> {
  const rows = await sql.query<PositionRow>(POSITIONS, [now, traders]);
  const positions = new Map<string, PositionRow[]>(traders.map((trader) => [trader, []]));
  for (const row of rows) positions.get(row.trader)?.push(row);
  return positions;
}
