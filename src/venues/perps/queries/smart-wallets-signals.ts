import type { QueryResultRow } from 'pg';
import { AppError } from '../../../errors';
import type { Timeframe } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { priceBefore } from './price';
import { getCoinIfAny, getDayScoredFrom, openWindow, widerTimeframe } from './scope';
import { BOUGHT, SOLD, VOLUME_COLUMNS, ownRows, spanOf } from './span';

export interface SmartSignalsArgs {
  timeframe: Timeframe;
  min_score: number;
  limit: number;
  min_wallets: number;
  coin?: string | null;
}

/** A coin's signal. Figures are exact decimals as text. */
export interface SignalRow extends QueryResultRow {
  coin: string;
  direction: 'Long' | 'Short' | 'Neutral';
  smart_wallet_count: number;
  total_volume: string;
  avg_score: string;
  net_volume: string;
  long_wallets: number;
  short_wallets: number;
  signal_score: string;
  signal_strength: 'weak' | 'moderate' | 'strong' | null;
  avg_entry: string | null;
  price: string | null;
  top_traders: { trader: string; score: string; direction: string; usd_value: string; avg_price: string | null; timestamp: string }[];
}

/** Net over gross from which exposure has a direction. */
const DIRECTED = 0.1;
/** So many equal, independent wallets make a whole signal. */
const FULL_WALLETS = 10;
const TOP_TRADERS = 5;
const STRENGTH =
  "CASE WHEN signal_score >= 65 THEN 'strong' WHEN signal_score >= 40 THEN 'moderate' WHEN signal_score >= 10 THEN 'weak' END";

const COLUMNS = [...VOLUME_COLUMNS, 'bought_size', 'sold_size', 'last_at'] as const;

// $1 to $4: the window; $5: day of the score run; $6: least score; $7: fewest wallets; $8: how many; $9: the coin, where there is one.
const text = (coin: boolean): string => `
WITH own AS (
  SELECT r.coin, r.trader, s.score, s.score * 0.01 AS weight, sum(${BOUGHT}) AS bought, sum(${SOLD}) AS sold, sum(bought_size) AS bought_size,
    sum(sold_size) AS sold_size, max(last_at) AS last_at
  FROM ${ownRows(COLUMNS, { scored: { day: '$5', least: '$6' }, ...(coin ? { coin: '$9' } : {}) })} r
  JOIN perp_score s ON s.trader = r.trader AND s.day = $5::date GROUP BY 1, 2, 3
),
summed AS (
  SELECT coin, count(*)::int AS smart_wallet_count, sum(bought + sold) AS total_volume, avg(score) AS avg_score, sum(bought - sold) AS net_volume,
    (count(*) FILTER (WHERE bought > sold))::int AS long_wallets, (count(*) FILTER (WHERE bought < sold))::int AS short_wallets,
    sum(weight * (bought - sold)) AS net, sum(weight * (bought + sold)) AS gross, sum(weight * weight * (bought + sold) * (bought + sold)) AS squares,
    sum(bought) AS bought, sum(sold) AS sold, sum(bought_size) AS bought_size, sum(sold_size) AS sold_size
  FROM own GROUP BY coin HAVING count(*) >= $7
),
scored AS (
  SELECT summed.*, CASE WHEN net > ${DIRECTED} * gross THEN 'Long' WHEN net < -${DIRECTED} * gross THEN 'Short' ELSE 'Neutral' END AS direction,
    coalesce(round(100 * abs(net) / nullif(gross, 0) * sqrt(least(gross * gross / nullif(squares, 0), ${FULL_WALLETS}) / ${FULL_WALLETS}), 1), 0) AS signal_score
  FROM summed
),
shown AS (SELECT * FROM scored ORDER BY signal_score DESC, coin COLLATE "C" LIMIT $8),
placed AS (
  SELECT own.*, row_number() OVER (PARTITION BY own.coin ORDER BY abs(own.bought - own.sold) DESC, own.trader) AS place
  FROM own JOIN shown ON shown.coin = own.coin
),
top AS (
  SELECT coin, json_agg(json_build_object('trader', trader, 'score', score::text,
      'direction', CASE WHEN bought > sold THEN 'Long' WHEN bought < sold THEN 'Short' ELSE 'Neutral' END, 'usd_value', abs(bought - sold)::text,
      'avg_price', (CASE WHEN bought > sold THEN bought / bought_size WHEN bought < sold THEN sold / sold_size END)::text,
      'timestamp', last_at) ORDER BY place) AS traders
  FROM placed WHERE place <= ${TOP_TRADERS} GROUP BY coin
)
SELECT shown.coin, direction, smart_wallet_count, total_volume, avg_score, net_volume, long_wallets, short_wallets, signal_score,
  ${STRENGTH} AS signal_strength, CASE direction WHEN 'Long' THEN bought / nullif(bought_size, 0) WHEN 'Short' THEN sold / nullif(sold_size, 0) END AS avg_entry,
  ${priceBefore('shown.coin', '$4::timestamptz')} AS price, top.traders AS top_traders
FROM shown JOIN top ON top.coin = shown.coin ORDER BY signal_score DESC, shown.coin COLLATE "C"`;

/** Where the exposure of accounts with at least a score moved, coin by coin. Throws not_found (coin), empty_result. */
export async function smartSignals(args: SmartSignalsArgs, context: GraphContext): Promise<SignalRow[]> {
  const window = openWindow(args.timeframe, context);
  const coin = await getCoinIfAny(context, args.coin);
  const day = await getDayScoredFrom(context, args.min_score);
  const statement = { name: coin === null ? 'perps_smart_signals' : 'perps_smart_signals_coin', text: text(coin !== null) };
  const values = [...spanOf(window), day, args.min_score, args.min_wallets, args.limit, ...(coin === null ? [] : [coin])];
  const rows = await context.sql.query<SignalRow>(statement, values);
  if (rows.length === 0) throw new AppError('empty_result', { suggestion: widerTimeframe(args.timeframe) ?? { min_wallets: 1 } });
  context.meta.count = rows.length;
  return rows;
}
