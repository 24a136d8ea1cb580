import type { Sql, Statement } from '../../../db/sql';
import { DAY_MS } from '../../../lib/time';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import type { PoolType } from '../chain-addresses';
import { SUMS } from '../rollups/days';
import { NEWEST_RUN } from './newest-run';
import { positionPnl, positionsAsOf } from './positions';
import { eventsIn, named, ofType } from './span';
import { spanOf } from './window-span';

export type LpsTopSort = 'volume' | 'events' | 'pool_count' | 'fees' | 'pnl' | 'score';

export interface TopProvidersArgs {
  sort: LpsTopSort;
  window: Window;
  /** Whether the window holds all there is. */
  life: boolean;
  /** Null: both. */
  pool_type: PoolType | null;
  limit: number;
}

export interface TopProviderRow {
  owner: string;
  total_volume_usd: string;
  pool_count: number;
  event_count: number;
  unpriced: number;
  pool_types: PoolType[];
  fees_claimed_usd: string;
  realized_pnl_usd: string | null;
  win_rate: number | null;
  closed_positions: number;
  lp_score: string | null;
  last_event: Date;
}

const ORDER: Record<LpsTopSort, keyof TopProviderRow> = {
  volume: 'total_volume_usd',
  events: 'event_count',
  pool_count: 'pool_count',
  fees: 'fees_claimed_usd',
  pnl: 'realized_pnl_usd',
  score: 'lp_score',
};

/** Who of those asked for did something outside the window as well: what they did in a pool inside it alone is told by all of that, in others (`torn`) it is added up. */
const PAIRS = `, pairs AS MATERIALIZED (
  SELECT p.*, p.first_at < $1 OR p.last_at >= $2 AS torn FROM lp_owner_pool p
  WHERE p.owner = ANY(ARRAY(SELECT unnest($9::text[]) EXCEPT SELECT owner FROM whole)) AND p.first_at < $2 AND p.last_at >= $1 ${ofType(7)('p')}
), torn AS MATERIALIZED (SELECT owner, pool_address FROM pairs WHERE torn)`;
const INSIDE = `SELECT pool_address, NULL AS hour, owner, pool_type, ${SUMS} FROM pairs WHERE NOT torn UNION ALL `;

/** Condition: of providers who did something outside the window as well, what has to be added up. */
const outside = (alias: string, some: boolean): string =>
  some
    ? `AND (${alias}.owner, ${alias}.pool_address) IN (SELECT owner, pool_address FROM torn)`
    : `AND ${alias}.owner NOT IN (SELECT owner FROM whole)`;

/** The first of `moved`, of whom positions are looked at; all of them where the order asks for that. */
function shownOf(sort: LpsTopSort): string {
  if (sort === 'pnl') return 'SELECT * FROM moved';
  const scores = sort === 'score' ? `LEFT JOIN lp_score c ON c.owner = m.owner AND c.day = ${NEWEST_RUN}` : '';
  return `SELECT m.* FROM moved m ${scores} ORDER BY ${sort === 'score' ? 'c.score' : ORDER[sort]} DESC NULLS LAST, total_volume_usd DESC, m.owner COLLATE "C" LIMIT $8`;
}

const POSITIONS_OF_SHOWN = positionsAsOf('true', '$2::timestamptz', (column) => `${column} = ANY(ARRAY(SELECT owner FROM shown))`);

/** Rows (owner, closed_positions, realized_pnl_usd, win_rate) of the positions of `shown` that were closed in the window. */
const resultsInWindow = (all: boolean): string => `
  SELECT s.owner, count(*)::int AS closed_positions, sum(s.pnl_usd) AS realized_pnl_usd, count(*) FILTER (WHERE s.pnl_usd > 0)::float8 / nullif(count(s.pnl_usd), 0) AS win_rate
  FROM (SELECT s.*, ${positionPnl('s')} AS pnl_usd FROM (${all ? positionsAsOf('p.changed_at >= $1', '$2::timestamptz') : POSITIONS_OF_SHOWN}) s) s
  WHERE s.closed_at >= $1 AND s.owner IS NOT NULL ${ofType(7)('s')} GROUP BY s.owner`;

