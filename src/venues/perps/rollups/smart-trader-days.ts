import { SMART_SCORE } from '../tier';
import { TRADER_HOUR, type TraderHourColumn } from './hours';

/** Columns of perp_smart_trader_day beside its key and the score: those of perp_trader_day. */
const SMART_TRADER_COLUMNS = ['fills', 'buys', 'open_longs', 'open_shorts', 'close_longs', 'close_shorts', 'open_long_usd', 'open_short_usd', 'close_long_usd', 'close_short_usd', 'bought_size', 'sold_size', 'long_pnl', 'short_pnl', 'last_at'] as const satisfies readonly TraderHourColumn[]; // prettier-ignore
export type SmartTraderColumn = (typeof SMART_TRADER_COLUMNS)[number];

const NAMES = SMART_TRADER_COLUMNS.join(', ');

/** What a column becomes when a row is added to the one that is kept. */
export const together = (name: SmartTraderColumn): string =>
  TRADER_HOUR[name].merge === 'max' ? `greatest(kept.${name}, EXCLUDED.${name})` : `kept.${name} + EXCLUDED.${name}`;

/** The `day` of perp_smart_trader_day that holds a whole life. */
export const LIFE = "'-infinity'::timestamptz";

/**
 * Adds those rows of `source` (of perp_trader_hour or perp_trader_day) that are of smart accounts of the run that is told, to their days and to
 * their lives; of nobody while none is told.
 */
export const addSmartTraders = (source: string, unit: 'hour' | 'day'): string => `
INSERT INTO perp_smart_trader_day AS kept (day, coin, trader, score, ${NAMES})
SELECT CASE WHEN whole.is_life THEN ${LIFE} ELSE date_trunc('day', r.${unit}, 'UTC') END, r.coin, r.trader, s.score, ${SMART_TRADER_COLUMNS.map((name) => `${TRADER_HOUR[name].merge}(r.${name})`).join(', ')}
FROM ${source} r JOIN perp_score s ON s.trader = r.trader AND s.day = (SELECT day FROM perp_smart_run) AND s.score >= ${SMART_SCORE}
CROSS JOIN (VALUES (false), (true)) AS whole(is_life)
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3
ON CONFLICT (day, coin, trader) DO UPDATE SET ${SMART_TRADER_COLUMNS.map((name) => `${name} = ${together(name)}`).join(', ')}`;
