import type { QueryResultRow } from 'pg';
import type { Statement } from '../../../db/sql';
import type { Timeframe, Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { type StandingDays, mostPnl } from '../rollups/standings';
import { isNewest, spanUpToNow } from './scope';
import { sumRows } from './sums';

/** Accounts that trade for others, for the spread, or with themselves. */
export const MACHINES = "'{vault,market_maker,wash}'::text[]";

/** Whose place is asked for. `day`: of the score run, null before the first. */
export interface Ranked {
  min_trades: number;
  include_bots: boolean;
  limit: number;
  day: string | null;
}

/** SQL of the join with an account's row of the run, none before the first: a Citus cluster joins by no day that is null. */
const scored = (day: string): string => `LEFT JOIN perp_score s ON s.trader = p.trader AND s.day = coalesce(${day}::date, '-infinity')`;

/** Columns of perp_trader that whole lives are ranked by. */
const LIFE = { pnl: 'pnl', volume: 'volume_usd' } as const;
export type LifeOrder = keyof typeof LIFE;
export const isLifeOrder = (sort_by: string): sort_by is LifeOrder => sort_by in LIFE;

// $1: fewest fills; $2: day of the score run, null before the first; $3: machines too; $4: how many.
const byLife = (sort_by: LifeOrder, sort_order: 'asc' | 'desc'): Statement => ({
  name: `perps_leaderboard_lives_${sort_by}_${sort_order}`,
  text: `
SELECT p.trader FROM perp_trader p ${scored('$2')}
WHERE p.fills >= greatest($1::int, 1) AND ($3::boolean OR NOT coalesce(s.tags && ${MACHINES}, false))
ORDER BY p.${LIFE[sort_by]} ${sort_order}, p.trader LIMIT $4`,
});

/** The first accounts by what their whole lives came to, from the end of an index; null when the answer is as of before the newest fill. */
export async function firstByLife(
  { min_trades, day, include_bots, limit }: Ranked,
  [sort_by, sort_order]: readonly [LifeOrder, 'asc' | 'desc'],
  context: GraphContext,
): Promise<string[] | null> {
  if (!(await isNewest(context))) return null;
  const rows = await context.sql.query<{ trader: string }>(byLife(sort_by, sort_order), [min_trades, day, include_bots, limit]);
  return rows.map(({ trader }) => trader);
}

const DAYS: Partial<Record<Timeframe, StandingDays>> = { '7d': 7, '30d': 30 };
export const standingOf = (timeframe: Timeframe): StandingDays | undefined => DAYS[timeframe];

/** So many candidates for each place; where they do not settle it, so many times more are looked at. */
const CANDIDATES = 2;
const MORE = 8;

// $1: the UTC day; $2: how many; $3: day of the score run, null before the first; $4: machines too.
const candidates = (days: StandingDays): Statement => ({
  name: `perps_leaderboard_candidates_${days}`,
  keyed: true,
  text: `
SELECT p.trader, p.${mostPnl(days)} AS most FROM perp_trader p JOIN perp_standing told ON told.day = date_trunc('day', $1::timestamptz, 'UTC')
${scored('$3')}
WHERE p.${mostPnl(days)} IS NOT NULL AND ($4::boolean OR NOT coalesce(s.tags && ${MACHINES}, false))
ORDER BY p.${mostPnl(days)} DESC LIMIT $2`,
});

// $1 to $4: the window; $5: candidates; $6: what nobody else can have more of; $7: fewest fills; $8: how many.
const AMONG: Statement = {
  name: 'perps_leaderboard_among',
  text: `
WITH own AS (
  SELECT trader, sum(pnl) AS pnl FROM ${sumRows(['fills', 'pnl'], { traders: '$5' })} r
  GROUP BY trader HAVING sum(fills) >= greatest($7::int, 1)
)
SELECT trader, pnl > $6::numeric AS is_settled FROM own ORDER BY pnl DESC, trader LIMIT $8`,
};

/**
 * The first accounts by closed PnL in a window: only those are added up whose bound lets them be among them. Null when no bounds are told for
 * the day, or too many accounts are near.
 */
export async function firstByPnl(ranked: Ranked, days: StandingDays, window: Window, context: GraphContext): Promise<string[] | null> {
  const { min_trades, day, include_bots, limit } = ranked;
  const span = await spanUpToNow(window, context);
  for (const count of [CANDIDATES * limit, CANDIDATES * MORE * limit]) {
    const near = await context.sql.query<{ trader: string; most: string } & QueryResultRow>(candidates(days), [
      window.to,
      count,
      day,
      include_bots,
    ]);
    const least = near.at(-1)?.most;
    if (least === undefined) return null;
    const values = [...span, near.map(({ trader }) => trader), least, min_trades, limit];
    const rows = await context.sql.query<{ trader: string; is_settled: boolean } & QueryResultRow>(AMONG, values);
    if (near.length < count || (rows.length === limit && rows.at(-1)?.is_settled === true)) return rows.map(({ trader }) => trader);
  }
  return null;
}
