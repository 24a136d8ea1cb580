import { DAY_MS } from '../../../lib/time';
import { SMART_SCORE } from '../tier';
import { TRADER_HOUR, type TraderHourColumn } from './hours';
import { together } from './smart-trader-days';

/** Columns of perp_smart_trader_rest beside its key and the score: sums of those of perp_trader_hour. */
const REST_COLUMNS = ['open_long_usd', 'open_short_usd', 'close_long_usd', 'close_short_usd', 'bought_size', 'sold_size', 'last_at'] as const satisfies readonly TraderHourColumn[]; // prettier-ignore
export type RestColumn = (typeof REST_COLUMNS)[number];

const NAMES = REST_COLUMNS.join(', ');

const hourOfDay = (time: string): string => `extract(hour FROM ${time} AT TIME ZONE 'UTC')::int`;

/** So many days before it a window of whole days begins that ends on the day of a score run. */
const DAYS_BACK = [1, 7, 30, 90, 365];

/** Whether rests of the UTC day that an instant lies in are told with the score run of a day (YYYY-MM-DD). */
export const hasRests = (run: string, instant: Date): boolean =>
  DAYS_BACK.includes(Date.parse(run) / DAY_MS - Math.floor(instant.getTime() / DAY_MS));

/**
 * Adds those rows of `source` (of perp_trader_hour) that are of smart accounts of the run that is told, and of a day that a window may begin on, to what was
 * left of the day from each whole hour on. Of a day that is over only what comes late is added to so many rows.
 */
export const addSmartRests = (source: string): string => `
INSERT INTO perp_smart_trader_rest AS kept (hour, coin, trader, score, ${NAMES})
SELECT day + rest.first * interval '1 hour', coin, trader, score, ${NAMES}
FROM (
  SELECT torn.day, r.coin, r.trader, s.score, ${hourOfDay('r.hour')} AS hour, lag(${hourOfDay('r.hour')}, 1, 0) OVER (PARTITION BY torn.day, r.coin, r.trader ORDER BY r.hour) AS before,
    ${REST_COLUMNS.map((name) => `${TRADER_HOUR[name].merge}(r.${name}) OVER onward AS ${name}`).join(', ')}
  FROM (SELECT (run.day - back.days)::timestamp AT TIME ZONE 'UTC' AS day, run.day AS scored FROM perp_smart_run run CROSS JOIN unnest(ARRAY[${DAYS_BACK.join(', ')}]) AS back(days)) torn
  JOIN ${source} r ON r.hour >= torn.day AND r.hour < torn.day + interval '1 day'
  JOIN perp_score s ON s.trader = r.trader AND s.day = torn.scored AND s.score >= ${SMART_SCORE}
  WINDOW onward AS (PARTITION BY torn.day, r.coin, r.trader ORDER BY r.hour DESC)
) piece CROSS JOIN generate_series(before + 1, piece.hour) AS rest(first) ORDER BY 1, 2, 3
ON CONFLICT (hour, coin, trader) DO UPDATE SET ${REST_COLUMNS.map((name) => `${name} = ${together(name)}`).join(', ')}`;
