import type { Sql, Statement } from '../../../db/sql';
import { readBackward } from './backward';
import { type RowPosition, type TradeRow, listRows, rowsStatement } from './trade-row';
import { type WhaleFilter, filterOf } from './whale-filter';

/** From here on pm_trade_large_idx and pm_trade_large_wallet_idx have every row; the bound must stand in the statement for the planner to see it. */
export const LARGE_USDC = 1_000;
/** Where such indexes begin, the smallest index first: that of 100,000 is pm_trade_huge_idx. */
const INDEXED_FROM = [100_000, LARGE_USDC];

const statements = new Map<string, Statement>();

function fillsStatement(filter: WhaleFilter): Statement {
  const bound = INDEXED_FROM.find((least) => filter.min_usdc >= least);
  const { suffix, clauses, next } = filterOf(filter);
  const name = `pm_whale_fills${bound === undefined ? '' : `_from_${bound}`}${suffix}`;
  const known =
    statements.get(name) ??
    rowsStatement(
      name,
      `FROM pm_trade
WHERE "timestamp" >= $1 AND "timestamp" < $2 AND side = ANY($3) AND usdc_size >= $4::numeric${bound === undefined ? '' : ` AND usdc_size >= ${bound}`}${clauses}
  AND ("timestamp", trade_id) < ($${next}::timestamptz, $${next + 1}::uuid)
ORDER BY "timestamp" DESC, trade_id DESC LIMIT $${next + 2}`,
      // Without another filter its index is the only way.
      bound !== undefined && suffix === '',
    );
  statements.set(name, known);
  return known;
}

/** At most `limit` fills and redemptions of at least `min_usdc` behind `after`, newest first. */
export function listWhaleFills(sql: Sql, filter: WhaleFilter, after: RowPosition, limit: number): Promise<TradeRow[]> {
  const statement = fillsStatement(filter);
  const read = (from: Date): Promise<TradeRow[]> =>
    listRows(sql, statement, [from, ...filterOf(filter).values.slice(1), after.timestamp, after.trade_id, limit]);
  // An index gives large rows and a market's rows in order; the others are sorted, a slice at a time.
  if (filter.min_usdc >= LARGE_USDC || filter.condition_id !== null) return read(filter.window.from);
  return readBackward(filter.window, after.timestamp, async (slice, whole) => {
    const rows = await read(slice.from);
    return whole || rows.length >= limit ? rows : null;
  });
}
