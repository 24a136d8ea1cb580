import type { PoolClient } from 'pg';
import { marketNumber } from './market-number';

const LISTS = ['market', 'token', 'net', 'is_top', 'opened_at'].map((column) => `array_agg(${column} ORDER BY market, token)`).join(', ');

/** SQL of what each wallet put into each outcome, from `positions`, SQL of positions ever bought: rows of pm_told_sides. */
export const sidesSql = (
  positions: string,
): string => `SELECT wallet, min(closed_at), ${LISTS} FROM (SELECT wallet, market, token, CASE WHEN COALESCE(outcome_index, 0) = 0 THEN paid ELSE -paid END AS net,
  row_number() OVER (PARTITION BY wallet, market ORDER BY paid DESC, token_id) = 1 AS is_top, opened_at, closed_at
FROM (SELECT position.wallet, ${marketNumber('position.condition_id')} AS market, hashtextextended(position.token_id, 0) AS token, position.token_id, outcome_index,
    position.paid_usdc::float8 AS paid, position.opened_at, position.closed_at
  FROM (${positions}) AS position LEFT JOIN pm_outcome AS named ON named.condition_id = position.condition_id AND named.token_id = position.token_id) AS held) AS side GROUP BY wallet`;

const TELL = `INSERT INTO pm_told_sides (wallet, first_ended_at, markets, tokens, net_usdc, is_top, opened_at)
${sidesSql('SELECT * FROM pm_position WHERE wallet = ANY ($1) AND paid_shares > 0')}`;

/** Tells what these wallets put into each outcome; it holds as long as they are in pm_told_wallet. */
export async function tellSides(client: PoolClient, wallets: readonly string[]): Promise<void> {
  await client.query('DELETE FROM pm_told_sides WHERE wallet = ANY ($1)', [wallets]);
  await client.query(TELL, [wallets]);
}
