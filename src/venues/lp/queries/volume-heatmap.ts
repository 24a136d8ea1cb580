import type { QueryResultRow } from 'pg';
import type { Sql, Statement } from '../../../db/sql';
import { type BucketSize, intervalOf } from '../../../lib/grid';
import { bucketOf, millisecondsOf } from '../../../lib/tiles';
import { type Window, windowOf } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { firstPools } from './first-pools';
import {
  type Filter,
  flowsIn,
  ofPools,
  swapEdgesIn,
  swapSumsOfLife,
  swapsByUnit,
  swapsIn,
  typeFlowsIn,
  typeSwapsIn,
  wholeSwapsIn,
} from './span';
import { spanOf, spanOfBuckets } from './window-span';

interface ScopeArgs {
  /** Null: both. */
  pool_type: PoolType | null;
  window: Window;
  bucket_size: BucketSize;
}

export interface PoolCellsArgs extends ScopeArgs {
  /** Whether nothing happened before the window. */
  life: boolean;
  /** Pools. */
  limit: number;
}

/** A pool in a bucket. */
export interface PoolCell {
  pool_address: string;
  bucket: Date;
  /** JSON numbers. */
  volume_usd: number;
  event_count: number;
  pct_of_bucket: number | null;
}

export interface PoolCells {
  /** Each has a cell. */
  pools: string[];
  cells: PoolCell[];
  /** Of all cells. */
  unpriced: number;
  swaps: number;
}

const ofType: Filter = (alias) => `AND ${alias}.pool_address IN (SELECT pool_address FROM lp_pool WHERE pool_type = $7)`;

const bucket = bucketOf('hour', '$8::interval');

const sumsInWindow = (filter: Filter): string => `
SELECT pool_address, sum(usd) AS usd, sum(swaps) AS swaps FROM (
  SELECT pool_address, usd, swaps FROM (${wholeSwapsIn(1, filter)}) h UNION ALL SELECT pool_address, usd, swaps FROM edges e WHERE true ${filter('e')}
) r GROUP BY pool_address`;

/**
 * Pools with swap volume, most first, of all types or of one, and what all of such pools come to in each bucket: what they do in an hour is added up already. $1 to $6: the
 * window, everything where it is a life; $7: type; $8: bucket size; $9: how many; `some`: of the pools $10 alone.
 */
function pools({ life, one, some }: Record<'life' | 'one' | 'some', boolean>): Statement {
  const chosen: Filter = some ? ofPools(10) : () => '';
  return {
    name: `lp_heatmap_pools_${Number(life)}${Number(one)}${Number(some)}`,
    keyed: true,
    text: `
WITH edges AS MATERIALIZED (
  SELECT pool_address, hour, sum(usd) AS usd, sum(swaps) AS swaps FROM (${swapEdgesIn(1)}) s GROUP BY pool_address, hour
), top AS (
  SELECT s.pool_address, s.usd FROM (${life ? swapSumsOfLife(1, chosen) : sumsInWindow(chosen)}) s JOIN lp_pool p ON p.pool_address = s.pool_address
  WHERE (s.usd > 0 OR s.swaps > 0) ${one ? 'AND p.pool_type = $7' : ''} ORDER BY coalesce(s.usd, 0) DESC, s.pool_address COLLATE "C" LIMIT $9
), whole AS (
  SELECT bucket, sum(usd) AS usd FROM (
    SELECT ${bucket} AS bucket, usd FROM lp_type_swap_hour WHERE ($7::text IS NULL OR pool_type = $7) AND hour >= $3 AND hour < $4
    UNION ALL SELECT ${bucket}, usd FROM edges h WHERE true ${one ? ofType('h') : ''}
  ) w GROUP BY bucket
)
SELECT (SELECT json_agg(pool_address ORDER BY pool_address) FROM top) AS pools, (SELECT min(coalesce(usd, 0)) FROM top HAVING count(*) = $9) AS least,
  json_agg(${millisecondsOf('bucket')}) AS buckets, json_agg(usd) AS volumes FROM whole`,
  };
}

interface ShownPools {
  /** In the order of their addresses; null where there are none. */
  pools: string[] | null;
  /** What the last of them came to; null where there are fewer than wanted. */
  least: string | null;
  /** Milliseconds; null where there are none. */
  buckets: number[] | null;
  volumes: (number | null)[];
}

/** What tells a bucket whole by one row: nothing is added up of it. */
type Unit = 'hour' | 'day' | 'none';

const PLACED = 'JOIN unnest($7::text[]) WITH ORDINALITY shown(pool_address, place) ON shown.pool_address = cell.pool_address';

