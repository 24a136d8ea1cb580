import type { Pool, PoolClient } from 'pg';
import { sqlOf } from '../../../db/sql';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { END } from '../../../lib/timeframe';
import { LEAST_REST } from '../consensus';
import { listRunDays } from '../queries/score-runs';
import { OPEN } from '../queries/stances';
import { SMART_SCORE } from '../scoring/tiers';
import { ALONE, forgetCrowds } from './crowd-due';
import { lockRollups } from './positions';
import { toldWallets } from './told-wallets';

/** A wallet with fewer buys and sells is new, not dumb. */
export const FEWEST_TRADES = 5;

/** Highest bound of a score that is told: no crowd is smart. */
export const HIGHEST = SMART_SCORE - 1;

const SUMS = ['wallets', 'net_usdc', 'scores', 'paid_shares', 'paid_usdc'] as const;

/**
 * SQL of the outcomes that wallets are net on, from `positions`, SQL of open ones with columns `group`, market and wallet: those that cost more than all others
 * of the market together, as consensusOf tells of stances.
 */
export const netSides = (positions: string, group = 'condition_id, wallet'): string =>
  `SELECT *, 2 * cost - all_sides AS net_usdc FROM (SELECT *, sum(cost) OVER (PARTITION BY ${group}) AS all_sides FROM (${positions}) AS own) AS sided WHERE 2 * cost - all_sides >= ${LEAST_REST}`;

/** SQL that adds the stances of wallets that are due to the sums of every bound from their scores on, or takes them off. */
const addDue = (sign: '' | '-'): string => `INSERT INTO pm_crowd AS kept (max_score, condition_id, token_id, ${SUMS.join(', ')})
WITH part AS MATERIALIZED (
  SELECT condition_id, token_id, ceil(score)::int AS bound, count(*) AS wallets, sum(net_usdc) AS net_usdc, sum(score) AS scores, sum(paid_shares) AS paid_shares, sum(paid_usdc) AS paid_usdc
  FROM pm_crowd_stance JOIN pm_crowd_due USING (wallet) GROUP BY 1, 2, 3
), side AS (
  SELECT condition_id, token_id, generate_series(min(bound), ${HIGHEST}) AS bound FROM part GROUP BY 1, 2
)
SELECT bound, condition_id, token_id, ${SUMS.map((name) => `${sign}sum(${name}) OVER upward`).join(', ')}
FROM side LEFT JOIN part USING (condition_id, token_id, bound) WINDOW upward AS (PARTITION BY condition_id, token_id ORDER BY bound) ORDER BY bound, condition_id
ON CONFLICT (max_score, condition_id, token_id) DO UPDATE SET ${SUMS.map((name) => `${name} = kept.${name} + EXCLUDED.${name}`).join(', ')}`;

const TAKE_OFF = addDue('-');
const ADD = addDue('');

const DUE = `SELECT due.wallet, score FROM pm_crowd_due AS due JOIN pm_wallet_score AS scored ON scored.wallet = due.wallet AND scored.day = $1::date AND score <= ${HIGHEST}`;
const KNOWN = toldWallets('ARRAY(SELECT wallet FROM due)', `'infinity'`, (some) => `SELECT * FROM pm_position WHERE wallet = ANY (${some})`, 'wallet, last_at, trades'); // prettier-ignore

// What any wallet did counts, not only what these hold: its trades are known as of then.
const TELL = `WITH due AS MATERIALIZED (${DUE}), known AS MATERIALIZED (${KNOWN}), told AS (
  UPDATE pm_crowd_told SET last_at = GREATEST(last_at, (SELECT max(last_at) FROM known))
), held AS (
  SELECT condition_id, wallet, token_id, score, cost, paid_shares, paid_usdc FROM pm_position JOIN due USING (wallet)
  WHERE ${OPEN} AND wallet = ANY (ARRAY(SELECT wallet FROM known WHERE trades >= ${FEWEST_TRADES}))
)
INSERT INTO pm_crowd_stance (wallet, condition_id, token_id, score, net_usdc, paid_shares, paid_usdc)
SELECT wallet, condition_id, token_id, score, net_usdc, paid_shares, paid_usdc FROM (${netSides('SELECT * FROM held')}) AS stance`;

/** Tells the crowds of the newest run of the scores: of all its wallets where those of another are told, else of wallets whose positions were written since. */
export async function tellCrowds(pool: Pool): Promise<void> {
  const tell = async (client: PoolClient): Promise<void> => {
    // In this order: a run of the scores waits to be alone with rows in its hands that a writer may wait for.
    await lockRollups(client);
    await client.query(ALONE);
    const day = (await listRunDays(sqlOf(client), END)).at(-1);
    const { rows } = await client.query('SELECT 1 FROM pm_crowd_told WHERE day = $1::date', [day]);
    if (rows.length === 0) {
      await forgetCrowds(client);
      if (day === undefined) return;
      await client.query(`INSERT INTO pm_crowd_told (day, last_at) VALUES ($1::date, '-infinity')`, [day]);
      await client.query(`INSERT INTO pm_crowd_due (wallet) SELECT wallet FROM pm_wallet_score WHERE day = $1::date`, [day]);
    }
    await client.query(TAKE_OFF);
    await client.query('DELETE FROM pm_crowd_stance WHERE wallet IN (SELECT wallet FROM pm_crowd_due)');
    await client.query(TELL, [day]);
    await client.query(ADD);
    await client.query('DELETE FROM pm_crowd WHERE wallets = 0');
    await client.query('DELETE FROM pm_crowd_due');
  };
  await inTransaction(pool, tell, LONG_WORK);
}
