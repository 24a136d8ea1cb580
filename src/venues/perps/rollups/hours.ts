import { bucketOf, quarterOf } from '../../../lib/tiles';
import { MINUTE_MS } from '../../../lib/time';
import { ADDED_GAINS, MOST_PNL } from './standings';
import { TAKEN_HOURS } from './takers';
import { LIFE_TRIPS, TRIP_COLUMNS, tripDaysOf, withoutTrips } from './trip-sums';

/** One column of an hour bucket: what a fill `f` gives to it, what many of them do, and how the parts of a bucket become one. */
interface Kept {
  row: string;
  aggregate: string;
  merge: 'sum' | 'max' | 'min';
}

const kept = (row: string, merge: Kept['merge'], aggregate = `${merge}(${row})`): Kept => ({ row, merge, aggregate });
const count = (condition: string): Kept => kept(`(${condition})::int`, 'sum', `count(*) FILTER (WHERE ${condition})`);
// A sum that passes over the others takes half the time of one that adds nothing for them.
const usdOf = (condition: string, usd: string): Kept =>
  kept(`CASE WHEN ${condition} THEN ${usd} ELSE 0 END`, 'sum', `coalesce(sum(${usd}) FILTER (WHERE ${condition}), 0)`);

const OPENED_USD = 'f.price * f.open_size';
const CLOSED_USD = 'f.price * (f.size - f.open_size)';
const HOUR = "date_trunc('hour', f.timestamp, 'UTC')";

/** Length of a bar of perps in milliseconds: five minutes; the tiles of other wings are longer. */
export const PERP_BAR_MS = 5 * MINUTE_MS;

/** Sums are told by the UTC month, by the UTC day, by the quarter of it, by the hour, and by the bar. */
export type Unit = 'month' | 'day' | 'quarter' | 'hour' | 'bar';

/** The unit that an instant lies in, by its beginning. */
export function unitOf(unit: Unit, instant: string): string {
  if (unit === 'quarter') return quarterOf(instant);
  return unit === 'bar' ? bucketOf(instant, `'${PERP_BAR_MS} milliseconds'`) : `date_trunc('${unit}', ${instant}, 'UTC')`;
}

/** Columns of perp_trader_hour beside its key. */
export const TRADER_HOUR = {
  fills: kept('1', 'sum', 'count(*)'),
  buys: count('f.is_buy'),
  open_longs: count('f.is_buy AND f.open_size > 0'),
  open_shorts: count('NOT f.is_buy AND f.open_size > 0'),
  close_longs: count('NOT f.is_buy AND f.open_size < f.size'),
  close_shorts: count('f.is_buy AND f.open_size < f.size'),
  open_long_usd: usdOf('f.is_buy', OPENED_USD),
  open_short_usd: usdOf('NOT f.is_buy', OPENED_USD),
  close_long_usd: usdOf('NOT f.is_buy', CLOSED_USD),
  close_short_usd: usdOf('f.is_buy', CLOSED_USD),
  bought_size: usdOf('f.is_buy', 'f.size'),
  sold_size: usdOf('NOT f.is_buy', 'f.size'),
  taker_buy_usd: usdOf('f.is_taker AND f.is_buy', 'f.usd_value'),
  taker_sell_usd: usdOf('f.is_taker AND NOT f.is_buy', 'f.usd_value'),
  taker_fills: count('f.is_taker IS TRUE'),
  maker_fills: count('f.is_taker IS FALSE'),
  // A flip's PnL is that of the position it closes.
  long_pnl: usdOf('(f.open_size < f.size) <> f.is_buy', 'f.closed_pnl'),
  short_pnl: usdOf('(f.open_size < f.size) = f.is_buy', 'f.closed_pnl'),
  fees_usd: kept('coalesce(f.fee_usd, 0)', 'sum', 'coalesce(sum(f.fee_usd), 0)'),
  // A long's PnL is what it is sold for less what it was bought for, a short's the other way round.
  closed_entry_usd: usdOf(
    'f.open_size < f.size',
    `greatest(0, ${CLOSED_USD} + CASE WHEN f.is_buy THEN f.closed_pnl ELSE -f.closed_pnl END)`,
  ),
  largest_usd: kept(`greatest(${OPENED_USD}, ${CLOSED_USD})`, 'max'),
  liquidations: count('f.is_liquidation'),
  first_at: kept('f.timestamp', 'min'),
  last_at: kept('f.timestamp', 'max'),
} as const satisfies Record<string, Kept>;

