import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import type { KnownPosition, WalletsScope } from './known-positions';
import { tokenPrice } from './token-price';

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

/** Columns of a shared position's own row. */
const OWN = ['wallet', 'condition_id', 'token_id', 'status', 'shares', 'redeemed_shares', 'cost', 'paid_shares', 'paid_usdc', 'payout_usdc', 'gain', 'opened_at'] as const; // prettier-ignore

/** Of a position what a comparison looks at. */
export type SharedPosition = Pick<KnownPosition, (typeof OWN)[number] | 'question' | 'outcome' | 'outcome_index' | 'price'>;

// What an ended position would be worth is not asked.
const SHARED: Statement = {
  name: 'pm_wallets_shared_positions',
  text: `WITH alive AS MATERIALIZED (SELECT ${OWN.join(', ')} FROM (${ALIVE}) AS position)
SELECT ${OWN.map((name) => `position.${name}`).join(', ')}, market.question, token.outcome, token.outcome_index, CASE WHEN position.status = 'open' THEN ${tokenPrice('$2::timestamptz')} END AS price
FROM alive AS position LEFT JOIN pm_market AS market ON market.condition_id = position.condition_id
LEFT JOIN pm_outcome AS token ON token.condition_id = position.condition_id AND token.token_id = position.token_id
WHERE position.condition_id IN (SELECT condition_id FROM alive GROUP BY condition_id HAVING min(wallet) < max(wallet))`,
};

/** Positions open at some time of the window: how far each wallet's reach, and those on markets of two wallets at least, in no order; priced while open. */
export async function listOverlap(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  { from, to }: Window,
): Promise<{ reaches: WalletReach[]; shared: SharedPosition[] }> {
  const values = [wallets, now, overlay, from, to];
  const [reaches, shared] = await Promise.all([
    sql.query<WalletReach & Record<string, unknown>>(REACH, values),
    sql.query<SharedPosition & Record<string, unknown>>(SHARED, values),
  ]);
  return { reaches, shared };
}
