import type { PoolClient } from 'pg';
import { marketNumber } from './market-number';

/** SQL of what was put into each outcome, from `positions`, SQL of positions ever bought, `own` telling their wallets apart: columns w, market, token, net, is_top, opened_at, closed_at. */
export const sidesSql = (
  positions: string,
  own: string,
): string => `SELECT w, market, token, CASE WHEN COALESCE(outcome_index, 0) = 0 THEN paid ELSE -paid END AS net,
  row_number() OVER (PARTITION BY w, market ORDER BY paid DESC, token_id) = 1 AS is_top, opened_at, closed_at
FROM (SELECT ${own} AS w, ${marketNumber('position.condition_id')} AS market, hashtextextended(position.token_id, 0) AS token, position.token_id, outcome_index,
    position.paid_usdc::float8 AS paid, position.opened_at, position.closed_at
  FROM (${positions}) AS position LEFT JOIN pm_outcome AS named ON named.condition_id = position.condition_id AND named.token_id = position.token_id) AS held`;

const TELL = `INSERT INTO pm_told_sides (wallet, first_ended_at, markets, tokens, net_usdc, is_top, opened_at)
SELECT w, min(closed_at), array_agg(market), array_agg(token), array_agg(net), array_agg(is_top), array_agg(opened_at)
FROM (${sidesSql('SELECT * FROM pm_position WHERE wallet = ANY ($1) AND paid_shares > 0', 'wallet')}) AS side GROUP BY w`;

/** Tells what these wallets put into each outcome; it holds as long as they are in pm_told_wallet. */
export async function tellSides(client: PoolClient, wallets: readonly string[]): Promise<void> {
  await client.query('DELETE FROM pm_told_sides WHERE wallet = ANY ($1)', [wallets]);
  await client.query(TELL, [wallets]);
}
