import type { Window } from '../../../lib/timeframe';
import { hourOf, ownerHours } from '../rollups/buckets';

const HOUR = 3_600_000;

/**
 * A window as four instants, the parameters of `swapsIn` and `eventsIn`: its ends, and inside them the whole hours that
 * rollups answer; what lies before and after those hours is read from facts, so that windows are exact.
 */
export function spanOf({ from, to }: Window): [from: Date, to: Date, wholeFrom: Date, wholeTo: Date] {
  const wholeFrom = Math.min(Math.ceil(from.getTime() / HOUR) * HOUR, to.getTime());
  const wholeTo = Math.max(Math.floor(to.getTime() / HOUR) * HOUR, wholeFrom);
  return [from, to, new Date(wholeFrom), new Date(wholeTo)];
}

/** SQL condition on the rows of an alias; the empty string for none. */
export type Filter = (alias: string) => string;
const none: Filter = () => '';

const edges = (alias: string, at: number): [string, string] => [
  `${alias}."timestamp" >= $${at} AND ${alias}."timestamp" < $${at + 2}`,
  `${alias}."timestamp" >= $${at + 3} AND ${alias}."timestamp" < $${at + 1}`,
];

/**
 * Swaps of a window whose span is `$at` to `$at + 3`, as rows (k, pool_address, hour, swaps, unpriced, usd, fee_usd, seen_usd): `usd` and
 * `fee_usd` are the stated ones of an hour where there are any, else those of the swaps seen in it, never both. A stated
 * hour counts where it begins; it cannot be cut.
 */
export function swapsIn(at: number, k = 0, filter: Filter = none): string {
  const edge = (condition: string): string => `
SELECT ${k}, s.pool_address, ${hourOf('s."timestamp"')}, 1, (s.usd IS NULL AND h.stated_usd IS NULL)::int, CASE WHEN h.stated_usd IS NULL THEN s.usd END,
  CASE WHEN h.stated_fee_usd IS NULL THEN s.fee_usd END, s.usd
FROM lp_swap s LEFT JOIN lp_pool_hour h ON h.pool_address = s.pool_address AND h.hour = ${hourOf('s."timestamp"')}
WHERE ${condition} ${filter('s')}`;
  return `
SELECT ${k} AS k, h.pool_address, h.hour, h.swaps, CASE WHEN h.stated_usd IS NULL THEN h.unpriced ELSE 0 END AS unpriced,
  coalesce(h.stated_usd, h.swap_usd) AS usd, coalesce(h.stated_fee_usd, h.swap_fee_usd) AS fee_usd, h.swap_usd AS seen_usd
FROM lp_pool_hour h WHERE h.hour >= $${at + 2} AND h.hour < $${at + 3} ${filter('h')}
UNION ALL SELECT ${k}, h.pool_address, h.hour, 0, 0, h.stated_usd, h.stated_fee_usd, NULL FROM lp_pool_hour h
WHERE h.hour = $${at + 3} AND h.hour >= $${at} AND h.hour < $${at + 1} AND h.stated_usd IS NOT NULL ${filter('h')}
UNION ALL ${edges('s', at).map(edge).join('\nUNION ALL ')}`;
}

/** Deposits, withdrawals and claims of a window, as rows of lp_owner_hour; an edge makes a row of its own. */
export function eventsIn(at: number, filter: Filter = none): string {
  return `
SELECT h.pool_address, h.hour, h.owner, h.pool_type, h.deposits, h.withdrawals, h.claims, h.deposit_usd, h.withdraw_usd, h.claim_usd, h.unpriced, h.first_at, h.last_at
FROM lp_owner_hour h WHERE h.hour >= $${at + 2} AND h.hour < $${at + 3} ${filter('h')}
UNION ALL ${edges('e', at)
    .map((condition) => ownerHours(`lp_event e WHERE ${condition} ${filter('e')}`))
    .join('\nUNION ALL ')}`;
}

/** A provider counts as smart when the newest score run before the day of one of its events gave at least this. */
export const SMART = 60;

/**
 * Distinct (pool_address, owner, score) of the owners who were smart on the day before an event of theirs: `events` names
 * a table of rows with pool_address, owner and hour. The score is the one before the newest such event.
 */
export const smartOwners = (events: string): string => `
SELECT DISTINCT ON (a.pool_address, a.owner) a.pool_address, a.owner, s.score
FROM (SELECT DISTINCT pool_address, owner, (hour AT TIME ZONE 'UTC')::date AS day FROM ${events} WHERE owner <> '') a
JOIN (SELECT d.day, (SELECT max(r.day) FROM lp_score r WHERE r.day < d.day) AS run FROM (SELECT DISTINCT (hour AT TIME ZONE 'UTC')::date AS day FROM ${events}) d) r ON r.day = a.day
JOIN lp_score s ON s.owner = a.owner AND s.day = r.run
WHERE s.score >= ${SMART} ORDER BY a.pool_address, a.owner, a.day DESC`;

/** Fees in percent of volume; null where either is unknown or nothing was swapped. */
export const feeRate = (fees: string, volume: string): string => `100 * ${fees} / nullif(${volume}, 0)`;

/** Highest fee a swap may cost, in percent: the DLMM program's MAX_FEE_RATE (10 %), and cp_amm's MAX_FEE_NUMERATOR_V1 (99 %). */
export const MOST_FEE_PCT = { dlmm: 10, damm_v2: 99 } as const;

/** Why a rate should not be taken at face value; null for no reason, or an age that nobody tells. */
export const feeRateFlag = (pool: string, rate: string, now: string): string => `CASE
  WHEN ${rate} > CASE ${pool}.pool_type WHEN 'dlmm' THEN ${MOST_FEE_PCT.dlmm} ELSE ${MOST_FEE_PCT.damm_v2} END THEN 'implausible'
  WHEN ${pool}.pool_type = 'damm_v2' AND ${rate} > 10 AND ${pool}.created_at > ${now} - interval '24 hours' THEN 'launch_fee_schedule' END`;