/** Of the days of a window a plan for all windows looks up pool by pool, which takes up to four times as long where they are many. */
const isPlannedOnce = (unit: Unit): boolean => unit !== 'day';

// $1 to $6: the window; $7: pools; $8: bucket size. By column: cells are many.
function swapped(unit: Unit): Statement {
  const rows = (columns: string, from: string): string => `SELECT pool_address, ${columns} FROM (${from}) s`;
  const summed = (from: string): string =>
    `${rows(`${bucket} AS bucket, sum(usd) AS usd, sum(swaps) AS swaps, sum(unpriced) AS unpriced`, from)} GROUP BY 1, 2`;
  const { single, torn } = unit === 'none' ? { single: undefined, torn: swapsIn(1, ofPools(7)) } : swapsByUnit(1, unit, ofPools(7));
  const cells = single === undefined ? summed(torn) : `${rows('hour AS bucket, usd, swaps, unpriced', single)} UNION ALL ${summed(torn)}`;
  return {
    name: `lp_heatmap_swapped_${unit}`,
    keyed: isPlannedOnce(unit),
    text: `
SELECT json_agg(place) AS places, json_agg(${millisecondsOf('bucket')}) AS buckets, json_agg(usd) AS volumes, json_agg(swaps) AS counts, sum(unpriced)::int AS unpriced FROM (
  SELECT place, bucket, coalesce(usd, 0) AS usd, swaps, unpriced FROM (${cells}) cell ${PLACED} WHERE $8::interval IS NOT NULL ORDER BY bucket, 3 DESC, place
) ordered`,
  };
}

function provided(unit: Unit): Statement {
  const done = 'deposits + withdrawals + claims';
  const cells =
    unit === 'none'
      ? `SELECT pool_address, ${bucket} AS bucket, sum(${done}) AS done FROM (${flowsIn(1, ofPools(7))}) f GROUP BY 1, 2`
      : `SELECT pool_address, ${bucket} AS bucket, ${done} AS done FROM (${flowsIn(1, ofPools(7))}) f`;
  return {
    name: `lp_heatmap_provided_${unit}`,
    keyed: isPlannedOnce(unit),
    text: `SELECT json_agg(place) AS places, json_agg(${millisecondsOf('bucket')}) AS buckets, json_agg(done) AS counts FROM (${cells}) cell ${PLACED}`,
  };
}

const UNITS: Partial<Record<BucketSize, Unit>> = { '1h': 'hour', '1d': 'day' };
const CELLS = Object.fromEntries(
  (['hour', 'day', 'none'] as const).map((unit) => [unit, { swapped: swapped(unit), provided: provided(unit) }]),
) as Record<Unit, { swapped: Statement; provided: Statement }>;

/** By column, null where there are none; some may be of the same cell. */
interface Told {
  /** From 1, among the pools. */
  places: number[] | null;
  /** Milliseconds. */
  buckets: number[];
  counts: number[];
}
/** Oldest first, most volume first in each bucket, then in the order of the pools. */
type Swapped = Told & { volumes: number[]; unpriced: number | null };

/** Pools by their volume in each bucket in which anything happened, oldest first, most volume first in each. */
export async function listPoolCells(sql: Sql, { life, ...scope }: PoolCellsArgs): Promise<PoolCells> {
  const { pool_type, window, bucket_size, limit } = scope;
  const ask = <Row>(statement: Statement, values: readonly unknown[]): Promise<(Row & QueryResultRow)[]> => sql.query(statement, values);
  const ranked = life ? windowOf('all', window.to) : window;
  const [shown] = await firstPools(
    sql,
    { bound: 'usd', window: ranked, limit },
    (some) =>
      ask<ShownPools>(pools({ life, one: pool_type !== null, some: some !== null }), [
        ...spanOf(ranked),
        pool_type,
        intervalOf(bucket_size),
        limit,
        ...(some === null ? [] : [some]),
      ]),
    ([found]) => Number(found?.least ?? 0),
  );
  if (shown === undefined || shown.pools === null) return { pools: [], cells: [], unpriced: 0, swaps: 0 };
  const { pools: addresses } = shown;
  const statements = CELLS[UNITS[bucket_size] ?? 'none'];
  const values = [...spanOfBuckets(window, bucket_size), addresses, intervalOf(bucket_size)];
  const [[swaps], [done]] = await Promise.all([ask<Swapped>(statements.swapped, values), ask<Told>(statements.provided, values)]);
  return gridOf(
    addresses,
    new Map(shown.buckets?.map((start, place) => [start, shown.volumes[place] ?? 0])),
    swaps as Swapped,
    done as Told,
  );
}

