import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import { type KnownPosition, type WalletsScope, knownSql } from './known-positions';

/** On how many markets a wallet had positions in a window, and how long the vector of what it put into each is (a market's first outcome counts up, others down), USDC. */
export interface WalletReach {
  wallet: string;
  markets: number;
  norm: number;
}

const ALIVE = positionsSql(
  '$2',
  '$3',
  'wallet = ANY ($1) AND paid_shares > 0 AND opened_at < $5 AND (closed_at IS NULL OR closed_at >= $4)',
);

const REACH: Statement = {
  name: 'pm_wallet_reach',
  text: `SELECT wallet, count(*)::int AS markets, sqrt(sum(net ^ 2)) AS norm FROM (
  SELECT position.wallet, position.condition_id, sum(CASE WHEN COALESCE(token.outcome_index, 0) = 0 THEN paid_usdc::float8 ELSE -paid_usdc::float8 END) AS net
  FROM (${ALIVE}) AS position LEFT JOIN pm_outcome AS token ON token.condition_id = position.condition_id AND token.token_id = position.token_id
  GROUP BY position.wallet, position.condition_id
) AS side GROUP BY wallet`,
};

// What an ended position would be worth is not asked.
const SHARED: Statement = {
  name: 'pm_wallets_shared_positions',
  text: `WITH alive AS MATERIALIZED (${ALIVE})
${knownSql('SELECT * FROM alive WHERE condition_id IN (SELECT condition_id FROM alive GROUP BY condition_id HAVING count(DISTINCT wallet) >= 2)', "position.status = 'open'")}`,
};

/** Positions open at some time of the window: how far each wallet's reach, and those on markets of two wallets at least, in no order; priced while open. */
export async function listOverlap(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  { from, to }: Window,
): Promise<{ reaches: WalletReach[]; shared: KnownPosition[] }> {
  const values = [wallets, now, overlay, from, to];
  const [reaches, shared] = await Promise.all([
    sql.query<WalletReach & Record<string, unknown>>(REACH, values),
    sql.query<KnownPosition & Record<string, unknown>>(SHARED, values),
  ]);
  return { reaches, shared };
}
