import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';

/** A wallet's buys and sells on one market. */
export interface WalletVolume {
  wallet: string;
  condition_id: string;
  category: string;
  usdc: string;
  trades: number;
  first_at: Date;
  last_at: Date;
}

const VOLUMES: Statement = {
  name: 'pm_wallet_volumes',
  text: `SELECT traded.*, COALESCE(market.category, 'Other') AS category FROM (
  SELECT wallet, condition_id, sum(usdc_size) AS usdc, count(*)::int AS trades, min("timestamp") AS first_at, max("timestamp") AS last_at
  FROM pm_trade WHERE wallet = ANY($1) AND "timestamp" >= $2 AND "timestamp" < $3 AND side IN ('BUY', 'SELL') GROUP BY wallet, condition_id
) AS traded LEFT JOIN pm_market AS market ON market.condition_id = traded.condition_id`,
};

/** Own buys and sells of a few wallets in the window, by market. */
export function listWalletVolumes(sql: Sql, wallets: readonly string[], window: Window): Promise<WalletVolume[]> {
  return sql.query<WalletVolume & Record<string, unknown>>(VOLUMES, [wallets, window.from, window.to]);
}
