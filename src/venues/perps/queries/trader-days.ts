import type { QueryResultRow } from 'pg';
import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import { DAY_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { checkTrader, getCoinIfAny, openDays, spanUpToNow, widerDays, without } from './scope';
import { sumRows, sumRowsWithTrips } from './sums';

export interface DailyPnlArgs {
  trader: string;
  days: number;
  coin?: string | null;
}

/** A UTC day of an account. Figures are exact decimals as text. */
export interface TraderDay {
  trader: string;
  /** YYYY-MM-DD. */
  date: string;
  pnl: string;
  volume: string;
  trades: number;
  fees_usd: string;
  winning_trades: number;
  losing_trades: number;
  cumulative_pnl: string;
  drawdown_usd: string;
  /** +n: nth winning day in a row; −n: nth losing day; 0: flat. */
  streak: number;
}

// $1 to $4: the days; $5: accounts; $6: the last day; $7: the coin, where there is one.
const text = (coin: string | null): string => {
  const narrowed = { traders: '$5', few: true, ...(coin === null ? {} : { coin: '$7' }) } as const;
  return `
WITH own AS (
  SELECT trader, (hour AT TIME ZONE 'UTC')::date AS day, sum(pnl) AS pnl, sum(volume_usd) AS volume, sum(fills) AS trades, sum(pnl - net_pnl) AS fees_usd,
    sum(won_trips) AS won, sum(closed_trips - won_trips) AS lost
  FROM ${sumRowsWithTrips(['pnl', 'net_pnl', 'volume_usd', 'fills'], narrowed)} r GROUP BY 1, 2
),
days AS (
  SELECT t.trader, d.day::date AS day, coalesce(own.pnl, 0) AS pnl, coalesce(own.volume, 0) AS volume, coalesce(own.trades, 0)::int AS trades,
    coalesce(own.fees_usd, 0) AS fees_usd, coalesce(own.won, 0)::int AS winning_trades, coalesce(own.lost, 0)::int AS losing_trades
  FROM unnest($5::text[]) AS t(trader)
  CROSS JOIN generate_series(($1::timestamptz AT TIME ZONE 'UTC')::date, ($6::timestamptz AT TIME ZONE 'UTC')::date, interval '1 day') AS d(day)
  LEFT JOIN own ON own.trader = t.trader AND own.day = d.day::date
),
grown AS (SELECT *, sum(pnl) OVER (PARTITION BY trader ORDER BY day) AS cumulative_pnl FROM days)
SELECT trader, day::text AS date, pnl, volume, trades, fees_usd, winning_trades, losing_trades, cumulative_pnl,
  greatest(0, max(cumulative_pnl) OVER (PARTITION BY trader ORDER BY day)) - cumulative_pnl AS drawdown_usd
FROM grown ORDER BY trader, day`;
};

/** Every UTC day of a window, up to that of its end, oldest first, for each account; days without a fill are zeros. */
export async function listDays(
  context: GraphContext,
  traders: readonly string[],
  window: Window,
  coin: string | null = null,
): Promise<Map<string, TraderDay[]>> {
  const name = coin === null ? 'perps_trader_days' : 'perps_trader_days_coin';
  const values = [...(await spanUpToNow(window, context)), traders, window.to, ...(coin === null ? [] : [coin])];
  const rows = await context.sql.query<Omit<TraderDay, 'streak'> & QueryResultRow>({ name, text: text(coin), keyed: true }, values);
  const days = new Map<string, TraderDay[]>(traders.map((trader) => [trader, []]));
  for (const row of rows) {
    const own = days.get(row.trader as string) as TraderDay[];
    const sign = Math.sign(Number(row.pnl));
    const before = own.at(-1)?.streak ?? 0;
    own.push({ ...row, streak: sign === 0 ? 0 : Math.sign(before) === sign ? before + sign : sign } as TraderDay);
  }
  return days;
}

// $1 to $4: the days; $5: accounts.
const DAILY: Statement = {
  name: 'perps_trader_daily',
  keyed: true,
  text: `
SELECT trader, (hour AT TIME ZONE 'UTC')::date - ($1::timestamptz AT TIME ZONE 'UTC')::date AS place, sum(pnl) AS pnl
FROM ${sumRows(['pnl'], { traders: '$5', few: true })} r GROUP BY 1, 2`,
};

/** Closed PnL of each account on every UTC day of a window, up to that of its end, oldest first. */
export async function listDailyPnl(context: GraphContext, traders: readonly string[], window: Window): Promise<Map<string, number[]>> {
  const values = [...(await spanUpToNow(window, context)), traders];
  const rows = await context.sql.query<{ trader: string; place: number; pnl: string }>(DAILY, values);
  const { from, to } = window;
  const length = Math.floor(to.getTime() / DAY_MS) - Math.floor(from.getTime() / DAY_MS) + 1;
  const days = new Map(traders.map((trader) => [trader, new Array<number>(length).fill(0)]));
  for (const { trader, place, pnl } of rows) (days.get(trader) as number[])[place] = Number(pnl);
  return days;
}

/** An account's days. Throws not_found, empty_result. */
export async function dailyPnl(args: DailyPnlArgs, context: GraphContext): Promise<TraderDay[]> {
  const coin = await getCoinIfAny(context, args.coin);
  await checkTrader(context, args.trader);
  const window = openDays(args.days, context);
  const days = (await listDays(context, [args.trader], window, coin)).get(args.trader) ?? [];
  if (days.every(({ trades }) => trades === 0))
    throw new AppError('empty_result', { suggestion: widerDays(args.days) ?? without(args, { coin: null }) });
  return days;
}
