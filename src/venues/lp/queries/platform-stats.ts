import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';

export interface PlatformStatsArgs {
  /** Null: both. */
  pool_type: PoolType | null;
  window: Window;
  /** Window of equal length just before; null where there is none. */
  previous: Window | null;
}

/** Totals of one pool type, or of all (`pool_type` null). Numeric columns are decimal text, counts too. */
export interface ProviderTotalsRow {
  pool_type: PoolType | null;
  /** Deposits plus withdrawals. */
  volume_usd: string;
  /** Against the window before, over all types asked for; null without one or when nothing moved in it. */
  volume_change_pct: string | null;
  /** Deposits minus withdrawals. */
  net_flow_usd: string;
  deposits_usd: string;
  withdrawals_usd: string;
  fees_claimed_usd: string;
  event_count: string;
  unpriced: string;
  first_at: Date;
  lp_count: string;
  pool_count: string;
}

export interface PlatformExtrasRow {
  new_lps: string;
  smart_lps: string;
}

export interface EarnedFeesRow {
  pool_type: PoolType;
  fees_usd: string | null;
  swaps: string;
}

/** A provider counts as smart from this score on (contract section 6: smart from 60). */
const SMART = 60;

/** Two statements a question: with and without the type, each with its own plan. */
const forType = (name: string, text: (filter: (alias: string) => string) => string): Record<'all' | 'one', Statement> => ({
  all: { name: `lp_platform_${name}_all`, text: text(() => 'AND $1::text IS NULL') },
  one: { name: `lp_platform_${name}_one`, text: text((alias) => `AND ${alias}.pool_type = $1::text`) },
});

/**
 * Sums are exact, so they are taken per owner first: one pass counts events, volume and distinct owners, without sorting
 * all events by owner. The row without type is the total; an owner of both types is one owner there.
 */
const TOTALS = forType(
  'totals',
  (filter) => `
WITH owners AS (
  SELECT e.pool_type, e.owner, count(*) AS n, count(*) FILTER (WHERE e.usd IS NULL) AS unpriced, sum(e.usd) FILTER (WHERE e.kind = 'deposit') AS deposits,
    sum(e.usd) FILTER (WHERE e.kind = 'withdraw') AS withdrawals, sum(e.usd) FILTER (WHERE e.kind = 'claim') AS claims, min(e."timestamp") AS first_at
  FROM lp_event e WHERE e."timestamp" >= $2 AND e."timestamp" < $3 ${filter('e')}
  GROUP BY e.pool_type, e.owner
), pools AS (
  SELECT e.pool_type, e.pool_address FROM lp_event e WHERE e."timestamp" >= $2 AND e."timestamp" < $3 ${filter('e')} GROUP BY e.pool_type, e.pool_address
), provided AS (
  SELECT pool_type, coalesce(sum(deposits), 0) AS deposits_usd, coalesce(sum(withdrawals), 0) AS withdrawals_usd, coalesce(sum(claims), 0) AS fees_claimed_usd,
    coalesce(sum(n), 0) AS event_count, coalesce(sum(unpriced), 0) AS unpriced, min(first_at) AS first_at, count(DISTINCT owner) AS lp_count
  FROM owners GROUP BY GROUPING SETS ((pool_type), ())
), used AS (
  SELECT pool_type, count(*) AS pool_count FROM pools GROUP BY GROUPING SETS ((pool_type), ())
)
SELECT p.*, u.pool_count, p.deposits_usd + p.withdrawals_usd AS volume_usd, p.deposits_usd - p.withdrawals_usd AS net_flow_usd,
  CASE WHEN p.pool_type IS NULL THEN (
    SELECT 100 * (p.deposits_usd + p.withdrawals_usd - sum(e.usd)) / nullif(sum(e.usd), 0) FROM lp_event e
    WHERE e."timestamp" >= $4::timestamptz AND e."timestamp" < $2 AND e.kind IN ('deposit', 'withdraw') ${filter('e')}) END AS volume_change_pct
FROM provided p JOIN used u ON u.pool_type IS NOT DISTINCT FROM p.pool_type`,
);

/**
 * New: no event before the window. Smart: on the day before one of the owner's events of the window the newest score run
 * gave at least SMART.
 */
const EXTRAS = forType(
  'extras',
  (filter) => `
WITH active AS (
  SELECT e.owner, (e."timestamp" AT TIME ZONE 'UTC')::date AS day FROM lp_event e
  WHERE e."timestamp" >= $2 AND e."timestamp" < $3 AND e.owner IS NOT NULL ${filter('e')}
  GROUP BY 1, 2
), owners AS (
  SELECT DISTINCT owner FROM active
), runs AS (
  SELECT d.day, (SELECT max(s.day) FROM lp_score s WHERE s.day < d.day) AS run FROM (SELECT DISTINCT day FROM active) d
)
SELECT
  (SELECT count(*) FROM owners o WHERE NOT EXISTS (SELECT FROM lp_event e WHERE e.owner = o.owner AND e."timestamp" < $2 ${filter('e')})) AS new_lps,
  (SELECT count(DISTINCT a.owner) FROM active a JOIN runs r ON r.day = a.day JOIN lp_score s ON s.owner = a.owner AND s.day = r.run WHERE s.score >= ${SMART}) AS smart_lps`,
);

/** What providers earned: stated fees of an hour without the protocol's part where there are any, else those of the swaps seen in it. */
const EARNED = forType(
  'earned',
  (filter) => `
SELECT pool_type, sum(fee) AS fees_usd, sum(swaps) AS swaps FROM (
  SELECT p.pool_type, v.fees_usd - coalesce(v.protocol_fees_usd, 0) AS fee, 0 AS swaps
  FROM lp_volume_hour v JOIN lp_pool p ON p.pool_address = v.pool_address
  WHERE v.hour >= $2 AND v.hour < $3 ${filter('p')}
  UNION ALL
  SELECT s.pool_type, s.fee_usd, 1 FROM lp_swap s LEFT JOIN lp_volume_hour v ON v.pool_address = s.pool_address AND v.hour = date_trunc('hour', s."timestamp", 'UTC')
  WHERE s."timestamp" >= $2 AND s."timestamp" < $3 AND v.fees_usd IS NULL ${filter('s')}
) f GROUP BY pool_type`,
);

export interface PlatformStats {
  totals: ProviderTotalsRow[];
  extras: PlatformExtrasRow;
  earned: EarnedFeesRow[];
}

/** Totals of all providers in a window; `totals` is empty when nothing happened in it. */
export async function getPlatformStats(sql: Sql, { pool_type, window, previous }: PlatformStatsArgs): Promise<PlatformStats> {
  const variant = pool_type === null ? 'all' : 'one';
  const values = [pool_type, window.from, window.to];
  const [totals, extras, earned] = await Promise.all([
    sql.query<ProviderTotalsRow>(TOTALS[variant], [...values, previous?.from ?? null]),
    sql.query<PlatformExtrasRow>(EXTRAS[variant], values),
    sql.query<EarnedFeesRow>(EARNED[variant], values),
  ]);
  return { totals: totals.filter((row) => Number(row.event_count) > 0), extras: extras[0] as PlatformExtrasRow, earned };
}
