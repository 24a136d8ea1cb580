import { bucketOf, quarterOf } from '../../../lib/tiles';
import { hourOf } from './buckets';

/** What providers did, as every rollup of it counts: events by kind, USD by kind, events without USD, first and last. */
export const SUMS = 'deposits, withdrawals, claims, deposit_usd, withdraw_usd, claim_usd, unpriced, first_at, last_at';

/** The sums over the rows of an alias that has them. */
export const summed = (a: string): string =>
  `sum(${a}.deposits)::int AS deposits, sum(${a}.withdrawals)::int AS withdrawals, sum(${a}.claims)::int AS claims,
  sum(${a}.deposit_usd) AS deposit_usd, sum(${a}.withdraw_usd) AS withdraw_usd, sum(${a}.claim_usd) AS claim_usd,
  sum(${a}.unpriced)::int AS unpriced, min(${a}.first_at) AS first_at, max(${a}.last_at) AS last_at`;

/** Start of the UTC day of an instant, as SQL. */
export const dayOf = (hour: string): string => `date_trunc('day', ${hour}, 'UTC')`;

/** Start of the UTC month of an instant, as SQL. */
export const monthOf = (day: string): string => `date_trunc('month', ${day}, 'UTC')`;

/** A rollup that is counted from another one: `select` takes a FROM item, and join, over the alias that `insert` names. */
export interface Derived {
  table: string;
  columns: string;
  select: (source: string) => string;
}

/** What happened in a pool in one hour, over `lp_owner_hour o`. */
export const flowHours: Derived = {
  table: 'lp_flow_hour',
  columns: `pool_address, hour, pool_type, ${SUMS}`,
  select: (source) => `SELECT o.pool_address, o.hour, min(o.pool_type), ${summed('o')} FROM ${source} GROUP BY o.pool_address, o.hour`,
};

const flowsBy =
  (time: string): Derived['select'] =>
  (source) =>
    `SELECT f.pool_address, ${time}, min(f.pool_type), ${summed('f')} FROM ${source} GROUP BY f.pool_address, ${time}`;

/** The same by quarter of a UTC day, and by UTC day, over `lp_flow_hour f`. */
export const flowQuarters: Derived = {
  table: 'lp_flow_quarter',
  columns: `pool_address, quarter, pool_type, ${SUMS}`,
  select: flowsBy(quarterOf('f.hour')),
};
export const flowDays: Derived = {
  table: 'lp_flow_day',
  columns: `pool_address, day, pool_type, ${SUMS}`,
  select: flowsBy(dayOf('f.hour')),
};

/** The same by UTC month, over `lp_flow_day d`. */
export const flowMonths: Derived = {
  table: 'lp_flow_month',
  columns: `pool_address, month, pool_type, ${SUMS}`,
  select: (source) =>
    `SELECT d.pool_address, ${monthOf('d.day')}, min(d.pool_type), ${summed('d')} FROM ${source} GROUP BY d.pool_address, ${monthOf('d.day')}`,
};

/** All that ever happened in a pool, over `lp_flow_month m`. */
export const flowLives: Derived = {
  table: 'lp_flow_life',
  columns: `pool_address, pool_type, ${SUMS}`,
  select: (source) => `SELECT m.pool_address, min(m.pool_type), ${summed('m')} FROM ${source} GROUP BY m.pool_address`,
};

/** What happened in all pools of a type in one hour, over `lp_type_bar b`. */
export const typeHours: Derived = {
  table: 'lp_type_hour',
  columns: `hour, pool_type, ${SUMS}`,
  select: (source) => `SELECT ${hourOf('b.bar')}, b.pool_type, ${summed('b')} FROM ${source} GROUP BY ${hourOf('b.bar')}, b.pool_type`,
};

/** Events of an hour whose transaction was read, over the same. */
export const knownHours: Derived = {
  table: 'lp_known_hour',
  columns: 'hour, pool_type, events, moved_usd, unpriced',
  select: (source) => `
SELECT ${hourOf('b.bar')}, b.pool_type, sum(b.known)::int, sum(b.known_usd), sum(b.known_unpriced)::int
FROM ${source} GROUP BY ${hourOf('b.bar')}, b.pool_type HAVING sum(b.known) > 0`,
};

