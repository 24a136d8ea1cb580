import { BEGINNING, END } from '../../../lib/timeframe';
import { NEWEST_FILL } from './latest-wallets';
import type { Parameters } from './parameters';
import { type Tile, type Unit, tilesOf } from '../../../lib/tiles';

/** The longest stretch a figure may be told for at once; `life`: of a market, all since the beginning. */
export type Grain = 'life' | 'day' | 'hour';

/** Where the rows of a tile are found. */
interface Place {
  /** Of each row: when it begins (of a minute or a fact its hour), and the rest. */
  columns: string;
  from: string;
  where: string;
}

/** SQL of the rows of tiles: `key`, at, part, and `figures`, as often as they count. */
function counted<U extends Unit>(
  tiles: readonly Tile<U>[],
  key: string,
  figures: readonly string[],
  parameters: Parameters,
  placeOf: (tile: Tile<U>) => Place,
): string {
  // The planner knows the sign of a tile of one share: a figure that is added then costs nothing, while a product is a new number each.
  const signed = figures.map((figure) => `CASE WHEN sign < 0 THEN -${figure} ELSE ${figure} END AS ${figure}`).join(', ');
  return tiles
    .map((tile) => {
      const { columns, from, where } = placeOf(tile);
      const shares = tile.shares.map(({ part, sign }) => `(${part}, ${parameters.add(sign, 'int')})`);
      return `SELECT ${key}, at, part, ${signed} FROM (SELECT ${columns} FROM ${from} WHERE ${where}) AS kept CROSS JOIN (VALUES ${shares.join(', ')}) AS share(part, sign)`;
    })
    .join('\nUNION ALL\n');
}

const BUYS_AND_SELLS = ['buys', 'sells', 'buy_usdc', 'sell_usdc'];
const FACT_HOUR = `date_trunc('hour', "timestamp", 'UTC') AS at`;
const SIDE = (side: string): string => `(is_taker IS TRUE AND side = '${side}')::int`;
const USDC = (side: string): string => `CASE WHEN is_taker AND side = '${side}' THEN usdc_size ELSE 0 END`;
const FACT_FIGURES = `${SIDE('BUY')} AS buys, ${SIDE('SELL')} AS sells, ${USDC('BUY')} AS buy_usdc, ${USDC('SELL')} AS sell_usdc`;

/** SQL condition: `column` lies in a tile. */
const within = (column: string, { from, to }: Tile, parameters: Parameters): string =>
  `${column} >= ${parameters.add(from, 'timestamptz')} AND ${column} < ${parameters.add(to, 'timestamptz')}`;

/** What to read: of one category or all; told with its category (else null), in pieces not longer than `grain`. */
export interface CategoryScope {
  category: string | null;
  named: boolean;
  grain: Grain;
}

/**
 * SQL of what takers did between `bounds`, by category: category, at (start of its hour, or of its day), part (from 1), buys, sells, buy_usdc, sell_usdc;
 * several rows of a category and hour are to be added up, some of them negative.
 */
export function categoryPieces(bounds: readonly Date[], { category, named, grain }: CategoryScope, parameters: Parameters): string {
  const tiles = tilesOf(bounds, grain === 'hour' ? ['hour', 'minute'] : ['day', 'hour', 'minute']);
  const chosen = category === null ? null : parameters.add(category, 'text');
  const only = (column: string): string => (chosen === null ? '' : ` AND ${column} = ${chosen}`);
  const markets = named || chosen !== null ? ' AS trade JOIN pm_market AS market ON market.condition_id = trade.condition_id' : '';
  return counted(tiles, 'category', BUYS_AND_SELLS, parameters, (tile) =>
    tile.unit === 'fact'
      ? {
          columns: `${named ? 'market.category' : 'NULL'} AS category, ${FACT_HOUR}, ${FACT_FIGURES}`,
          from: `pm_trade${markets}`,
          where: `${within('"timestamp"', tile, parameters)} AND is_taker AND side IN ('BUY', 'SELL')${only('market.category')}`,
        }
      : {
          columns: `category, ${tile.unit === 'minute' ? `date_trunc('hour', at, 'UTC')` : 'at::timestamptz'} AS at, ${BUYS_AND_SELLS.join(', ')}`,
          from: 'pm_category_volume',
          where: `unit = '${tile.unit}' AND ${within('at', tile, parameters)}${only('category')}`,
        },
  );
}

/** The longest stretch that sums of markets between these bounds may be told for. */
export const longestGrain = (bounds: readonly Date[]): Grain => ((bounds[0] as Date) > BEGINNING ? 'day' : 'life');

/** Of which fills of markets: those of takers, or of anybody, whose number is told as `fills` beside what takers did. */
type Fills = 'taken' | 'all';

const figuresOf = (fills: Fills): string[] => (fills === 'all' ? ['fills', ...BUYS_AND_SELLS] : BUYS_AND_SELLS);

/**
 * SQL of what takers did on each market between `bounds`: condition_id, at (start of its hour, or of its day), part (from 1), buys, sells, buy_usdc, sell_usdc (and
 * fills before these, of `all`); several rows of a market and hour are to be added up, some of them negative. `filter` is a condition on condition_id. With grain
 * `life` the first part must begin with everything: it is all there is, less what came after it, one row a market, and `at` tells nothing.
 */
