import type { PoolClient } from 'pg';

/** Columns of pm_told_life. */
const LIFE_COLUMNS =
  'wallet, last_at, trade_count, redeems, buy_volume, sell_volume, redeem_volume, markets_traded, largest_trade_usdc, most_traded_category';

const TELL = `INSERT INTO pm_told_life (${LIFE_COLUMNS})
WITH market AS (
  SELECT wallet, condition_id, max("timestamp") AS last_at, count(*) FILTER (WHERE side <> 'REDEEM') AS trades, count(*) FILTER (WHERE side = 'REDEEM') AS redeems,
    sum(usdc_size) FILTER (WHERE side = 'BUY') AS bought, sum(usdc_size) FILTER (WHERE side = 'SELL') AS sold, sum(usdc_size) FILTER (WHERE side = 'REDEEM') AS redeemed,
    max(usdc_size) FILTER (WHERE side <> 'REDEEM') AS largest
  FROM pm_trade WHERE wallet = ANY ($1) AND side IN ('BUY', 'SELL', 'REDEEM') GROUP BY wallet, condition_id
), part AS (
  SELECT wallet, category, max(last_at) AS last_at, sum(trades) AS trades, sum(redeems) AS redeems, sum(bought) AS bought, sum(sold) AS sold, sum(redeemed) AS redeemed,
    count(*) FILTER (WHERE trades > 0) AS markets, max(largest) AS largest
  FROM market LEFT JOIN (SELECT condition_id, category FROM pm_market) AS known USING (condition_id) GROUP BY wallet, category
)
SELECT wallet, max(last_at), sum(trades)::int, sum(redeems)::int, COALESCE(sum(bought), 0), COALESCE(sum(sold), 0), COALESCE(sum(redeemed), 0), sum(markets)::int, max(largest),
  (array_agg(category ORDER BY trades DESC, category) FILTER (WHERE trades > 0 AND category IS NOT NULL))[1]
FROM part GROUP BY wallet`;

/** Tells what the rows of these wallets add up to; it holds as long as they are in pm_told_wallet. */
export async function tellLives(client: PoolClient, wallets: readonly string[]): Promise<void> {
  await client.query('DELETE FROM pm_told_life WHERE wallet = ANY ($1)', [wallets]);
  await client.query(TELL, [wallets]);
}