const swapsBy =
  (time: string): Derived['select'] =>
  (source) =>
    `
SELECT h.pool_address, ${time}, sum(h.swaps)::int, sum(CASE WHEN h.stated_usd IS NULL THEN h.unpriced ELSE 0 END)::int,
  sum(coalesce(h.stated_usd, h.swap_usd)), sum(coalesce(h.stated_fee_usd, h.swap_fee_usd)), min(h.first_at)
FROM ${source} GROUP BY h.pool_address, ${time}`;

/** What was swapped in a pool in a quarter of a UTC day, and on one, over `lp_pool_hour h`: of each hour what the index states, else what was seen. */
export const poolQuarters: Derived = {
  table: 'lp_pool_quarter',
  columns: 'pool_address, quarter, swaps, unpriced, usd, fee_usd, first_at',
  select: swapsBy(quarterOf('h.hour')),
};
export const poolDays: Derived = {
  table: 'lp_pool_day',
  columns: 'pool_address, day, swaps, unpriced, usd, fee_usd, first_at',
  select: swapsBy(dayOf('h.hour')),
};

/** The same by UTC month, over `lp_pool_day d`. */
export const poolMonths: Derived = {
  table: 'lp_pool_month',
  columns: 'pool_address, month, swaps, unpriced, usd, fee_usd',
  select: (source) => `
SELECT d.pool_address, ${monthOf('d.day')}, sum(d.swaps)::int, sum(d.unpriced)::int, sum(d.usd), sum(d.fee_usd)
FROM ${source} GROUP BY d.pool_address, ${monthOf('d.day')}`,
};

/** All that was ever swapped in a pool, over `lp_pool_month m`. */
export const poolLives: Derived = {
  table: 'lp_pool_life',
  columns: 'pool_address, swaps, unpriced, usd, fee_usd',
  select: (source) => `
SELECT m.pool_address, sum(m.swaps)::int, sum(m.unpriced)::int, sum(m.usd), sum(m.fee_usd)
FROM ${source} GROUP BY m.pool_address`,
};

/** What was swapped in all pools of a type in an hour, over `lp_pool_hour h`: of each pool what the index states, else what was seen. Type empty: of pools not on record. */
export const typeSwapHours: Derived = {
  table: 'lp_type_swap_hour',
  columns: 'hour, pool_type, swaps, unpriced, usd, fee_usd',
  select: (source) => `
SELECT h.hour, coalesce(p.pool_type, ''), sum(h.swaps)::int, sum(CASE WHEN h.stated_usd IS NULL THEN h.unpriced ELSE 0 END)::int, sum(coalesce(h.stated_usd, h.swap_usd)),
  sum(coalesce(h.stated_fee_usd, h.swap_fee_usd))
FROM ${source} LEFT JOIN lp_pool p ON p.pool_address = h.pool_address GROUP BY h.hour, coalesce(p.pool_type, '')`,
};

/** What a provider did in a pool on one UTC day, over `lp_owner_hour o`. */
export const ownerDays: Derived = {
  table: 'lp_owner_day',
  columns: `owner, day, pool_address, pool_type, ${SUMS}`,
  select: (source) =>
    `SELECT o.owner, ${dayOf('o.hour')}, o.pool_address, min(o.pool_type), ${summed('o')} FROM ${source} GROUP BY o.owner, ${dayOf('o.hour')}, o.pool_address`,
};

/** What a provider ever did in a pool, over `lp_owner_day d`. */
export const ownerPools: Derived = {
  table: 'lp_owner_pool',
  columns: `pool_address, owner, pool_type, ${SUMS}`,
  select: (source) => `SELECT d.pool_address, d.owner, min(d.pool_type), ${summed('d')} FROM ${source} GROUP BY d.pool_address, d.owner`,
};

/** What a provider ever did in pools of a type, and in all, over `lp_owner_pool p`. */
export const ownerLives: Derived = {
  table: 'lp_owner_life',
  columns: `owner, pool_type, pools, ${SUMS}`,
  select: (source) => `
SELECT p.owner, t.pool_type, count(*)::int, ${summed('p')}
FROM ${source} CROSS JOIN LATERAL (VALUES (p.pool_type), ('all')) AS t(pool_type) GROUP BY p.owner, t.pool_type`,
};

