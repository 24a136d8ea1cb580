const DAY = (time: string): string => `date_trunc('day', ${time}, 'UTC')`;

/** Accounts of `source` (hours of perp_trader_hour) by the day they were filled last, as it becomes and as it was; in each coin, and in any (''). */
const moved = (source: string): string => `
  SELECT n.coin, ${DAY('n.last_at')} AS day_now, ${DAY('old.last_at')} AS day_before
  FROM (SELECT r.trader, r.coin, max(r.last_at) AS last_at FROM ${source} r GROUP BY 1, 2) n
  LEFT JOIN perp_trader_life old ON old.trader = n.trader AND old.coin = n.coin
  UNION ALL
  SELECT '', ${DAY('n.last_at')}, ${DAY('old.last_at')}
  FROM (SELECT r.trader, max(r.last_at) AS last_at FROM ${source} r GROUP BY 1) n LEFT JOIN perp_trader old ON old.trader = n.trader`;

/** What holds such days: of all accounts, or of smart ones. */
export type LastDays = 'perp_coin_last_day' | 'perp_smart_last_day';

/** Moves the accounts of `source`, which lives and accounts do not hold yet, to the days they were filled last. */
export const moveLastDays = (table: LastDays, source: string): string => `
INSERT INTO ${table} AS kept (coin, day, traders)
SELECT m.coin, CASE WHEN side.n > 0 THEN m.day_now ELSE m.day_before END, sum(side.n)
FROM (${moved(source)}) m CROSS JOIN (VALUES (1), (-1)) AS side(n)
WHERE (m.day_before IS NULL AND side.n > 0) OR m.day_before < m.day_now GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (coin, day) DO UPDATE SET traders = kept.traders + EXCLUDED.traders`;

/** Forgets the days on which nobody was last any more. */
export const FORGET_LEFT_DAYS = {
  name: 'perps_forget_left_days',
  text: 'WITH smart AS (DELETE FROM perp_smart_last_day WHERE traders = 0) DELETE FROM perp_coin_last_day WHERE traders = 0',
};

/** Tells all of those lives and accounts that meet the condition; the table must be empty. */
export const tellLastDays = (table: LastDays, condition = 'true'): string => `
INSERT INTO ${table} (coin, day, traders)
SELECT coin, ${DAY('last_at')}, count(*) FROM perp_trader_life WHERE ${condition} GROUP BY 1, 2
UNION ALL SELECT '', ${DAY('last_at')}, count(*) FROM perp_trader WHERE ${condition} GROUP BY 2`;