export type TraderHourColumn = keyof typeof TRADER_HOUR;

/** Columns of perp_coin_hour that come from fills: what takers opened, and how far the price went. */
const COIN_HOUR = {
  open_long_usd: usdOf('f.is_taker AND f.is_buy', OPENED_USD),
  open_long_size: usdOf('f.is_taker AND f.is_buy', 'f.open_size'),
  open_short_usd: usdOf('f.is_taker AND NOT f.is_buy', OPENED_USD),
  open_short_size: usdOf('f.is_taker AND NOT f.is_buy', 'f.open_size'),
  high_price: kept('f.price', 'max'),
  low_price: kept('f.price', 'min'),
} as const satisfies Record<string, Kept>;

/** What a taker's fill gives to the opens of its coin. */
export const TAKER_OPENS = ['open_long_usd', 'open_long_size', 'open_short_usd', 'open_short_size'] as const;
export const takerOpenRow = (column: (typeof TAKER_OPENS)[number]): string => COIN_HOUR[column].row;

/** What the fills of a group give to each column. */
const aggregates = (columns: Record<string, Kept>): string =>
  Object.entries(columns)
    .map(([name, { aggregate }]) => `${aggregate} AS ${name}`)
    .join(', ');

const TOGETHER = {
  sum: (a: string, b: string) => `${a} + ${b}`,
  max: (a: string, b: string) => `greatest(${a}, ${b})`,
  min: (a: string, b: string) => `least(${a}, ${b})`,
};

/** What a kept row becomes by one that is added to it. */
const MERGED = Object.entries(TRADER_HOUR)
  .map(([name, { merge }]) => `${name} = ${TOGETHER[merge](`kept.${name}`, `EXCLUDED.${name}`)}`)
  .join(', ');

/** What the rows of a group come to. */
const mergedRows = (row: string): string =>
  Object.entries(TRADER_HOUR)
    .map(([name, { merge }]) => `${merge}(${row}.${name}) AS ${name}`)
    .join(', ');

const TRADER_COLUMNS = Object.keys(TRADER_HOUR).join(', ');

/** The fills of `source` by account, coin and hour: rows of perp_trader_hour. */
export const traderHoursOf = (source: string): string => `
SELECT f.trader, f.coin, ${HOUR} AS hour, ${aggregates(TRADER_HOUR)}
FROM ${source} f GROUP BY 1, 2, 3`;

/** Adds the hours of `source` (rows of perp_trader_hour) to the rollup. Keys are written in one order. */
export const keepTraderHours = (source: string): string => `
INSERT INTO perp_trader_hour AS kept (trader, coin, hour, ${TRADER_COLUMNS})
SELECT trader, coin, hour, ${TRADER_COLUMNS} FROM ${source} ORDER BY 1, 2, 3
ON CONFLICT (trader, coin, hour) DO UPDATE SET ${MERGED}`;

/** Adds the hours of `source` to their UTC days. */
export const keepTraderDays = (source: string): string => `
INSERT INTO perp_trader_day AS kept (trader, coin, day, ${TRADER_COLUMNS}, ${Object.keys(TAKEN_HOURS).join(', ')})
SELECT r.trader, r.coin, date_trunc('day', r.hour, 'UTC'), ${mergedRows('r')}, ${Object.values(TAKEN_HOURS).join(', ')}
FROM ${source} r GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
ON CONFLICT (trader, coin, day) DO UPDATE SET ${MERGED}, ${Object.keys(TAKEN_HOURS)
  .map((name) => `${name} = kept.${name} | EXCLUDED.${name}`)
  .join(', ')}`;

