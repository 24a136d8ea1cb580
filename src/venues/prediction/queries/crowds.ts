import type { Sql } from '../../../db/sql';
import { positionsSql } from '../rollups/positions-as-of';
import { toldWallets } from '../rollups/told-wallets';
import { activeMarkets } from './active-markets';
import { Parameters } from './parameters';
import { type AsOf, OPEN, type ScoreBand, bandOf } from './stances';

/** Wallets of a band that are net on one outcome of a market; amounts are exact decimal texts. */
export interface CrowdSide {
  condition_id: string;
  token_id: string;
  wallets: number;
  /** What their shares of it cost, less what their shares of the market's other outcomes cost. */
  net_usdc: string;
  /** Sum of their scores. */
  scores: string;
  /** All they ever took of it. */
  paid_shares: string;
  paid_usdc: string;
}

/** Which wallets of a band on which active markets. */
export interface CrowdScope {
  category: string | null;
  /** Buys and sells ever at least. */
  min_trades: number;
  /** Only markets with at least so many wallets, all sides together. */
  min_wallets: number;
}

/**
 * The sides a band's wallets take on active markets. A wallet counts for the outcome that cost it more than all others of the market together, as
 * consensusOf tells of stances.
 */
export function listCrowdSides(
  sql: Sql,
  band: ScoreBand,
  { category, min_trades, min_wallets }: CrowdScope,
  { now, overlay }: AsOf,
): Promise<CrowdSide[]> {
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const [fewest, trades] = [parameters.add(min_wallets, 'int'), parameters.add(min_trades, 'int')];
  const positions = positionsSql(instant, later, `${OPEN} AND wallet = ANY (ARRAY(SELECT wallet FROM band))`);
  const holders = 'ARRAY(SELECT wallet FROM band WHERE (w IN (SELECT w FROM crowded)) IS TRUE)';
  const told = toldWallets(holders, instant, (some) => positionsSql(instant, later, `wallet = ANY (${some})`), 'wallet, trades');
  const active = activeMarkets(instant, category === null ? null : parameters.add(category, 'text'));
  // Texts are long: what is grouped by and kept on the way are numbers. Most markets have too few positions for their wallets to be looked up.
  const text = `WITH band AS MATERIALIZED (
  SELECT wallet, score, row_number() OVER () AS w FROM (${bandOf(band, parameters)}) AS member
), active AS MATERIALIZED (
  SELECT condition_id, row_number() OVER () AS m FROM (${active}) AS market
), open AS MATERIALIZED (
  SELECT m, w, token_id, score, cost, paid_shares, paid_usdc FROM (${positions}) AS own JOIN band USING (wallet) JOIN active USING (condition_id)
), crowded AS MATERIALIZED (
  SELECT * FROM open WHERE (m IN (SELECT m FROM open GROUP BY m HAVING count(*) >= ${fewest})) IS TRUE
), known AS (
  SELECT w FROM band JOIN (${told}) AS told USING (wallet) WHERE trades >= ${trades}
), held AS MATERIALIZED (
  SELECT * FROM crowded WHERE (w IN (SELECT w FROM known)) IS TRUE
), side AS MATERIALIZED (
  SELECT m, token_id, count(*)::int AS wallets, sum(2 * cost - all_sides) AS net_usdc, sum(score) AS scores, sum(paid_shares) AS paid_shares, sum(paid_usdc) AS paid_usdc
  FROM (SELECT *, sum(cost) OVER (PARTITION BY m, w) AS all_sides FROM held) AS own WHERE 2 * cost > all_sides GROUP BY m, token_id
)
SELECT condition_id, token_id, wallets, net_usdc, scores, paid_shares, paid_usdc FROM side JOIN active USING (m)
WHERE (m IN (SELECT m FROM side GROUP BY m HAVING sum(wallets) >= ${fewest})) IS TRUE`;
  return sql.query<CrowdSide & Record<string, unknown>>(
    { name: `pm_crowd_sides${category === null ? '' : '_category'}`, text },
    parameters.values,
  );
}
