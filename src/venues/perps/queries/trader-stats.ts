import type { Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';
import { closingFills, joinStretches } from '../rollups/drawdown';
import { edgeOf } from './segments';
import { TRIP_COLUMNS } from '../rollups/trip-sums';
import { isLife, spanUpToNow } from './scope';
import { livesWithTrips } from './lives';
import { type Narrowed, VOLUME, VOLUME_COLUMNS, narrow, ownRowsWithTrips } from './span';
import { heldMinutes, winRates } from './trader-coins';

/** An account's figures in a window. Decimals as text. Score, tier and tags are the trader's own fields. */
export interface TraderStats {
  trader: string;
  total_pnl: string;
  total_volume: string;
  total_trades: number;
  winning_trades: number;
  win_rate: number | null;
  win_rate_lb: number | null;
  roi_pct: string | null;
  net_pnl: string;
  fees_usd: string;
  closing_trades: number;
  losing_trades: number;
  profit_factor: string | null;
  sharpe: number | null;
  /** Null where it was not asked for: it is told from facts. */
  max_drawdown_usd: string | null;
  best_trade_usd: string | null;
  worst_trade_usd: string | null;
  active_days: number;
  coins_traded: number;
  first_trade: Date | null;
  last_trade: Date | null;
  top_coin: string | null;
  /** Share of the top coin in the volume. */
  top_coin_share: string | null;
  largest_trade_usd: string;
  avg_hold_minutes: number | null;
  avg_win_usd: string | null;
  avg_loss_usd: string | null;
}

/** Fewest active days of a Sharpe ratio, and days of a year. */
export const SHARPE = { active_days: 20, year: 365 } as const;

const SHARPE_COLUMNS = `count(*)::int AS active_days, max(day) - min(day) + 1 AS span, sum(net) AS total, sum(net * net) AS squares`;

/** Mean over sample deviation of daily net PnL from first to last active day, idle days as zero, a year's; null with too few days or no change. */
export const sharpeSql = (daily: string): string => `(
  SELECT trader, CASE WHEN active_days >= ${SHARPE.active_days} AND squares - total * total / span > 0
    THEN (total / span)::float8 / sqrt(((squares - total * total / span) / (span - 1))::float8) * sqrt(${SHARPE.year}::float8) END AS sharpe, active_days
  FROM (SELECT trader, ${SHARPE_COLUMNS} FROM ${daily} d GROUP BY trader) spread)`;

const DAYS_FROM = "date_trunc('day', $1::timestamptz + interval '24 hours' - interval '1 microsecond', 'UTC')";
const DAYS_TO = "date_trunc('day', $4::timestamptz, 'UTC')";

/** Which figures: of one coin; by whole lives, where the window holds everything. */
interface Form {
  coin: boolean;
  life: boolean;
}

// First the window, $1 to $4, unless whole lives tell it. Then: accounts; the coin, where there is one.
function narrowedBy({ coin, life }: Form): Narrowed {
  const [traders, only] = life ? (['$1', '$2'] as const) : (['$5', '$6'] as const);
  return coin ? { traders, coin: only } : { traders };
}

const named = (name: string, { coin, life }: Form): string => [name, ...(coin ? ['coin'] : []), ...(life ? ['life'] : [])].join('_');

/** What each account closed, as stretches: whole days by their rollup, the days at both edges by facts. */
function stretchesOf(form: Form): string {
  const narrowed = narrowedBy(form);
  const fills = (when: string): string => closingFills(`${when}${narrow('f', narrowed)}`);
  const days = (
    when: string,
  ): string => `SELECT d.trader, d.day AS at, 0 AS seq, '' AS coin, 0::bigint AS tid, 0::bigint AS oid, d.total, d.peak, d.trough, d.fall
  FROM ${form.coin ? 'perp_trader_coin_drawdown' : 'perp_trader_drawdown'} d WHERE ${when}${narrow('d', narrowed)}`;
  if (form.life) return days('true');
  return `${days(`d.day >= ${DAYS_FROM} AND d.day < ${DAYS_TO} AND $2::timestamptz <= $3::timestamptz`)}
  ${edgeOf(1, 'days_from', `UNION ALL ${fills(`f.timestamp >= $1 AND f.timestamp < least($4::timestamptz, ${DAYS_FROM})`)}`)}
  ${edgeOf(1, 'days_to', `UNION ALL ${fills(`f.timestamp >= greatest(${DAYS_TO}, ${DAYS_FROM}) AND f.timestamp < $4`)}`)}`;
}

/** The largest fall of the sum of closed PnL from its peak, or from nothing, fill by fill. */
const drawdowns = (form: Form): Statement => ({
  name: named('perps_trader_drawdowns', form),
  keyed: true,
  text: `
WITH stretch AS (
  ${stretchesOf(form)}
)
SELECT trader, fall FROM (${joinStretches('stretch', 'trader')}) told`,
});

const COLUMNS = [
  ...VOLUME_COLUMNS,
  'long_pnl',
  'short_pnl',
  'fills',
  'fees_usd',
  'closed_entry_usd',
  'largest_usd',
  'first_at',
  'last_at',
] as const;

/** Sums over what the rows of a span, or of its coins, have of round trips. */
const TRIPS_OF = `sum(closed_trips) AS closed_trips, sum(won_trips) AS won_trips, sum(gains_usd) AS gains_usd, sum(losses_usd) AS losses_usd,
    max(best_usd) AS best_usd, min(worst_usd) AS worst_usd, sum(held_trips) AS held_trips, sum(held_seconds) AS held_seconds`;

/** By whole lives, of whose days only the gains are read. */
const byLife = (narrowed: Narrowed): string => `
WITH own AS (
  SELECT life.*, long_pnl + short_pnl AS pnl, ${VOLUME} AS volume FROM (${livesWithTrips(COLUMNS, TRIP_COLUMNS, narrowed)}) life
),
daily AS (
  SELECT h.trader, (h.day AT TIME ZONE 'UTC')::date AS day, ${narrowed.coin === undefined ? 'h.net_pnl AS net FROM perp_trader_sum' : 'h.long_pnl + h.short_pnl - h.fees_usd AS net FROM perp_trader_day'} h
  WHERE true${narrow('h', narrowed)}
),`;

const bySpan = (narrowed: Narrowed): string => `
WITH piece AS MATERIALIZED (SELECT r.* FROM ${ownRowsWithTrips(COLUMNS, TRIP_COLUMNS, narrowed)} r),
own AS (
  SELECT trader, coin, sum(long_pnl + short_pnl) AS pnl, sum(${VOLUME}) AS volume, sum(fills) AS fills, sum(fees_usd) AS fees_usd,
    sum(closed_entry_usd) AS closed_entry_usd, max(largest_usd) AS largest_usd, min(first_at) AS first_at, max(last_at) AS last_at, ${TRIPS_OF}
  FROM piece GROUP BY 1, 2
),
daily AS (SELECT trader, (hour AT TIME ZONE 'UTC')::date AS day, sum(long_pnl + short_pnl - fees_usd) AS net FROM piece GROUP BY 1, 2),`;

const figures = (form: Form): Statement => ({
  name: named('perps_trader_stats', form),
  keyed: true,
  text: `${(form.life ? byLife : bySpan)(narrowedBy(form))}
total AS (
  SELECT trader, sum(pnl) AS pnl, sum(volume) AS volume, sum(fills)::int AS fills, sum(fees_usd) AS fees_usd, sum(closed_entry_usd) AS closed_entry_usd,
    max(largest_usd) AS largest_usd, min(first_at) AS first_at, max(last_at) AS last_at, count(*)::int AS coins, ${TRIPS_OF},
    max(volume) AS top_volume, (array_agg(coin ORDER BY volume DESC, coin COLLATE "C"))[1] AS top_coin
  FROM own GROUP BY trader
),
sharpe AS ${sharpeSql('daily')}
SELECT t.trader, t.pnl AS total_pnl, t.volume AS total_volume, t.fills AS total_trades, t.fees_usd, t.pnl - t.fees_usd AS net_pnl,
  100 * t.pnl / nullif(t.closed_entry_usd, 0) AS roi_pct, t.closed_trips::int AS closing_trades, t.won_trips::int AS winning_trades,
  (t.closed_trips - t.won_trips)::int AS losing_trades, t.gains_usd / nullif(t.losses_usd, 0) AS profit_factor, t.best_usd AS best_trade_usd,
  t.worst_usd AS worst_trade_usd, t.gains_usd / nullif(t.won_trips, 0) AS avg_win_usd,
  -t.losses_usd / nullif(t.closed_trips - t.won_trips, 0) AS avg_loss_usd, ${heldMinutes('t')} AS avg_hold_minutes,
  sharpe.sharpe, sharpe.active_days, t.coins AS coins_traded, t.first_at AS first_trade, t.last_at AS last_trade,
  t.top_coin, t.top_volume / nullif(t.volume, 0) AS top_coin_share, t.largest_usd AS largest_trade_usd
FROM total t JOIN sharpe ON sharpe.trader = t.trader`,
});

/** Figures of those of the accounts that had a fill in the window (of the coin). */
export async function listStats(
  context: GraphContext,
  traders: readonly string[],
  window: Window,
  coin: string | null = null,
  drawdown = true,
): Promise<Map<string, TraderStats>> {
  const form: Form = { coin: coin !== null, life: await isLife(context, window) };
  const values = [...(form.life ? [] : await spanUpToNow(window, context)), traders, ...(coin === null ? [] : [coin])];
  // Whoever's figures are listed is asked for its score next.
  void context.loaders(makeLoaders).score.loadMany(traders);
  const [rows, fallen] = await Promise.all([
    context.sql.query<TraderStats>(figures(form), values),
    drawdown ? context.sql.query<{ trader: string; fall: string }>(drawdowns(form), values) : null,
  ]);
  const falls = fallen === null ? null : new Map(fallen.map(({ trader, fall }) => [trader, fall]));
  const fallOf = (trader: string): string | null => (falls === null ? null : (falls.get(trader) ?? '0'));
  return new Map(rows.map((row) => [row.trader, { ...row, ...winRates(row), max_drawdown_usd: fallOf(row.trader) }]));
}

/** Figures of an account that did nothing. */
export function noStats(trader: string): TraderStats {
  const none = {
    win_rate: null,
    win_rate_lb: null,
    roi_pct: null,
    profit_factor: null,
    sharpe: null,
    best_trade_usd: null,
    worst_trade_usd: null,
  };
  const unknown = {
    first_trade: null,
    last_trade: null,
    top_coin: null,
    top_coin_share: null,
    avg_hold_minutes: null,
    avg_win_usd: null,
    avg_loss_usd: null,
  };
  const counts = { total_trades: 0, winning_trades: 0, closing_trades: 0, losing_trades: 0, active_days: 0, coins_traded: 0 };
  const sums = { total_pnl: '0', total_volume: '0', net_pnl: '0', fees_usd: '0', max_drawdown_usd: '0', largest_trade_usd: '0' };
  return { trader, ...none, ...unknown, ...counts, ...sums };
}
