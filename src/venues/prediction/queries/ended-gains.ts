import type { Sql, Statement } from '../../../db/sql';
import { positionsSql } from '../rollups/positions-as-of';
import { holdsTold } from '../rollups/told-categories';
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

// Whether less of a wallet's life lies before the instant asked than after it.
const YOUNG = '(first_ended_at > $2::timestamptz - ($3::timestamptz - $2::timestamptz))';

// All gains are told. Those since the instant are the rest after those before it, where that is the shorter part of the wallet's life: the shorter part is
// read of the wallets that are told, in one go, as a cluster reads what stands by market for what stands by wallet.
const TOLD: Statement = {
  name: 'pm_told_gains',
  keyed: true,
  text: `WITH told AS MATERIALIZED (
  SELECT wallet, max(trades) FILTER (WHERE category = '') AS trades, COALESCE(max(held) FILTER (WHERE category = $4), 0) AS positions, COALESCE(max(pnl) FILTER (WHERE category = $4), 0) AS gain,
    min(first_ended_at) AS first_ended_at
  FROM pm_told_figures AS figures WHERE wallet = ANY ($1) AND category IN ('', $4) AND ${holdsTold('figures.wallet', '$3')} GROUP BY wallet
), part AS (
  SELECT position.wallet, sum(position.gain) AS gain FROM told JOIN pm_position AS position ON position.wallet = told.wallet
    AND position.closed_at >= CASE WHEN ${YOUNG} THEN '-infinity' ELSE $2 END AND position.closed_at < CASE WHEN ${YOUNG} THEN $2 ELSE 'infinity' END
  WHERE first_ended_at < $2 AND position.status <> 'open' AND position.paid_shares > 0
    AND ($4 = '' OR $4 = COALESCE((SELECT category FROM pm_market AS market WHERE market.condition_id = position.condition_id), 'Other')) GROUP BY position.wallet
)
SELECT wallet, trades, positions, told.gain, CASE WHEN first_ended_at >= $2 OR first_ended_at IS NULL THEN told.gain
  WHEN ${YOUNG} THEN told.gain - COALESCE(part.gain, 0) ELSE COALESCE(part.gain, 0) END AS recent_gain FROM told LEFT JOIN part USING (wallet)`,
};

/** Gains of each wallet that has positions, in no order; with `category` those of its markets. */
export async function listEndedGains(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  recent: Date,
  category: string | null,
): Promise<EndedGains[]> {
  const told = await sql.query<EndedGains>(TOLD, [wallets, recent, now, category ?? '']);
  const known = new Set(told.map(({ wallet }) => wallet));
  const rest = wallets.filter((wallet) => !known.has(wallet));
  if (rest.length === 0) return told;
  return [...told, ...(await sql.query<EndedGains>(GAINS, [rest, now, overlay, recent, category]))];
}
