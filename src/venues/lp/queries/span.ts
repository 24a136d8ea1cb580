import { barOf, quarterOf } from '../../../lib/tiles';
import { flowHoursOf, hourOf, ownerHours, typeSumsOf } from '../rollups/buckets';
import { dayOf, monthOf, summed, SUMS } from '../rollups/days';
import { unlessEmpty } from './segments';

/** SQL condition on the rows of an alias; the empty string for none. */
export type Filter = (alias: string) => string;
const none: Filter = () => '';

/** Facts of all pools are found by their time: where a column is named that the indexes of pools do not hold, these are not searched pool by pool instead. */
export const byTime: Filter = (alias) => `AND ${alias}.pool_type <> ''`;

/** Rows of the pool that is the parameter `$at`. */
export const ofPool =
  (at: number): Filter =>
  (alias) =>
    `AND ${alias}.pool_address = $${at}`;

/** Rows of the pools that are the parameter `$at`. */
export const ofPools =
  (at: number): Filter =>
  (alias) =>
    `AND ${alias}.pool_address IN (SELECT unnest($${at}::text[]))`;

/** Rows of pools of the type that is the parameter `$at`; of all where it is null. */
export const ofType =
  (at: number): Filter =>
  (alias) =>
    `AND ($${at}::text IS NULL OR ${alias}.pool_type = $${at})`;

/** A condition on the rows of a table, and the parameters between which they lie. */
interface Piece {
  condition: string;
  from: number;
  to: number;
}

const edges = (alias: string, at: number): Piece[] =>
  [[at, at + 2], [at + 3, at + 1]].map(([from, to]) => ({ condition: `${alias}."timestamp" >= $${from} AND ${alias}."timestamp" < $${to}`, from, to }) as Piece); // prettier-ignore

/** A stretch before the whole hours of a span, or after them, which begins at the parameter `from`: conditions on its quarters of an hour, and on the facts of the one that is torn. */
export interface Edge {
  from: number;
  bars: (alias: string) => string;
  facts: (alias: string) => string;
}

/** Both edges of a span told by `select`, one UNION ALL each where they are not empty. */
export function inEdges(at: number, select: (edge: Edge) => string): string[] {
  const [from, to, wholeFrom, wholeTo] = [at, at + 1, at + 2, at + 3].map((place) => `$${place}::timestamptz`) as [
    string,
    string,
    string,
    string,
  ];
  const first = `least(${barOf(`${from} + interval '00:14:59.999'`)}, ${wholeFrom})`;
  const last = `greatest(${barOf(to)}, ${wholeTo})`;
  const between = (column: string, begin: string, end: string) => (alias: string) =>
    `${alias}.${column} >= ${begin} AND ${alias}.${column} < ${end}`;
  const before: Edge = { from: at, bars: between('bar', first, wholeFrom), facts: between('"timestamp"', from, first) };
  const after: Edge = { from: at + 3, bars: between('bar', wholeTo, last), facts: between('"timestamp"', last, to) };
  return [unlessEmpty(at, at + 2, `\nUNION ALL ${select(before)}`), unlessEmpty(at + 3, at + 1, `\nUNION ALL ${select(after)}`)];
}

/** The whole hours of a span outside its days. */
const hours = (at: number): [Piece, Piece] =>
  [[at + 2, at + 4], [at + 5, at + 3]].map(([from, to]) => ({ condition: `h.hour >= $${from} AND h.hour < $${to}`, from, to })) as [Piece, Piece]; // prettier-ignore

/** The same before the days by quarters of a day, after the hours up to the first: the days, or what stands for them, begin where a quarter does. */
function beforeDays(at: number, hourly: (condition: string) => string, quarterly: (condition: string) => string): string {
  const [from, to] = [at + 2, at + 4];
  const first = `least(${quarterOf(`$${from}::timestamptz + interval '05:59:59.999'`)}, $${to}::timestamptz)`;
  const pieces = [hourly(`h.hour >= $${from} AND h.hour < ${first}`), quarterly(`h.quarter >= ${first} AND h.quarter < $${to}`)];
  return unlessEmpty(from, to, pieces.map((piece) => `\nUNION ALL ${piece}`).join(''));
}

/** What `named` marks a span with: the place of its first parameter. */
export const SPAN_MARK = /\/\*span:(\d+)\*\//g;

/** Names all parameters of a span, whichever of its pieces are left out. */
export const named = (at: number): string =>
  `/*span:${at}*/num_nulls(${[0, 1, 2, 3, 4, 5].map((place) => `$${at + place}::timestamptz`).join(', ')}) = 0`;

