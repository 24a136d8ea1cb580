import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import type { Timeframe, Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { priceBefore } from './price';
import {
  findSmartRun,
  getCoinIfAny,
  getDayScoredFrom,
  isLife,
  isScoreTold,
  openWindow,
  spanUpToNow,
  widerTimeframe,
  without,
} from './scope';
import { hasRests } from '../rollups/smart-trader-rests';
import { wholeLives } from './lives';
import { BOUGHT, SOLD, SPAN_NAMED, VOLUME_COLUMNS, scoredRows, scoredRowsByRest } from './span';

export interface SmartSignalsArgs {
  timeframe: Timeframe;
  min_score: number;
  limit: number;
  min_wallets: number;
  coin?: string | null;
}

/** A coin's signal. Figures are exact decimals as text. */
export interface SignalRow {
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

// What tells the accounts' fills: their days beside each other (and what was left of the day the window begins on) or their own, or whole lives
// where the window is everything.
interface By {
  is_told: boolean;
  is_rest: boolean;
  is_life: boolean;
}

/** Which coins: one, some, or all. */
type Coins = 'one' | 'some' | 'all';
const NARROWED = { one: { coin: '$9' }, some: { coins: '$9' }, all: {} } as const;

const rowsOf = ({ is_told, is_rest, is_life }: By, coins: Coins): string => {
  const whose = { day: '$5', least: '$6', is_told };
  if (is_life) return `(${wholeLives(is_told ? [...COLUMNS, 'score'] : COLUMNS, whose, NARROWED[coins])})`;
  return is_rest ? scoredRowsByRest(COLUMNS, whose, NARROWED[coins]) : scoredRows(COLUMNS, whose, NARROWED[coins]);
};

/**
 * What each account came to in each coin. A life is one row; all other rows are added up account by account in their order, which takes hardly any
 * memory: by their hash, thousands of sums that are under way together take several times as long.
 */
const summedUp = (by: By, coins: Coins): string =>
  by.is_life
    ? `SELECT ${by.is_told ? 'score, ' : ''}coin, trader, ${BOUGHT} AS bought, ${SOLD} AS sold, bought_size, sold_size, last_at FROM ${rowsOf(by, coins)} r WHERE ${SPAN_NAMED}`
    : `SELECT coin, trader, sum(bought) AS bought, sum(sold) AS sold, sum(bought_size) AS bought_size, sum(sold_size) AS sold_size, max(last_at) AS last_at
  FROM (SELECT coin, trader, ${BOUGHT} AS bought, ${SOLD} AS sold, bought_size, sold_size, last_at FROM ${rowsOf(by, coins)} r WHERE ${SPAN_NAMED} ORDER BY trader, coin) own
  GROUP BY trader, coin`;

/** The same with the account's score, which told lives have themselves. */
const scored = ({ is_life, is_told }: By): string =>
  is_life && is_told
    ? 'summed_up'
    : '(SELECT u.*, s.score FROM summed_up u JOIN perp_score s ON s.trader = u.trader AND s.day = $5::date AND s.score >= $6::numeric)';

// $1 to $4: the window; $5: day of the score run; $6: least score; $7: fewest wallets; $8: how many; $9: the coins, where not all. A score weighs
// in percent: by a hundred is divided once, after adding up.
const text = (by: By, coins: Coins): string => `
WITH summed_up AS (
  ${summedUp(by, coins)}
),
own AS MATERIALIZED (
  SELECT u.*, bought - sold AS net_usd, score * (bought + sold) AS weighed FROM ${scored(by)} u
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
  const values = [...(await spanUpToNow(window, context)), day, args.min_score, args.min_wallets, args.limit];
  const ask = (coins: Coins, ...which: unknown[]): Promise<SignalRow[]> => context.sql.query(statement(by, coins), [...values, ...which]);
  const rows = coin === null ? await listAll(args, by, ask, context) : await ask('one', coin);
  if (rows.length === 0)
    throw new AppError('empty_result', { suggestion: widerTimeframe(args.timeframe) ?? without(args, { min_wallets: 1, coin: null }) });
  context.meta.count = rows.length;
  return rows;
}

const statement = (by: By, coins: Coins): Statement => ({
  name: `perps_smart_signals${by.is_life ? '_life' : ''}${by.is_told ? '_told' : ''}${by.is_rest ? '_rest' : ''}_${coins}`,
  text: text(by, coins),
});

// How many smart accounts were ever filled in each coin.
const COINS: Statement = {
  name: 'perps_smart_coins',
  keyed: true,
  text: "SELECT coin FROM perp_smart_last_day WHERE coin <> '' GROUP BY coin ORDER BY sum(traders) DESC, coin",
};

/** All coins; where they are told beside each other, two lists of about as many accounts side by side. */
async function listAll(
  { limit }: SmartSignalsArgs,
  by: By,
  ask: (coins: Coins, ...which: unknown[]) => Promise<SignalRow[]>,
  { sql }: GraphContext,
): Promise<SignalRow[]> {
  if (!by.is_told) return ask('all');
  const coins = (await sql.query<{ coin: string }>(COINS, [])).map(({ coin }) => coin);
  // The first, fourth, fifth, eighth …: the largest alone is about as much as the two after it.
  const halves = [true, false].map((first) => coins.filter((_coin, place) => (place % 4 === 0 || place % 4 === 3) === first));
  const rows = (await Promise.all(halves.map((half) => ask('some', half)))).flat();
  return rows.sort((a, b) => Number(b.signal_score) - Number(a.signal_score) || (a.coin < b.coin ? -1 : 1)).slice(0, limit);
}

async function howTold({ min_score }: SmartSignalsArgs, window: Window, context: GraphContext): Promise<By> {
  const is_life = await isLife(context, window);
  const is_told = await isScoreTold(context, min_score);
  const { day } = await findSmartRun(context);
  return { is_life, is_told, is_rest: !is_life && is_told && day !== null && hasRests(day, window.from) };
}
