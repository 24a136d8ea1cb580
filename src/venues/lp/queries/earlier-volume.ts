import { tilesOf } from '../../../lib/tiles';
import type { Window } from '../../../lib/timeframe';
import { hourOf } from '../rollups/buckets';
import { byTime } from './span';

/** Six parameters of `earlierVolume`: by column the tiles that the windows are added up from, and where each window ends. */
export type EarlierTiles = [units: string[], since: Date[], until: Date[], earlier: number[], previous: number[], ends: Date[]];

/**
 * The same from the windows, newest first, and the end of the one they come before: how often each tile counts from the oldest on, and from the newest on. Both go on
 * to the end of all, where hardly anything is torn; who asks takes off what lies in the window, which is known.
 */
export function earlierTiles(windows: readonly Window[], end: Date): EarlierTiles {
  const [newest, oldest] = [windows[0], windows.at(-1)] as [Window, Window];
  const tiles = tilesOf([oldest.from, newest.from, end], ['day', 'quarter', 'hour']).filter(({ from, to }) => from < to);
  const previous = tiles.map(({ shares }) => shares.find(({ part }) => part === 2)?.sign ?? 0);
  const before = tiles.map(({ shares }) => shares.find(({ part }) => part === 1)?.sign ?? 0);
  return [
    tiles.map(({ unit }) => unit),
    tiles.map(({ from }) => from),
    tiles.map(({ to }) => to),
    before.map((sign, index) => sign + (previous[index] as number)),
    previous,
    windows.map(({ to }) => to),
  ];
}

const signed = (sign: string): string => `sum(CASE ${sign} WHEN 1 THEN usd WHEN -1 THEN -usd END)`;

/**
 * Rows (pool_address, earlier_usd, previous_usd, seen_at): the swap volume of pools from the oldest window of `earlierTiles`, the parameters $at to $at + 5, on, and
 * from the newest on; `seen_at` is the time of a fact of the pool, null where none was come across. What is counted where is told by `swapsIn`.
 */
export function earlierVolume(at: number): string {
  const rowsOf = (unit: string, table: string, time: string, usd: string): string =>
    `SELECT h.pool_address, t.earlier, t.previous, ${usd} AS usd, h.first_at FROM tiles t JOIN ${table} h ON h.${time} >= t.since AND h.${time} < t.until WHERE t.unit = '${unit}'`;
  return `
WITH tiles AS (SELECT * FROM unnest($${at}::text[], $${at + 1}::timestamptz[], $${at + 2}::timestamptz[], $${at + 3}::int[], $${at + 4}::int[]) t(unit, since, until, earlier, previous))
SELECT pool_address, ${signed('earlier')} AS earlier_usd, ${signed('previous')} AS previous_usd, min(first_at) AS seen_at FROM (
  ${rowsOf('day', 'lp_pool_day', 'day', 'h.usd')}
  UNION ALL ${rowsOf('quarter', 'lp_pool_quarter', 'quarter', 'h.usd')}
  UNION ALL ${rowsOf('hour', 'lp_pool_hour', 'hour', 'coalesce(h.stated_usd, h.swap_usd)')}
  UNION ALL ${rowsOf('fact', 'lp_pool_hour', 'hour', 'h.stated_usd')}
  UNION ALL SELECT s.pool_address, t.earlier, t.previous, s.usd, NULL FROM tiles t CROSS JOIN LATERAL (
    SELECT s.pool_address, s.usd FROM lp_swap s LEFT JOIN lp_pool_hour h ON h.pool_address = s.pool_address AND h.hour = ${hourOf('t.since')}
    WHERE s."timestamp" >= t.since AND s."timestamp" < t.until ${byTime('s')} AND h.stated_usd IS NULL OFFSET 0) s WHERE t.unit = 'fact'
) v GROUP BY pool_address`;
}

/** SQL: how many of the windows end after the instant `time`. */
export const endedAfter = (at: number, time: string): string =>
  `(SELECT count(*) FROM unnest($${at + 5}::timestamptz[]) ended(at) WHERE ended.at > ${time})`;
