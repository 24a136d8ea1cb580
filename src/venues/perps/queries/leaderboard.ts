import type { QueryResultRow } from 'pg';
import { AppError } from '../../../errors';
import type { Timeframe } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';
import { getCoinIfAny, openWindow, widerTimeframe } from './scope';
import { VOLUME, VOLUME_COLUMNS, ownRows, spanOf } from './span';
import { type TraderStats, listStats, sharpeSql } from './trader-stats';
import { wilsonSql } from './wilson';

export interface LeaderboardArgs {
  timeframe: Timeframe;
  sort_by: 'pnl' | 'roi' | 'win_rate' | 'volume' | 'score' | 'sharpe';
  sort_order: 'desc' | 'asc';
  min_trades: number;
  limit: number;
  coin?: string | null;
  include_bots: boolean;
}

export type LeaderboardRow = TraderStats & { rank: number };

const METRIC = {
  pnl: 'own.pnl',
  roi: 'own.pnl / nullif(own.closed_entry_usd, 0)',
  win_rate: wilsonSql('trips.won', 'trips.closed'),
  volume: 'own.volume',
  score: 'scored.score',
  sharpe: 'sharpe.sharpe',
} as const satisfies Record<LeaderboardArgs['sort_by'], string>;

/** Accounts that trade for others, for the spread, or with themselves. */
const MACHINES = "'{vault,market_maker,wash}'::text[]";

// $1 to $4: the window; $5: fewest fills; $6: day of the score run, null before the first; $7: machines too; $8: how many; $9: the coin, where there is one.
function text({ sort_by, sort_order }: LeaderboardArgs, coin: boolean): string {
  const columns = [...VOLUME_COLUMNS, 'long_pnl', 'short_pnl', 'fills', 'fees_usd', 'closed_entry_usd'] as const;
  return `
WITH piece AS (SELECT * FROM ${ownRows(columns, coin ? { coin: '$9' } : {})} r),
own AS (
  SELECT trader, sum(long_pnl + short_pnl) AS pnl, sum(${VOLUME}) AS volume, sum(closed_entry_usd) AS closed_entry_usd
  FROM piece GROUP BY trader HAVING sum(fills) >= $5
),
trips AS (
  SELECT trader, count(*) AS closed, count(*) FILTER (WHERE net_pnl > 0) AS won FROM perp_round_trip
  WHERE closed_at >= $1 AND closed_at < $4 ${coin ? 'AND coin = $9::text' : ''} GROUP BY trader
),
daily AS (
  SELECT piece.trader, (piece.hour AT TIME ZONE 'UTC')::date AS day, sum(piece.long_pnl + piece.short_pnl - piece.fees_usd) AS net
  FROM piece JOIN own ON own.trader = piece.trader GROUP BY 1, 2
),
sharpe AS ${sharpeSql('daily')},
scored AS (SELECT trader, score, tags FROM perp_score WHERE day = $6::date)
SELECT own.trader FROM own
LEFT JOIN scored ON scored.trader = own.trader
${sort_by === 'win_rate' ? 'LEFT JOIN trips ON trips.trader = own.trader' : ''}
${sort_by === 'sharpe' ? 'LEFT JOIN sharpe ON sharpe.trader = own.trader' : ''}
WHERE $7 OR NOT coalesce(scored.tags && ${MACHINES}, false)
ORDER BY ${METRIC[sort_by]} ${sort_order} NULLS LAST, own.trader LIMIT $8`;
}

/** Accounts in order of a figure of the window. Throws not_found (coin), empty_result. */
export async function leaderboard(args: LeaderboardArgs, context: GraphContext): Promise<LeaderboardRow[]> {
  const coin = await getCoinIfAny(context, args.coin);
  const window = openWindow(args.timeframe, context);
  const run = await context.loaders(makeLoaders).scoreRun();
  const name = ['perps_leaderboard', args.sort_by, args.sort_order, ...(coin === null ? [] : ['coin'])].join('_');
  const values = [...spanOf(window), args.min_trades, run?.day ?? null, args.include_bots, args.limit, ...(coin === null ? [] : [coin])];
  const ranked = await context.sql.query<{ trader: string } & QueryResultRow>({ name, text: text(args, coin !== null) }, values);
  if (ranked.length === 0)
    throw new AppError('empty_result', { suggestion: args.min_trades > 1 ? { min_trades: 1 } : widerTimeframe(args.timeframe) });
  const traders = ranked.map(({ trader }) => trader);
  const stats = await listStats(context, traders, window, coin);
  context.meta.count = ranked.length;
  return traders.map((trader, index) => ({ ...(stats.get(trader) as TraderStats), rank: index + 1 }));
}
