import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import { clip, leastShown, roundTo, wilsonLowerBound } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import { windowOf } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { getCoinIfAny, isEverything, isNewest, without } from './scope';
import { lifeRows } from './lives';
import { VOLUME, VOLUME_COLUMNS } from './span';
import { listTimings } from './timing';
import { type TraderStats, listStats } from './trader-stats';
import { lifeTrips } from './trip-counts';

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

/** Weights of the fresh-whale score. */
export const WEIGHTS = { age: 25, size: 25, concentration: 15, win_rate: 20, timing: 15 } as const satisfies Record<
  keyof FreshSignals,
  number
>;

interface YoungRow {
  trader: string;
  first_at: Date;
  /** In the scope of the question: of the coin, where there is one. */
  volume: string;
  pnl: string;
  closed: number;
  won: number;
  /** Of the largest coin in all its trading. */
  concentration: string | null;
}

const SUMMED = [...VOLUME_COLUMNS, 'long_pnl', 'short_pnl', 'fills'] as const;

// $1: no older than; $2: now; $3, $4: least volume and PnL; $5: the coin, where there is one.
const text = (coin: boolean): string => `
WITH young AS (SELECT trader, first_at FROM perp_trader WHERE first_at >= $1::timestamptz AND first_at < $2::timestamptz),
own AS (
  SELECT r.trader, r.coin, sum(${VOLUME}) AS volume, sum(long_pnl + short_pnl) AS pnl
  FROM young JOIN ${lifeRows(SUMMED, {}, '$2')} r ON r.trader = young.trader GROUP BY r.trader, r.coin HAVING sum(fills) > 0
),
whale AS (
  SELECT trader, sum(volume) ${coin ? 'FILTER (WHERE coin = $5::text)' : ''} AS volume, sum(pnl) ${coin ? 'FILTER (WHERE coin = $5::text)' : ''} AS pnl,
    max(volume) / nullif(sum(volume), 0) AS concentration
  FROM own GROUP BY trader
),
trips AS (
  SELECT t.trader, sum(closed) AS closed, sum(won) AS won FROM young JOIN ${lifeTrips(coin ? { coin: '$5' } : {}, '$2')} t ON t.trader = young.trader GROUP BY t.trader
)
SELECT whale.trader, young.first_at, whale.volume, whale.pnl, whale.concentration, coalesce(trips.closed, 0)::int AS closed, coalesce(trips.won, 0)::int AS won
FROM whale JOIN young ON young.trader = whale.trader LEFT JOIN trips ON trips.trader = whale.trader
WHERE whale.volume >= $3::numeric AND whale.pnl >= $4::numeric`;

/** Orders that the columns of `whale` give: only those that are shown are read. */
const ORDER: Partial<Record<FreshWhalesArgs['sort_by'], string>> = { total_volume: 'volume DESC', total_pnl: 'pnl DESC', wallet_age_days: 'first_at DESC' }; // prettier-ignore

/** Young accounts with what they came to in all coins, or in the coin $6. */
const WHALES = {
  all: 'SELECT p.trader, p.first_at, p.volume_usd AS volume, p.pnl FROM perp_trader p',
  coin: `SELECT p.trader, p.first_at, ${VOLUME} AS volume, l.long_pnl + l.short_pnl AS pnl FROM perp_trader_life l JOIN perp_trader p ON p.trader = l.trader WHERE l.coin = $6 AND l.fills > 0`,
} as const;

// As of no earlier than the newest fill. $1: no older than; $2: now; $3, $4: least volume and PnL; $5: how many, null for all; $6: the coin, where there is one.
const newest = (sort_by: FreshWhalesArgs['sort_by'], of: keyof typeof WHALES): Statement => {
  const order = ORDER[sort_by];
  const trips = (count: string): string => `(sum(${count})${of === 'coin' ? ' FILTER (WHERE coin = $6)' : ''})::int`;
  return {
    name: `perps_fresh_whales_${order === undefined ? 'any' : sort_by}_${of}`,
    text: `
WITH whale AS MATERIALIZED (
  SELECT * FROM (${WHALES[of]}) young WHERE first_at >= $1::timestamptz AND first_at < $2::timestamptz AND volume >= $3::numeric AND pnl >= $4::numeric
  ${order === undefined ? '' : `ORDER BY ${order}, trader `}LIMIT $5::int
)
SELECT whale.trader, whale.first_at, whale.volume, whale.pnl, max(${VOLUME}) / nullif(sum(${VOLUME}), 0) AS concentration, ${trips('closed_trips')} AS closed, ${trips('won_trips')} AS won
FROM whale JOIN perp_trader_life l ON l.trader = whale.trader GROUP BY whale.trader, whale.first_at, whale.volume, whale.pnl`,
  };
};