/** Adds the rows of `source` (hours or days) to their accounts' lives. */
export const keepTraderLives = (source: string): string => `
INSERT INTO perp_trader_life AS kept (trader, coin, ${TRADER_COLUMNS})
SELECT r.trader, r.coin, ${mergedRows('r')} FROM ${source} r GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (trader, coin) DO UPDATE SET ${MERGED}`;

const CLOSE = ['close_price', 'close_at', 'close_seq', 'close_tid'];

const COIN_NAMES = Object.keys(COIN_HOUR);
const COIN_COLUMNS = COIN_NAMES.join(', ');

/** A column of the last of a group's fills. One order for all of them: the fills are sorted once. */
const ofLast = (column: string): string => `(array_agg(f.${column} ORDER BY f.timestamp DESC, f.seq DESC, f.tid DESC))[1]`;

/** Adds the fills of `source` to their coins' hours: takers' opens and prices. */
export const addCoinHours = (source: string): string => `
INSERT INTO perp_coin_hour AS kept (coin, hour, ${COIN_COLUMNS}, ${CLOSE.join(', ')})
SELECT f.coin, ${HOUR} AS hour, ${aggregates(COIN_HOUR)}, ${['price', 'timestamp', 'seq', 'tid'].map(ofLast).join(', ')}
FROM ${source} f GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (coin, hour) DO UPDATE SET
  open_long_usd = kept.open_long_usd + EXCLUDED.open_long_usd, open_long_size = kept.open_long_size + EXCLUDED.open_long_size,
  open_short_usd = kept.open_short_usd + EXCLUDED.open_short_usd, open_short_size = kept.open_short_size + EXCLUDED.open_short_size,
  high_price = greatest(kept.high_price, EXCLUDED.high_price), low_price = least(kept.low_price, EXCLUDED.low_price),
  ${CLOSE.map((column) => `${column} = CASE WHEN kept.close_at IS NULL OR (kept.close_at, kept.close_seq, kept.close_tid) < (EXCLUDED.close_at, EXCLUDED.close_seq, EXCLUDED.close_tid) THEN EXCLUDED.${column} ELSE kept.${column} END`).join(',\n  ')}`;

/** Hours keep prices beside them. */
type OpensUnit = Exclude<Unit, 'hour'>;

/** What takers opened by the fills of `source`, by coin and unit. */
const sumOpens = (source: string, unit: OpensUnit): string => `
SELECT f.coin, ${unitOf(unit, 'f.timestamp')} AS ${unit}, ${TAKER_OPENS.map((column) => `sum(${COIN_HOUR[column].row}) AS ${column}`).join(', ')}
FROM ${source} f WHERE f.is_taker AND f.open_size > 0 GROUP BY 1, 2`;

/** Adds the fills of `source` to their coins' UTC months, days, quarters or bars: takers' opens. */
export const addOpens = (source: string, unit: OpensUnit): string => `
INSERT INTO perp_coin_${unit} AS kept (coin, ${unit}, ${TAKER_OPENS.join(', ')})${sumOpens(source, unit)} ORDER BY 1, 2
ON CONFLICT (coin, ${unit}) DO UPDATE SET ${TAKER_OPENS.map((column) => `${column} = kept.${column} + EXCLUDED.${column}`).join(', ')}`;

/** Columns of perp_coin_hour that come from matches `m`. */
const MATCHES = {
  volume_usd: 'm.usd_value',
  matches: '1',
  bought_usd: 'CASE WHEN m.taker_is_buy THEN m.usd_value ELSE 0 END',
  sold_usd: 'CASE WHEN NOT m.taker_is_buy THEN m.usd_value ELSE 0 END',
  undirected: '(m.taker_is_buy IS NULL)::int',
  liquidated_usd: 'CASE WHEN m.is_liquidation THEN m.usd_value ELSE 0 END',
} as const;

export type MatchColumn = keyof typeof MATCHES;
const MATCH_COLUMNS = Object.keys(MATCHES) as MatchColumn[];
export const matchRow = (column: MatchColumn): string => MATCHES[column];

