import { tilesOf } from '../../../lib/tiles';
import type { Window } from '../../../lib/timeframe';
import { hourOf } from '../rollups/buckets';
import type { Filter } from './span';

/** Seven parameters of `earlierVolume` and `volumeBounds`: by column the tiles that the windows are added up from, where each window ends, and what of the tiles lies in the window itself. */
export type EarlierTiles = [
  units: string[],
  since: Date[],
  until: Date[],
  earlier: number[],
  previous: number[],
  ends: Date[],
  now: number[],
];

/**
 * The same from the windows, newest first, and the window they come before: how often each tile counts from the oldest on, from the newest on, and in the window. All go on
 * to the end of it, where hardly anything is torn; who asks takes off what lies in the window, which is known.
 */
export function earlierTiles(windows: readonly Window[], window: Window): EarlierTiles {
  const [newest, oldest] = [windows[0], windows.at(-1)] as [Window, Window];
  const bounds = [oldest.from, newest.from, window.from, window.to];
  const tiles = tilesOf(bounds, ['day', 'quarter', 'hour']).filter(({ from, to }) => from < to);
  const since = (first: number): number[] =>
    tiles.map(({ shares }) => shares.filter(({ part }) => part >= first).reduce((sum, { sign }) => sum + sign, 0));
  return [
    tiles.map(({ unit }) => unit),
    tiles.map(({ from }) => from),
    tiles.map(({ to }) => to),
    since(1),
    since(2),
    windows.map(({ to }) => to),
    since(3),
  ];
}

const tilesAt = (at: number): string =>
  `SELECT * FROM unnest($${at}::text[], $${at + 1}::timestamptz[], $${at + 2}::timestamptz[], $${at + 3}::int[], $${at + 4}::int[], $${at + 6}::int[]) t(unit, since, until, earlier, previous, now)`;

const signed = (sign: string): string => `sum(CASE ${sign} WHEN 1 THEN usd WHEN -1 THEN -usd END)`;

/**
 * Rows (pool_address, earlier_usd, previous_usd, seen_at) of pools for which `filter` holds: the swap volume from the oldest window of `earlierTiles`, the parameters $at to
 * $at + 6, on, and from the newest on; `seen_at` is the time of a fact of the pool, null where none was come across. What is counted where is told by `swapsIn`.
 */
export function earlierVolume(at: number, filter: Filter): string {
  const rowsOf = (unit: string, table: string, time: string, usd: string): string =>
    `SELECT h.pool_address, t.earlier, t.previous, ${usd} AS usd, h.first_at FROM tiles t JOIN ${table} h ON h.${time} >= t.since AND h.${time} < t.until ${filter('h')} WHERE t.unit = '${unit}'`;
  return `
WITH tiles AS (SELECT * FROM (${tilesAt(at)}) t WHERE earlier <> 0 OR previous <> 0)
SELECT pool_address, ${signed('earlier')} AS earlier_usd, ${signed('previous')} AS previous_usd, min(first_at) AS seen_at FROM (
  ${rowsOf('day', 'lp_pool_day', 'day', 'h.usd')}
  UNION ALL ${rowsOf('quarter', 'lp_pool_quarter', 'quarter', 'h.usd')}
  UNION ALL ${rowsOf('hour', 'lp_pool_hour', 'hour', 'coalesce(h.stated_usd, h.swap_usd)')}
  UNION ALL ${rowsOf('fact', 'lp_pool_hour', 'hour', 'h.stated_usd')}
  UNION ALL SELECT s.pool_address, t.earlier, t.previous, s.usd, NULL FROM tiles t CROSS JOIN LATERAL (
    SELECT s.pool_address, s.usd FROM lp_swap s LEFT JOIN lp_pool_hour h ON h.pool_address = s.pool_address AND h.hour = ${hourOf('t.since')}
    WHERE s."timestamp" >= t.since AND s."timestamp" < t.until ${filter('s')} AND h.stated_usd IS NULL OFFSET 0) s WHERE t.unit = 'fact'
) v GROUP BY pool_address`;
}

/**
 * Rows (pool_address, least_usd, most_usd, least_earlier, most_earlier, seen_at), numbers: between what the volume of every pool lies in the window, and in all the earlier ones,
 * by whole hours alone. What a torn hour holds may lie on either side.
 */
export function volumeBounds(at: number): string {
  const rowsOf = (unit: string, table: string, time: string, usd: string): string =>
    `SELECT h.pool_address, t.earlier, t.now, ${usd} AS usd, h.first_at FROM tiles t JOIN ${table} h ON h.${time} >= t.since AND h.${time} < t.until WHERE t.unit = '${unit}'`;
  const hourly = 'coalesce(h.stated_usd, h.swap_usd)';
  const number = (sum: string): string => `coalesce(${sum}, 0)::float8`;
  const torn = (condition: string): string => number(`sum(usd) FILTER (WHERE ${condition})`);
  return `
SELECT pool_address, now_usd - now_less AS least_usd, now_usd + now_more AS most_usd, greatest(all_usd - all_less - now_usd - now_more, 0) AS least_earlier,
  greatest(all_usd + all_more - now_usd + now_less, 0) AS most_earlier, seen_at FROM (
  SELECT pool_address, ${number(signed('now'))} AS now_usd, ${torn('now = 2')} AS now_more, ${torn('now = -2')} AS now_less,
    ${number(signed('earlier'))} AS all_usd, ${torn('earlier = 2')} AS all_more, ${torn('earlier = -2')} AS all_less, min(first_at) AS seen_at
  FROM (
    WITH tiles AS (
      SELECT unit, since, until, torn * earlier AS earlier, torn * now AS now FROM (${tilesAt(at)}) t CROSS JOIN LATERAL (SELECT CASE unit WHEN 'fact' THEN 2 ELSE 1 END AS torn) k
      WHERE earlier <> 0 OR now <> 0)
    ${rowsOf('day', 'lp_pool_day', 'day', 'h.usd')}
    UNION ALL ${rowsOf('quarter', 'lp_pool_quarter', 'quarter', 'h.usd')}
    UNION ALL ${rowsOf('hour', 'lp_pool_hour', 'hour', hourly)}
    UNION ALL SELECT h.pool_address, t.earlier, t.now, ${hourly}, NULL FROM tiles t JOIN lp_pool_hour h ON h.hour = ${hourOf('t.since')} WHERE t.unit = 'fact'
  ) v GROUP BY pool_address
) v`;
}

/** SQL: how many of the windows end after the instant `time`. */
export const endedAfter = (at: number, time: string): string =>
  `(SELECT count(*) FROM unnest($${at + 5}::timestamptz[]) ended(at) WHERE ended.at > ${time})`;
