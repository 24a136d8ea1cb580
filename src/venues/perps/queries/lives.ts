import type { Timeframe } from '../../../lib/timeframe';
import { afterwards } from '../../../db/segments';
import { TRADER_HOUR, type TraderHourColumn } from '../rollups/hours';
import { LIFE, type SmartTraderColumn } from '../rollups/smart-trader-days';
import { type SumColumn, TRADER_SUM } from '../rollups/trader-sums';
import type { TripColumn } from '../rollups/trip-sums';
import { type Narrowed, type Scored, VOLUME_COLUMNS, narrow, scoredRows, smartIn } from './span';

/** Sums that perp_trader_life has of everything; least and most cannot be taken back. */
export type LifeColumn = Exclude<TraderHourColumn, 'largest_usd' | 'first_at' | 'last_at'>;

/** Rows to be added up: accounts' whole lives before an instant, by trader and coin. What is filled from then on is taken off again. */
export function lifeRows(columns: readonly LifeColumn[], narrowed: Narrowed, instant: string): string {
  return `(
  SELECT h.trader, h.coin, ${columns.map((column) => `h.${column}`).join(', ')} FROM perp_trader_life h WHERE ${instant}::timestamptz IS NOT NULL${narrow('h', narrowed)}
  ${lifeAfter(columns, narrowed, instant)})`;
}

function lifeAfter(columns: readonly LifeColumn[], narrowed: Narrowed, instant: string): string {
  const facts = columns.map((column) => `-(${TRADER_HOUR[column].row}) AS ${column}`);
  return afterwards(
    instant,
    `UNION ALL SELECT f.trader, f.coin, ${facts.join(', ')} FROM perp_fill f WHERE f.timestamp >= ${instant}${narrow('f', narrowed)}`,
  );
}

/** Accounts' whole lives, by trader and coin, where nothing is filled after them: a row each. */
export function livesWithTrips(columns: readonly TraderHourColumn[], trips: readonly TripColumn[], narrowed: Narrowed): string {
  return `SELECT h.trader, h.coin, ${[...columns, ...trips].map((column) => `h.${column}`).join(', ')} FROM perp_trader_life h WHERE true${narrow('h', narrowed)}`;
}

/** Rows to be added up: scored accounts' whole lives, by trader and coin, where nothing is filled after them; with the score where they are told. */
export function wholeLives(
  columns: readonly (SmartTraderColumn | 'score')[],
  scored: Scored,
  narrowed: Pick<Narrowed, 'coin' | 'coins'>,
): string {
  const names = columns.map((column) => `h.${column}`).join(', ');
  return scored.is_told
    ? `SELECT h.trader, h.coin, ${names} FROM perp_smart_trader_day h WHERE h.day = ${LIFE} AND h.score >= ${scored.least} AND ${scored.day}::date IS NOT NULL${narrow('h', narrowed)}`
    : `SELECT h.trader, h.coin, ${names} FROM perp_trader_life h WHERE true${narrow('h', { ...narrowed, scored })}`;
}

/** Rows to be added up: accounts' whole lives before an instant, in all coins or in one, by trader. What is filled from then on is taken off again. */
export function sumLives(columns: readonly SumColumn[], narrowed: Pick<Narrowed, 'coin'>, instant: string): string {
  const lives = lifeRows([...VOLUME_COLUMNS, 'fills', 'long_pnl', 'short_pnl', 'fees_usd', 'closed_entry_usd'], narrowed, instant);
  return `(SELECT trader, ${columns.map((column) => `${TRADER_SUM[column].of} AS ${column}`).join(', ')} FROM ${lives} life)`;
}

/** The same, those of scored accounts by trader and coin. */
export function scoredLives(
  columns: readonly Extract<LifeColumn, SmartTraderColumn>[],
  scored: Scored,
  narrowed: Pick<Narrowed, 'coin'>,
  instant: string,
): string {
  return `(
  ${wholeLives(columns, scored, narrowed)} AND ${instant}::timestamptz IS NOT NULL
  ${lifeAfter(columns, { ...narrowed, scored }, instant)})`;
}

/** What tells smart accounts: sums over them all, or what each did, in its life or in the window. */
export type SmartBy = 'told' | 'life' | 'window';

/** How they are told in such a window. */
export function smartBy(timeframe: Timeframe, is_told: boolean): SmartBy {
  if (is_told) return 'told';
  return timeframe === 'all' ? 'life' : 'window';
}

/** Rows to be added up, by trader and coin, of those that no sums tell: what each smart account of the run of the day `$5` did in the window $1 to $4. */
export const untoldRows = (columns: readonly Extract<LifeColumn, SmartTraderColumn>[], by: SmartBy): string => {
  const scored = { ...smartIn('$5'), is_told: false };
  return by === 'life' ? scoredLives(columns, scored, {}, '$4') : scoredRows(columns, scored);
};
