import type { Sql, Statement } from '../../../db/sql';
import { afterwards } from '../../../db/segments';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import { POOL_TYPES, type PoolType } from '../chain-addresses';
import { unlessEmpty } from './segments';
import { actedIn, smartIn } from './presence';
import { flowSumsOfLife, named, ofType, swapSumsOfLife, typeFlowsIn, typeSwapsIn } from './span';
import { spanOf } from './window-span';

export interface PlatformStatsArgs {
  /** Null: both. */
  pool_type: PoolType | null;
  window: Window;
  /** Window of equal length just before; null where there is none. */
  previous: Window | null;
}

/** Totals of one pool type, or of all (`pool_type` null). Numeric columns are decimal text, counts too. */
interface ProviderTotalsRow {
  pool_type: PoolType | null;
  /** Deposits plus withdrawals. */
  volume_usd: string;
  /** Against the window before, over all types asked for; null without one or when nothing moved in it. */
  volume_change_pct: number | null;
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

interface PlatformExtrasRow {
  new_lps: string;
  smart_lps: string;
}

interface EarnedFeesRow {
  pool_type: PoolType;
  fees_usd: string | null;
  swaps: string;
}

/** Providers who were there last in the time between two parameters of the window, by type. */
const lastBetween = (from: number, to: number): string =>
  unlessEmpty(
    from,
    to,
    `UNION ALL SELECT l.pool_type, count(*) FROM lp_owner_life l WHERE l.owner <> '' AND l.last_at >= $${from} AND l.last_at < $${to} ${ofType(7)('l')} GROUP BY l.pool_type`,
  );

/** The same between two whole hours. */
const lastInHours = (from: number, to: number): string =>
  unlessEmpty(
    from,
    to,
    `UNION ALL SELECT h.pool_type, sum(h.last) FROM lp_life_hour h WHERE h.hour >= $${from} AND h.hour < $${to} ${ofType(7)('h')} GROUP BY h.pool_type`,
  );

/** Providers who were there last on a whole UTC day of the window or in a whole hour around its days, by type; and those of its edges, and who came again after it. */
const OWNERS = `
SELECT pool_type, sum(n) AS lp_count FROM (
  SELECT d.pool_type, sum(d.last) AS n FROM lp_life_day d WHERE d.day >= $5 AND d.day < $6 ${ofType(7)('d')} GROUP BY d.pool_type
  ${lastInHours(3, 5)} ${lastInHours(6, 4)} ${lastBetween(1, 3)} ${lastBetween(4, 2)}
  ${afterwards('$2::timestamptz', `UNION ALL SELECT l.pool_type, count(*) FROM lp_owner_life l WHERE l.owner <> '' AND l.last_at >= $2 AND ${actedIn('l', 1, 2)} ${ofType(7)('l')} GROUP BY l.pool_type`)}
) o GROUP BY pool_type`;

const SUMS_OF_TYPES = `sum(deposit_usd) AS deposits_usd, sum(withdraw_usd) AS withdrawals_usd, sum(claim_usd) AS fees_claimed_usd,
    sum(deposits + withdrawals + claims) AS event_count, sum(unpriced) AS unpriced, min(first_at) AS first_at`;

/** Pools that were in use last in the window, or once more after it, by type. */
const POOLS = `
SELECT p.pool_type, count(*) AS n FROM lp_flow_life p WHERE p.last_at >= $1 AND (p.last_at < $2 ${afterwards(
  '$2::timestamptz',
  'OR EXISTS (SELECT 1 FROM lp_event e WHERE e.pool_address = p.pool_address AND e."timestamp" >= $1 AND e."timestamp" < $2)',
)}) ${ofType(7)('p')} GROUP BY GROUPING SETS ((p.pool_type), ())`;

const PROVIDED = `provided AS (
  SELECT f.*, p.n AS pool_count FROM (
    SELECT pool_type, ${SUMS_OF_TYPES} FROM (${typeFlowsIn(1, ofType(7))}) f GROUP BY GROUPING SETS ((pool_type), ())
  ) f JOIN (${POOLS}) p ON p.pool_type IS NOT DISTINCT FROM f.pool_type
)`;

const PROVIDED_IN_LIFE = `pools AS (${flowSumsOfLife(1, ofType(7))}
), provided AS (SELECT pool_type, ${SUMS_OF_TYPES}, count(*) AS pool_count FROM pools GROUP BY GROUPING SETS ((pool_type), ()))`;

/** The row without type is the total; an owner of both types is one owner there. `life`: the window begins before everything. */
const totals = (life: boolean): Statement => ({
  name: `lp_platform_totals${life ? '_life' : ''}`,
  keyed: true,
  text: `
WITH ${life ? PROVIDED_IN_LIFE : PROVIDED}, owners AS (${OWNERS}
)
SELECT p.*, coalesce(o.lp_count, 0) AS lp_count, p.deposits_usd + p.withdrawals_usd AS volume_usd, p.deposits_usd - p.withdrawals_usd AS net_flow_usd
FROM provided p LEFT JOIN owners o ON o.pool_type = coalesce(p.pool_type, $7, 'all') WHERE p.event_count > 0`,
});

const PREVIOUS: Statement = {
  name: 'lp_platform_previous',
  keyed: true,
  text: `SELECT sum(deposit_usd + withdraw_usd) AS usd FROM (${typeFlowsIn(1, ofType(7))}) f`,
};

/** Providers who came first in the time between two parameters of the window, as a summand; and between two whole hours. */
const cameBetween = (from: number, to: number): string =>
  unlessEmpty(
    from,
    to,
    `+ (SELECT count(*) FROM lp_owner_life l WHERE l.owner <> '' AND l.first_at >= $${from} AND l.first_at < $${to} AND l.pool_type = coalesce($7::text, 'all'))`,
  );
const cameInHours = (from: number, to: number): string =>
  unlessEmpty(
    from,
    to,
    `+ (SELECT coalesce(sum(h.came), 0) FROM lp_life_hour h WHERE h.hour >= $${from} AND h.hour < $${to} AND h.pool_type = coalesce($7::text, 'all'))`,
  );

/**
 * New: no event before the window. Smart: on the day before one of the owner's events of the window the newest score run
 * gave at least SMART_SCORE; days are looked at only of those who were so after the window as well.
 */
const EXTRAS: Statement = {
  name: 'lp_platform_extras',
  keyed: true,
  text: `
SELECT
  (SELECT coalesce(sum(d.came), 0) FROM lp_life_day d WHERE ${named(1)} AND d.pool_type = coalesce($7::text, 'all') AND d.day >= $5 AND d.day < $6)
    ${cameInHours(3, 5)} ${cameInHours(6, 4)} ${cameBetween(1, 3)} ${cameBetween(4, 2)} AS new_lps,
  (SELECT count(*) FROM lp_smart_life l WHERE l.pool_type = coalesce($7::text, 'all') AND l.last_at >= $1 AND l.last_at < $2)
    ${afterwards(
      '$2::timestamptz',
      `+ (SELECT count(*) FROM lp_smart_life l WHERE l.pool_type = coalesce($7::text, 'all') AND l.last_at >= $2 AND l.first_at < $2
      AND EXISTS (SELECT 1 FROM lp_smart_pool p WHERE p.owner = l.owner AND ${smartIn('p', 1, 2)} ${ofType(7)('p')}))`,
    )} AS smart_lps`,
};

/** Types of pools that are quiet in the window: something told of their swaps before it, nothing in it. */
const QUIET = `SELECT t.pool_type, 0, 0 FROM unnest('{${POOL_TYPES.join(',')}}'::text[]) t(pool_type)
WHERE t.pool_type NOT IN (SELECT pool_type FROM told) ${ofType(7)('t')} AND EXISTS (SELECT 1 FROM lp_type_swap_hour h WHERE h.pool_type = t.pool_type AND h.hour < $1)`;

/** What providers earned: stated fees of an hour without the protocol's part where there are any, else those of the swaps seen in it. */
const earned = (life: boolean): Statement => ({
  name: `lp_platform_earned${life ? '_life' : ''}`,
  keyed: true,
  text: life
    ? `
SELECT p.pool_type, sum(s.fee_usd) AS fees_usd, sum(s.swaps) AS swaps
FROM (${swapSumsOfLife(1)}) s
JOIN lp_pool p ON p.pool_address = s.pool_address WHERE $7::text IS NULL OR p.pool_type = $7 GROUP BY p.pool_type`
    : `
WITH told AS MATERIALIZED (SELECT s.pool_type, sum(s.fee_usd) AS fees_usd, sum(s.swaps) AS swaps FROM (${typeSwapsIn(1, ofType(7))}) s GROUP BY s.pool_type)
SELECT * FROM told UNION ALL ${QUIET}`,
});

const STATEMENTS = {
  life: { totals: totals(true), earned: earned(true) },
  window: { totals: totals(false), earned: earned(false) },
};

export interface PlatformStats {
  totals: ProviderTotalsRow[];
  extras: PlatformExtrasRow;
  earned: EarnedFeesRow[];
}

/** Totals of all providers in a window; `totals` is empty when nothing happened in it. */
export async function getPlatformStats(sql: Sql, { pool_type, window, previous }: PlatformStatsArgs): Promise<PlatformStats> {
  const span = spanOf(window);
  const statements = window.from.getTime() === BEGINNING.getTime() ? STATEMENTS.life : STATEMENTS.window;
  const [rows, extras, fees, before] = await Promise.all([
    sql.query<Omit<ProviderTotalsRow, 'volume_change_pct'>>(statements.totals, [...span, pool_type]),
    sql.query<PlatformExtrasRow>(EXTRAS, [...span, pool_type]),
    sql.query<EarnedFeesRow>(statements.earned, [...span, pool_type]),
    previous === null ? [] : sql.query<{ usd: string | null }>(PREVIOUS, [...spanOf(previous), pool_type]),
  ]);
  const all = rows.find((row) => row.pool_type === null);
  const change = all === undefined ? null : changePercent(Number(all.volume_usd), Number(before[0]?.usd ?? 0));
  return {
    totals: rows.map((row) => ({ ...row, volume_change_pct: row.pool_type === null ? change : null })),
    extras: extras[0] as PlatformExtrasRow,
    earned: fees,
  };
}

/** Null where there was nothing before. */
export const changePercent = (now: number, before: number): number | null => (before === 0 ? null : (100 * (now - before)) / before);