/** The whole UTC days of a span, of rows `h`: the piece that is always there. */
const days = (at: number): string => `${named(at)} AND h.day >= $${at + 4} AND h.day < $${at + 5}`;

/** Of a window that begins before everything, the whole UTC months, of rows `h`, and the days after them. */
const monthsOfLife = (at: number): string => `${named(at)} AND h.month < ${monthOf(`$${at + 5}::timestamptz`)}`;
const daysOfLife = (at: number): string => `h.day >= ${monthOf(`$${at + 5}::timestamptz`)} AND h.day < $${at + 5}`;

/** One more piece, where it is not empty. */
const more = ({ condition, from, to }: Piece, select: (condition: string) => string): string =>
  unlessEmpty(from, to, `\nUNION ALL ${select(condition)}`);

/**
 * Swaps of a window whose span is `$at` to `$at + 5`, as rows (pool_address, hour, swaps, unpriced, usd, fee_usd): `usd` and
 * `fee_usd` are the stated ones of an hour where there are any, else those of the swaps seen in it, never both. A stated
 * hour counts where it begins; it cannot be cut. `hour` is the start of the hour or day that a row sums up.
 */
export const swapsIn = (at: number, filter: Filter = none): string => `${wholeSwapsIn(at, filter)}${swapEdges(at, filter).join('')}`;

/** The same of a window that begins before everything, where it need not be told by day: a month makes a row of its own. */
const swapsOfLife = (at: number, filter: Filter): string => `${swapRows('lp_pool_month', 'month', monthsOfLife(at), filter)}
UNION ALL ${swapRows('lp_pool_day', 'day', daysOfLife(at), filter)}${swapsAround(at, filter)}${swapEdges(at, filter).join('')}`;

/** The same in two: what days or hours tell whole, a row each (of hours: in a span without days), and all others. */
export const swapsByUnit = (at: number, unit: 'hour' | 'day', filter: Filter): { single: string; torn: string } => {
  const nothing = swapRows('lp_pool_day', 'day', `${named(at)} AND false`, filter);
  const edges = swapEdges(at, filter).join('');
  return unit === 'day'
    ? { single: swapRows('lp_pool_day', 'day', days(at), filter), torn: `${nothing}${swapsAround(at, filter)}${edges}` }
    : { single: wholeHours(`${named(at)} AND h.hour >= $${at + 2} AND h.hour < $${at + 3}`, filter), torn: `${nothing}${edges}` };
};

/** The same without the edges of the window: what lies outside its whole hours. */
export const wholeSwapsIn = (at: number, filter: Filter = none): string =>
  `${swapRows('lp_pool_day', 'day', days(at), filter)}${swapsAround(at, filter)}`;

const swapRows = (table: string, time: string, condition: string, filter: Filter): string => `
SELECT h.pool_address, h.${time} AS hour, h.swaps, h.unpriced, h.usd, h.fee_usd FROM ${table} h WHERE ${condition} ${filter('h')}`;

function swapsAround(at: number, filter: Filter): string {
  const hourly = (condition: string): string => wholeHours(condition, filter);
  const quarterly = (condition: string): string => swapRows('lp_pool_quarter', 'quarter', condition, filter);
  return `${beforeDays(at, hourly, quarterly)}${more(hours(at)[1], hourly)}`;
}

/** A window that begins before everything: whether anything may have happened at its end or after it; else its days go on beyond it. */
const goesOn = (at: number): string => `$${at + 5} <= $${at + 1}`;

/** Rows (pool_address, swaps, unpriced, usd, fee_usd) of such a window, one a pool: as they are kept where nothing came after it, else added up. */
export const swapSumsOfLife = (at: number, filter: Filter = none): string => `
SELECT pool_address, sum(swaps) AS swaps, sum(unpriced) AS unpriced, sum(usd) AS usd, sum(fee_usd) AS fee_usd FROM (${swapsOfLife(at, filter)}) s WHERE ${goesOn(at)} GROUP BY pool_address
${unlessEmpty(at + 1, at + 5, `UNION ALL SELECT h.pool_address, h.swaps, h.unpriced, h.usd, h.fee_usd FROM lp_pool_life h WHERE NOT ${goesOn(at)} ${filter('h')}`)}`;

/** The swaps of a window outside its whole hours, as rows of `swapsIn`. */
export const swapEdgesIn = (at: number): string => `
SELECT NULL::text AS pool_address, NULL::timestamptz AS hour, 0 AS swaps, 0 AS unpriced, NULL::numeric AS usd, NULL::numeric AS fee_usd WHERE false
${swapEdges(at, none).join('')}`;

