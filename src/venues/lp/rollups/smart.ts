import type { PoolClient } from 'pg';
import { SMART_SCORE } from '../scoring/formula';
import { dayOf, fill, lastUnits, type Derived } from './days';

/** A UTC day (a date) and a score as one whole number; and the score of the newest day among such numbers, as numeric with one place. */
const datedScore = (day: string, score: string): string => `(${day} - DATE '2000-01-01') * 10000 + (${score} * 10)::int`;
export const newestScore = (dated: string): string => `(max(${dated}) % 10000) * 0.1`;

const FLOWS = ['deposit_usd', 'withdraw_usd', 'claim_usd'] as const;

/** Of `lp_owner_day d`, the days of providers who were smart by the newest score run before them, with that score. */
export const smartDays: Derived = {
  table: 'lp_smart_day',
  columns: `owner, day, pool_address, pool_type, score, dated_score, ${FLOWS.join(', ')}, first_at, last_at`,
  select: (source) => `
WITH d AS (SELECT d.* FROM ${source}),
runs AS (SELECT q.day, (SELECT max(r.day) FROM lp_score r WHERE r.day < (q.day AT TIME ZONE 'UTC')::date) AS run FROM (SELECT DISTINCT day FROM d) q)
SELECT d.owner, d.day, d.pool_address, d.pool_type, s.score, ${datedScore("(d.day AT TIME ZONE 'UTC')::date", 's.score')}, ${FLOWS.map((name) => `d.${name}`).join(', ')}, d.first_at, d.last_at
FROM d JOIN runs r ON r.day = d.day JOIN lp_score s ON s.owner = d.owner AND s.day = r.run AND s.score >= ${SMART_SCORE} WHERE d.owner <> ''`,
};

/** What providers did in a pool on all their smart days, and the newest score of these, over `lp_smart_day d`. */
export const smartPools: Derived = {
  table: 'lp_smart_pool',
  columns: `owner, pool_address, pool_type, score, ${FLOWS.join(', ')}, first_at, last_at`,
  select: (source) => `
SELECT d.owner, d.pool_address, min(d.pool_type), (array_agg(d.score ORDER BY d.day DESC))[1], ${FLOWS.map((name) => `sum(d.${name})`).join(', ')}, min(d.first_at), max(d.last_at)
FROM ${source} GROUP BY d.owner, d.pool_address`,
};

/** From when to when providers were smart in pools of a type, and in all, over `lp_smart_pool p`. */
export const smartLives: Derived = {
  table: 'lp_smart_life',
  columns: 'owner, pool_type, first_at, last_at',
  select: (source) => `
SELECT p.owner, t.pool_type, min(p.first_at), max(p.last_at)
FROM ${source} CROSS JOIN LATERAL (VALUES (p.pool_type), ('all')) AS t(pool_type) GROUP BY p.owner, t.pool_type`,
};

/** What the providers who were smart on a day did in a pool on it, over `lp_smart_day d`. */
export const smartFlowDays: Derived = {
  table: 'lp_smart_flow_day',
  columns: `pool_address, day, pool_type, ${FLOWS.join(', ')}`,
  select: (source) =>
    `SELECT d.pool_address, d.day, min(d.pool_type), ${FLOWS.map((name) => `sum(d.${name})`).join(', ')} FROM ${source} GROUP BY d.pool_address, d.day`,
};

/** The same in each hour, over `lp_owner_hour o` joined to `lp_smart_day d`. */
export const smartFlowHours: Derived = {
  table: 'lp_smart_flow_hour',
  columns: `pool_address, hour, pool_type, ${FLOWS.join(', ')}`,
  select: (source) =>
    `SELECT o.pool_address, o.hour, min(o.pool_type), ${FLOWS.map((name) => `sum(o.${name})`).join(', ')} FROM ${source} GROUP BY o.pool_address, o.hour`,
};

/** A join on `lp_owner_hour o`: the smart day that the hour is of. */
export const ON_SMART_DAY = `JOIN lp_smart_day d ON d.owner = o.owner AND d.day = ${dayOf('o.hour')} AND d.pool_address = o.pool_address`;

/** How many providers were smart in a pool last on each UTC day and in each UTC month, and the sum of their newest scores, over `lp_smart_pool p`. */
export const smartLasts: Derived = {
  table: 'lp_smart_last',
  columns: 'pool_address, unit, since, pool_type, owners, scores',
  select: (source) => `
SELECT p.pool_address, t.unit, t.since, min(p.pool_type), count(*)::int, sum(p.score)
FROM ${source} CROSS JOIN ${lastUnits('p.last_at')} GROUP BY p.pool_address, t.unit, t.since`,
};

/** The rollups of smart providers with the whole table each is counted from, in the order they build on each other. */
export const SMART_DERIVED: readonly (readonly [Derived, string])[] = [
  [smartDays, 'lp_owner_day d'],
  [smartPools, 'lp_smart_day d'],
  [smartLives, 'lp_smart_pool p'],
  [smartFlowDays, 'lp_smart_day d'],
  [smartFlowHours, `lp_owner_hour o ${ON_SMART_DAY}`],
  [smartLasts, 'lp_smart_pool p'],
];

/** Counts anew the smart days after a UTC day (YYYY-MM-DD), which scores of that day change. The caller holds the lock of rollups. */
export async function recountSmart(client: PoolClient, after: string): Promise<void> {
  const later = `day > $1::date::timestamp AT TIME ZONE 'UTC'`;
  await client.query(`DELETE FROM lp_smart_day WHERE ${later}`, [after]);
  await client.query(fill(smartDays, `lp_owner_day d WHERE d.${later}`), [after]);
  await client.query(`DELETE FROM lp_smart_flow_day WHERE ${later}`, [after]);
  await client.query(fill(smartFlowDays, `lp_smart_day d WHERE d.${later}`), [after]);
  const sinceThen = `hour >= ($1::date + 1)::timestamp AT TIME ZONE 'UTC'`;
  await client.query(`DELETE FROM lp_smart_flow_hour WHERE ${sinceThen}`, [after]);
  await client.query(fill(smartFlowHours, `lp_owner_hour o ${ON_SMART_DAY} WHERE o.${sinceThen}`), [after]);
  await client.query('DELETE FROM lp_smart_pool');
  await client.query(fill(smartPools, 'lp_smart_day d'));
  for (const derived of [smartLives, smartLasts]) {
    await client.query(`DELETE FROM ${derived.table}`);
    await client.query(fill(derived, 'lp_smart_pool p'));
  }
}