/** The same of whole lives, which what the positions in each pool came to tells. */
const resultsOfLife = (all: boolean): string => `
  SELECT r.owner, sum(r.closed_positions)::int AS closed_positions, sum(r.realized_pnl_usd) AS realized_pnl_usd, sum(r.wins)::float8 / nullif(sum(r.known_positions), 0) AS win_rate
  FROM lp_owner_result r WHERE ${all ? 'r.closed_positions > 0' : 'r.owner = ANY(ARRAY(SELECT owner FROM shown))'} ${ofType(7)('r')} GROUP BY r.owner`;

/**
 * Of the owners $9 (of all, without `some`) what they did in the window whose span is $1 to $6, in the order asked for. Who did nothing outside it is told by the sums of a life.
 * `life`: the window holds all there is.
 */
function topProviders(sort: LpsTopSort, some: boolean, life: boolean): Statement {
  const chosen = (alias: string): string => (some ? `AND ${alias}.owner = ANY($9::text[])` : 'AND $9::text[] IS NULL');
  const all = sort === 'pnl' && !some;
  const torn = `
  UNION ALL
  SELECT owner, sum(deposit_usd + withdraw_usd), count(DISTINCT pool_address)::int, sum(deposits + withdrawals + claims)::int, sum(unpriced)::int,
    array_agg(DISTINCT pool_type ORDER BY pool_type DESC), sum(claim_usd), max(last_at)
  FROM (${some ? INSIDE : ''}${eventsIn(1, (alias) => `${ofType(7)(alias)} ${outside(alias, some)}`)}) e WHERE owner <> '' GROUP BY owner`;
  return {
    name: `lp_lps_top_${sort}_${Number(some)}${life ? '_life' : ''}`,
    keyed: some && !life,
    text: `
WITH whole AS MATERIALIZED (
  SELECT l.owner FROM lp_owner_life l WHERE l.pool_type = 'all' AND l.owner <> '' AND l.first_at >= $1 AND l.last_at < $2 ${chosen('l')}
)${some && !life ? PAIRS : ''}, moved AS (
  SELECT l.owner, sum(l.deposit_usd + l.withdraw_usd) AS total_volume_usd, sum(l.pools)::int AS pool_count, sum(l.deposits + l.withdrawals + l.claims)::int AS event_count,
    sum(l.unpriced)::int AS unpriced, array_agg(l.pool_type ORDER BY l.pool_type DESC) AS pool_types, sum(l.claim_usd) AS fees_claimed_usd, max(l.last_at) AS last_event
  FROM lp_owner_life l JOIN whole w ON w.owner = l.owner WHERE l.pool_type <> 'all' ${ofType(7)('l')} AND ${named(1)} GROUP BY l.owner ${life ? '' : torn}
), shown AS MATERIALIZED (${shownOf(sort)}
), results AS MATERIALIZED (${life ? resultsOfLife(all) : resultsInWindow(all)}
)
SELECT m.*, r.realized_pnl_usd, r.win_rate, coalesce(r.closed_positions, 0) AS closed_positions, c.score AS lp_score
FROM shown m LEFT JOIN results r ON r.owner = m.owner LEFT JOIN lp_score c ON c.owner = m.owner AND c.day = ${NEWEST_RUN}
ORDER BY ${ORDER[sort]} DESC NULLS LAST, total_volume_usd DESC, m.owner COLLATE "C" LIMIT $8`,
  };
}

/** Upper bounds, over all their life, of what providers who may have acted since $1 come to in a window. */
const LIFE_BOUNDS: Record<'volume' | 'events' | 'pool_count' | 'fees', string> = {
  volume: '(l.deposit_usd + l.withdraw_usd)',
  events: '(l.deposits + l.withdrawals + l.claims)',
  pool_count: 'l.pools',
  fees: 'l.claim_usd',
};

