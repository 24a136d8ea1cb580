import type { QueryResultRow } from 'pg';
import type { Statement } from '../../db/sql';
import { AppError } from '../../errors';
import { roundTo } from '../../lib/statistics';
import { HOUR_MS } from '../../lib/time';
import type { PendingSignal, Signal, SignalMark } from '../../workers/signal';
import type { GraphContext, SignalTracking } from '../venue';
import { priceBefore } from './queries/price';
import { type SignalRow, smartSignals } from './queries/smart-wallets-signals';

/** The wing's signal endpoint, path after /api/v1/. */
export const SIGNALS_ENDPOINT = 'perps/smart-wallets/signals';
/** Track record: a signal of a coin is marked after one hour, a day and a week. */
const HORIZONS = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '168h': 168 * HOUR_MS } as const;
export const SIGNAL_HORIZONS = Object.keys(HORIZONS);
export const LONGEST_HORIZON_MS = HORIZONS['168h'];

/** Default parameters of the endpoint, with its greatest limit: no signal is dropped. */
export const SIGNAL_DEFAULTS = { timeframe: '24h', min_score: 85, min_wallets: 2, limit: 50 } as const;

/** A perpetual's price says that a rise is as likely as a fall. */
const BASELINE = 0.5;

// $1, $2: coins and instants. The last price before each instant, where everything up to it has been read; none otherwise.
const PRICES: Statement = {
  name: 'perps_signal_prices',
  text: `
WITH seen AS (
  SELECT greatest((SELECT max(last_at) FROM perp_trader), (SELECT max(watermark) FROM source_cursor WHERE venue = 'perps' AND source NOT LIKE 'live.%')) AS until
)
SELECT w.coin, w.instant, ${priceBefore('w.coin', 'w.instant')}::float8 AS price
FROM unnest($1::text[], $2::timestamptz[]) AS w(coin, instant) CROSS JOIN seen WHERE w.instant <= seen.until`,
};

/** What the endpoint says, and how it turned out. */
export const signals: SignalTracking = {
  endpoints: [SIGNALS_ENDPOINT],
  horizons: SIGNAL_HORIZONS,
  async list(context) {
    return (await rowsOf(context)).flatMap(signalOf);
  },
  async mark(sql, pending, now) {
    const due = pending.map((signal) => ({ signal, at: dueAt(signal) })).filter(({ at }) => at <= now);
    const rows = await sql.query<{ coin: string; instant: Date; price: number | null } & QueryResultRow>(PRICES, [
      due.map(({ signal }) => signal.subject),
      due.map(({ at }) => at),
    ]);
    const prices = new Map(rows.map(({ coin, instant, price }) => [`${coin}|${instant.getTime()}`, price]));
    return due.flatMap(({ signal, at }) => {
      const price = prices.get(`${signal.subject}|${at.getTime()}`) ?? null;
      return price === null ? [] : [markOf(signal, at, price)];
    });
  },
};

/** A signal at its horizon: a hit when the price moved its way; one that did not move is none. */
export function markOf(signal: PendingSignal, at: Date, price: number): SignalMark {
  const { endpoint, day, rank, horizon } = signal;
  const return_pct = roundTo(100 * signal.direction * (price / signal.price - 1), 6);
  return { endpoint, day, rank, horizon, at, hit: signal.direction * (price - signal.price) > 0, return_pct, baseline: BASELINE };
}

const dueAt = ({ taken_at, horizon }: PendingSignal): Date => new Date(taken_at.getTime() + HORIZONS[horizon as keyof typeof HORIZONS]);

async function rowsOf(context: GraphContext): Promise<SignalRow[]> {
  try {
    return await smartSignals(SIGNAL_DEFAULTS, context);
  } catch (error) {
    if (error instanceof AppError && error.code === 'empty_result') return [];
    throw error;
  }
}

/** A neutral coin says nothing of where its price goes. */
function signalOf({ coin, direction, price }: SignalRow): Signal[] {
  if (direction === 'Neutral' || price === null) return [];
  return [{ endpoint: SIGNALS_ENDPOINT, subject: coin, part: '', direction: direction === 'Long' ? 1 : -1, price: Number(price) }];
}
