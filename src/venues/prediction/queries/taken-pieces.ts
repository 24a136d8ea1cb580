import { BEGINNING, END } from '../../../lib/timeframe';
import type { Parameters } from './parameters';
import { partOf } from './pieces';
import { type Tiles, tilesOf } from './tiles';

/** The longest stretch a figure may be told for at once; `life`: of a market, all since the beginning. */
export type Grain = 'life' | 'day' | 'hour';

const FACT_HOUR = `date_trunc('hour', trade."timestamp", 'UTC')`;
const SIDE = (side: string): string => `(trade.side = '${side}')::int`;
const USDC = (side: string): string => `CASE trade.side WHEN '${side}' THEN trade.usdc_size ELSE 0 END`;

/** SQL condition: a fact of `trade` lies in one of these ranges. */
function within(torn: Tiles['torn'], parameters: Parameters): string {
  const ranges = torn.map(({ from, to }) => `(trade."timestamp" >= ${parameters.add(from, 'timestamptz')} AND trade."timestamp" < ${parameters.add(to, 'timestamptz')})`); // prettier-ignore
  return `(${ranges.join(' OR ')})`;
}

/** What to read: of one category or all; told with its category (else null), in pieces not longer than `grain`. */
export interface CategoryScope {
  category: string | null;
  named: boolean;
  grain: Grain;
}

/**
 * SQL of what takers did between `bounds`, by category: category, at (start of its hour, or of its day), part (from 1), buys, sells, buy_usdc, sell_usdc;
 * several rows of a category and hour are to be added up.
 */
export function categoryPieces(bounds: readonly Date[], { category, named, grain }: CategoryScope, parameters: Parameters): string {
  const { rolled, torn } = tilesOf(bounds, grain === 'hour' ? ['hour', 'minute'] : ['day', 'hour', 'minute']);
  const chosen = category === null ? null : parameters.add(category, 'text');
  const tiles = rolled.map(({ unit, part, from, to }) => {
    const at = unit === 'minute' ? `date_trunc('hour', at, 'UTC')` : 'at::timestamptz';
    return `SELECT category, ${at} AS at, ${part} AS part, buys, sells, buy_usdc, sell_usdc FROM pm_category_volume
WHERE unit = '${unit}' AND at >= ${parameters.add(from, 'timestamptz')} AND at < ${parameters.add(to, 'timestamptz')}${chosen === null ? '' : ` AND category = ${chosen}`}`;
  });
  const part = partOf({ bounds }, parameters)('trade."timestamp"');
  const markets = named || chosen !== null ? 'JOIN pm_market AS market ON market.condition_id = trade.condition_id' : '';
  const facts = `SELECT ${named ? 'market.category' : 'NULL'} AS category, ${FACT_HOUR} AS at, ${part} AS part, ${SIDE('BUY')} AS buys, ${SIDE('SELL')} AS sells, ${USDC('BUY')} AS buy_usdc, ${USDC('SELL')} AS sell_usdc
FROM pm_trade AS trade ${markets} WHERE ${within(torn, parameters)} AND trade.is_taker AND trade.side IN ('BUY', 'SELL')${chosen === null ? '' : ` AND market.category = ${chosen}`}`;
  return [...tiles, facts].join('\nUNION ALL\n');
}

/** The longest stretch that sums of markets between these bounds may be told for. */
export const longestGrain = (bounds: readonly Date[]): Grain => ((bounds[0] as Date) > BEGINNING ? 'day' : 'life');

const FIGURES = ['fills', 'buys', 'sells', 'buy_usdc', 'sell_usdc'];

/**
 * SQL of what takers did on each market between `bounds`: condition_id, at (start of its hour, or of its day), part (from 1), fills, buys, sells, buy_usdc,
 * sell_usdc; several rows of a market and hour are to be added up. `filter` is a condition on condition_id. With grain `life` the first part must begin with
 * everything: it is all there is, less what came after it, one row a market, and `at` tells nothing.
 */
export function marketPieces(bounds: readonly Date[], grain: Grain, parameters: Parameters, filter = 'true'): string {
  if (grain !== 'life') return datedPieces(bounds, grain, parameters, filter);
  const [second, ...rest] = bounds.slice(1) as [Date, ...Date[]];
  const sums = FIGURES.map((name) => `sum(${name}) AS ${name}`).join(', ');
  // Of most markets nothing came later: taking nothing off costs as much as taking something off.
  const left = FIGURES.map((name) => `CASE WHEN later.fills IS NULL THEN kept.${name} ELSE kept.${name} - later.${name} END AS ${name}`).join(', '); // prettier-ignore
  const first = `SELECT condition_id, NULL::timestamptz AS at, 1 AS part, ${left} FROM (SELECT * FROM pm_market_total WHERE ${filter}) AS kept
LEFT JOIN (SELECT condition_id, ${sums} FROM (${piecesSince(second, parameters, filter)}) AS piece GROUP BY condition_id) AS later USING (condition_id)`;
  if (rest.length === 0) return first;
  const others = datedPieces([second, ...rest], 'day', parameters, filter);
  return `${first}\nUNION ALL\nSELECT condition_id, at, part + 1, fills, buys, sells, buy_usdc, sell_usdc FROM (${others}) AS dated`;
}

/** SQL of what takers did on each market at `from` or later, in the columns of marketPieces. */
export const piecesSince = (from: Date, parameters: Parameters, filter = 'true'): string =>
  datedPieces([from, END], 'day', parameters, filter);

/** SQL of marketPieces from days, hours and facts. */
function datedPieces(bounds: readonly Date[], grain: 'day' | 'hour', parameters: Parameters, filter: string): string {
  const { rolled, torn } = tilesOf(bounds, grain === 'day' ? ['day', 'hour'] : ['hour']);
  const tiles = rolled.map(({ unit, part, from, to }) => {
    const [low, high] = [parameters.add(from, 'timestamptz'), parameters.add(to, 'timestamptz')];
    const [table, at, place] =
      unit === 'day'
        ? [
            'pm_market_day',
            "day::timestamp AT TIME ZONE 'UTC'",
            `day >= (${low} AT TIME ZONE 'UTC')::date AND day < (${high} AT TIME ZONE 'UTC')::date`,
          ]
        : ['pm_token_hour', 'hour::timestamptz', `hour >= ${low} AND hour < ${high}`];
    return `SELECT condition_id, ${at} AS at, ${part} AS part, fills, buys, sells, buy_usdc, sell_usdc FROM ${table} WHERE ${place} AND ${filter}`;
  });
  const part = partOf({ bounds }, parameters)('trade."timestamp"');
  const facts = `SELECT condition_id, ${FACT_HOUR} AS at, ${part} AS part, 1 AS fills, (is_taker IS TRUE AND side = 'BUY')::int AS buys, (is_taker IS TRUE AND side = 'SELL')::int AS sells,
  CASE WHEN is_taker AND side = 'BUY' THEN usdc_size ELSE 0 END AS buy_usdc, CASE WHEN is_taker AND side = 'SELL' THEN usdc_size ELSE 0 END AS sell_usdc
FROM pm_trade AS trade WHERE ${within(torn, parameters)} AND side IN ('BUY', 'SELL') AND ${filter}`;
  return [...tiles, facts].join('\nUNION ALL\n');
}