/** The matches of `source` by coin and unit; `sign` −1 takes them away. */
const sumMatches = (source: string, unit: Unit, columns: readonly MatchColumn[], sign: 1 | -1): string => `
SELECT m.coin, ${unitOf(unit, 'm.timestamp')} AS ${unit}, ${columns.map((column) => `${sign} * sum(${MATCHES[column]}) AS ${column}`).join(', ')}
FROM ${source} m GROUP BY 1, 2`;

const intoCoins = (unit: Unit, columns: readonly MatchColumn[], rows: string): string => `
INSERT INTO perp_coin_${unit} AS kept (coin, ${unit}, ${columns.join(', ')})
${rows}
ORDER BY 1, 2
ON CONFLICT (coin, ${unit}) DO UPDATE SET ${columns.map((column) => `${column} = kept.${column} + EXCLUDED.${column}`).join(', ')}`;

/** Adds the matches of `source` to their coins' sums by the unit. */
export const addMatches = (source: string, unit: Unit): string =>
  intoCoins(unit, MATCH_COLUMNS, sumMatches(source, unit, MATCH_COLUMNS, 1));

/** Adds the matches of `source` to what was matched in all coins in their hours. */
export const addVolumes = (source: string): string => `
INSERT INTO perp_volume_hour AS kept (hour, volume_usd)
SELECT ${unitOf('hour', 'm.timestamp')}, sum(m.usd_value) FROM ${source} m GROUP BY 1 ORDER BY 1
ON CONFLICT (hour) DO UPDATE SET volume_usd = kept.volume_usd + EXCLUDED.volume_usd`;

/** Puts right the sums of matches that came to be known better: what they were (`before`) goes, what they are (`after`) comes. */
export const changeMatches = (before: string, after: string, unit: Unit): string => {
  const columns: MatchColumn[] = ['bought_usd', 'sold_usd', 'undirected', 'liquidated_usd'];
  const both = `${sumMatches(before, unit, columns, -1)}\nUNION ALL${sumMatches(after, unit, columns, 1)}`;
  const summed = `SELECT coin, ${unit}, ${columns.map((column) => `sum(${column})`).join(', ')} FROM (${both}) change GROUP BY 1, 2`;
  return intoCoins(unit, columns, summed);
};

/** Adds the accounts of `source` to those ever seen, and its fills to what they came to. */
export const addTraders = (source: string): string => `
INSERT INTO perp_trader AS kept (trader, first_at, last_at, fills, volume_usd, pnl, ${MOST_PNL.join(', ')})
SELECT f.trader, min(f.timestamp), max(f.timestamp), count(*), sum(f.usd_value), sum(f.closed_pnl), ${ADDED_GAINS.join(', ')} FROM ${source} f GROUP BY 1 ORDER BY 1
ON CONFLICT (trader) DO UPDATE SET first_at = least(kept.first_at, EXCLUDED.first_at), last_at = greatest(kept.last_at, EXCLUDED.last_at),
  ${['fills', 'volume_usd', 'pnl', ...MOST_PNL].map((column) => `${column} = kept.${column} + EXCLUDED.${column}`).join(', ')}`;

// What follows tells whole tables from facts, in the order of their keys; each must be empty. Coins in the order of time, as pages write them: what a window of all coins reads stands
// together, and is looked up by time alone.

export const TELL_TRADER_HOURS = `
INSERT INTO perp_trader_hour (trader, coin, hour, ${TRADER_COLUMNS})
${traderHoursOf('perp_fill')} ORDER BY 1, 2, 3`;

/** Of the hours, and of the round trips. */
export const TELL_TRADER_DAYS = `
INSERT INTO perp_trader_day (trader, coin, day, ${TRADER_COLUMNS}, ${Object.keys(TAKEN_HOURS).join(', ')}, ${TRIP_COLUMNS.join(', ')})
SELECT own.*, ${TRIP_COLUMNS.map((name) => withoutTrips(name, `trips.${name}`)).join(', ')}
FROM (
  SELECT r.trader, r.coin, date_trunc('day', r.hour, 'UTC') AS day, ${mergedRows('r')}, ${Object.values(TAKEN_HOURS).join(', ')}
  FROM perp_trader_hour r GROUP BY 1, 2, 3
) own
LEFT JOIN (${tripDaysOf('perp_round_trip')}) trips ON trips.trader = own.trader AND trips.coin = own.coin AND trips.day = own.day
ORDER BY 1, 2, 3`;

