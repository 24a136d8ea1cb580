import type { QueryResultRow } from 'pg';
import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import { clip, roundTo } from '../../../lib/statistics';
import type { Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { lifetime, getCoinIfAny } from './scope';
import { VOLUME, VOLUME_COLUMNS, ownRows, spanOf } from './span';
import { listTimings } from './timing';
import { type TraderStats, listStats } from './trader-stats';

const DAY = 86_400_000;

export interface FreshWhalesArgs {
  max_wallet_age_days: number;
  min_volume: number;
  min_pnl: number;
  limit: number;
  coin?: string | null;
  sort_by: 'total_volume' | 'total_pnl' | 'win_rate' | 'suspicion_score' | 'wallet_age_days';
}

interface FreshSignals {
  age: number;
  size: number;
  concentration: number | null;
  win_rate: number | null;
  timing: number | null;
}

export interface FreshWhale extends TraderStats {
  first_trade: Date;
  wallet_age_days: number;
  coin_concentration: string | null;
  suspicion_score: number;
  signals: FreshSignals;
}

/** Weights of D-FRESH. */
const WEIGHTS = { age: 25, size: 25, concentration: 15, win_rate: 20, timing: 15 } as const satisfies Record<keyof FreshSignals, number>;

interface YoungRow extends QueryResultRow {
  trader: string;
  first_at: Date;
}

// $1 to $4: their whole life; $5, $6: least volume and PnL; $7: now; $8: the coin, where there is one.
const text = (coin: boolean): string => `
WITH young AS (SELECT trader, first_at FROM perp_trader WHERE first_at >= $1::timestamptz AND first_at < $7::timestamptz)
SELECT young.trader, young.first_at
FROM young JOIN ${ownRows([...VOLUME_COLUMNS, 'long_pnl', 'short_pnl'], coin ? { coin: '$8' } : {})} r ON r.trader = young.trader
GROUP BY young.trader, young.first_at HAVING sum(${VOLUME}) >= $5::numeric AND sum(long_pnl + short_pnl) >= $6::numeric`;

/** Accounts so young that trade so much; volume, PnL and trades of the coin where one is asked for. Throws not_found (coin), empty_result. */
export async function freshWhales(args: FreshWhalesArgs, context: GraphContext): Promise<FreshWhale[]> {
  const { now, meta } = context;
  const coin = await getCoinIfAny(context, args.coin);
  const life: Window = { from: new Date(now.getTime() - args.max_wallet_age_days * DAY), to: now };
  const statement: Statement = { name: coin === null ? 'perps_fresh_whales' : 'perps_fresh_whales_coin', text: text(coin !== null) };
  const values = [...spanOf(life), String(args.min_volume), String(args.min_pnl), now, ...(coin === null ? [] : [coin])];
  const young = await context.sql.query<YoungRow>(statement, values);
  if (young.length === 0)
    throw new AppError('empty_result', { suggestion: args.max_wallet_age_days < 90 ? { max_wallet_age_days: 90 } : { min_volume: 0 } });
  const whales = await describe(young, coin, args, context);
  whales.sort((a, b) => compare(a, b, args.sort_by));
  const shown = whales.slice(0, args.limit);
  meta.count = shown.length;
  // Timing looks at every open of an account: only those that are shown are looked at, unless it decides who is.
  return args.sort_by === 'suspicion_score' ? shown : withTiming(shown, coin, context);
}

async function describe(
  young: readonly YoungRow[],
  coin: string | null,
  args: FreshWhalesArgs,
  context: GraphContext,
): Promise<FreshWhale[]> {
  const traders = young.map(({ trader }) => trader);
  const window = lifetime(context.now);
  const own = await listStats(context, traders, window, coin, false);
  // How far an account depends on one coin is a matter of all its trading.
  const whole = coin === null ? own : await listStats(context, traders, window, null, false);
  const whales = young.flatMap(({ trader, first_at }): FreshWhale[] => {
    const stats = own.get(trader);
    const all = whole.get(trader);
    if (stats === undefined || all === undefined) return [];
    const wallet_age_days = (context.now.getTime() - first_at.getTime()) / DAY;
    const signals: FreshSignals = {
      age: clip((args.max_wallet_age_days - wallet_age_days) / args.max_wallet_age_days),
      size: sizeSignal(Number(stats.total_volume), args.min_volume),
      concentration: all.top_coin_share === null ? null : Number(all.top_coin_share),
      win_rate: stats.win_rate_lb,
      timing: null,
    };
    return [
      {
        ...stats,
        first_trade: first_at,
        top_coin: all.top_coin,
        coin_concentration: all.top_coin_share,
        wallet_age_days: roundTo(wallet_age_days, 6),
        signals,
        suspicion_score: suspicionOf(signals),
      },
    ];
  });
  return args.sort_by === 'suspicion_score' ? withTiming(whales, coin, context) : whales;
}

/** log10(volume / min_volume) / 2, cut to 0..1; any volume is beyond a bound of nothing. */
function sizeSignal(volume: number, min_volume: number): number {
  if (volume <= 0) return 0;
  return min_volume > 0 ? clip(Math.log10(volume / min_volume) / 2) : 1;
}

async function withTiming(whales: FreshWhale[], coin: string | null, context: GraphContext): Promise<FreshWhale[]> {
  const traders = whales.map(({ trader }) => trader);
  const timings = await listTimings(context, traders, coin);
  return whales.map((whale) => {
    const signals = { ...whale.signals, timing: timings.get(whale.trader) ?? null };
    return { ...whale, signals, suspicion_score: suspicionOf(signals) };
  });
}

/** D-FRESH, 0..100 in tenths: what is not known counts nothing. */
function suspicionOf(signals: FreshSignals): number {
  const names = Object.keys(WEIGHTS) as (keyof FreshSignals)[];
  return roundTo(names.reduce((sum, name) => sum + WEIGHTS[name] * (signals[name] ?? 0), 0), 1); // prettier-ignore
}

/** The largest first, the youngest first; ties by account. */
function compare(a: FreshWhale, b: FreshWhale, sort_by: FreshWhalesArgs['sort_by']): number {
  const key = a.trader < b.trader ? -1 : 1;
  if (sort_by === 'wallet_age_days') return b.first_trade.getTime() - a.first_trade.getTime() || key;
  const figure = (whale: FreshWhale): number =>
    Number((sort_by === 'win_rate' ? whale.win_rate_lb : whale[sort_by]) ?? Number.NEGATIVE_INFINITY);
  return figure(b) === figure(a) ? key : figure(b) - figure(a);
}