/** Owners with the greatest bounds, greatest first. `whole`: of a window that holds all there is. */
function candidates(sort: LpsTopSort, whole: boolean): Statement {
  const life = (bound: string): string => `
SELECT l.owner, ${bound} AS bound FROM lp_owner_life l WHERE l.pool_type = coalesce($3::text, 'all') AND l.last_at >= $1 AND l.owner <> '' AND $2::timestamptz IS NOT NULL
ORDER BY bound DESC, l.owner LIMIT $4`;
  const score = `
SELECT s.owner, s.score AS bound FROM lp_score s WHERE s.day = ${NEWEST_RUN} AND s.score IS NOT NULL
  AND EXISTS (SELECT 1 FROM lp_owner_life l WHERE l.owner = s.owner AND l.pool_type = coalesce($3::text, 'all') AND l.last_at >= $1)
ORDER BY s.score DESC, s.owner LIMIT $4`;
  const pnl = `
SELECT s.owner, sum(${positionPnl('s')}) AS bound FROM (${positionsAsOf('p.changed_at >= $1', '$2::timestamptz')}) s
WHERE s.closed_at >= $1 AND s.owner IS NOT NULL ${ofType(3)('s')} GROUP BY s.owner HAVING sum(${positionPnl('s')}) IS NOT NULL ORDER BY bound DESC, s.owner LIMIT $4`;
  const pnlOfLife = `
SELECT r.owner, sum(r.realized_pnl_usd) AS bound FROM lp_owner_result r
WHERE num_nulls($1::timestamptz, $2::timestamptz) = 0 AND r.realized_pnl_usd IS NOT NULL ${ofType(3)('r')} GROUP BY r.owner ORDER BY bound DESC, r.owner LIMIT $4`;
  if (sort === 'pnl') return { name: `lp_lps_top_candidates_pnl${whole ? '_life' : ''}`, text: whole ? pnlOfLife : pnl };
  return { name: `lp_lps_top_candidates_${sort}`, text: sort === 'score' ? score : life(LIFE_BOUNDS[sort]) };
}

type Bounded = keyof typeof LIFE_BOUNDS;

/** What providers come to in hours, or in days: of those that a window touches no less than in it, of those that lie within it no more. */
const UNIT_SUMS: typeof LIFE_BOUNDS = {
  volume: 'sum(o.deposit_usd + o.withdraw_usd)',
  events: 'sum(o.deposits + o.withdrawals + o.claims)',
  pool_count: 'count(DISTINCT o.pool_address)',
  fees: 'sum(o.claim_usd)',
};

/** Those with the greatest bounds of the window [$1, $2), greatest first. */
const candidatesByHours = (sort: Bounded): Statement => ({
  name: `lp_lps_top_within_hours_${sort}`,
  text: `
SELECT o.owner, ${UNIT_SUMS[sort]} AS bound FROM lp_owner_hour o WHERE o.hour >= date_trunc('hour', $1::timestamptz, 'UTC') AND o.hour < $2 AND o.owner <> '' ${ofType(3)('o')}
GROUP BY o.owner ORDER BY bound DESC, o.owner LIMIT $4`,
});

/**
 * Everybody who may be among the first $5 of the window [$1, $2), in no order: what the $5-th of some ($4) who ever did most did in the days that lie within
 * the window must have been done ever, and in the days that it touches.
 */
