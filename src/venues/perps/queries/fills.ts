import type { Sql } from '../../../db/sql';
import { CURSOR_FORMS, type CursorPosition } from '../../../lib/cursor';
import { leastShown } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';
import { PART_FEE } from '../rollups/round-trips';
import type { SideFilter } from '../side';
import { SMART_SCORE } from '../tier';
import { scoredTraders } from './span';

/** One row of a trade list: a fill, or one part of a flip. Figures are exact decimals as text. */
export interface FillRow {
  trader: string;
  coin: string;
  side: 'Open Long' | 'Open Short' | 'Close Long' | 'Close Short';
  direction: 'Long' | 'Short';
  price: string;
  size: string;
  usd_value: string;
  closed_pnl: string;
  timestamp: Date;
  trade_side: 'BUY' | 'SELL';
  is_taker: boolean | null;
  fee_usd: string | null;
  is_liquidation: boolean;
  tx_hash: string | null;
  trade_id: string;
  seq: number;
  oid: string;
  opens: boolean;
  /** Where the list goes by a score run; else it is asked for by itself. */
  smart_score?: string | null;
}

/** Which rows of a trade list. `whose` null: everybody's. */
export interface FillFilter extends SideFilter {
  window: Window;
  coin: string | null;
  min_usd: number | null;
  is_long: boolean | null;
  whose: { trader: string } | { day: string; least: number } | null;
}

/**
 * The partial index perp_fill_large_idx holds fills from this value on. None is shown as it that falls short of it: a fill's value has six decimals at
 * most, since prices have six less those of sizes (the venue's documentation, "Tick and lot size").
 */
export const LARGE_USD = 50_000;

const PART = 'CASE WHEN part.opens THEN f.open_size ELSE f.size - f.open_size END';
/** Names of the columns in the order of lists, newest first: the cursor's position. A flip's open comes after its close. */
export const ORDER = ['f.timestamp', 'f.seq', 'f.coin', 'f.tid', 'f.trader', 'f.oid', 'part.opens'] as const;
export const ORDER_TYPES = ['timestamptz', 'int', 'text', 'bigint', 'text', 'bigint', 'boolean'] as const;

/** What the values of a position look like. */
export const POSITION_FORMS = [
  CURSOR_FORMS.instant,
  /^-?\d{1,9}$/,
  CURSOR_FORMS.coin,
  CURSOR_FORMS.bigint,
  CURSOR_FORMS.evm_address,
  /^\d{1,18}$/,
  /^(true|false)$/,
];

/** What a fill has parts of: a flip has both. */
export const IS_PART = 'CASE WHEN part.opens THEN f.open_size > 0 ELSE f.open_size < f.size END';

/** Select of FillRow, up to its conditions: `f` is the fill, `part.opens` which part of it. */
export const SELECT = `
SELECT f.trader, f.coin,
  (CASE WHEN part.opens THEN 'Open ' ELSE 'Close ' END) || (CASE WHEN part.opens = f.is_buy THEN 'Long' ELSE 'Short' END) AS side,
  CASE WHEN part.opens = f.is_buy THEN 'Long' ELSE 'Short' END AS direction,
  f.price, ${PART} AS size, f.price * (${PART}) AS usd_value,
  CASE WHEN part.opens AND f.open_size < f.size THEN 0 ELSE f.closed_pnl END AS closed_pnl,
  f.timestamp, CASE WHEN f.is_buy THEN 'BUY' ELSE 'SELL' END AS trade_side, f.is_taker, ${PART_FEE} AS fee_usd, f.is_liquidation, f.tx_hash,
  f.tid::text AS trade_id, f.seq, f.oid::text AS oid, part.opens
FROM perp_fill f CROSS JOIN (VALUES (true), (false)) AS part(opens)`;

/** A statement opens every month of its window: a page is looked for in the newest stretch, and in ones so much longer before it until it is full. */
const STRETCH = { ms: 28 * DAY_MS, growth: 12 } as const;

/** Rows of the trade list, newest first, `limit` of them after the position `after`. */
export async function listFills(sql: Sql, filter: FillFilter, after: CursorPosition | null, limit: number): Promise<FillRow[]> {
  const { is_buy, opens, is_long, window } = filter;
  // Buying opens longs and closes shorts: a side and a direction that exclude each other need no look.
  if (is_buy !== null && opens !== null && is_long !== null && (opens === is_buy) !== is_long) return [];
  const rows: FillRow[] = [];
  const from = window.from.getTime();
  // Nothing newer than the last row sent: the index is entered there.
  let to = Math.min(window.to.getTime(), after === null ? Infinity : Number(after[0]) + 1);
  for (let length: number = STRETCH.ms; rows.length < limit && from < to; length *= STRETCH.growth) {
    // What is left is read with it unless it is longer.
    const since = to - from > 2 * length ? to - length : from;
    const stretch = { ...filter, window: { from: new Date(since), to: new Date(to) } };
    rows.push(...(await listStretch(sql, stretch, after, limit - rows.length)));
    to = since;
  }
  return rows;
}

