import type { Sql } from '../../../db/sql';
import { BEGINNING } from '../../../lib/timeframe';
import { IS_MACHINE, type Tier, tierSql } from '../scoring/tiers';
import { Parameters } from './parameters';
import { cutAt, walletPieces } from './pieces';

/** What wallets of a tier traded; exact decimal texts. */
interface TierSums {
  tier: Tier;
  wallets: number;
  usdc: string;
}

/** What wallets of a tier traded of one outcome, ever. */
export interface OutcomeTier extends TierSums {
  token_id: string;
  buy_usdc: string;
  buy_shares: string;
  /** Sum of the scores of those that have one, and their number. */
  scores: string | null;
  scored: number;
}

/** What wallets of a tier traded of a market, ever. */
export interface MarketTier extends TierSums {
  token_id: null;
  /** Wallets whose first fill on the market was their first of all. */
  new_wallets: number;
  machines: number;
  machines_usdc: string;
  /** What each wallet traded, USDC, in no order. */
  bets: number[];
}

/** Wallets that traded a market before `now`, by tier in the run of `score_day`: of each outcome, and of the market as a whole. */
export function listParticipants(
  sql: Sql,
  condition_id: string,
  now: Date,
  score_day: string | null,
): Promise<(OutcomeTier | MarketTier)[]> {
  const parameters = new Parameters();
  const pieces = walletPieces(cutAt([BEGINNING, now]), parameters, `condition_id = ${parameters.add(condition_id, 'text')}`);
  const day = parameters.add(score_day, 'date');
  // Looked up in order, as a list: one by one they took half of the time.
  const wallets = 'ARRAY(SELECT wallet FROM own)';
  const text = `WITH traded AS MATERIALIZED (
  SELECT wallet, token_id, sum(buy_usdc) + sum(sell_usdc) AS usdc, sum(buy_usdc) AS buy_usdc, sum(buy_shares) AS buy_shares, min(first_at) AS first_at FROM (${pieces}) AS piece GROUP BY wallet, token_id
), own AS MATERIALIZED (
  SELECT wallet, sum(usdc) AS usdc, min(first_at) AS first_at FROM traded GROUP BY wallet
), participant AS MATERIALIZED (
  SELECT own.wallet, usdc, COALESCE(first_at <= first_trade_at, false) AS is_new, score, ${tierSql('score')} AS tier, COALESCE(${IS_MACHINE}, false) AS machine
  FROM own LEFT JOIN (SELECT wallet, first_trade_at FROM pm_wallet WHERE wallet = ANY (${wallets})) AS known ON known.wallet = own.wallet
  LEFT JOIN (SELECT wallet, score, tags FROM pm_wallet_score WHERE day = ${day} AND wallet = ANY (${wallets})) AS scored ON scored.wallet = own.wallet
)
SELECT token_id, tier, count(*)::int AS wallets, sum(traded.usdc) AS usdc, sum(buy_usdc) AS buy_usdc, sum(buy_shares) AS buy_shares, sum(score) AS scores, count(score)::int AS scored,
  NULL::int AS new_wallets, NULL::int AS machines, NULL::numeric AS machines_usdc, NULL::json AS bets
FROM traded JOIN participant USING (wallet) GROUP BY token_id, tier
UNION ALL
SELECT NULL, tier, count(*)::int, sum(usdc), NULL, NULL, NULL, NULL, (count(*) FILTER (WHERE is_new))::int, (count(*) FILTER (WHERE machine))::int,
  COALESCE(sum(usdc) FILTER (WHERE machine), 0), json_agg(usdc::float8)
FROM participant GROUP BY tier`;
  return sql.query<(OutcomeTier | MarketTier) & Record<string, unknown>>({ name: 'pm_participants', text }, parameters.values);
}