/** A candidate with what its place is decided by. */
interface Candidate extends YoungRow {
  wallet_age_days: number;
  win_rate_lb: number | null;
  signals: FreshSignals;
}

/** Accounts so young that trade so much; volume, PnL and trades of the coin where one is asked for. Throws not_found (coin), empty_result. */
export async function freshWhales(args: FreshWhalesArgs, context: GraphContext): Promise<FreshWhale[]> {
  const { now, meta } = context;
  const coin = await getCoinIfAny(context, args.coin);
  const young = await listYoung(args, coin, context);
  if (young.length === 0)
    throw new AppError('empty_result', {
      suggestion:
        args.max_wallet_age_days < 90
          ? { max_wallet_age_days: 90 }
          : without(args, { min_volume: 0, min_pnl: Math.min(0, args.min_pnl), coin: null }),
    });
  const candidates = young.map((row) => candidateOf(row, args, now));
  const [shown, everything] = await Promise.all([
    args.sort_by === 'suspicion_score'
      ? describedByScore(candidates, args, coin, context)
      : describedByFigure(candidates, args, coin, context),
    isEverything(context, { from: oldestOf(args, now), to: now }),
  ]);
  meta.count = shown.length;
  if (everything) meta.warnings.push('no fill that old is on record: an account may be older than its first fill seen');
  return shown;
}

/** Accounts young enough and large enough; where whole lives tell their order, only as many as are shown. */
async function listYoung(args: FreshWhalesArgs, coin: string | null, context: GraphContext): Promise<YoungRow[]> {
  const { now, sql } = context;
  const values = [oldestOf(args, now), now, String(leastShown(args.min_volume)), String(leastShown(args.min_pnl))];
  const narrowed = coin === null ? [] : [coin];
  const of = coin === null ? 'all' : 'coin';
  if (await isNewest(context)) {
    const most = ORDER[args.sort_by] === undefined ? null : args.limit;
    return sql.query<YoungRow>(newest(args.sort_by, of), [...values, most, ...narrowed]);
  }
  return sql.query<YoungRow>({ name: `perps_fresh_whales_${of}`, text: text(coin !== null) }, [...values, ...narrowed]);
}

/** The earliest first fill of an account that is young enough. */
const oldestOf = ({ max_wallet_age_days }: FreshWhalesArgs, now: Date): Date => new Date(now.getTime() - max_wallet_age_days * DAY_MS);

function candidateOf(row: YoungRow, args: FreshWhalesArgs, now: Date): Candidate {
  const wallet_age_days = (now.getTime() - row.first_at.getTime()) / DAY_MS;
  const win_rate_lb = wilsonLowerBound(row.won, row.closed);
  const signals: FreshSignals = {
    age: clip((args.max_wallet_age_days - wallet_age_days) / args.max_wallet_age_days),
    size: sizeSignal(Number(row.volume), args.min_volume),
    concentration: row.concentration === null ? null : Number(row.concentration),
    win_rate: win_rate_lb,
    timing: null,
  };
  return { ...row, wallet_age_days, win_rate_lb, signals };
}

/** Tells how well candidates time their opens: open by open, so only for those who may be shown. */
async function tellTimings(candidates: readonly Candidate[], coin: string | null, context: GraphContext): Promise<void> {
  const timings = await listTimings(context, candidates.map(({ trader }) => trader), coin); // prettier-ignore
  for (const { trader, signals } of candidates) signals.timing = timings.get(trader) ?? null;
}