/** The cells in which anything happened: of each bucket what was swapped, in its order, then what else was done. `whole`: what all pools come to in a bucket. */
function gridOf(pools: string[], whole: ReadonlyMap<number, number>, swapped: Swapped, provided: Told): PoolCells {
  const starts = [...new Set([swapped, provided].flatMap((told) => (told.places === null ? [] : told.buckets)))].sort((a, b) => a - b);
  const row = new Map(starts.map((start, number) => [start, number * pools.length - 1]));
  const counts = new Uint32Array(starts.length * pools.length);
  const cellOf = ({ places, buckets }: Told, at: number): number => (row.get(buckets[at] as number) as number) + (places?.[at] as number);
  const count = (told: Told): void => {
    for (const at of told.places?.keys() ?? []) (counts[cellOf(told, at)] as number) += told.counts[at] as number;
  };
  count(swapped);
  const swaps = counts.reduce((sum, one) => sum + one, 0);
  count(provided);
  const cells: PoolCell[] = [];
  let at = 0;
  for (const [number, start] of starts.entries()) {
    const [bucket, all] = [new Date(start), whole.get(start) ?? 0];
    const first = number * pools.length;
    const add = (place: number, volume_usd: number): void => {
      const [pool_address, event_count] = [pools[place] as string, counts[first + place] as number];
      cells.push({ pool_address, bucket, volume_usd, event_count, pct_of_bucket: all === 0 ? null : (100 * volume_usd) / all });
      // Told.
      counts[first + place] = 0;
    };
    for (; swapped.places !== null && swapped.buckets[at] === start; at += 1)
      if ((swapped.volumes[at] as number) > 0) add((swapped.places[at] as number) - 1, swapped.volumes[at] as number);
    for (let place = 0; place < pools.length; place += 1) if ((counts[first + place] as number) > 0) add(place, 0);
  }
  return { pools, cells, unpriced: swapped.unpriced ?? 0, swaps };
}

/** An action in the pools of a type, in a bucket. Numeric columns are decimal text, counts numbers. */
export interface ActionCell {
  action: 'deposit' | 'withdraw' | 'swap' | 'claim';
  bucket: Date;
  pool_type: PoolType;
  volume_usd: string;
  event_count: number;
  pct_of_bucket: string | null;
  unpriced: number;
  swaps: number;
}

const SHARE = '100 * volume_usd / nullif(sum(volume_usd) OVER (PARTITION BY bucket), 0) AS pct_of_bucket';

// What has no value is known of all three together: the first of them that happened carries it.
const ACTIONS: Statement = {
  name: 'lp_heatmap_actions',
  text: `
WITH cells AS (
  SELECT a.action, ${bucketOf('e.hour', '$8::interval')} AS bucket, e.pool_type, sum(a.usd) AS volume_usd, sum(a.n) AS event_count, sum(a.unpriced) AS unpriced, 0 AS swaps
  FROM (${typeFlowsIn(1)}) e
  CROSS JOIN LATERAL (VALUES ('deposit', e.deposits, e.deposit_usd, CASE WHEN e.deposits > 0 THEN e.unpriced ELSE 0 END),
    ('withdraw', e.withdrawals, e.withdraw_usd, CASE WHEN e.deposits = 0 AND e.withdrawals > 0 THEN e.unpriced ELSE 0 END),
    ('claim', e.claims, e.claim_usd, CASE WHEN e.deposits + e.withdrawals = 0 THEN e.unpriced ELSE 0 END)) AS a(action, n, usd, unpriced)
  WHERE $7::text IS NULL OR e.pool_type = $7 GROUP BY 1, 2, 3
  UNION ALL SELECT 'swap', ${bucketOf('s.hour', '$8::interval')}, s.pool_type, coalesce(sum(s.usd), 0), sum(s.swaps), sum(s.unpriced), sum(s.swaps)
  FROM (${typeSwapsIn(1)}) s WHERE $7::text IS NULL OR s.pool_type = $7 GROUP BY 1, 2, 3
)
SELECT action, bucket, pool_type, volume_usd, event_count::int, pct_of_bucket, unpriced::int, swaps::int
FROM (SELECT c.*, ${SHARE} FROM cells c WHERE event_count > 0 OR volume_usd > 0) c ORDER BY bucket, volume_usd DESC, action, pool_type`,
};

/** Actions by pool type in each bucket in which any happened, oldest first, most volume first in each. */
export const listActionCells = (sql: Sql, scope: ScopeArgs): Promise<ActionCell[]> => sql.query<ActionCell>(ACTIONS, valuesOf(scope));

const valuesOf = ({ pool_type, window, bucket_size }: ScopeArgs): unknown[] => [
  ...spanOfBuckets(window, bucket_size),
  pool_type,
  intervalOf(bucket_size),
];
