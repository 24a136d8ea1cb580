import { AppError } from '../../../errors';
import { wilsonLowerBound } from '../../../lib/statistics';
import type { Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { checkTrader, isLife, openDays, spanUpToNow, widerDays } from './scope';
import { livesWithTrips } from './lives';
import { VOLUME, VOLUME_COLUMNS, ownRowsWithTrips } from './span';
import { wilsonSql } from './wilson';

type CoinOrder = 'pnl' | 'volume' | 'win_rate' | 'trades';

export interface PnlByCoinArgs {
  trader: string;
  days: number;
  sort_by: CoinOrder;
  limit: number;
}

/** An account's figures in a coin. Figures are exact decimals as text. */
export interface TraderCoin {
  trader: string;
  coin: string;
  pnl: string;
  volume: string;
  trades: number;
  fees_usd: string;
  net_pnl: string;
  roi_pct: string | null;
  long_pnl: string;
  short_pnl: string;
  /** What it opened: longs less shorts. */
  net_opened_usd: string;
  closing_trades: number;
  winning_trades: number;
  avg_hold_minutes: number | null;
  best_trade_usd: string | null;
  worst_trade_usd: string | null;
  win_rate: number | null;
  win_rate_lb: number | null;
}

const ORDER: Record<CoinOrder, string> = {
  pnl: 'abs(own.long_pnl + own.short_pnl) DESC',
  volume: 'own.volume DESC',
  win_rate: `${wilsonSql('own.won_trips', 'own.closed_trips')} DESC NULLS LAST`,
  trades: 'own.trades DESC',
};

const COLUMNS = [...VOLUME_COLUMNS, 'long_pnl', 'short_pnl', 'fills', 'fees_usd', 'closed_entry_usd'] as const;
const TRIPS = ['closed_trips', 'won_trips', 'best_usd', 'worst_usd', 'held_trips', 'held_seconds'] as const;

/** Mean time held, in minutes, of the round trips that a row sums up; null without one whose opening was seen. */
export const heldMinutes = (row: string): string => `round(${row}.held_seconds / nullif(${row}.held_trips, 0) / 60, 6)::float8`;

// First the window, $1 to $4, unless whole lives tell it. Then: accounts; how many coins of each.
const text = (sort_by: CoinOrder, life: boolean): string => `
WITH own AS (
  SELECT trader, coin, sum(long_pnl) AS long_pnl, sum(short_pnl) AS short_pnl, sum(${VOLUME}) AS volume, sum(fills)::int AS trades, sum(fees_usd) AS fees_usd,
    sum(closed_entry_usd) AS closed_entry_usd, sum(open_long_usd - open_short_usd) AS net_opened_usd, sum(closed_trips)::int AS closed_trips,
    sum(won_trips)::int AS won_trips, max(best_usd) AS best_usd, min(worst_usd) AS worst_usd, sum(held_trips) AS held_trips, sum(held_seconds) AS held_seconds
  FROM ${life ? `(${livesWithTrips(COLUMNS, TRIPS, { traders: '$1' })})` : ownRowsWithTrips(COLUMNS, TRIPS, { traders: '$5' })} r GROUP BY 1, 2
),
ranked AS (
  SELECT own.*, own.long_pnl + own.short_pnl AS pnl, row_number() OVER (PARTITION BY own.trader ORDER BY ${ORDER[sort_by]}, own.coin COLLATE "C") AS place FROM own
)
SELECT trader, coin, pnl, volume, trades, fees_usd, pnl - fees_usd AS net_pnl, 100 * pnl / nullif(closed_entry_usd, 0) AS roi_pct, long_pnl, short_pnl,
  net_opened_usd, closed_trips AS closing_trades, won_trips AS winning_trades, ${heldMinutes('ranked')} AS avg_hold_minutes, best_usd AS best_trade_usd,
  worst_usd AS worst_trade_usd
FROM ranked WHERE place <= ${life ? '$2' : '$6'} ORDER BY trader, place`;

/** More coins than the venue has. */
export const ALL_COINS = 10_000;

/** The coins of each account in a window, at most `limit` of each, in order. */
export async function listCoins(
  context: GraphContext,
  traders: readonly string[],
  window: Window,
  sort_by: CoinOrder,
  limit: number,
): Promise<Map<string, TraderCoin[]>> {
  const life = await isLife(context, window);
  const statement = { name: `perps_trader_coins_${sort_by}${life ? '_life' : ''}`, text: text(sort_by, life), keyed: true };
  const rows = await context.sql.query<TraderCoin>(statement, [...(life ? [] : await spanUpToNow(window, context)), traders, limit]);
  const coins = new Map<string, TraderCoin[]>(traders.map((trader) => [trader, []]));
  for (const row of rows) coins.get(row.trader)?.push({ ...row, ...winRates(row) });
  return coins;
}

/** Share of round trips won, and its lower bound; null without any. */
export function winRates({ winning_trades, closing_trades }: { winning_trades: number; closing_trades: number }): {
  win_rate: number | null;
  win_rate_lb: number | null;
} {
  return {
    win_rate: closing_trades === 0 ? null : winning_trades / closing_trades,
    win_rate_lb: wilsonLowerBound(winning_trades, closing_trades),
  };
}

/** An account's coins. Throws not_found, empty_result. */
export async function pnlByCoin(args: PnlByCoinArgs, context: GraphContext): Promise<TraderCoin[]> {
  await checkTrader(context, args.trader);
  const window = openDays(args.days, context);
  const coins = (await listCoins(context, [args.trader], window, args.sort_by, args.limit)).get(args.trader) ?? [];
  if (coins.length === 0) throw new AppError('empty_result', { suggestion: widerDays(args.days) });
  context.meta.count = coins.length;
  return coins;
}