/** Those shown in an order that their timing has no part in. */
async function describedByFigure(
  candidates: Candidate[],
  { sort_by, limit }: FreshWhalesArgs,
  coin: string | null,
  context: GraphContext,
): Promise<FreshWhale[]> {
  const shown = candidates.sort((a, b) => compare(a, b, sort_by)).slice(0, limit);
  const [stats] = await Promise.all([statsOf(shown, coin, context), tellTimings(shown, coin, context)]);
  return describe(shown, stats);
}

/** Those shown by the whole score; accounts are timed from the best down, `limit` at once, until the best timing brings nobody left among them. */
async function describedByScore(
  candidates: Candidate[],
  { sort_by, limit }: FreshWhalesArgs,
  coin: string | null,
  context: GraphContext,
): Promise<FreshWhale[]> {
  const queue = candidates
    .map((candidate) => ({ candidate, most: suspicionOf({ ...candidate.signals, timing: 1 }) }))
    .sort((a, b) => b.most - a.most);
  let shown: Candidate[] = [];
  while (queue.length > 0) {
    const last = shown[limit - 1];
    if (last !== undefined && (queue[0] as (typeof queue)[number]).most < suspicionOf(last.signals)) break;
    const next = queue.splice(0, limit).map(({ candidate }) => candidate);
    await tellTimings(next, coin, context);
    shown = [...shown, ...next].sort((a, b) => compare(a, b, sort_by)).slice(0, limit);
  }
  return describe(shown, await statsOf(shown, coin, context));
}

/** Figures by account, of the question's scope and of all its trading: how far it depends on one coin is a matter of the latter. */
interface FreshStats {
  own: ReadonlyMap<string, TraderStats>;
  whole: ReadonlyMap<string, TraderStats>;
}

async function statsOf(shown: readonly Candidate[], coin: string | null, context: GraphContext): Promise<FreshStats> {
  const traders = shown.map(({ trader }) => trader);
  const window = windowOf('all', context.now);
  const figures = (of: string | null): Promise<Map<string, TraderStats>> => listStats(context, traders, window, of, false);
  const [own, whole] = await Promise.all([figures(coin), coin === null ? null : figures(null)]);
  return { own, whole: whole ?? own };
}

/** Those that are shown, with their figures. */
function describe(ranked: readonly Candidate[], { own, whole }: FreshStats): FreshWhale[] {
  return ranked.map(({ trader, first_at, wallet_age_days, signals }) => {
    const all = whole.get(trader) as TraderStats;
    return {
      ...(own.get(trader) as TraderStats),
      first_trade: first_at,
      top_coin: all.top_coin,
      coin_concentration: all.top_coin_share,
      wallet_age_days: roundTo(wallet_age_days, 6),
      signals,
      suspicion_score: suspicionOf(signals),
    };
  });
}

/** log10(volume / min_volume) / 2, cut to 0..1; any volume is beyond a bound of nothing. */
function sizeSignal(volume: number, min_volume: number): number {
  if (volume <= 0) return 0;
  return min_volume > 0 ? clip(Math.log10(volume / min_volume) / 2) : 1;
}

/** Fresh-whale score, 0..100 in tenths: what is not known counts nothing. */
function suspicionOf(signals: FreshSignals): number {
  const names = Object.keys(WEIGHTS) as (keyof FreshSignals)[];
  return roundTo(names.reduce((sum, name) => sum + WEIGHTS[name] * (signals[name] ?? 0), 0), 1); // prettier-ignore
}

/** The largest first, the youngest first; ties by account. */
function compare(a: Candidate, b: Candidate, sort_by: FreshWhalesArgs['sort_by']): number {
  const key = a.trader < b.trader ? -1 : 1;
  if (sort_by === 'wallet_age_days') return b.first_at.getTime() - a.first_at.getTime() || key;
  const figure = FIGURE[sort_by];
  return figure(b) === figure(a) ? key : figure(b) - figure(a);
}

const FIGURE = {
  total_volume: ({ volume }: Candidate) => Number(volume),
  total_pnl: ({ pnl }: Candidate) => Number(pnl),
  win_rate: ({ win_rate_lb }: Candidate) => win_rate_lb ?? Number.NEGATIVE_INFINITY,
  suspicion_score: ({ signals }: Candidate) => suspicionOf(signals),
} as const;