/** Of the days. */
export const TELL_TRADER_LIVES = `
INSERT INTO perp_trader_life (trader, coin, ${TRADER_COLUMNS}, ${TRIP_COLUMNS.join(', ')})
SELECT d.trader, d.coin, ${mergedRows('d')}, ${LIFE_TRIPS} FROM perp_trader_day d GROUP BY 1, 2 ORDER BY 1, 2`;

/** Of the lives. */
export const TELL_TRADERS = `
INSERT INTO perp_trader (trader, first_at, last_at, fills, volume_usd, pnl)
SELECT trader, min(first_at), max(last_at), sum(fills), sum(open_long_usd + open_short_usd + close_long_usd + close_short_usd), sum(long_pnl + short_pnl)
FROM perp_trader_life GROUP BY 1 ORDER BY 1`;

const BAR_COLUMNS = [...MATCH_COLUMNS, ...TAKER_OPENS];

/** Of the matches, and of the fills. */
export const TELL_COIN_BARS = `
INSERT INTO perp_coin_bar (coin, bar, ${BAR_COLUMNS.join(', ')})
SELECT coin, bar, ${BAR_COLUMNS.map((column) => `coalesce(${column}, 0)`).join(', ')}
FROM (${sumMatches('perp_match', 'bar', MATCH_COLUMNS, 1)}) matched FULL JOIN (${sumOpens('perp_fill', 'bar')}) opened USING (coin, bar) ORDER BY 2, 1`;

/** Of the bars. */
export const TELL_VOLUMES = `
INSERT INTO perp_volume_hour (hour, volume_usd)
SELECT ${unitOf('hour', 'b.bar')}, sum(b.volume_usd) FROM perp_coin_bar b WHERE b.matches > 0 GROUP BY 1 ORDER BY 1`;

const sumBars = (unit: Exclude<Unit, 'bar'>, columns: readonly string[]): string =>
  `SELECT b.coin, ${unitOf(unit, 'b.bar')} AS ${unit}, ${columns.map((column) => `sum(b.${column}) AS ${column}`).join(', ')} FROM perp_coin_bar b GROUP BY 1, 2`;

/** Of the bars. */
export const tellCoins = (unit: 'month' | 'day' | 'quarter'): string => `
INSERT INTO perp_coin_${unit} (coin, ${unit}, ${BAR_COLUMNS.join(', ')})
${sumBars(unit, BAR_COLUMNS)} ORDER BY 2, 1`;

/** Of the fills, matches of the bars. The last fill of an hour is among those of its last instant. */
export const TELL_COIN_HOURS = `
INSERT INTO perp_coin_hour (coin, hour, ${COIN_COLUMNS}, ${MATCH_COLUMNS.join(', ')}, ${CLOSE.join(', ')})
SELECT * FROM (SELECT DISTINCT ON (own.coin, own.hour) own.coin, own.hour, ${COIN_NAMES.map((column) => `own.${column}`).join(', ')},
  ${MATCH_COLUMNS.map((column) => `coalesce(matched.${column}, 0)`).join(', ')}, last.price, last.timestamp, last.seq, last.tid
FROM (SELECT f.coin, ${HOUR} AS hour, ${aggregates(COIN_HOUR)}, max(f.timestamp) AS last_at FROM perp_fill f GROUP BY 1, 2) own
LEFT JOIN (${sumBars('hour', MATCH_COLUMNS)}) matched ON matched.coin = own.coin AND matched.hour = own.hour
JOIN perp_fill last ON last.coin = own.coin AND last.timestamp = own.last_at
ORDER BY own.coin, own.hour, last.seq DESC, last.tid DESC) told ORDER BY hour, coin`;