const contenders = (sort: Bounded): Statement => {
  const active = `l.pool_type = coalesce($3::text, 'all') AND l.last_at >= $1 AND l.owner <> ''`;
  return {
    name: `lp_lps_top_contenders_${sort}`,
    text: `
WITH guessed AS MATERIALIZED (
  SELECT l.owner FROM lp_owner_life l WHERE ${active} ORDER BY ${LIFE_BOUNDS[sort]} DESC, l.owner LIMIT $4
), enough AS MATERIALIZED (
  SELECT coalesce((
    SELECT ${UNIT_SUMS[sort]} FROM lp_owner_day o WHERE o.day >= $1 AND o.day < date_trunc('day', $2::timestamptz, 'UTC') AND o.owner = ANY(ARRAY(SELECT owner FROM guessed)) ${ofType(3)('o')}
    GROUP BY o.owner ORDER BY 1 DESC OFFSET $5 - 1 LIMIT 1
  ), 0) AS least
)
SELECT o.owner FROM lp_owner_day o WHERE o.day >= date_trunc('day', $1::timestamptz, 'UTC') AND o.day < $2 ${ofType(3)('o')}
  AND o.owner = ANY(ARRAY(SELECT l.owner FROM lp_owner_life l WHERE ${active} AND ${LIFE_BOUNDS[sort]} >= (SELECT least FROM enough)))
GROUP BY o.owner HAVING ${UNIT_SUMS[sort]} >= (SELECT least FROM enough)`,
  };
};

/** How many owners are looked at first, for each row asked for. */
const CANDIDATES = 4;
const CANDIDATES_AT_LEAST = 20;
/** So many times as many are looked at before everybody is. */
const LATER = 8;

const daysOf = ({ from, to }: Window): number => (to.getTime() - from.getTime()) / DAY_MS;
const isBounded = (sort: LpsTopSort): sort is Bounded => sort in LIFE_BOUNDS;

interface Round {
  bounds: Statement;
  count: number;
}

/** By which bounds owners are looked at, one round after the other until it is decided who comes first. What they ever did says little of a week, and nothing of a day. */
function roundsOf({ sort, window, life, limit }: TopProvidersArgs, most: number): Round[] {
  const days = daysOf(window);
  if (isBounded(sort) && days <= 7) return days > 1 ? [] : [{ bounds: candidatesByHours(sort), count: most }];
  const bounds = candidates(sort, life);
  const first = sort === 'pnl' || window.from.getTime() === BEGINNING.getTime() ? limit : most;
  const rounds = [{ bounds, count: first }];
  return life || !isBounded(sort) ? [...rounds, { bounds, count: LATER * most }] : rounds;
}

/**
 * Providers of a window in the order asked for; ties by volume, then address. Counting everybody is slow where many provide: those
 * with the greatest bounds are counted first, and if the last row wanted beats every other bound, the rest cannot change the answer; then those whom
 * their days do not rule out. Of a window that begins before everything the bounds are what they come to, and those of PnL of any.
 */
export async function listTopProviders(sql: Sql, args: TopProvidersArgs): Promise<TopProviderRow[]> {
  const { sort, window, life, pool_type, limit } = args;
  const most = Math.max(CANDIDATES * limit, CANDIDATES_AT_LEAST);
  const rows = (owners: string[] | null): Promise<TopProviderRow[]> =>
    sql.query<TopProviderRow>(topProviders(sort, owners !== null, life), [...spanOf(window), pool_type, limit, owners]);
  const scope = [window.from, window.to, pool_type];
  for (const { bounds, count } of roundsOf(args, most)) {
    const found = await sql.query<{ owner: string; bound: string }>(bounds, [...scope, count + 1]);
    if (found.length <= count && isBounded(sort)) return rows(found.map(({ owner }) => owner));
    const next = found[count];
    const counted = await rows(found.slice(0, count).map(({ owner }) => owner));
    const last = counted[limit - 1]?.[ORDER[sort]] ?? null;
    if (last !== null && next !== undefined && Number(last) > Number(next.bound)) return counted;
    if (next === undefined) break;
  }
  // No whole day lies within a day.
  if (life || !isBounded(sort) || daysOf(window) <= 1) return rows(null);
  const left = await sql.query<{ owner: string }>(contenders(sort), [...scope, most, limit]);
  return rows(left.length > LATER * most ? null : left.map(({ owner }) => owner));
}
