import type { QueryResultRow } from 'pg';
import { AppError } from '../../../errors';
import type { Timeframe, Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { priceBefore } from './price';
import {
  getCoinIfAny,
  getDayScoredFrom,
  isEverything,
  isNewest,
  isScoreTold,
  openWindow,
  spanUpToNow,
  widerTimeframe,
  without,
} from './scope';
import { BOUGHT, SOLD, VOLUME_COLUMNS, scoredRows, wholeLives } from './span';

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
export const DIRECTED = 0.1;
/** So many equal, independent wallets make a whole signal. */
export const FULL_WALLETS = 10;
const TOP_TRADERS = 5;
/** Scores from which a signal is strong, moderate, weak. */
export const STRENGTHS = { strong: 65, moderate: 40, weak: 10 } as const;
const STRENGTH = `CASE ${Object.entries(STRENGTHS)
  .map(([word, from]) => `WHEN signal_score >= ${from} THEN '${word}'`)
  .join(' ')} END`;

const COLUMNS = [...VOLUME_COLUMNS, 'bought_size', 'sold_size', 'last_at'] as const;

// What tells the accounts' fills: their days beside each other or their own, or whole lives where the window is everything.
interface By {
  is_told: boolean;
  is_life: boolean;
}

const rowsOf = ({ is_told, is_life }: By, coin: boolean): string => {
  const scored = { day: '$5', least: '$6', is_told };
  const narrowed = coin ? { coin: '$9' } : {};
  return is_life ? `(${wholeLives(COLUMNS, scored, narrowed)})` : scoredRows(COLUMNS, scored, narrowed);
};

/** A life is one row an account and coin. */
const summed = ({ is_life }: By, value: string): string => (is_life ? value : `sum(${value})`);

// $1 to $4: the window; $5: day of the score run; $6: least score; $7: fewest wallets; $8: how many; $9: the coin, where there is one. A score weighs
// in percent: by a hundred is divided once, after adding up.
const text = (by: By, coin: boolean): string => `
WITH summed_up AS (
  SELECT coin, trader, ${summed(by, BOUGHT)} AS bought, ${summed(by, SOLD)} AS sold, ${summed(by, 'bought_size')} AS bought_size, ${summed(by, 'sold_size')} AS sold_size, ${by.is_life ? 'last_at' : 'max(last_at) AS last_at'}
  FROM ${rowsOf(by, coin)} r WHERE $1::timestamptz <= $2::timestamptz AND $3::timestamptz <= $4::timestamptz ${by.is_life ? '' : 'GROUP BY coin, trader'}
),
own AS MATERIALIZED (
  SELECT u.*, s.score, u.bought - u.sold AS net_usd, s.score * (u.bought + u.sold) AS weighed
  FROM summed_up u JOIN perp_score s ON s.trader = u.trader AND s.day = $5::date AND s.score >= $6::numeric
),
summed AS (
  SELECT coin, count(*)::int AS smart_wallet_count, sum(bought) + sum(sold) AS total_volume, avg(score) AS avg_score, sum(bought) - sum(sold) AS net_volume,
    (count(*) FILTER (WHERE bought > sold))::int AS long_wallets, (count(*) FILTER (WHERE bought < sold))::int AS short_wallets,
    0.01 * sum(score * net_usd) AS net, 0.01 * sum(weighed) AS gross, 0.0001 * sum(weighed * weighed) AS squares,
    sum(bought) AS bought, sum(sold) AS sold, sum(bought_size) AS bought_size, sum(sold_size) AS sold_size
  FROM own GROUP BY coin HAVING count(*) >= $7
),
scored AS (
  SELECT summed.*, CASE WHEN net > ${DIRECTED} * gross THEN 'Long' WHEN net < -${DIRECTED} * gross THEN 'Short' ELSE 'Neutral' END AS direction,
    coalesce(round(100 * abs(net) / nullif(gross, 0) * sqrt(least(gross * gross / nullif(squares, 0), ${FULL_WALLETS}) / ${FULL_WALLETS}), 1), 0) AS signal_score
  FROM summed
),
shown AS (
  SELECT scored.*, row_number() OVER (ORDER BY signal_score DESC, coin COLLATE "C")::int AS rank FROM scored ORDER BY signal_score DESC, coin COLLATE "C" LIMIT $8
),
placed AS (
  SELECT own.*, shown.rank, row_number() OVER (PARTITION BY shown.rank ORDER BY abs(own.net_usd) DESC, own.trader) AS place
  FROM own JOIN shown ON shown.coin = own.coin
),
top AS (
  SELECT rank, json_agg(json_build_object('trader', trader, 'score', score::text,
      'direction', CASE WHEN bought > sold THEN 'Long' WHEN bought < sold THEN 'Short' ELSE 'Neutral' END, 'usd_value', abs(net_usd)::text,
      'avg_price', (CASE WHEN bought > sold THEN bought / bought_size WHEN bought < sold THEN sold / sold_size END)::text,
      'timestamp', last_at) ORDER BY place) AS traders
  FROM placed WHERE place <= ${TOP_TRADERS} GROUP BY rank
)
SELECT shown.coin, direction, smart_wallet_count, total_volume, avg_score, net_volume, long_wallets, short_wallets, signal_score,
  ${STRENGTH} AS signal_strength, CASE direction WHEN 'Long' THEN bought / nullif(bought_size, 0) WHEN 'Short' THEN sold / nullif(sold_size, 0) END AS avg_entry,
  ${priceBefore('shown.coin', '$4::timestamptz')} AS price, top.traders AS top_traders
FROM shown JOIN top ON top.rank = shown.rank ORDER BY shown.rank`;

/** Where the exposure of accounts with at least a score moved, coin by coin. Throws not_found (coin), empty_result. */
export async function smartSignals(args: SmartSignalsArgs, context: GraphContext): Promise<SignalRow[]> {
  const window = openWindow(args.timeframe, context);
  const coin = await getCoinIfAny(context, args.coin);
  const day = await getDayScoredFrom(context, args.min_score);
  const by = await howTold(args, window, context);
  const statement = {
    name: `perps_smart_signals${by.is_life ? '_life' : ''}${by.is_told ? '_told' : ''}${coin === null ? '' : '_coin'}`,
    text: text(by, coin !== null),
  };
  const values = [
    ...(await spanUpToNow(window, context)),
    day,
    args.min_score,
    args.min_wallets,
    args.limit,
    ...(coin === null ? [] : [coin]),
  ];
  const rows = await context.sql.query<SignalRow>(statement, values);
  if (rows.length === 0)
    throw new AppError('empty_result', { suggestion: widerTimeframe(args.timeframe) ?? without(args, { min_wallets: 1, coin: null }) });
  context.meta.count = rows.length;
  return rows;
}

async function howTold({ min_score }: SmartSignalsArgs, window: Window, context: GraphContext): Promise<By> {
  const is_life = (await isEverything(context, window)) && (await isNewest(context));
  return { is_life, is_told: await isScoreTold(context, min_score) };
}
