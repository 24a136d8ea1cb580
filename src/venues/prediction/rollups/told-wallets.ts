import type { Pool, PoolClient } from 'pg';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { D_INS } from '../scoring/insider';
import { marketNumber } from './market-number';
import { lockRollups } from './positions';
import { noteDue } from './standings-due';
import { tellCategories } from './told-categories';
import { tellFigures } from './told-figures';
import { tellLives } from './told-lives';
import { tellSides } from './told-sides';

/** Wallets told in one transaction: writers wait for it. */
const AT_ONCE = 1_000;

/** A wallet belongs to a market on which it bought and sold so much, or holds what cost so much, USDC; once the market is resolved, held at its end. */
export const BELONGS_USDC = 10;
/** SQL of whether it does, of its positions on the market. */
export const BELONGS = `(sum(buy_usdc + sell_usdc) >= ${BELONGS_USDC} OR sum(CASE WHEN settled_at IS NULL THEN cost ELSE settled_cost END) >= ${BELONGS_USDC})`;

// Bets sold since count too: who still held at the end would be a choice of those that went well. What is bought once the result is out is no bet.
const SHORT = `payout IN (0, 1) AND paid_shares > 0 AND opened_at <= settled_at AND opened_at >= settled_at - interval '${D_INS.short_bet_win_rate.hours} hours'`;

/** Columns of `toldSql`, and of pm_told_wallet. */
const TOLD_COLUMNS =
  'wallet, last_at, trades, gain, buy_usdc, markets, categories, short_n, short_wins, short_sum, median_bet, belongs, belongs_n, belongs_open';

/** SQL of what is told of wallets, TOLD_COLUMNS, from `positions`: SQL of all positions of each. */
const toldSql = (positions: string): string => `WITH position AS MATERIALIZED (
  SELECT wallet, condition_id, last_at, trades, gain, buy_usdc, sell_usdc, paid_usdc, paid_shares, payout, cost, settled_cost, settled_at, ${SHORT} AS short FROM (${positions}) AS own
), part AS (
  SELECT position.wallet, market.category, max(last_at) AS last_at, sum(trades) AS trades, sum(gain) AS gain, sum(buy_usdc + sell_usdc)::float8 AS usdc, sum(buy_usdc) AS buy_usdc,
    count(DISTINCT position.condition_id) FILTER (WHERE trades > 0) AS markets, count(*) FILTER (WHERE short) AS short_n, count(*) FILTER (WHERE short AND payout = 1) AS short_wins,
    sum(paid_usdc / NULLIF(paid_shares, 0)) FILTER (WHERE short) AS short_sum
  FROM position JOIN pm_market AS market ON market.condition_id = position.condition_id GROUP BY position.wallet, market.category
), bet AS (
  SELECT wallet, percentile_cont(0.5) WITHIN GROUP (ORDER BY paid_usdc::float8) AS median_bet FROM position WHERE paid_shares > 0 GROUP BY wallet
), member AS (
  SELECT wallet, array_agg(number ORDER BY number) AS belongs, count(*)::int AS belongs_n, array_agg(number ORDER BY number) FILTER (WHERE resolved_at IS NULL) AS belongs_open FROM (
    SELECT wallet, condition_id, ${marketNumber('condition_id')} AS number FROM position GROUP BY wallet, condition_id HAVING ${BELONGS}
  ) AS belonging LEFT JOIN pm_market AS market USING (condition_id) GROUP BY wallet
)
SELECT part.wallet, max(last_at) AS last_at, sum(trades)::int AS trades, sum(gain) AS gain, sum(buy_usdc) AS buy_usdc, sum(markets)::int AS markets,
  jsonb_agg(jsonb_build_object('category', category, 'usdc', usdc) ORDER BY category) FILTER (WHERE usdc > 0) AS categories,
  sum(short_n)::int AS short_n, sum(short_wins)::int AS short_wins, sum(short_sum) AS short_sum, max(median_bet) AS median_bet,
  COALESCE(max(belongs), '{}') AS belongs, COALESCE(max(belongs_n), 0) AS belongs_n, COALESCE(max(belongs_open), '{}') AS belongs_open
FROM part LEFT JOIN bet ON bet.wallet = part.wallet LEFT JOIN member ON member.wallet = part.wallet GROUP BY part.wallet`;

/**
 * SQL of what is told of `wallets` as of `now`, parameters of the statement both: as kept where nothing happened to the wallet since, else from `positionsOf`, SQL
 * of the positions of wallets as of then. `columns` are of TOLD_COLUMNS, `wallet` among them. A wallet without positions is not told.
 */
export const toldWallets = (
  wallets: string,
  now: string,
  positionsOf: (wallets: string) => string,
  columns: string,
): string => `WITH kept AS MATERIALIZED (
  SELECT ${columns} FROM pm_told_wallet WHERE wallet = ANY (${wallets}) AND last_at < ${now}
)
SELECT ${columns} FROM kept UNION ALL
SELECT ${columns} FROM (${toldSql(positionsOf(`ARRAY(SELECT wanted.wallet FROM unnest(${wallets}) AS wanted(wallet) WHERE wanted.wallet NOT IN (SELECT kept.wallet FROM kept))`))}) AS rest`;

const UNTOLD = `SELECT wallet FROM pm_wallet WHERE wallet > $1 AND NOT EXISTS (SELECT 1 FROM pm_told_wallet AS told WHERE told.wallet = pm_wallet.wallet) ORDER BY wallet LIMIT ${AT_ONCE}`;
const TELL = `INSERT INTO pm_told_wallet (${TOLD_COLUMNS}) SELECT ${TOLD_COLUMNS} FROM (${toldSql('SELECT * FROM pm_position WHERE wallet = ANY ($1)')}) AS told`;

/** Tells every wallet that is not told, some in each transaction. */
export async function tellWallets(pool: Pool): Promise<void> {
  let after = '';
  const tell = async (client: PoolClient): Promise<boolean> => {
    await lockRollups(client);
    const { rows } = await client.query<{ wallet: string }>(UNTOLD, [after]);
    const wallets = rows.map(({ wallet }) => wallet);
    await client.query(TELL, [wallets]);
    await tellCategories(client, wallets);
    await tellFigures(client, wallets);
    await tellLives(client, wallets);
    await tellSides(client, wallets);
    after = rows.at(-1)?.wallet ?? '';
    return rows.length === AT_ONCE;
  };
  while (await inTransaction(pool, tell, `SELECT pg_advisory_xact_lock(hashtext('pm_told_wallets')); ${LONG_WORK}`));
}

/** Takes out the wallets that hold or held anything on these markets, whose categories, events or first outcomes are others now: what was told of them, and how they stand. */
export async function forgetWalletsOf(client: PoolClient, condition_ids: readonly string[]): Promise<void> {
  const holders = 'ARRAY(SELECT wallet FROM pm_position WHERE condition_id = ANY($1))';
  await client.query(`WITH due AS (${noteDue(holders)}) DELETE FROM pm_told_wallet WHERE wallet = ANY (${holders})`, [condition_ids]);
}
