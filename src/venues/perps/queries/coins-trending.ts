import { AppError } from '../../../errors';
import { SPIKE } from '../../../lib/spike';
import { leastShown } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import type { Timeframe, Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { priceBefore } from './price';
import { activeByCoin, smartActiveRows } from './active';
import { findSmartRun, isNewest, openWindow, spanUpToNow, warnUndirected, widerTimeframe, windowBefore, without } from './scope';
import { PERP_BAR_MS, unitOf } from '../rollups/hours';
import { type SmartBy, smartBy, untoldRows } from './lives';
import { BOUGHT, SOLD, SPAN_NAMED, VOLUME_COLUMNS, matchRows, smartIn, smartRows, sumsOf } from './span';

export interface CoinsTrendingArgs {
  timeframe: Timeframe;
  limit: number;
  sort_by: 'volume_spike' | 'volume' | 'trade_count' | 'smart_wallet_count';
  min_volume_usd: number;
}

/** What is told of a coin in a window by its trades alone. Figures are exact decimals as text. */
interface TradedRow {
  coin: string;
  volume_usd: string;
  trade_count: number;
  long_short_ratio: string | null;
  volume_change_pct: string | null;
  volume_spike_multiplier: string | null;
  price: string | null;
  price_change_pct: string | null;
  undirected: number;
}

/** Who was active in a coin: all accounts, and what smart ones among them came to. */
interface ActiveRow {
  coin: string;
  unique_traders: number;
  smart_wallet_count: number | null;
  smart_net_volume_usd: string | null;
}

export type TrendingCoinRow = TradedRow & ActiveRow;

const SMART_COLUMNS = [...VOLUME_COLUMNS, 'fills'] as const;

const smartByAccount = (by: SmartBy): string => `
  SELECT coin, count(*)::int AS wallets, sum(net_volume_usd) AS net_volume_usd FROM (
    SELECT coin, trader, sum(${BOUGHT} - (${SOLD})) AS net_volume_usd
    FROM ${untoldRows(SMART_COLUMNS, by)} r
    GROUP BY coin, trader HAVING sum(fills) > 0
  ) own GROUP BY coin`;

const SMART_TOLD = `
  SELECT coin, sum(wallets)::int AS wallets, ${sumsOf(['open_long_usd', 'close_short_usd'])} - (${sumsOf(['open_short_usd', 'close_long_usd'])}) AS net_volume_usd FROM (
    SELECT coin, traders AS wallets, ${VOLUME_COLUMNS.map((column) => `0 AS ${column}`).join(', ')} FROM (${smartActiveRows(smartIn('$5'))}) active
    UNION ALL SELECT coin, 0, ${VOLUME_COLUMNS.join(', ')} FROM ${smartRows(VOLUME_COLUMNS, { day: '$5', is_told: true })} r
  ) piece GROUP BY coin`;

// $1 to $4: the window; $5: day of the score run, null before the first.
const activeText = (by: SmartBy): string => `
WITH active AS MATERIALIZED (${activeByCoin()}),
smart AS MATERIALIZED (${by === 'told' ? SMART_TOLD : smartByAccount(by)})
SELECT coin, coalesce(active.count, 0) AS unique_traders, CASE WHEN $5::date IS NOT NULL THEN coalesce(smart.wallets, 0) END AS smart_wallet_count,
  CASE WHEN $5::date IS NOT NULL THEN coalesce(smart.net_volume_usd, 0) END AS smart_net_volume_usd
FROM active FULL JOIN smart USING (coin) WHERE ${SPAN_NAMED}`;

/** What lies between two instants, whichever is the later; and what it adds when one goes on from the first to the second. */
const between = (instant: string, first: string, second: string): string => `${instant} >= least(${first}, ${second}) AND ${instant} < greatest(${first}, ${second})`; // prettier-ignore
const signed = (value: string, first: string, second: string): string => `CASE WHEN ${first} < ${second} THEN ${value} ELSE -${value} END`;

/** By how many smart accounts there were is sorted when these are known. */
const SORT = { volume_spike: 'volume_spike_multiplier DESC NULLS LAST, ', volume: '', trade_count: 'trade_count DESC, ', smart_wallet_count: '' } as const; // prettier-ignore

/** Windows before begin and end at these places of their bounds: the nearest ends and begins at the first two, all of them lie between the first and the last. */
const [NEAREST, FURTHEST] = [2, SPIKE.windows + 1];

// $1 to $4: the window; $5: where the windows before it begin and end, the nearest first; $6: least volume; $7: coins at most. The windows before are told by whole
// days, from the midnight next to where one begins to that next to where it ends; what lies between such a midnight and the instant itself is `torn`: less than nothing where the midnight is the later one.
const tradedText = (sort_by: CoinsTrendingArgs['sort_by']): string => `
WITH traded AS (
  SELECT coin, sum(volume_usd) AS volume_usd, sum(matches)::int AS trade_count, sum(bought_usd) AS bought, sum(sold_usd) AS sold, sum(undirected)::int AS undirected
  FROM ${matchRows(['volume_usd', 'matches', 'bought_usd', 'sold_usd', 'undirected'])} r GROUP BY coin HAVING sum(volume_usd) >= $6::numeric
),
bound AS MATERIALIZED (
  SELECT b.place::int, b.time, date_trunc('day', b.time + interval '12 hours', 'UTC') AS day, ${unitOf('quarter', "b.time + interval '3 hours'")} AS quarter, date_trunc('hour', b.time + interval '30 minutes', 'UTC') AS hour, ${unitOf('bar', `b.time + interval '${PERP_BAR_MS / 2} milliseconds'`)} AS bar
  FROM unnest($5::timestamptz[]) WITH ORDINALITY AS b(time, place)
),
edge AS MATERIALIZED (SELECT * FROM bound WHERE place IN (1, ${NEAREST}, ${FURTHEST})),
torn AS (
  SELECT b.place, h.coin, ${signed('h.volume_usd', 'b.day', 'b.quarter')} AS volume_usd FROM edge b JOIN perp_coin_quarter h ON ${between('h.quarter', 'b.day', 'b.quarter')}
  UNION ALL SELECT b.place, h.coin, ${signed('h.volume_usd', 'b.quarter', 'b.hour')} FROM edge b JOIN perp_coin_hour h ON ${between('h.hour', 'b.quarter', 'b.hour')}
  UNION ALL SELECT b.place, h.coin, ${signed('h.volume_usd', 'b.hour', 'b.bar')} FROM edge b JOIN perp_coin_bar h ON ${between('h.bar', 'b.hour', 'b.bar')}
  UNION ALL SELECT b.place, m.coin, ${signed('m.usd_value', 'b.bar', 'b.time')} FROM edge b JOIN perp_match m ON ${between('m.timestamp', 'b.bar', 'b.time')}
),
before AS (
  SELECT coin, coalesce(sum(volume_usd) FILTER (WHERE place < ${FURTHEST}), 0) AS last_usd, coalesce(sum(volume_usd) FILTER (WHERE place <> ${NEAREST}), 0) AS volume_usd FROM (
    SELECT CASE WHEN d.day >= nearest.day THEN 1 ELSE ${FURTHEST} END AS place, d.coin, d.volume_usd
    FROM edge own JOIN edge nearest ON nearest.place = ${NEAREST} JOIN edge furthest ON furthest.place = ${FURTHEST} JOIN perp_coin_day d ON d.day >= furthest.day AND d.day < own.day WHERE own.place = 1
    UNION ALL SELECT place, coin, CASE place WHEN 1 THEN volume_usd ELSE -volume_usd END FROM torn
  ) piece GROUP BY coin
),
first AS (
  SELECT t.*, before.last_usd, CASE WHEN spike.windows >= ${SPIKE.fewest} THEN (t.volume_usd + ${SPIKE.usd}) / (coalesce(before.volume_usd, 0) / spike.windows + ${SPIKE.usd}) END AS volume_spike_multiplier
  FROM traded t LEFT JOIN perp_coin c ON c.coin = t.coin LEFT JOIN before ON before.coin = t.coin
  CROSS JOIN LATERAL (SELECT count(*) AS windows FROM bound w WHERE w.time > c.first_seen AND w.place <= ${SPIKE.windows}) spike
  ORDER BY ${SORT[sort_by]}t.volume_usd DESC, t.coin COLLATE "C" LIMIT $7
),
priced AS MATERIALIZED (
  SELECT t.*, ${priceBefore('t.coin', '$4::timestamptz')} AS price, ${priceBefore('t.coin', '$1::timestamptz')} AS price_then FROM first t
)
SELECT t.coin, t.volume_usd, t.trade_count, t.bought / nullif(t.sold, 0) AS long_short_ratio,
  100 * (t.volume_usd - t.last_usd) / nullif(t.last_usd, 0) AS volume_change_pct, t.volume_spike_multiplier,
  t.price, 100 * (t.price - t.price_then) / t.price_then AS price_change_pct, t.undirected
FROM priced t ORDER BY ${SORT[sort_by]}t.volume_usd DESC, t.coin COLLATE "C"`;

/** Where equal windows before this one begin and end, from its own beginning back; none before everything. */
function earlierBounds(timeframe: Timeframe, { from, to }: Window): Date[] {
  if (timeframe === 'all') return [];
  const length = to.getTime() - from.getTime();
  return Array.from({ length: SPIKE.windows + 1 }, (_, number) => new Date(from.getTime() - number * length));
}

/** Coins with at least so much volume, by how far it stands out. Throws empty_result. */
export async function coinsTrending(args: CoinsTrendingArgs, context: GraphContext): Promise<TrendingCoinRow[]> {
  const window = openWindow(args.timeframe, context);
  const { day, is_told } = await findSmartRun(context);
  const by = smartBy(args.timeframe, is_told);
  const keyed = is_told && (await isNewest(context));
  // A plan for all windows reads hours account by account, in those without a whole day twice as long as a plan of their own.
  const isShort = window.to.getTime() - window.from.getTime() < DAY_MS;
  const span = await spanUpToNow(window, context);
  const [traded, active, before] = await Promise.all([
    context.sql.query<TradedRow>({ name: `perps_coins_trending_${args.sort_by}`, text: tradedText(args.sort_by), keyed }, [
      ...span,
      earlierBounds(args.timeframe, window),
      String(leastShown(args.min_volume_usd)),
      args.sort_by === 'smart_wallet_count' ? null : args.limit,
    ]),
    context.sql.query<ActiveRow>({ name: `perps_coins_active_${by}`, text: activeText(by), keyed: keyed && !isShort }, [...span, day]),
    windowBefore(args.timeframe, context),
  ]);
  const activeIn = new Map(active.map((row) => [row.coin, row]));
  const nobody = { unique_traders: 0, smart_wallet_count: day === null ? null : 0, smart_net_volume_usd: day === null ? null : '0' };
  const all = traded.map((row): TrendingCoinRow => ({
    ...row,
    volume_change_pct: before === null ? null : row.volume_change_pct,
    ...(activeIn.get(row.coin) ?? nobody),
  }));
  if (args.sort_by === 'smart_wallet_count') all.sort((a, b) => (b.smart_wallet_count ?? 0) - (a.smart_wallet_count ?? 0));
  const rows = all.slice(0, args.limit);
  if (rows.length === 0)
    throw new AppError('empty_result', { suggestion: widerTimeframe(args.timeframe) ?? without(args, { min_volume_usd: 0 }) });
  warnUndirected(context, rows);
  context.meta.count = rows.length;
  return rows;
}
