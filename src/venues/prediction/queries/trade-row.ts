import type { Sql, Statement } from '../../../db/sql';
import { type Columns, byColumn, rowsOf } from './by-column';

/** A row of pm_trade as questions list it: one fill or redemption, or a burst of them. Amounts are exact decimal texts. */
export interface TradeRow {
  trade_id: string;
  condition_id: string;
  wallet: string;
  token_id: string | null;
  side: 'BUY' | 'SELL' | 'REDEEM';
  /** Of BUY and SELL; the average of a burst. */
  price: string | null;
  size: string;
  usdc_size: string;
  /** Of the newest fill. */
  timestamp: Date;
  is_taker: boolean | null;
  tx_hash: string | null;
  /** Of a burst alone: price of its newest fill, when the oldest was, how many there are, and their ids, oldest first. */
  last_price?: string | null;
  first_at?: Date;
  fills?: number;
  parts?: string[];
}

const ROW: Columns<Omit<TradeRow, 'last_price' | 'first_at' | 'fills' | 'parts'>> = {
  trade_id: 'plain',
  condition_id: 'plain',
  wallet: 'plain',
  token_id: 'plain',
  side: 'plain',
  price: 'exact',
  size: 'exact',
  usdc_size: 'exact',
  timestamp: 'instant',
  is_taker: 'plain',
  tx_hash: 'plain',
};

/** Columns of a single row, in the words of TradeRow. */
export const ROW_COLUMNS = Object.keys(ROW)
  .map((name) => `"${name}"`)
  .join(', ');

/** A statement that lists rows of pm_trade: those of `from`, what a select of ROW_COLUMNS goes on with. */
export const rowsStatement = (name: string, from: string, keyed = false): Statement => ({
  name,
  keyed,
  text: byColumn(ROW, `SELECT ${ROW_COLUMNS} ${from}`),
});

/** The rows of a `rowsStatement`, in its order. */
export async function listRows(sql: Sql, statement: Statement, values: readonly unknown[]): Promise<TradeRow[]> {
  const [told] = await sql.query(statement, values);
  return rowsOf(ROW, told);
}

/** Where in a list, newest first, a page begins: behind this row. */
export interface RowPosition {
  timestamp: Date;
  trade_id: string;
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Before the first row of a window that ends at `to`. */
export const beforeAll = (to: Date): RowPosition => ({ timestamp: to, trade_id: LAST_ID });

/** Wallets that are smart money in the run of day `parameter` (null: nobody). */
export const smartWallets = (parameter: string, score: number): string =>
  `SELECT wallet FROM pm_wallet_score WHERE day = ${parameter}::date AND score >= ${score}`;
