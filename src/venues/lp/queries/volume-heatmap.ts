import type { QueryResultRow } from 'pg';
import type { Sql, Statement } from '../../../db/sql';
import { BUCKETS, type BucketSize, intervalOf } from '../../../lib/grid';
import { bucketOf } from '../../../lib/tiles';
import { type Window, windowOf } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { type Filter, flowsIn, hourSpanOf, spanOf, swapEdgesIn, swapSumsOfLife, typeFlowsIn, typeSwapsIn, wholeSwapsIn } from './span';

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

/** By column: cells are many, and pools few. */
interface Told {
  pools: string[];
  /** From 1, of a pool; null where nothing happened, as the other lists. */
  places: number[] | null;
  /** Milliseconds. */
  buckets: number[];
  volumes: number[];
  counts: number[];
  shares: (number | null)[];
  unpriced: number;
  swaps: number;
}

const ofTop: Filter = (alias) => `AND ${alias}.pool_address = t.pool_address`;
const ofType: Filter = (alias) => `AND ${alias}.pool_address IN (SELECT pool_address FROM lp_pool WHERE pool_type = $7)`;

const bucket = bucketOf('hour', '$8::interval');
const swapRows = (filter: Filter): string =>
  `SELECT ${bucket} AS bucket, usd, swaps, unpriced, 0 AS events FROM (${wholeSwapsIn(1, 0, filter)}) s`;

/** Condition: the hour, of an edge of the window $10 to $15, is one of the part of it $1 to $6. */
const inPart = `hour >= ${bucketOf('$1::timestamptz', '$8::interval')} AND hour < $2`;

/** What all pools of a type come to in an hour is added up already. */
const wholeRows = (one: boolean): string => `
SELECT ${bucket} AS bucket, usd FROM lp_type_swap_hour WHERE ($7::text IS NULL OR pool_type = $7) AND hour >= $3 AND hour < $4
UNION ALL SELECT ${bucket}, usd FROM edges h WHERE ${inPart} ${one ? ofType('h') : ''}`;

const SUMS_IN_WINDOW = `
SELECT pool_address, sum(usd) AS usd, sum(swaps) AS swaps FROM (
  SELECT pool_address, usd, swaps FROM (${wholeSwapsIn(10)}) h UNION ALL SELECT pool_address, usd, swaps FROM edges
) r GROUP BY pool_address`;

/**
 * Pools with swap volume, most first, of all types or of one; shares are of all such pools, which are at place 0: places follow the addresses. Pools are chosen over the
 * span $10 to $15, the whole window by the longest rollups there are; buckets shorter than a day have no days in the span $1 to $6, of the part whose cells are told. Cells are added up pool by
 * pool: so those of other pools are not read, and to add up all cells at once takes room for all their rows.
 */