/**
 * Swaps of a window by type of pool, as rows (pool_type, hour, swaps, unpriced, usd, fee_usd), of which its whole hours have one a type. `filter` must not name
 * a pool.
 */
export const typeSwapsIn = (at: number, filter: Filter = none): string => `
SELECT h.pool_type, h.hour, h.swaps, h.unpriced, h.usd, h.fee_usd FROM lp_type_swap_hour h WHERE ${named(at)} AND h.pool_type <> '' AND h.hour >= $${at + 2} AND h.hour < $${at + 3} ${filter('h')}
UNION ALL SELECT p.pool_type, s.hour, s.swaps, s.unpriced, s.usd, s.fee_usd FROM (${swapEdgesIn(at)}) s JOIN lp_pool p ON p.pool_address = s.pool_address WHERE true ${filter('p')}`;

const wholeHours = (condition: string, filter: Filter): string => `
SELECT h.pool_address, h.hour, h.swaps, CASE WHEN h.stated_usd IS NULL THEN h.unpriced ELSE 0 END AS unpriced,
  coalesce(h.stated_usd, h.swap_usd) AS usd, coalesce(h.stated_fee_usd, h.swap_fee_usd)
FROM lp_pool_hour h WHERE ${condition} ${filter('h')}`;

function swapEdges(at: number, filter: Filter): string[] {
  const cutHour = `
SELECT h.pool_address, h.hour, 0, 0, h.stated_usd, h.stated_fee_usd FROM lp_pool_hour h
WHERE h.hour = $${at + 3} AND h.hour >= $${at} AND h.hour < $${at + 1} AND h.stated_usd IS NOT NULL ${filter('h')}`;
  // An edge lies within one hour: added up by pool, of which the hour then tells whether it is stated.
  const edge = ({ facts, bars, from }: Edge): string => `
SELECT s.pool_address, ${hourOf(`$${from}::timestamptz`)}, s.swaps, CASE WHEN h.stated_usd IS NULL THEN s.unpriced ELSE 0 END, CASE WHEN h.stated_usd IS NULL THEN s.usd END,
  CASE WHEN h.stated_fee_usd IS NULL THEN s.fee_usd END
FROM (
  SELECT s.pool_address, sum(s.swaps)::int AS swaps, sum(s.unpriced)::int AS unpriced, sum(s.usd) AS usd, sum(s.fee_usd) AS fee_usd FROM (
    SELECT b.pool_address, b.swaps, b.unpriced, b.usd, b.fee_usd FROM lp_pool_bar b WHERE ${bars('b')} ${filter('b')}
    UNION ALL SELECT s.pool_address, 1, (s.usd IS NULL)::int, s.usd, s.fee_usd FROM lp_swap s WHERE ${facts('s')} ${filter === none ? byTime('s') : filter('s')}
  ) s GROUP BY s.pool_address
) s LEFT JOIN lp_pool_hour h ON h.pool_address = s.pool_address AND h.hour = ${hourOf(`$${from}::timestamptz`)}`;
  return [unlessEmpty(at + 3, at + 1, `\nUNION ALL ${cutHour}`), ...inEdges(at, edge)];
}

const SUMS_OF_H = SUMS.split(', ')
  .map((column) => `h.${column}`)
  .join(', ');

const ownerRows = (table: string, time: string, condition: string, filter: string): string =>
  `SELECT h.pool_address, h.${time} AS hour, h.owner, h.pool_type, ${SUMS_OF_H} FROM ${table} h WHERE ${condition} ${filter}`;

const ownerEdges = (at: number, filter: Filter): string =>
  edges('e', at)
    .map((piece) => more(piece, (condition) => ownerHours(`lp_event e WHERE ${condition} ${filter('e')}`)))
    .join('');

/** Deposits, withdrawals and claims of a window by provider, as rows of lp_owner_hour; an edge, an hour or a day makes a row of its own. */
export function eventsIn(at: number, filter: Filter): string {
  const rows = (condition: string): string => ownerRows('lp_owner_hour', 'hour', condition, filter('h'));
  return `${ownerRows('lp_owner_day', 'day', days(at), filter('h'))}${hours(at).map((piece) => more(piece, rows)).join('')}${ownerEdges(at, filter)}`; // prettier-ignore
}

/** The same without the providers: rows (pool_address, hour, pool_type, …), fewer by far. `filter` must not name an owner. */
export const flowsIn = (at: number, filter: Filter = none): string =>
  [flowRows('lp_flow_day', 'day', days(at), filter), flowsAround(at, filter), ...flowEdges(at, filter)].join('');

