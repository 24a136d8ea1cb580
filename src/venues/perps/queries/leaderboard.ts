import type { QueryResultRow } from 'pg';
import { AppError } from '../../../errors';
import type { Timeframe, Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import type { SumColumn } from '../rollups/trader-sums';
import { MACHINES, firstByLife, firstByPnl, isLifeOrder, standingOf } from './leaderboard-first';
import { findRunDay, getCoinIfAny, isEverything, openWindow, spanUpToNow, widerTimeframe, without } from './scope';
import { sumLives } from './lives';
import { sumRows } from './sums';
import { type TraderStats, listStats, sharpeSql } from './trader-stats';
import { lifeTrips, spanTrips } from './trip-counts';
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
  volume: 'own.volume_usd',
  score: 'scored.score',
  sharpe: 'sharpe.sharpe',
} as const satisfies Record<LeaderboardArgs['sort_by'], string>;

/** What each order reads of the window beside the number of fills. */
const READ: Record<LeaderboardArgs['sort_by'], readonly SumColumn[]> = {
  pnl: ['pnl'],
  roi: ['pnl', 'closed_entry_usd'],
  volume: ['volume_usd'],
  win_rate: [],
  score: [],
  sharpe: ['net_pnl'],
};

// Figures of some orders, with what they are told by; `trips` are the round trips of the window.
const ADDED: Partial<Record<LeaderboardArgs['sort_by'], (trips: string) => string>> = {
  win_rate: (trips) => `,
trips AS (SELECT t.trader, sum(closed) AS closed, sum(won) AS won FROM ${trips} t GROUP BY t.trader)`,
  sharpe: () => `,
daily AS (
  SELECT trader, (hour AT TIME ZONE 'UTC')::date AS day, net_pnl AS net FROM piece WHERE is_day
  UNION ALL SELECT trader, (hour AT TIME ZONE 'UTC')::date, sum(net_pnl) FROM piece WHERE NOT is_day GROUP BY 1, 2
),
sharpe AS ${sharpeSql('daily')}`,
};
const JOINED: Partial<Record<LeaderboardArgs['sort_by'], string>> = {
  win_rate: 'LEFT JOIN trips ON trips.trader = own.trader',
  sharpe: 'LEFT JOIN sharpe ON sharpe.trader = own.trader',
};

// First the window: $1 to $4, or $1 alone, its end, where whole lives tell it. Then: fewest fills; day of the score run, null before the
// first; machines too; how many; the coin, where there is one.
function text({ sort_by, sort_order }: LeaderboardArgs, hasCoin: boolean, life: boolean): string {
  const [fewest, day, machines, limit, coin] = [1, 2, 3, 4, 5].map((place) => `$${place + (life ? 1 : 4)}`) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const narrowed = hasCoin ? { coin } : {};
  const columns = ['fills', ...READ[sort_by]] as const;
  const trips = life ? lifeTrips(narrowed, '$1') : spanTrips(narrowed);
  return `
WITH piece AS NOT MATERIALIZED (SELECT * FROM ${life ? sumLives(columns, narrowed, '$1') : sumRows(columns, narrowed)} r),
own AS (
  SELECT ${['trader', ...READ[sort_by].map((column) => `sum(${column}) AS ${column}`)].join(', ')}
  FROM piece GROUP BY trader HAVING sum(fills) >= greatest(${fewest}::int, 1)
),
scored AS (SELECT trader, score, tags FROM perp_score WHERE day = ${day}::date)${ADDED[sort_by]?.(trips) ?? ''}
SELECT own.trader FROM own LEFT JOIN scored ON scored.trader = own.trader ${JOINED[sort_by] ?? ''}
WHERE ${machines} OR NOT coalesce(scored.tags && ${MACHINES}, false)
ORDER BY ${METRIC[sort_by]} ${sort_order} NULLS LAST, own.trader LIMIT ${limit}`;
}

/** Accounts in order of a figure of the window. Throws not_found (coin), empty_result. */
export async function leaderboard(args: LeaderboardArgs, context: GraphContext): Promise<LeaderboardRow[]> {
  const coin = await getCoinIfAny(context, args.coin);
  const window = openWindow(args.timeframe, context);
  // Days are only told apart where the order looks at them.
  const life = args.sort_by !== 'sharpe' && (await isEverything(context, window));
  const traders =
    (coin === null ? await listFirst(args, window, life, context) : null) ?? (await listRanked(args, window, life, coin, context));
  if (traders.length === 0) throw new AppError('empty_result', { suggestion: wider(args) });
  const stats = await listStats(context, traders, window, coin);
  context.meta.count = traders.length;
  return traders.map((trader, index) => ({ ...(stats.get(trader) as TraderStats), rank: index + 1 }));
}

/** The narrowest of the sent filters, widened; undefined where there is none. */
const wider = (args: LeaderboardArgs): Record<string, unknown> | undefined =>
  args.min_trades > 1 ? { min_trades: 1 } : (widerTimeframe(args.timeframe) ?? without(args, { coin: null, include_bots: true }));

/** The order from the end of an index; null where none tells it. */
async function listFirst(args: LeaderboardArgs, window: Window, life: boolean, context: GraphContext): Promise<string[] | null> {
  const { sort_by, sort_order } = args;
  const ranked = { ...args, day: await findRunDay(context) };
  if (life) return isLifeOrder(sort_by) ? firstByLife(ranked, [sort_by, sort_order], context) : null;
  const days = standingOf(args.timeframe);
  return days !== undefined && sort_by === 'pnl' && sort_order === 'desc' ? firstByPnl(ranked, days, window, context) : null;
}

/** The order by adding up everybody who was active. */
async function listRanked(
  args: LeaderboardArgs,
  window: Window,
  life: boolean,
  coin: string | null,
  context: GraphContext,
): Promise<string[]> {
  const forms = [...(coin === null ? [] : ['coin']), ...(life ? ['life'] : [])];
  const name = ['perps_leaderboard', args.sort_by, args.sort_order, ...forms].join('_');
  const values = [
    ...(life ? [window.to] : await spanUpToNow(window, context)),
    args.min_trades,
    await findRunDay(context),
    args.include_bots,
    args.limit,
    ...(coin === null ? [] : [coin]),
  ];
  const rows = await context.sql.query<{ trader: string } & QueryResultRow>({ name, text: text(args, coin !== null, life) }, values);
  return rows.map(({ trader }) => trader);
}
