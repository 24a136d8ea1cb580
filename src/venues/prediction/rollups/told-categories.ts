import type { PoolClient } from 'pg';
import { COUNTS, RETURNS } from '../queries/ended-figures';
import { S_PM } from '../scoring/parameters';

/** Columns of `categoriesSql`, and of pm_told_category. */
const CATEGORY_COLUMNS =
  'wallet, category, pnl, cost, counted, wins, priced, mean, spread, ended, edge, held, open, volume, whole_volume, last_trade';

// The edge of the wallet score: entries that forecast, by their prices as they are told (to the millionth), weighed by age. Against which instant is all the same to a weighed mean.
const COUNTED = `status <> 'voided' AND paid_usdc >= ${S_PM.min_cost_usdc} AND paid_usdc < ${S_PM.carry_entry - 5e-7} * paid_shares`;
const WEIGHT = `power(2, (date_part('epoch', closed_at) - ${Date.UTC(2026, 0, 1) / 1_000}) / ${S_PM.half_life_days * 86_400})`;

const JUDGED = [
  'status',
  'gain',
  'paid_usdc',
  'paid_shares',
  'closed_at',
  `${WEIGHT} AS weight`,
  'received_usdc + payout_usdc - paid_usdc AS brought',
];

/** SQL of how wallets stand in each category they trade, '' without one, CATEGORY_COLUMNS, from `positions`: SQL of all positions of each. */
function categoriesSql(positions: string): string {
  // Each is reckoned once: pulled up, expressions would be at every place that names them.
  const judged = JUDGED.map((column) => column.split(' AS ')).map(([sql, name]) => `CASE WHEN has_ended THEN ${sql} END AS ${name ?? sql}`);
  return `SELECT wallet, category, sum(gain) AS pnl, sum(paid_usdc) AS cost, ${COUNTS}, ${RETURNS}, count(status)::int AS ended,
  sum(weight * (brought / paid_shares)::float8) FILTER (WHERE ${COUNTED}) / NULLIF(sum(weight) FILTER (WHERE ${COUNTED}), 0) AS edge,
  count(*) FILTER (WHERE is_held)::int AS held, count(*) FILTER (WHERE is_open)::int AS open, sum(traded) AS volume, sum(sum(traded)) OVER (PARTITION BY wallet) AS whole_volume, max(last_trade_at) AS last_trade
FROM (SELECT wallet, category, ${judged.join(', ')}, paid_shares > 0 AS is_held, status = 'open' AS is_open, buy_usdc + sell_usdc AS traded, last_trade_at
  FROM (SELECT own.*, COALESCE(market.category, '') AS category, status <> 'open' AND paid_shares > 0 AS has_ended
    FROM (${positions}) AS own LEFT JOIN (SELECT condition_id, category FROM pm_market) AS market ON market.condition_id = own.condition_id) AS known OFFSET 0) AS judged
GROUP BY wallet, category`;
}

const TELL = `INSERT INTO pm_told_category (${CATEGORY_COLUMNS}) SELECT ${CATEGORY_COLUMNS} FROM (${categoriesSql('SELECT * FROM pm_position WHERE wallet = ANY ($1)')}) AS told`;

/** Tells how these wallets stand in each category; it holds as long as they are in pm_told_wallet. */
export async function tellCategories(client: PoolClient, wallets: readonly string[]): Promise<void> {
  await client.query('DELETE FROM pm_told_category WHERE wallet = ANY ($1)', [wallets]);
  await client.query(TELL, [wallets]);
}

/** SQL condition: what is told of a wallet holds as of `now`. */
export const holdsTold = (wallet: string, now: string): string =>
  `EXISTS (SELECT 1 FROM pm_told_wallet AS told WHERE told.wallet = ${wallet} AND told.last_at < ${now})`;

/** SQL of how all wallets stand in a category as of `now`, CATEGORY_COLUMNS, both parameters: as told where nothing happened to the wallet since, else from `positionsOf`, SQL of the positions of wallets as of then. */
export const toldCategory = (category: string, now: string, positionsOf: (wallets: string) => string): string =>
  `WITH untold AS MATERIALIZED (SELECT array_agg(wallet) AS wallets FROM pm_wallet WHERE NOT ${holdsTold('pm_wallet.wallet', now)})
SELECT ${CATEGORY_COLUMNS} FROM pm_told_category AS kept WHERE category = ${category} AND ${holdsTold('kept.wallet', now)}
UNION ALL SELECT ${CATEGORY_COLUMNS} FROM (${categoriesSql(positionsOf('(SELECT wallets FROM untold)::text[]'))}) AS rest WHERE category = ${category}`;