const livesBy =
  (unit: (instant: string) => string): Derived['select'] =>
  (source) =>
    `
SELECT l.pool_type, t.unit, sum(t.came)::int, sum(t.last)::int
FROM ${source} CROSS JOIN LATERAL (VALUES (${unit('l.first_at')}, 1, 0), (${unit('l.last_at')}, 0, 1)) AS t(unit, came, last) WHERE l.owner <> '' GROUP BY l.pool_type, t.unit`;

/** How many providers came first and were there last on each UTC day, and in each hour, by type of pool and in all, over `lp_owner_life l`. */
export const lifeDays: Derived = { table: 'lp_life_day', columns: 'pool_type, day, came, last', select: livesBy(dayOf) };
export const lifeHours: Derived = { table: 'lp_life_hour', columns: 'pool_type, hour, came, last', select: livesBy(hourOf) };

/** The UTC day and the UTC month of an instant, as an item (unit, since) of a FROM list. */
export const lastUnits = (at: string): string => `LATERAL (VALUES ('day', ${dayOf(at)}), ('month', ${monthOf(at)})) AS t(unit, since)`;

/** How many providers were in a pool last on each UTC day and in each UTC month, over `lp_owner_pool p`. */
export const poolLasts: Derived = {
  table: 'lp_pool_last',
  columns: 'pool_address, unit, since, owners',
  select: (source) =>
    `SELECT p.pool_address, t.unit, t.since, count(*)::int FROM ${source} CROSS JOIN ${lastUnits('p.last_at')} WHERE p.owner <> '' GROUP BY p.pool_address, t.unit, t.since`,
};

/** Lengths in hours of the buckets that `ownerCounts` counts in, as a FROM item. */
export const BUCKET_LENGTHS = '(VALUES (1), (4), (12), (24)) AS s(hours)';

/** Start of the bucket of `s.hours` hours that an hour is in, as SQL. */
export const countedBucketOf = (hour: string): string => bucketOf(hour, 'make_interval(hours => s.hours)');

/** How many providers did something in a pool in buckets of `s.hours`, over `lp_owner_hour o`. */
export const ownerCounts: Derived = {
  table: 'lp_owner_count',
  columns: 'pool_address, bucket, hours, owners',
  select: (source) => `
SELECT b.pool_address, b.bucket, b.hours, count(*)::int
FROM (SELECT DISTINCT o.pool_address, s.hours, ${countedBucketOf('o.hour')} AS bucket, o.owner FROM ${source} WHERE o.owner <> '') b GROUP BY b.pool_address, b.bucket, b.hours`,
};

/** Liquidity of a pool on a UTC day, over `lp_liquidity_hour l`: its hours that have any, and their sum. */
export const liquidityDays: Derived = {
  table: 'lp_liquidity_day',
  columns: 'pool_address, day, hours, liquidity_usd',
  select: (source) =>
    `SELECT l.pool_address, ${dayOf('l.hour')}, count(*)::int, sum(l.liquidity_usd) FROM ${source} GROUP BY l.pool_address, ${dayOf('l.hour')}`,
};

/** Every derived rollup with the whole table it is counted from, in the order they build on each other. */
export const DERIVED: readonly (readonly [Derived, string])[] = [
  [flowHours, 'lp_owner_hour o'],
  [flowQuarters, 'lp_flow_hour f'],
  [flowDays, 'lp_flow_hour f'],
  [flowMonths, 'lp_flow_day d'],
  [flowLives, 'lp_flow_month m'],
  [typeHours, 'lp_type_bar b'],
  [knownHours, 'lp_type_bar b'],
  [ownerCounts, `lp_owner_hour o CROSS JOIN ${BUCKET_LENGTHS}`],
  [poolQuarters, 'lp_pool_hour h'],
  [poolDays, 'lp_pool_hour h'],
  [poolMonths, 'lp_pool_day d'],
  [poolLives, 'lp_pool_month m'],
  [typeSwapHours, 'lp_pool_hour h'],
  [ownerDays, 'lp_owner_hour o'],
  [ownerPools, 'lp_owner_day d'],
  [ownerLives, 'lp_owner_pool p'],
  [poolLasts, 'lp_owner_pool p'],
  [lifeDays, 'lp_owner_life l'],
  [lifeHours, 'lp_owner_life l'],
  [liquidityDays, 'lp_liquidity_hour l'],
];

/** The statement that fills a derived rollup from `source`. */
export const fill = ({ table, columns, select }: Derived, source: string): string => `INSERT INTO ${table} (${columns}) ${select(source)}`;
