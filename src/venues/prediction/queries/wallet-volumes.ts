import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';

/** A wallet's buys and sells in one category, USDC an exact decimal text. */
export interface WalletVolume {
  wallet: string;
  category: string;
  volume: string;
  markets: number;
  first_at: Date;
  last_at: Date;
}

const VOLUMES: Statement = {
  name: 'pm_wallet_volumes',
  text: `SELECT traded.wallet, COALESCE(market.category, 'Other') AS category, sum(usdc) AS volume, count(*)::int AS markets, min(first_at) AS first_at, max(last_at) AS last_at FROM (
  SELECT wallet, condition_id, sum(usdc_size) AS usdc, min("timestamp") AS first_at, max("timestamp") AS last_at
  FROM pm_trade WHERE wallet = ANY($1) AND "timestamp" >= $2 AND "timestamp" < $3 AND side IN ('BUY', 'SELL') GROUP BY wallet, condition_id
) AS traded LEFT JOIN pm_market AS market ON market.condition_id = traded.condition_id GROUP BY 1, 2`,
};

/** Own buys and sells of a few wallets in the window, by category. */
export function listWalletVolumes(sql: Sql, wallets: readonly string[], window: Window): Promise<WalletVolume[]> {
  return sql.query<WalletVolume>(VOLUMES, [wallets, window.from, window.to]);
}
