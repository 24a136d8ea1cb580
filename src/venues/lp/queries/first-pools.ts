import type { Sql, Statement } from '../../../db/sql';
import { DAY_MS } from '../../../lib/time';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import { dayOf } from '../rollups/days';

/** What pools are ranked by: the days that a window touches, or a pool's life, come to no less of it than the window does. */
export type Bound = 'usd' | 'fee_usd';

export interface Ranked {
  bound: Bound;
  window: Window;
  limit: number;
}

/** Where no more pools than this were swapped in on a day, all of them are looked at. */
export const FEW_POOLS = 500;
/** So many pools are looked at first, for each row asked for. */
const GUESSED = 4;

/** Of the newest whole day before $1, or of all time, how many pools there are up to $3, and those of the largest amounts, at most $2. */
const guess = (bound: Bound, life: boolean): Statement => ({
  name: `lp_first_pools_${life ? 'of_life' : 'of_day'}_by_${bound}`,
  keyed: true,
  text: `
SELECT count(*)::int AS n, (array_agg(pool_address ORDER BY ${bound} DESC))[:$2::int] AS pools FROM (
  SELECT h.pool_address, h.${bound} FROM ${life ? 'lp_pool_life h WHERE $1::timestamptz IS NOT NULL AND' : `lp_pool_day h WHERE h.day = (SELECT max(day) FROM lp_pool_day WHERE day < ${dayOf('$1::timestamptz')}) AND`} h.${bound} > 0
  ORDER BY h.${bound} DESC LIMIT $3
) h`,
});

/** Pools that came to at least $3 on one of the days that the window [$1, $2) touches, or ever. */
const contenders = (bound: Bound, life: boolean): Statement => ({
  name: `lp_contending_pools_${life ? 'of_life' : 'of_days'}_by_${bound}`,
  keyed: true,
  text: life
    ? `SELECT pool_address FROM lp_pool_life WHERE num_nulls($1::timestamptz, $2::timestamptz) = 0 AND ${bound} >= $3::numeric`
    : `
SELECT DISTINCT h.pool_address FROM generate_series(${dayOf('$1::timestamptz')}, $2::timestamptz, interval '24 hours') d(day)
CROSS JOIN LATERAL (SELECT h.pool_address FROM lp_pool_day h WHERE h.day = d.day AND h.${bound} >= $3::numeric OFFSET 0) h`,
});

const statementsBy = (bound: Bound) => ({
  days: { guess: guess(bound, false), contenders: contenders(bound, false) },
  life: { guess: guess(bound, true), contenders: contenders(bound, true) },
});
const STATEMENTS = { usd: statementsBy('usd'), fee_usd: statementsBy('fee_usd') };

/**
 * The first pools of a window in the order of what was swapped in them, or of its fees, by `rows`, which ranks those it is given (null: all), most first; `least` tells what the
 * last row wanted came to, zero where there are fewer. A venue has tens of thousands of pools, most of next to nothing: what is to stand before the last row of some large ones
 * must have come to as much on the days that the window touches, on one of them at least to its share of that. Windows below a day are short enough to look at all.
 */
export async function firstPools<Rows>(
  sql: Sql,
  { bound, window, limit }: Ranked,
  rows: (pools: readonly string[] | null) => Promise<Rows>,
  least: (rows: Rows) => number,
): Promise<Rows> {
  const { from, to } = window;
  if (to.getTime() - from.getTime() < DAY_MS) return rows(null);
  const life = from.getTime() === BEGINNING.getTime();
  const statements = STATEMENTS[bound][life ? 'life' : 'days'];
  const [known] = await sql.query<{ n: number; pools: string[] | null }>(statements.guess, [to, GUESSED * limit, FEW_POOLS + 1]);
  if (known === undefined || known.pools === null || known.n <= FEW_POOLS) return rows(null);
  const first = await rows(known.pools);
  const wanted = least(first);
  if (!(wanted > 0)) return rows(null);
  const touched = life ? 1 : Math.floor((to.getTime() - 1) / DAY_MS) - Math.floor(from.getTime() / DAY_MS) + 1;
  // A hair less than the share: amounts are exact, this is not.
  const found = await sql.query<{ pool_address: string }>(statements.contenders, [from, to, (wanted / touched) * (1 - 1e-9)]);
  const looked = new Set(known.pools);
  return found.every(({ pool_address }) => looked.has(pool_address)) ? first : rows(found.map(({ pool_address }) => pool_address));
}
