import type { Sql, Statement } from '../../../db/sql';
import type { HistoryRow } from '../positions/average-cost';

/** A wallet on a market. */
export interface WalletMarket {
  wallet: string;
  condition_id: string;
}

export type WalletMarketRow = HistoryRow & WalletMarket;

// Found by wallet: a wallet has far fewer rows than a busy market.
const HISTORY: Statement = {
  name: 'pm_wallet_market_history',
  text: `SELECT trade.wallet, trade.condition_id, trade.trade_id, trade.side, trade.token_id, trade.size, trade.usdc_size, trade."timestamp"
FROM unnest($1::text[], $2::text[]) AS wanted(wallet, condition_id)
JOIN pm_trade AS trade ON trade.wallet = wanted.wallet AND trade.condition_id = wanted.condition_id WHERE trade."timestamp" < $3`,
};

/** All rows of these wallets on these markets before `to`, in no order. */
export function listHistories(sql: Sql, pairs: readonly WalletMarket[], to: Date): Promise<WalletMarketRow[]> {
  return sql.query<WalletMarketRow & Record<string, unknown>>(HISTORY, [
    pairs.map((pair) => pair.wallet),
    pairs.map((pair) => pair.condition_id),
    to,
  ]);
}