/** The same of a window by one statement, which depends only on which of coin, account, score (whether few have one so high) and a large `min_usd` are there: sixteen forms. */
async function listStretch(sql: Sql, filter: FillFilter, after: CursorPosition | null, limit: number): Promise<FillRow[]> {
  const values: unknown[] = [];
  const value = (given: unknown, type: string): string => `$${values.push(given)}::${type}`;
  const conditions = conditionsOf(filter, after, value);
  const text = `${SELECT}
WHERE ${conditions.join('\n  AND ')}
ORDER BY ${ORDER.map((column) => `${column} DESC`).join(', ')}
LIMIT ${value(limit, 'int')}`;
  const { whose } = filter;
  const forms = { coin: filter.coin !== null, trader: whose !== null && 'trader' in whose, scored: whose !== null && 'day' in whose, smart: isFew(whose), large: isLarge(filter) }; // prettier-ignore
  const name = ['perps_fills', ...Object.entries(forms).flatMap(([form, there]) => (there ? [form] : []))].join('_');
  // Planning takes half of it, unless scores choose, or a coin: it may not have been filled for long, or seldom so large.
  const keyed = forms.trader || !(forms.scored || forms.coin);
  return sql.query<FillRow>({ name, text, keyed }, values);
}

/** Accounts with so high a score are few: to read them all takes less than to look up one by one who filled. */
const isFew = (whose: FillFilter['whose']): boolean => whose !== null && 'day' in whose && whose.least >= SMART_SCORE;

const isLarge = ({ min_usd }: FillFilter): boolean => min_usd !== null && min_usd >= LARGE_USD;

/** Conditions of a list; `value` notes a value and returns its parameter. */
function conditionsOf(filter: FillFilter, after: CursorPosition | null, value: (given: unknown, type: string) => string): string[] {
  const optional = (given: boolean | null, condition: (parameter: string) => string): string => {
    const parameter = value(given, 'boolean');
    return `(${parameter} IS NULL OR ${condition(parameter)})`;
  };
  const last = after === null ? null : new Date(Number(after[0]));
  // Parts of flips carry the noise of the position.
  const min = value(filter.min_usd === null ? null : String(leastShown(filter.min_usd)), 'numeric');
  const position = ORDER_TYPES.map((type, index) => value(index === 0 ? last : (after?.[index] ?? null), type));
  return [
    `f.timestamp >= ${value(filter.window.from, 'timestamptz')} AND f.timestamp < ${value(filter.window.to, 'timestamptz')}`,
    ...(filter.coin === null ? [] : [`f.coin = ${value(filter.coin, 'text')}`]),
    ...whoseOf(filter, value),
    ...(isLarge(filter) ? [`f.usd_value >= ${LARGE_USD}`] : []),
    IS_PART,
    `(${min} IS NULL OR (f.usd_value >= ${min} AND f.price * (${PART}) >= ${min}))`,
    optional(filter.is_buy, (wanted) => `f.is_buy = ${wanted}`),
    optional(filter.opens, (wanted) => `part.opens = ${wanted}`),
    optional(filter.is_long, (wanted) => `(part.opens = f.is_buy) = ${wanted}`),
    `(${position[0]} IS NULL OR (${ORDER.join(', ')}) < (${position.join(', ')}))`,
  ];
}

function whoseOf({ whose }: FillFilter, value: (given: unknown, type: string) => string): string[] {
  if (whose === null) return [];
  if ('trader' in whose) return [`f.trader = ${value(whose.trader, 'text')}`];
  const scored = `f.trader IN (${scoredTraders({ day: value(whose.day, 'date'), least: value(whose.least, 'numeric') })})`;
  // What is compared is no join to the planner, but a list that is read once.
  return [isFew(whose) ? `(${scored}) IS TRUE` : scored];
}

/** Where a row stands in the list, for a cursor. */
export function positionOf(row: FillRow): CursorPosition {
  return [row.timestamp.getTime(), row.seq, row.coin, row.trade_id, row.trader, row.oid, String(row.opens)];
}