const pools = (life: boolean, one: boolean): Statement => ({
  name: `lp_heatmap_pools_${Number(life)}${Number(one)}`,
  keyed: true,
  text: `
WITH edges AS MATERIALIZED (
  SELECT pool_address, hour, sum(usd) AS usd, sum(swaps) AS swaps, sum(unpriced) AS unpriced FROM (${swapEdgesIn(10)}) s GROUP BY pool_address, hour
), top AS MATERIALIZED (
  SELECT p.pool_address, row_number() OVER (ORDER BY p.pool_address) AS place FROM (
    SELECT pool_address FROM (${life ? swapSumsOfLife(10) : SUMS_IN_WINDOW}) s
    WHERE (usd > 0 OR swaps > 0) ${one ? ofType('s') : ''} ORDER BY coalesce(usd, 0) DESC, pool_address LIMIT $9
  ) t JOIN lp_pool p ON p.pool_address = t.pool_address
), torn AS MATERIALIZED (SELECT t.place, e.* FROM edges e JOIN top t ON t.pool_address = e.pool_address WHERE ${inPart}
), cells AS (
  SELECT t.place, c.* FROM top t CROSS JOIN LATERAL (
    SELECT bucket, coalesce(sum(usd), 0) AS usd, sum(swaps) AS swaps, sum(unpriced) AS unpriced, sum(events) AS events FROM (
      ${swapRows(ofTop)}
      UNION ALL SELECT ${bucket}, usd, swaps, unpriced, 0 FROM torn WHERE torn.place = t.place
      UNION ALL SELECT ${bucket}, NULL, 0, 0, deposits + withdrawals + claims FROM (${flowsIn(1, ofTop)}) f
    ) r GROUP BY bucket
  ) c
  UNION ALL SELECT 0, bucket, sum(usd), 0, 0, 0 FROM (${wholeRows(one)}) w GROUP BY bucket
), shown AS (
  SELECT c.*, 100 * usd / nullif(whole, 0) AS share
  FROM (SELECT *, place = 0 AS is_whole, max(usd) FILTER (WHERE place = 0) OVER (PARTITION BY bucket ORDER BY place = 0 DESC, usd DESC, place ROWS UNBOUNDED PRECEDING) AS whole FROM cells) c
  WHERE NOT is_whole AND (usd > 0 OR swaps > 0 OR events > 0) ORDER BY bucket, is_whole DESC, usd DESC, place
)
SELECT (SELECT json_agg(pool_address ORDER BY place) FROM top) AS pools, json_agg(place) AS places, json_agg(date_part('epoch', bucket) * 1000) AS buckets, json_agg(usd) AS volumes, json_agg(swaps + events) AS counts,
  json_agg(share) AS shares, sum(unpriced)::int AS unpriced, sum(swaps)::int AS swaps
FROM shown`,
});
const POOLS = {
  all: { life: pools(true, false), window: pools(false, false) },
  one: { life: pools(true, true), window: pools(false, true) },
};

/** Fewer cells are told at once. */
const MANY_CELLS = 1_000;

/** The window; where its cells are many both halves of it, which meet between two buckets and are asked for side by side. */
function partsOf({ window, bucket_size, limit }: PoolCellsArgs): Window[] {
  const size = BUCKETS[bucket_size];
  const [first, last] = [Math.floor(window.from.getTime() / size), Math.ceil(window.to.getTime() / size)];
  if (limit * (last - first) < MANY_CELLS) return [window];
  const middle = new Date(Math.ceil((first + last) / 2) * size);
  return [
    { from: window.from, to: middle },
    { from: middle, to: window.to },
  ];
}

/** Pools by their volume in each bucket in which anything happened, oldest first, most volume first in each. */
export async function listPoolCells(sql: Sql, { life, ...scope }: PoolCellsArgs): Promise<PoolCells> {
  const statements = scope.pool_type === null ? POOLS.all : POOLS.one;
  const whole = spanOf(life ? windowOf('all', scope.window.to) : scope.window);
  const list = (window: Window): Promise<(Told & QueryResultRow)[]> =>
    sql.query(life ? statements.life : statements.window, [...valuesOf({ ...scope, window }), scope.limit, ...whole]);
  const parts = (await Promise.all(partsOf({ life, ...scope }).map(list))).flat().filter(({ places }) => places !== null);
  return {
    pools: parts[0]?.pools ?? [],
    cells: parts.flatMap(cellsOf),
    unpriced: parts.reduce((sum, { unpriced }) => sum + unpriced, 0),
    swaps: parts.reduce((sum, { swaps }) => sum + swaps, 0),
  };
}

const cellsOf = ({ pools, places, buckets, volumes, counts, shares }: Told): PoolCell[] =>
  (places ?? []).map((place, i) => ({
    pool_address: pools[place - 1] as string,
    bucket: new Date(buckets[i] as number),
    volume_usd: volumes[i] as number,
    event_count: counts[i] as number,
    pct_of_bucket: shares[i] as number | null,
  }));

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
  ...(bucket_size === '1d' ? spanOf(window) : hourSpanOf(window)),
  pool_type,
  intervalOf(bucket_size),
];
