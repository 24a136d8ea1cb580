import type { Sql, Statement } from '../../../db/sql';
import { BEGINNING } from '../../../lib/timeframe';
import type { HistoryRow } from '../positions/average-cost';
import { type Columns, byColumn, rowsOf } from './by-column';

/** A wallet on a market. */
export interface WalletMarket {
  wallet: string;
  condition_id: string;
}

/** A row of one of the histories asked for, by its place among them, from 1. */
type PlacedRow = HistoryRow & { place: number };

const COLUMNS: Columns<PlacedRow> = {
  place: 'plain',
  trade_id: 'plain',
  side: 'plain',
  token_id: 'plain',
  size: 'exact',
  usdc_size: 'exact',
  timestamp: 'instant',
};

// Found by wallet: a wallet has far fewer rows than a busy market.
const HISTORY: Statement = {
  name: 'pm_wallet_market_history',
  keyed: true,
  text: byColumn(
    COLUMNS,
    `SELECT wanted.place, trade.trade_id, trade.side, trade.token_id, trade.size, trade.usdc_size, trade."timestamp"
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted(wallet, condition_id, place)
JOIN pm_trade AS trade ON trade.wallet = wanted.wallet AND trade.condition_id = wanted.condition_id WHERE trade."timestamp" < $3`,
  ),
};

/** All rows of these wallets on these markets before `to`: a list for each pair, in no order. */
export async function listHistories(sql: Sql, pairs: readonly WalletMarket[], to: Date): Promise<HistoryRow[][]> {
  const [told] = await sql.query(HISTORY, [pairs.map((pair) => pair.wallet), pairs.map((pair) => pair.condition_id), to]);
  const histories = pairs.map((): HistoryRow[] => []);
  for (const row of rowsOf(COLUMNS, told)) histories[row.place - 1]?.push(row);
  return histories;
}

const CONVERTERS: Statement = {
  name: 'pm_converters',
  keyed: true,
  text: `SELECT DISTINCT wallet FROM pm_trade WHERE side = 'CONVERSION' AND wallet = ANY($1) AND "timestamp" >= $2 AND "timestamp" < $3`,
};

/** Those of these wallets that converted shares of any market before `to`. */
export async function listConverters(sql: Sql, wallets: readonly string[], to: Date): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ wallet: string }>(CONVERTERS, [wallets, BEGINNING, to]);
  return new Set(rows.map(({ wallet }) => wallet));
}
