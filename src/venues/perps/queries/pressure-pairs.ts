import type { Statement } from '../../../db/sql';
import { AppError } from '../../../errors';
import type { Timeframe, Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { type PressureLabel, pressureLabel } from '../pressure';
import { listKnownCoins } from './find-coin';
import { type PositionRow, heldAt, positionColumns } from './held';
import { priceBefore } from './price';
import { SMART_SCORE } from '../tier';
import {
  COIN_LIST,
  UNKNOWN_COIN,
  findRunDay,
  findSmartRun,
  openWindow,
  spanUpToNow,
  warnUndirected,
  widerTimeframe,
  without,
} from './scope';
import { lifeRows } from './lives';
import { matchRows, openRows, ownRows, smartRows } from './span';

export interface PressurePairsArgs {
  coins?: string[] | null;
  timeframe: Timeframe;
  trades_limit: number;
  min_score: number;
}

interface SmartPosition extends PositionRow {
  smart_score: number;
}

interface PressureRow {
  coin: string;
  long_pressure: string;
  short_pressure: string;
  long_avg_entry: string | null;
  short_avg_entry: string | null;
  buy_volume: string;
  sell_volume: string;
  pressure_ratio: string | null;
  smart_pressure_ratio: string | null;
  price: string | null;
  has_fills: boolean;
  undirected: number;
}

export type CoinPressure = PressureRow & {
  pressure_label: PressureLabel | null;
  long_smart_count: number | null;
  short_smart_count: number | null;
  smart_positions: SmartPosition[];
};

const MOST_TRADED: Statement = {
  name: 'perps_most_traded',
  keyed: true,
  text: `SELECT coin FROM ${matchRows(['volume_usd'])} r GROUP BY coin ORDER BY sum(volume_usd) DESC, coin COLLATE "C" LIMIT $5`,
};
const DEFAULT_COINS = 10;

const SMART_COLUMNS = ['open_long_usd', 'open_short_usd'] as const;
const SMART = { coins: '$5', scored: { day: '$6', least: '$7' } };

// What smart accounts opened, as rows to be added up: by sums over smart accounts, by whole lives, or by their own hours.
const SMART_ROWS = {
  told: smartRows(SMART_COLUMNS, { day: '$6', is_told: true }, { coins: '$5' }),
  life: lifeRows(SMART_COLUMNS, SMART, '$4'),
  own: ownRows(SMART_COLUMNS, SMART),
} as const;

// $1 to $4: the window, everything where whole lives tell it; $5: coins; $6: day of the score run, null before the first; $7, where nothing is told:
// least score.
const pairs = (by: keyof typeof SMART_ROWS): Statement => ({
  name: `perps_pressure_pairs_${by}`,
  keyed: by === 'told',
  text: `
WITH opened AS (
  SELECT coin, sum(open_long_usd) AS longs, sum(open_short_usd) AS shorts, sum(open_long_size) AS long_size, sum(open_short_size) AS short_size
  FROM ${openRows({ coins: '$5' })} r GROUP BY coin
),
taken AS (
  SELECT coin, sum(bought_usd) AS bought, sum(sold_usd) AS sold, sum(undirected) AS undirected
  FROM ${matchRows(['bought_usd', 'sold_usd', 'undirected'], { coins: '$5' })} r GROUP BY coin
),
smart AS (
  SELECT coin, sum(open_long_usd) AS longs, sum(open_short_usd) AS shorts
  FROM ${SMART_ROWS[by]} r GROUP BY coin
)
SELECT c.coin, coalesce(opened.longs, 0) AS long_pressure, coalesce(opened.shorts, 0) AS short_pressure, opened.longs / nullif(opened.long_size, 0) AS long_avg_entry,
  opened.shorts / nullif(opened.short_size, 0) AS short_avg_entry, coalesce(taken.bought, 0) AS buy_volume, coalesce(taken.sold, 0) AS sell_volume,
  (opened.longs - opened.shorts) / nullif(opened.longs + opened.shorts, 0) AS pressure_ratio,
  (smart.longs - smart.shorts) / nullif(smart.longs + smart.shorts, 0) AS smart_pressure_ratio, ${priceBefore('c.coin', '$4::timestamptz')} AS price,
  taken.coin IS NOT NULL OR opened.longs + opened.shorts > 0 AS has_fills, coalesce(taken.undirected, 0)::int AS undirected
FROM unnest($5::text[]) AS c(coin) LEFT JOIN opened ON opened.coin = c.coin LEFT JOIN taken ON taken.coin = c.coin LEFT JOIN smart ON smart.coin = c.coin
ORDER BY round(coalesce(opened.longs + opened.shorts, 0), 6) DESC, c.coin COLLATE "C"`,
});

interface HeldRow extends SmartPosition {
  long_count: number;
  short_count: number;
}

// $1: now; $2: coins; $3: day of the score run, null before the first; $4: least score; $5: how many of each coin.
const SMART_POSITIONS: Statement = {
  name: 'perps_smart_positions',
  text: `
WITH scored AS MATERIALIZED (SELECT s.trader, s.score FROM perp_score s WHERE s.day = $3::date AND s.score >= $4::numeric),
${heldAt('$1::timestamptz', 'p.coin = ANY ($2::text[]) AND p.trader = ANY (ARRAY(SELECT trader FROM scored))')},
priced AS MATERIALIZED (SELECT c.coin, ${priceBefore('c.coin', '$1::timestamptz')} AS price FROM unnest($2::text[]) AS c(coin)),
position AS (SELECT ${positionColumns('$1::timestamptz', 'priced.price')} FROM held h JOIN priced ON priced.coin = h.coin)
SELECT ranked.*, s.score::float8 AS smart_score FROM (
  SELECT position.*, (count(*) FILTER (WHERE direction = 'Long') OVER coin)::int AS long_count,
    (count(*) FILTER (WHERE direction = 'Short') OVER coin)::int AS short_count,
    row_number() OVER (PARTITION BY coin ORDER BY round(usd_value, 6) DESC, trader) AS place
  FROM position WINDOW coin AS (PARTITION BY coin)
) ranked JOIN scored s ON s.trader = ranked.trader WHERE place <= $5 ORDER BY coin, place`,
};

/** What takers opened in some coins, and what smart accounts hold of them. Throws empty_result; unknown coins become warnings. */
export async function pressurePairs(args: PressurePairsArgs, context: GraphContext): Promise<{ coins: CoinPressure[] }> {
  const window = openWindow(args.timeframe, context);
  const coins = await coinsOf(args.coins ?? null, window, context);
  const day = await findRunDay(context);
  const [rows, held] = await Promise.all([
    pressures(args, window, coins, day, context),
    context.sql.query<HeldRow>(SMART_POSITIONS, [context.now, coins, day, args.min_score, args.trades_limit]),
  ]);
  if (!rows.some(({ has_fills }) => has_fills))
    throw new AppError('empty_result', { suggestion: widerTimeframe(args.timeframe) ?? without(args, { coins: null }) });
  warnUndirected(context, rows);
  const pressed = rows.map((row) => {
    const own = held.filter(({ coin }) => coin === row.coin);
    const count = (of: 'long_count' | 'short_count'): number | null => (day === null ? null : (own[0]?.[of] ?? 0));
    return {
      ...row,
      pressure_label: pressureLabel(row.pressure_ratio),
      long_smart_count: count('long_count'),
      short_smart_count: count('short_count'),
      smart_positions: own,
    };
  });
  context.meta.count = Math.max(...pressed.map(({ smart_positions }) => smart_positions.length));
  return { coins: pressed };
}

/** Coins without a fill in the window too. */
async function pressures(
  args: PressurePairsArgs,
  window: Window,
  coins: string[],
  day: string | null,
  context: GraphContext,
): Promise<PressureRow[]> {
  const values = [...(await spanUpToNow(window, context)), coins, day];
  if (args.min_score === SMART_SCORE && (await findSmartRun(context)).is_told) return context.sql.query(pairs('told'), values);
  return context.sql.query(pairs(args.timeframe === 'all' ? 'life' : 'own'), [...values, args.min_score]);
}

/** The venue's spelling of those asked for that it knows; the most traded where none were asked for. */
async function coinsOf(asked: string[] | null, window: Window, context: GraphContext): Promise<string[]> {
  if (asked === null) {
    const rows = await context.sql.query<{ coin: string }>(MOST_TRADED, [...(await spanUpToNow(window, context)), DEFAULT_COINS]);
    return rows.map(({ coin }) => coin);
  }
  const known = await listKnownCoins(context.sql, asked, context.now);
  const unknown = asked.filter((_, place) => known[place] === undefined);
  if (unknown.length === asked.length)
    throw new AppError('empty_result', {
      details: [{ param: 'coins', issue: UNKNOWN_COIN, got: unknown.join(',') }],
      suggestion: { coins: null },
      fallback: COIN_LIST,
    });
  if (unknown.length > 0) context.meta.warnings.push(`unknown coins left out: ${unknown.join(', ')}`);
  return [...new Set(known.flatMap((one) => one?.coin ?? []))];
}
