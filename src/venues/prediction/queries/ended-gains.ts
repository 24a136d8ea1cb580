import type { Sql, Statement } from '../../../db/sql';
import { positionsSql } from '../rollups/positions-as-of';
import type { WalletsScope } from './known-positions';

/** What a wallet gained by positions that ended, exact decimal texts. */
export interface EndedGains {
  wallet: string;
  /** Its buys and sells in all categories. */
  trades: number;
  /** Positions in scope, ended or not. */
  positions: number;
  gain: string;
  /** Of those that ended since the instant asked. */
  recent_gain: string;
}

const GAINS: Statement = {
  name: 'pm_wallets_ended_gains',
  text: `SELECT wallet, sum(trades)::int AS trades, count(*) FILTER (WHERE chosen)::int AS positions,
  COALESCE(sum(gain) FILTER (WHERE chosen AND status <> 'open'), 0) AS gain, COALESCE(sum(gain) FILTER (WHERE chosen AND status <> 'open' AND closed_at >= $4), 0) AS recent_gain
FROM (SELECT position.*, paid_shares > 0 AND ($5::text IS NULL OR $5 = COALESCE((SELECT category FROM pm_market AS market WHERE market.condition_id = position.condition_id), 'Other')) AS chosen
  FROM (${positionsSql('$2', '$3', 'wallet = ANY ($1)')}) AS position) AS own GROUP BY wallet`,
};

/** Gains of each wallet that has positions, in no order; with `category` those of its markets. */
export const listEndedGains = (
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  recent: Date,
  category: string | null,
): Promise<EndedGains[]> => sql.query<EndedGains & Record<string, unknown>>(GAINS, [wallets, now, overlay, recent, category]);
