import { tilesOf } from '../../../lib/tiles';
import type { Window } from '../../../lib/timeframe';
import { hourOf } from '../rollups/buckets';
import { byTime, type Filter } from './span';

/** Six parameters of `volumeSince`: by column the tiles, the first to begin first, that the windows are added up from, how often each counts (`earlier`, `previous`), and where each window ends. */
export type EarlierTiles = [units: string[], since: Date[], until: Date[], earlier: number[], previous: number[], ends: Date[]];

/**
 * The same from the windows, newest first, and the window they come before: those told from the oldest on, then those from the newest on. Both go on to the end of it,
 * where hardly anything is torn; who asks takes off what lies in the window, which is known.
 */
export function earlierTiles(windows: readonly Window[], window: Window): EarlierTiles {
  const [newest, oldest] = [windows[0], windows.at(-1)] as [Window, Window];
  const since = ({ from }: Window) =>
    tilesOf([from, window.to], ['day', 'quarter', 'hour', 'bar'])
      .filter((tile) => tile.from < tile.to)
      .map((tile) => ({ ...tile, sign: tile.shares[0]?.sign ?? 0 }));
  const [earlier, previous] = [since(oldest), since(newest)];
  const tiles = [
    ...earlier.map(({ sign, ...tile }) => ({ ...tile, earlier: sign, previous: 0 })),
    ...previous.map(({ sign, ...tile }) => ({ ...tile, earlier: 0, previous: sign })),
  ].sort((a, b) => a.from.getTime() - b.from.getTime());
  return [
    tiles.map(({ unit }) => unit),
    tiles.map(({ from }) => from),
    tiles.map(({ to }) => to),
    tiles.map((tile) => tile.earlier),
    tiles.map((tile) => tile.previous),
    windows.map(({ to }) => to),
  ];
}

/**
 * Rows (pool_address, usd, seen_at) of the pools for which `filter` holds: the swap volume from the oldest window of `earlierTiles`, the parameters $at to $at + 5, on (`earlier`), or
 * from the newest on (`previous`), of other pools than those of `ofDays` without the days; `seen_at` is the time of a fact of the pool, null where none was come across. What is counted where is told by `swapsIn`.
 */
export function volumeSince(which: 'earlier' | 'previous', at: number, filter: Filter = () => '', ofDays: Filter = filter): string {
  const rowsOf = (condition: string, table: string, time: string, usd: string, chosen = filter('h')): string =>
    `SELECT h.pool_address, t.sign, ${usd} AS usd, h.first_at FROM tiles t JOIN ${table} h ON h.${time} >= t.since AND h.${time} < t.until ${chosen} WHERE ${condition}`;
  // Of the hour of a tile within it, which tells whether it is stated.
  const seen = (unit: string, first: string, table: string, time: string, narrowed: string): string => `
  SELECT s.pool_address, t.sign, s.usd, s.first_at FROM tiles t CROSS JOIN LATERAL (
    SELECT s.pool_address, s.usd, ${first} AS first_at FROM ${table} s LEFT JOIN lp_pool_hour h ON h.pool_address = s.pool_address AND h.hour = ${hourOf('t.since')}
    WHERE s.${time} >= t.since AND s.${time} < t.until ${narrowed} AND h.stated_usd IS NULL OFFSET 0) s WHERE t.unit = '${unit}'`;
  return `
WITH tiles AS (
  SELECT * FROM (SELECT unit, since, until, ${which} AS sign FROM unnest($${at}::text[], $${at + 1}::timestamptz[], $${at + 2}::timestamptz[], $${at + 3}::int[], $${at + 4}::int[]) t(unit, since, until, earlier, previous)) t
  WHERE sign <> 0
)
SELECT pool_address, sum(CASE sign WHEN 1 THEN usd WHEN -1 THEN -usd END) AS usd, min(first_at) AS seen_at FROM (
  ${rowsOf("t.unit = 'day'", 'lp_pool_day', 'day', 'h.usd', ofDays('h'))}
  UNION ALL ${rowsOf("t.unit = 'quarter'", 'lp_pool_quarter', 'quarter', 'h.usd')}
  UNION ALL ${rowsOf("t.unit = 'hour'", 'lp_pool_hour', 'hour', 'coalesce(h.stated_usd, h.swap_usd)')}
  UNION ALL ${rowsOf("t.unit IN ('bar', 'fact') AND h.stated_usd IS NOT NULL", 'lp_pool_hour', 'hour', 'h.stated_usd')}
  UNION ALL ${seen('bar', 's.first_at', 'lp_pool_bar', 'bar', filter('s'))}
  UNION ALL ${seen('fact', 'NULL::timestamptz', 'lp_swap', '"timestamp"', `${filter('s') || byTime('s')} AND s."timestamp" >= ($${at + 1}::timestamptz[])[1]`)}
) v GROUP BY pool_address`;
}

/** SQL: how many of the windows end after the instant `time`. */
export const endedAfter = (at: number, time: string): string =>
  `(SELECT count(*) FROM unnest($${at + 5}::timestamptz[]) ended(at) WHERE ended.at > ${time})`;
