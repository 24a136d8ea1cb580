import type { Sql, Statement } from '../../../db/sql';
import { positionsSql } from '../rollups/positions-as-of';
import type { WalletsScope } from './known-positions';
import { figuresHold } from './wallet-figures';

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

// Where nothing ended before, all gains are recent ones.
const TOLD: Statement = {
  name: 'pm_told_gains',
  keyed: true,
  text: `SELECT wallet, trades, positions, gain, gain AS recent_gain FROM (
  SELECT wallet, max(trades) FILTER (WHERE category = '') AS trades, COALESCE(max(held) FILTER (WHERE category = $4), 0) AS positions, COALESCE(max(pnl) FILTER (WHERE category = $4), 0) AS gain
  FROM pm_told_figures AS figures WHERE wallet = ANY ($1) AND category IN ('', $4) AND ${figuresHold('$2', '$3')} GROUP BY wallet) AS told`,
};

/** Gains of each wallet that has positions, in no order; with `category` those of its markets. */
export async function listEndedGains(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  recent: Date,
  category: string | null,
): Promise<EndedGains[]> {
  const told = await sql.query<EndedGains & Record<string, unknown>>(TOLD, [wallets, recent, now, category ?? '']);
  const known = new Set(told.map(({ wallet }) => wallet));
  const rest = wallets.filter((wallet) => !known.has(wallet));
  if (rest.length === 0) return told;
  return [...told, ...(await sql.query<EndedGains & Record<string, unknown>>(GAINS, [rest, now, overlay, recent, category]))];
}
