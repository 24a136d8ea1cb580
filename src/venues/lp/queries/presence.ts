import { afterwards } from '../../../db/segments';
import { monthOf } from '../rollups/days';
import { unlessEmpty } from './segments';
import { named } from './span';

/**
 * Condition: something of what `a` sums up (an alias with owner, first_at and last_at; `pool` tells its pool where it has one) happened
 * in [$from, $to). Windows end now, so the last event tells nearly always; facts are asked only about those who acted before, and after.
 */
export const actedIn = (
  a: string,
  from: number,
  to: number,
  pool = '',
): string => `(${a}.first_at < $${to} AND ${a}.last_at >= $${from} AND CASE
  WHEN ${a}.first_at >= $${from} OR ${a}.last_at < $${to} THEN true
  ELSE (SELECT true FROM lp_event f WHERE f.owner = ${a}.owner AND f."timestamp" >= $${from} AND f."timestamp" < $${to} AND ${a}.pool_type IN (f.pool_type, 'all')
    ${pool === '' ? '' : `AND f.pool_address = ${pool}`} LIMIT 1) END)`;

/**
 * Condition on the alias `a` of lp_smart_pool: on the day before something it did in the pool in [$from, $to) the owner was smart. Days are looked
 * up only of those who were smart before the window or after it as well.
 */
export const smartIn = (a: string, from: number, to: number): string => `(${a}.first_at < $${to} AND ${a}.last_at >= $${from} AND CASE
  WHEN ${a}.first_at >= $${from} OR ${a}.last_at < $${to} THEN true
  ELSE (SELECT true FROM lp_smart_day d WHERE d.owner = ${a}.owner AND d.pool_address = ${a}.pool_address
    AND d.day >= date_trunc('day', $${from}::timestamptz, 'UTC') AND d.day < $${to} AND ${actedIn('d', from, to, 'd.pool_address')} LIMIT 1) END)`;

const lastDays = (a: string, at: number): string => `${a}.unit = 'day' AND ${a}.since >= $${at + 4} AND ${a}.since < $${at + 5}`;

/** Condition on the rows of an alias that counts who was last: on all days before the start `end` of one, by their months and the days after these. They stand next to each other in the key. */
export const lastOfLife = (a: string, end: string): string =>
  `(${a}.unit, ${a}.since) >= ('day', ${monthOf(end)}) AND (${a}.unit, ${a}.since) < ('month', ${monthOf(end)}) AND (${a}.unit = 'month' OR ${a}.since < ${end})`;

/** The same on the whole UTC days of a span; `life`: it begins before everything. */
export const lastIn = (a: string, at: number, life: boolean): string =>
  `${named(at)} AND ${life ? lastOfLife(a, `$${at + 5}::timestamptz`) : lastDays(a, at)}`;

/** A table of pools, each once, and the span $at to $at + 5 of a window; `life`: it begins before everything. */
interface Counting {
  pools: string;
  at: number;
  life: boolean;
}

/**
 * Rows (pool_address, n) by counts of who was last in the whole UTC days of the span $at to $at + 5 (`life`: it begins before everything), by rows of `pairs` that were last
 * elsewhere in the window, and by those that were after it and for which `happened` holds.
 */
function countedPairs(lasts: string, pairs: string, { pools, at, life }: Counting, happened: string): string {
  const chosen = `pool_address = ANY(ARRAY(SELECT pool_address FROM ${pools}))`;
  // Of whoever is not known no score is: pairs of the smart are counted along their index.
  const owned = pairs === 'lp_owner_pool' ? ` AND p.owner <> ''` : '';
  // Pool by pool: by a plan made once, pairs of all pools were read by time instead, and most of them thrown away.
  const counted = (condition: string): string =>
    `UNION ALL SELECT s.pool_address, p.n FROM (SELECT pool_address FROM ${pools}) s CROSS JOIN LATERAL (SELECT count(*) AS n FROM ${pairs} p WHERE p.pool_address = s.pool_address${owned} AND ${condition}) p`;
  const lastBetween = (from: number, to: number): string => unlessEmpty(from, to, counted(`p.last_at >= $${from} AND p.last_at < $${to}`));
  return `
SELECT pool_address, sum(n) AS n FROM (
  SELECT l.pool_address, sum(l.owners) AS n FROM ${lasts} l WHERE l.${chosen} AND ${lastIn('l', at, life)} GROUP BY l.pool_address
  ${lastBetween(at, at + 4)} ${lastBetween(at + 5, at + 1)}
  ${afterwards(`$${at + 1}::timestamptz`, counted(`p.last_at >= $${at + 1} AND ${happened}`))}
) c GROUP BY pool_address HAVING sum(n) > 0`;
}

/**
 * Rows (pool_address, n): how many owners of each pool were smart on the day before something they did in it in the window. Who was so last on a whole UTC
 * day of it is counted already; asked for are those of its edges, and who was so again after it.
 */
export const smartCounts = (counting: Counting): string =>
  countedPairs('lp_smart_last', 'lp_smart_pool', counting, smartIn('p', counting.at, counting.at + 1));

/** Rows (pool_address, n): how many owners did something in each pool in the window. */
export const ownerCounts = (counting: Counting): string =>
  countedPairs('lp_pool_last', 'lp_owner_pool', counting, actedIn('p', counting.at, counting.at + 1, 'p.pool_address'));