export function marketPieces(
  bounds: readonly Date[],
  grain: Grain,
  parameters: Parameters,
  filter = 'true',
  fills: Fills = 'taken',
): string {
  if (grain !== 'life') return datedPieces(bounds, grain, parameters, filter, fills);
  const [second, ...rest] = bounds.slice(1) as [Date, ...Date[]];
  const figures = figuresOf(fills);
  const sums = figures.map((name) => `sum(${name}) AS ${name}`).join(', ');
  // Of most markets nothing came later: taking nothing off costs as much as taking something off.
  const left = figures.map((name) => `CASE WHEN later.condition_id IS NULL THEN kept.${name} ELSE kept.${name} - later.${name} END AS ${name}`).join(', '); // prettier-ignore
  const since = datedPieces([second, END], 'day', parameters, filter, fills);
  const first = `SELECT condition_id, NULL::timestamptz AS at, 1 AS part, ${left} FROM (SELECT * FROM pm_market_total WHERE ${filter}) AS kept
LEFT JOIN (SELECT condition_id, ${sums} FROM (${since}) AS piece GROUP BY condition_id) AS later USING (condition_id)`;
  if (rest.length === 0) return first;
  const others = datedPieces([second, ...rest], 'day', parameters, filter, fills);
  return `${first}\nUNION ALL\nSELECT condition_id, at, part + 1, ${figures.join(', ')} FROM (${others}) AS dated`;
}

/** SQL of what takers did on each market at `from` or later, in the columns of marketPieces. */
export const piecesSince = (from: Date, parameters: Parameters): string => datedPieces([from, END], 'day', parameters, 'true', 'taken');

/**
 * SQL of what takers ever did on each market: condition_id, buys, sells, buy_usdc, sell_usdc, one row a market; no row at all where there is a fill of `end` or later.
 * As of now there is none, and lives are read as they stand, in two thirds of the time of looking for what to take off.
 */
export const livesUntil = (end: Date, parameters: Parameters): string =>
  `SELECT condition_id, ${BUYS_AND_SELLS.join(', ')} FROM pm_market_total WHERE ${NEWEST_FILL} < ${parameters.add(end, 'timestamptz')}`;

type MarketUnit = Exclude<Unit, 'bar' | 'minute'>;

/** Tables of what was done on a market in a unit, the start of its rows, and its condition. */
const MARKET_UNITS: Record<MarketUnit, { table: string; at: string; where: (tile: Tile, parameters: Parameters) => string }> = {
  day: {
    table: 'pm_market_day',
    at: `day::timestamp AT TIME ZONE 'UTC'`,
    where: ({ from, to }, parameters) =>
      `day >= (${parameters.add(from, 'timestamptz')} AT TIME ZONE 'UTC')::date AND day < (${parameters.add(to, 'timestamptz')} AT TIME ZONE 'UTC')::date`,
  },
  quarter: { table: 'pm_market_quarter', at: 'quarter::timestamptz', where: (tile, parameters) => within('quarter', tile, parameters) },
  hour: { table: 'pm_token_hour', at: 'hour::timestamptz', where: (tile, parameters) => within('hour', tile, parameters) },
};

/** Where the rows of a market's tile are found. */
function marketPlace(tile: Tile<MarketUnit>, filter: string, fills: Fills, parameters: Parameters): Place {
  const { unit } = tile;
  if (unit === 'fact')
    return {
      columns: `condition_id, ${FACT_HOUR}, 1 AS fills, ${FACT_FIGURES}`,
      from: 'pm_trade',
      where: `${within('"timestamp"', tile, parameters)} AND side IN ('BUY', 'SELL')${fills === 'all' ? '' : ' AND is_taker'} AND ${filter}`,
    };
  const { table, at, where } = MARKET_UNITS[unit];
  const columns = `condition_id, ${at} AS at, ${figuresOf(fills).join(', ')}`;
  return { columns, from: table, where: `${where(tile, parameters)} AND ${filter}` };
}

/** SQL of marketPieces from days, their quarters, hours and facts. */
function datedPieces(bounds: readonly Date[], grain: 'day' | 'hour', parameters: Parameters, filter: string, fills: Fills): string {
  const tiles = tilesOf<MarketUnit>(bounds, grain === 'day' ? ['day', 'quarter', 'hour'] : ['hour']);
  return counted(tiles, 'condition_id', figuresOf(fills), parameters, (tile) => marketPlace(tile, filter, fills, parameters));
}

/**
 * SQL of what takers did on each market in the second of two parts, and of the USDC of the first: condition_id, volume, trades, previous; several rows of a market are
 * to be added up, some negative, some null. A row that counts in both parts is one here, not two.
 */
export function comparedPieces(bounds: readonly Date[], parameters: Parameters): string {
  return tilesOf<MarketUnit>(bounds, ['day', 'quarter', 'hour'])
    .map((tile) => {
      const { columns, from, where } = marketPlace(tile, 'true', 'taken', parameters);
      const figure = (part: number, sql: string, type: string): string => {
        const share = tile.shares.find((one) => one.part === part);
        return share === undefined ? `NULL::${type}` : `CASE WHEN ${parameters.add(share.sign, 'int')} < 0 THEN -(${sql}) ELSE ${sql} END`;
      };
      const [usdc, trades] = ['buy_usdc + sell_usdc', 'buys + sells'];
      return `SELECT condition_id, ${figure(2, usdc, 'numeric')} AS volume, ${figure(2, trades, 'int')} AS trades, ${figure(1, usdc, 'numeric')} AS previous FROM (SELECT ${columns} FROM ${from} WHERE ${where}) AS kept`;
    })
    .join('\nUNION ALL\n');
}
