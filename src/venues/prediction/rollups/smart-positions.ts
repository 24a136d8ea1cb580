import type { PoolClient } from 'pg';
import { SMART_SCORE } from '../scoring/tiers';
import { COST } from './positions-row';

const COLUMNS = 'condition_id, wallet, token_id, score, is_open, shares, cost, paid_shares, paid_usdc, opened_at, last_at';

/** SQL of the rows of pm_smart_position for `positions`, a FROM item of rows of pm_position: of wallets that are smart by the run the table holds for. */
const smartOf = (
  positions: string,
  scores = 'pm_wallet_score',
): string => `SELECT own.condition_id, own.wallet, own.token_id, scored.score, status = 'open' AS is_open, shares, ${COST}, paid_shares, paid_usdc, opened_at, last_at
FROM ${positions} AS own JOIN ${scores} AS scored ON scored.wallet = own.wallet AND scored.day = (SELECT day FROM pm_smart_run) AND scored.score >= ${SMART_SCORE} WHERE paid_shares > 0`;

/** SQL that keeps what `positions` holds of smart wallets. */
export const keepSmart = (positions: string): string => `INSERT INTO pm_smart_position (${COLUMNS}) ${smartOf(positions)}
ON CONFLICT (condition_id, wallet, token_id) DO UPDATE SET ${COLUMNS.split(', ')
  .slice(3)
  .map((name) => `${name} = EXCLUDED.${name}`)
  .join(', ')}`;

/** The scores of smart wallets of `days`, a list in SQL, by themselves: what they are joined to stands by market, scores by wallet. */
export const smartScores = (days: string): string =>
  `(SELECT wallet, day, score FROM pm_wallet_score WHERE day IN (${days}) AND score >= ${SMART_SCORE} OFFSET 0)`;

/** Fills the table for the run that it holds for, open positions together and market by market; writers of positions must wait. */
export async function refillSmart(client: PoolClient): Promise<void> {
  await client.query('DELETE FROM pm_smart_position');
  await client.query(
    `INSERT INTO pm_smart_position (${COLUMNS}) ${smartOf('pm_position', smartScores('SELECT day FROM pm_smart_run'))} ORDER BY is_open, condition_id, wallet, token_id`,
  );
}

/** Takes what is kept of smart wallets out of use where the run of `day` has a part in it, or is newer, inside the transaction that writes its scores. */
export async function forgetSmart(client: PoolClient, day: string): Promise<void> {
  await client.query('DELETE FROM pm_smart_run WHERE prior <= $1::date', [day]);
}
