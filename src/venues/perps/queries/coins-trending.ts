import type { QueryResultRow } from 'pg';
import { AppError } from '../../../errors';
import { SPIKE } from '../../../lib/spike';
import type { Timeframe, Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { priceBefore } from './price';
import { SMART_SCORE } from '../tier';
import { activeIn, smartActiveIn } from './active';
import { findSmartRun, openWindow, spanUpToNow, warnUndirected, widerTimeframe, without } from './scope';
import {
  BOUGHT,
  SOLD,
  VOLUME_COLUMNS,
  matchRows,
  nextDay,
  scoredLives,
  scoredRows,
  smartIn,
  smartRows,
  spanOf,
  thisBar,
  thisDay,
} from './span';

export interface CoinsTrendingArgs {
  timeframe: Timeframe;
  limit: number;
  sort_by: 'volume_spike' | 'volume' | 'trade_count' | 'smart_wallet_count';
  min_volume_usd: number;
}

/** A coin in a window. Figures are exact decimals as text. */
export interface TrendingCoinRow extends QueryResultRow {
  coin: string;
  volume_usd: string;
  trade_count: number;
  unique_traders: number;
  long_short_ratio: string | null;
  smart_wallet_count: number | null;
  volume_change_pct: string | null;
  volume_spike_multiplier: string | null;
  smart_net_volume_usd: string | null;
  price: string | null;
  price_change_pct: string | null;
  undirected: number;
}

const SMART_COLUMNS = [...VOLUME_COLUMNS, 'fills'] as const;

const smartByAccount = (life: boolean, is_told: boolean): string => `
  SELECT coin, count(*)::int AS wallets, sum(net_volume_usd) AS net_volume_usd FROM (
    SELECT coin, trader, sum(${BOUGHT} - (${SOLD})) AS net_volume_usd
    FROM ${life ? scoredLives(SMART_COLUMNS, { ...smartIn('$5'), is_told }, {}, '$4') : scoredRows(SMART_COLUMNS, { ...smartIn('$5'), is_told })} r
    GROUP BY coin, trader HAVING sum(fills) > 0
  ) own GROUP BY coin`;

const SMART_TOLD = `
  SELECT coin, sum(wallets)::int AS wallets, sum(net_volume_usd) AS net_volume_usd FROM (
    SELECT coin, 1 AS wallets, 0 AS net_volume_usd FROM (${smartActiveIn({ day: '$5', least: SMART_SCORE })}) active
    UNION ALL SELECT coin, 0, ${BOUGHT} - (${SOLD}) FROM ${smartRows(VOLUME_COLUMNS, { day: '$5', is_told: true })} r
  ) piece GROUP BY coin`;

const SORT = {
  volume_spike: 'volume_spike_multiplier DESC NULLS LAST, ',
  volume: '',
  trade_count: 'trade_count DESC, ',
  smart_wallet_count: 'smart_wallet_count DESC NULLS LAST, ',
} as const;

// The windows before, each from the bar its first instant lies in to the bar its end lies in: what lies in these before the instant is `torn`, and counts
// in the window that ends there, not in the next. $1 to $4: the window; $5: day of the score run, null before the first; $6 to $10: number and span of the windows before, nearest first;
// $11: least volume; $12: how many. Everything where whole lives tell it.
const text = (sort_by: CoinsTrendingArgs['sort_by'], life: boolean, is_told: boolean): string => `
WITH traded AS (
  SELECT coin, sum(volume_usd) AS volume_usd, sum(matches)::int AS trade_count, sum(bought_usd) AS bought, sum(sold_usd) AS sold, sum(undirected)::int AS undirected
  FROM ${matchRows(['volume_usd', 'matches', 'bought_usd', 'sold_usd', 'undirected'])} r GROUP BY coin HAVING sum(volume_usd) >= $11::numeric
),
active AS (${activeIn('perp_position')}),
smart AS (${is_told && !life ? SMART_TOLD : smartByAccount(life, is_told)}),
earlier AS MATERIALIZED (
  SELECT w.*, ${thisBar('w.from_time')} AS bar_from, ${nextDay('w.hour_from')} AS day_from, ${thisDay('w.hour_to')} AS day_to, ${thisBar('w.to_time')} AS bar_to
  FROM unnest($6::int[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[], $10::timestamptz[]) AS w(number, from_time, hour_from, hour_to, to_time)
),
torn AS MATERIALIZED (
  SELECT end_of.number, m.coin, sum(m.usd_value) AS volume_usd
  FROM (SELECT number, bar_to AS bar, to_time AS time FROM earlier UNION ALL SELECT * FROM (SELECT number + 1, bar_from, from_time FROM earlier ORDER BY number DESC LIMIT 1) furthest) end_of
  JOIN perp_match m ON m.timestamp >= end_of.bar AND m.timestamp < end_of.time GROUP BY end_of.number, m.coin
),
before AS (
  SELECT number, coin, sum(volume_usd) AS volume_usd FROM (
    SELECT w.number, d.coin, d.volume_usd FROM earlier w JOIN perp_coin_day d ON d.day >= w.day_from AND d.day < w.day_to
    UNION ALL SELECT w.number, h.coin, h.volume_usd FROM earlier w JOIN perp_coin_hour h ON h.hour >= w.hour_from AND h.hour < least(w.hour_to, w.day_from)
    UNION ALL SELECT w.number, h.coin, h.volume_usd FROM earlier w JOIN perp_coin_hour h
      ON h.hour >= greatest(w.hour_from, w.day_to, w.day_from) AND h.hour < w.hour_to
    UNION ALL SELECT w.number, b.coin, b.volume_usd FROM earlier w JOIN perp_coin_bar b ON b.bar >= w.bar_from AND b.bar < w.hour_from
    UNION ALL SELECT w.number, b.coin, b.volume_usd FROM earlier w JOIN perp_coin_bar b ON b.bar >= w.hour_to AND b.bar < w.bar_to
    UNION ALL SELECT number, coin, volume_usd FROM torn UNION ALL SELECT number - 1, coin, -volume_usd FROM torn
  ) piece GROUP BY number, coin
),
spike AS (
  SELECT t.coin, count(w.number) AS windows, coalesce(sum(b.volume_usd), 0) AS volume_usd
  FROM traded t JOIN perp_coin c ON c.coin = t.coin JOIN earlier w ON w.to_time > c.first_seen
  LEFT JOIN before b ON b.number = w.number AND b.coin = t.coin GROUP BY t.coin
),
priced AS MATERIALIZED (
  SELECT t.*, ${priceBefore('t.coin', '$4::timestamptz')} AS price, ${priceBefore('t.coin', '$1::timestamptz')} AS price_then FROM traded t
)
SELECT t.coin, t.volume_usd, t.trade_count, coalesce(active.count, 0) AS unique_traders, t.bought / nullif(t.sold, 0) AS long_short_ratio,
  CASE WHEN $5::date IS NOT NULL THEN coalesce(smart.wallets, 0) END AS smart_wallet_count,
  100 * (t.volume_usd - last.volume_usd) / nullif(last.volume_usd, 0) AS volume_change_pct,
  CASE WHEN spike.windows >= ${SPIKE.fewest} THEN (t.volume_usd + ${SPIKE.usd}) / (spike.volume_usd / spike.windows + ${SPIKE.usd}) END AS volume_spike_multiplier,
  CASE WHEN $5::date IS NOT NULL THEN coalesce(smart.net_volume_usd, 0) END AS smart_net_volume_usd,
  t.price, 100 * (t.price - t.price_then) / t.price_then AS price_change_pct, t.undirected
FROM priced t LEFT JOIN active ON active.coin = t.coin LEFT JOIN smart ON smart.coin = t.coin
LEFT JOIN before last ON last.number = 1 AND last.coin = t.coin
LEFT JOIN spike ON spike.coin = t.coin
ORDER BY ${SORT[sort_by]}t.volume_usd DESC, t.coin COLLATE "C" LIMIT $12`;

/** Equal windows before this one, nearest first; none before everything. */
function earlierWindows(timeframe: Timeframe, { from, to }: Window): Window[] {
  if (timeframe === 'all') return [];
  const length = to.getTime() - from.getTime();
  const at = (number: number): Date => new Date(from.getTime() - number * length);
  return Array.from({ length: SPIKE.windows }, (_, index) => ({ from: at(index + 1), to: at(index) }));
}

/** Coins with at least so much volume, by how far it stands out. Throws empty_result. */
export async function coinsTrending(args: CoinsTrendingArgs, context: GraphContext): Promise<TrendingCoinRow[]> {
  const window = openWindow(args.timeframe, context);
  const spans = earlierWindows(args.timeframe, window).map(spanOf);
  const { day, is_told } = await findSmartRun(context);
  const life = args.timeframe === 'all';
  const name = `perps_coins_trending_${args.sort_by}${life ? '_life' : ''}${is_told ? '_told' : ''}`;
  const rows = await context.sql.query<TrendingCoinRow>({ name, text: text(args.sort_by, life, is_told) }, [
    ...(await spanUpToNow(window, context)),
    day,
    spans.map((_, index) => index + 1),
    ...([0, 1, 2, 3] as const).map((place) => spans.map((span) => span[place])),
    String(args.min_volume_usd),
    args.limit,
  ]);
  if (rows.length === 0)
    throw new AppError('empty_result', { suggestion: widerTimeframe(args.timeframe) ?? without(args, { min_volume_usd: 0 }) });
  warnUndirected(context, rows);
  context.meta.count = rows.length;
  return rows;
}
