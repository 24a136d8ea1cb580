import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { SMART_SCORE } from '../scoring/tiers';
import { ROW_COLUMNS, type RowPosition, type TradeRow, smartWallets } from './trade-row';

/** Which rows over all markets. */
export interface WhaleFilter {
  window: Window;
  sides: readonly string[];
  min_usdc: number;
  condition_id: string | null;
  category: string | null;
  /** Day of the score run whose smart wallets are kept; undefined: all wallets; null: there is no run, so nobody. */
  smart_day?: string | null;
}

/** From here on pm_trade_large_idx has every row; the bound must stand in the statement for the planner to see it. */
const LARGE_USDC = 1_000;
/** Fills of one wallet, token and side this far apart at most are one burst. */
const BURST_GAP = "interval '60 seconds'";

interface Shape {
  large: boolean;
  market: boolean;
  category: boolean;
  smart: boolean;
}

const shapeOf = (filter: WhaleFilter): Shape => ({
  large: filter.min_usdc >= LARGE_USDC,
  market: filter.condition_id !== null,
  category: filter.category !== null,
  smart: filter.smart_day !== undefined,
});

/** A name for each of the sixteen shapes, and the numbers of their optional parameters from $5 on. */
function optional(shape: Shape): { suffix: string; clauses: string; next: number } {
  let next = 5;
  let clauses = '';
  if (shape.market) clauses += ` AND condition_id = $${next++}`;
  if (shape.category) clauses += ` AND condition_id IN (SELECT condition_id FROM pm_market WHERE category = $${next++})`;
  if (shape.smart) clauses += ` AND wallet IN (${smartWallets(`$${next++}`, SMART_SCORE)})`;
  const suffix = Object.entries(shape).flatMap(([key, on]) => (on ? [`_${key}`] : [])).join(''); // prettier-ignore
  return { suffix, clauses, next };
}

const statements = new Map<string, Statement>();

function statement(kind: string, shape: Shape, text: (clauses: string, next: number) => string): Statement {
  const { suffix, clauses, next } = optional(shape);
  const name = `pm_whale_${kind}${suffix}`;
  const known = statements.get(name) ?? { name, text: text(clauses, next) };
  statements.set(name, known);
  return known;
}

const fillsText = (shape: Shape) => (clauses: string, next: number): string => `SELECT ${ROW_COLUMNS} FROM pm_trade
WHERE "timestamp" >= $1 AND "timestamp" < $2 AND side = ANY($3) AND usdc_size >= $4::numeric${shape.large ? ` AND usdc_size >= ${LARGE_USDC}` : ''}${clauses}
  AND ("timestamp", trade_id) < ($${next}::timestamptz, $${next + 1}::uuid)
ORDER BY "timestamp" DESC, trade_id DESC LIMIT $${next + 2}`;

// Only keys that could reach the bound at all are put in order: few of many. IS TRUE keeps the look-up a hash: as a join, without
// statistics on a WITH query, it was planned as a nested loop.
const burstsText = (clauses: string, next: number): string => `WITH fills AS MATERIALIZED (
  SELECT *, COALESCE(token_id, '') AS token FROM pm_trade WHERE "timestamp" >= $1 AND "timestamp" < $2 AND side = ANY($3)${clauses}
), keys AS (
  SELECT wallet, condition_id, token, side FROM fills GROUP BY wallet, condition_id, token, side HAVING sum(usdc_size) >= $4::numeric
), marked AS (
  SELECT fills.*, COALESCE("timestamp" - lag("timestamp") OVER key <= ${BURST_GAP}, false) AS follows
  FROM fills WHERE ((wallet, condition_id, token, side) IN (SELECT wallet, condition_id, token, side FROM keys)) IS TRUE
  WINDOW key AS (PARTITION BY wallet, condition_id, token, side ORDER BY "timestamp", trade_id)
), numbered AS (
  SELECT *, count(*) FILTER (WHERE NOT follows) OVER (PARTITION BY wallet, condition_id, token, side ORDER BY "timestamp", trade_id) AS burst FROM marked
), bursts AS (
  SELECT (array_agg(trade_id ORDER BY "timestamp", trade_id))[1] AS trade_id, condition_id, wallet, min(token_id) AS token_id, side,
    CASE WHEN side <> 'REDEEM' THEN sum(usdc_size) / sum(size) END AS price, (array_agg(price ORDER BY "timestamp" DESC, trade_id DESC))[1] AS last_price,
    sum(size) AS size, sum(usdc_size) AS usdc_size, max("timestamp") AS "timestamp", min("timestamp") AS first_at, count(*)::int AS fills, array_agg(trade_id::text ORDER BY "timestamp", trade_id) AS parts,
    CASE WHEN count(is_taker) = count(*) THEN bool_and(is_taker) END AS is_taker, (array_agg(tx_hash ORDER BY "timestamp", trade_id))[1] AS tx_hash
  FROM numbered GROUP BY wallet, condition_id, token, side, burst
)
SELECT * FROM bursts WHERE usdc_size >= $4::numeric AND ("timestamp", trade_id) < ($${next}::timestamptz, $${next + 1}::uuid)
ORDER BY "timestamp" DESC, trade_id DESC LIMIT $${next + 2}`;

function valuesOf(filter: WhaleFilter): unknown[] {
  const { window, sides, min_usdc, condition_id, category, smart_day } = filter;
  const chosen = [condition_id, category].filter((value) => value !== null);
  return [window.from, window.to, sides, String(min_usdc), ...chosen, ...(smart_day === undefined ? [] : [smart_day])];
}

/** At most `limit` fills and redemptions of at least `min_usdc` behind `after`, newest first. */
export function listWhaleFills(sql: Sql, filter: WhaleFilter, after: RowPosition, limit: number): Promise<TradeRow[]> {
  const shape = shapeOf(filter);
  return sql.query<TradeRow>(statement('fills', shape, fillsText(shape)), [...valuesOf(filter), after.timestamp, after.trade_id, limit]);
}

/** The same with fills merged into bursts first; a burst is told by its oldest fill and stands at its newest. */
export function listWhaleBursts(sql: Sql, filter: WhaleFilter, after: RowPosition, limit: number): Promise<TradeRow[]> {
  const shape = { ...shapeOf(filter), large: false };
  return sql.query<TradeRow>(statement('bursts', shape, burstsText), [...valuesOf(filter), after.timestamp, after.trade_id, limit]);
}