/** The same of a window that begins before everything, where it need not be told by day: a month makes a row of its own. */
const flowsOfLife = (at: number, filter: Filter): string => `${flowRows('lp_flow_month', 'month', monthsOfLife(at), filter)}
UNION ALL ${flowRows('lp_flow_day', 'day', daysOfLife(at), filter)}${flowsAround(at, filter)}${flowEdges(at, filter).join('')}`;

/** The same of such a window, one row a pool without its hour: as it is kept where nothing came after it, else added up. */
export const flowSumsOfLife = (at: number, filter: Filter = none): string => `
SELECT f.pool_address, min(f.pool_type) AS pool_type, ${summed('f')} FROM (${flowsOfLife(at, filter)}) f WHERE ${goesOn(at)} GROUP BY f.pool_address
${unlessEmpty(at + 1, at + 5, `UNION ALL SELECT h.pool_address, h.pool_type, ${SUMS_OF_H} FROM lp_flow_life h WHERE NOT ${goesOn(at)} ${filter('h')}`)}`;

function flowsAround(at: number, filter: Filter): string {
  const hourly = (condition: string): string => flowRows('lp_flow_hour', 'hour', condition, filter);
  const quarterly = (condition: string): string => flowRows('lp_flow_quarter', 'quarter', condition, filter);
  return `${beforeDays(at, hourly, quarterly)}${more(hours(at)[1], hourly)}`;
}

/** The same without the pools: rows (hour, pool_type, …). `filter` must not name a pool. */
export const typeFlowsIn = (at: number, filter: Filter = none): string =>
  [
    `SELECT h.hour, h.pool_type, ${SUMS_OF_H} FROM lp_type_hour h WHERE ${named(at)} AND h.hour >= $${at + 2} AND h.hour < $${at + 3} ${filter('h')}`,
    ...inEdges(at, ({ from, bars, facts }) => {
      const hour = hourOf(`$${from}::timestamptz`);
      return `SELECT ${hour}, h.pool_type, ${SUMS_OF_H} FROM lp_type_bar h WHERE ${bars('h')} ${filter('h')}
UNION ALL SELECT ${hour}, pool_type, ${SUMS} FROM (${typeSumsOf(`lp_event e WHERE ${facts('e')} ${filter('e')}`)}) e`;
    }),
  ].join('');

const flowRows = (table: string, time: string, condition: string, filter: Filter): string =>
  `SELECT h.pool_address, h.${time} AS hour, h.pool_type, ${SUMS_OF_H} FROM ${table} h WHERE ${condition} ${filter('h')}`;

const flowEdges = (at: number, filter: Filter): string[] =>
  edges('e', at).map((piece) =>
    more(
      piece,
      (condition) =>
        `SELECT pool_address, hour, pool_type, ${SUMS} FROM (${flowHoursOf(`lp_event e WHERE ${condition} ${filter === none ? byTime('e') : filter('e')}`)}) e`,
    ),
  );

/**
 * Deposits, withdrawals and claims in USD of a window by those who were smart on the day, as rows (pool_address, deposit_usd, withdraw_usd, claim_usd). OFFSET keeps the
 * planner from reading all smart days for the few events of an edge.
 */
export function smartFlowsIn(at: number, filter: Filter): string {
  const rows = (table: string, condition: string): string =>
    `SELECT h.pool_address, h.deposit_usd, h.withdraw_usd, h.claim_usd FROM ${table} h WHERE ${condition} ${filter('h')}`;
  const usd = (kind: string): string => `CASE WHEN e.kind = '${kind}' THEN coalesce(e.usd, 0) ELSE 0 END`;
  const edge = (condition: string, from: number): string =>
    `SELECT e.pool_address, ${usd('deposit')}, ${usd('withdraw')}, ${usd('claim')} FROM lp_event e CROSS JOIN LATERAL (
  SELECT 1 FROM lp_smart_day d WHERE d.owner = e.owner AND d.day = ${dayOf(`$${from}::timestamptz`)} AND d.pool_address = e.pool_address OFFSET 0) d WHERE ${condition} ${filter('e')}`;
  return [
    rows('lp_smart_flow_day', days(at)),
    ...hours(at).map((piece) => more(piece, (condition) => rows('lp_smart_flow_hour', condition))),
    ...edges('e', at).map((piece) => more(piece, (condition) => edge(condition, piece.from))),
  ].join('');
}

/** Condition: before the instant `at` something told of swaps of the pool. The hour that goes on may hold nothing but what comes after it. */
export const swapsToldBefore = (pool: string, at: string): string =>
  `EXISTS (SELECT 1 FROM lp_pool_hour h WHERE h.pool_address = ${pool} AND h.hour < ${at} AND h.first_at < ${at})`;
