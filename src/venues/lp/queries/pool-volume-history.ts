import type { Sql, Statement } from '../../../db/sql';
import { BUCKETS, type BucketSize, intervalOf } from '../../../lib/grid';
import { bucketOf } from '../../../lib/tiles';
import { HOUR_MS } from '../../../lib/time';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import { eventsIn, flowsIn, ofPool, swapsIn, swapsToldBefore } from './span';
import { hourSpanOf, spanOf, spanOfBuckets } from './window-span';

export interface PoolVolumeArgs {
  pool_address: string;
  window: Window;
  bucket_size: BucketSize;
}

/** One bucket that is not empty. Numeric columns are decimal text, counts numbers. */
export interface PoolVolumeRow {
  bucket: Date;
  /** Null where the bucket tells no swap volume. */
  volume_usd: string | null;
  fees_usd: string | null;
  swaps: number;
  unpriced: number;
  deposits: number;
  withdrawals: number;
  claims: number;
  deposit_usd: string;
  withdraw_usd: string;
  claim_usd: string;
  unpriced_events: number;
  unique_lps: number;
  /** Deposits minus withdrawals since the pool began, up to the end of the bucket. */
  net_liquidity_usd: string;
  /** The same up to the start of the window. */
  net_before_usd: string;
  /** Events before the window without known USD. */
  unpriced_before: number;
}

/** Whole buckets have their providers counted; told apart are those of the buckets that the window cuts, whose spans are $15 and $21. */
const HISTORY: Statement = {
  name: 'lp_pool_volume_history',
  keyed: true,
  text: `
WITH swaps AS (
  SELECT ${bucketOf('hour', '$8::interval')} AS bucket, sum(usd) AS usd, sum(fee_usd) AS fee_usd, sum(swaps) AS n, sum(unpriced) AS unpriced FROM (${swapsIn(1, ofPool(7))}) s GROUP BY 1
), events AS (
  SELECT ${bucketOf('hour', '$8::interval')} AS bucket, sum(deposits) AS deposits, sum(withdrawals) AS withdrawals, sum(claims) AS claims, sum(deposit_usd) AS deposit_usd,
    sum(withdraw_usd) AS withdraw_usd, sum(claim_usd) AS claim_usd, sum(unpriced) AS unpriced
  FROM (${flowsIn(1, ofPool(7))}) e GROUP BY 1
), owners AS (
  SELECT c.bucket, c.owners AS n FROM lp_owner_count c WHERE c.pool_address = $7 AND c.bucket >= $16 AND c.bucket < $21 AND c.hours = extract(hour FROM $8::interval)::int
  UNION ALL SELECT ${bucketOf('hour', '$8::interval')}, count(DISTINCT owner) FROM (${eventsIn(15, ofPool(7))} UNION ALL ${eventsIn(21, ofPool(7))}) e WHERE owner <> '' GROUP BY 1
), before AS (SELECT coalesce(sum(deposit_usd - withdraw_usd), 0) AS usd, coalesce(sum(unpriced), 0)::int AS unpriced FROM (${flowsIn(9, ofPool(7))}) e)
SELECT bucket, s.usd AS volume_usd, s.fee_usd AS fees_usd, coalesce(s.n, 0)::int AS swaps, coalesce(s.unpriced, 0)::int AS unpriced,
  coalesce(e.deposits, 0)::int AS deposits, coalesce(e.withdrawals, 0)::int AS withdrawals, coalesce(e.claims, 0)::int AS claims,
  coalesce(e.deposit_usd, 0) AS deposit_usd, coalesce(e.withdraw_usd, 0) AS withdraw_usd, coalesce(e.claim_usd, 0) AS claim_usd,
  coalesce(e.unpriced, 0)::int AS unpriced_events, coalesce(o.n, 0)::int AS unique_lps,
  (SELECT usd FROM before) + sum(coalesce(e.deposit_usd, 0) - coalesce(e.withdraw_usd, 0)) OVER (ORDER BY bucket) AS net_liquidity_usd, (SELECT usd FROM before) AS net_before_usd, (SELECT unpriced FROM before) AS unpriced_before
FROM swaps s FULL JOIN events e USING (bucket) LEFT JOIN owners o USING (bucket) ORDER BY bucket`,
};

/** Buckets of a pool in which anything happened, oldest first. */
export function listPoolVolume(sql: Sql, { pool_address, window, bucket_size }: PoolVolumeArgs): Promise<PoolVolumeRow[]> {
  const before = spanOf({ from: BEGINNING, to: window.from });
  const [first, last] = cutOf(window, BUCKETS[bucket_size]);
  return sql.query<PoolVolumeRow>(HISTORY, [
    ...spanOfBuckets(window, bucket_size),
    pool_address,
    intervalOf(bucket_size),
    ...before,
    ...hourSpanOf(first),
    ...hourSpanOf(last),
  ]);
}

/** What lies before and after the whole buckets of a window. */
function cutOf({ from, to }: Window, size: number): [Window, Window] {
  const first = Math.min(Math.ceil(from.getTime() / size) * size, to.getTime());
  const last = Math.max(Math.floor(to.getTime() / size) * size, first);
  return [
    { from, to: new Date(first) },
    { from: new Date(last), to },
  ];
}

const stated = (which: 'min' | 'max'): string =>
  `SELECT ${which}(hour) FROM lp_pool_hour WHERE pool_address = $1 AND hour < $2 AND stated_usd IS NOT NULL`;

// Which hours are stated is asked only where single swaps are not seen: it looks all hours of a pool through that has none.
// Single swaps of all pools are seen since the first of any.
const VOLUME_KNOWN: Statement = {
  name: 'lp_pool_volume_known',
  keyed: true,
  text: `
SELECT ${swapsToldBefore('$1', '$2')} AS known, s.seen, CASE WHEN s.seen THEN (SELECT min(bar) FROM lp_pool_bar) ELSE (${stated('min')}) END AS since, CASE WHEN NOT s.seen THEN (${stated('max')}) END AS last
FROM (SELECT $3::boolean AND EXISTS (SELECT 1 FROM lp_pool_bar WHERE pool_address = $1 AND bar < $2 AND first_at < $2) AS seen OFFSET 0) s`,
};

interface VolumeKnown {
  /** Whether anything tells the pool's swaps. */
  known: boolean;
  /** Whether a bucket without any is one of no volume. */
  within(bucket: Date): boolean;
}

/**
 * What is known of the volume of a pool, up to `now`: where single swaps are seen, all of it since any were; where the venue states hours, what is cut into
 * buckets that hold an hour of those stated which begins in the window: a stated hour cannot be cut.
 */
export async function volumeKnown(
  sql: Sql,
  { pool_address, swaps_seen }: { pool_address: string; swaps_seen: boolean },
  window: Window,
  size: BucketSize,
): Promise<VolumeKnown> {
  const values = [pool_address, window.to, swaps_seen];
  const [row] = await sql.query<{ known: boolean; seen: boolean; since: Date | null; last: Date | null }>(VOLUME_KNOWN, values);
  const { known = false, seen = false, since = null, last = null } = row ?? {};
  const first = seen ? window.from.getTime() : Math.ceil(window.from.getTime() / HOUR_MS) * HOUR_MS;
  const begin = Math.max(first, since?.getTime() ?? 0);
  const end = seen ? Number.POSITIVE_INFINITY : (last?.getTime() ?? 0) + HOUR_MS;
  const holds = (bucket: number): boolean => Math.max(bucket, begin) < Math.min(bucket + BUCKETS[size], end);
  return { known, within: (bucket) => known && (since === null || holds(bucket.getTime())) };
}
