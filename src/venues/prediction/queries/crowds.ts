import type { Sql } from '../../../db/sql';
import { positionsSql } from '../rollups/positions-as-of';
import { FEWEST_TRADES, netSides } from '../rollups/told-crowds';
import { toldWallets } from '../rollups/told-wallets';
import { activeAmong } from './active-markets';
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

/** Wallets that are due at most: adding up everybody is no dearer with more. */
const MOST_DUE = 3_000;

/** Shares are compared as they are told, in millionths: what may be rounded up to a bound is let through. */
const ROUNDING = 0.000001;

/** Which active markets: of a category or all, with at least so many wallets, and net USDC as it is told, all sides together, and so large a share of it on one side. */
export interface CrowdScope {
  category: string | null;
  min_wallets: number;
  min_usdc: number;
  min_consensus: number;
}

/**
 * The sides that wallets of at most a whole score (a band from 0 on) with enough trades take on active markets. As they are told where that is of the same run and
 * nothing later is in it, but for wallets of which a position was written since: what was told of those is taken off, and what they hold added.
 */
export function listCrowdSides(
  sql: Sql,
  band: ScoreBand,
  { category, min_wallets, min_usdc, min_consensus }: CrowdScope,
  { now, overlay }: AsOf,
): Promise<CrowdSide[]> {
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const [usdc, share] = [parameters.add(min_usdc, 'float8'), parameters.add(min_consensus, 'numeric')];
  const [fewest, highest] = [parameters.add(min_wallets, 'int'), parameters.add(band.max, 'int')];
  const scored = bandOf(band, parameters);
  const is_told = '(SELECT told FROM state)';
  const positions = positionsSql(instant, later, `${OPEN} AND wallet = ANY (ARRAY(SELECT wallet FROM band))`);
  const holders = 'ARRAY(SELECT wallet FROM band WHERE (w IN (SELECT w FROM crowded)) IS TRUE)';
  const known = toldWallets(holders, instant, (some) => positionsSql(instant, later, `wallet = ANY (${some})`), 'wallet, trades');
  const by_due = `SELECT * FROM pm_crowd_stance WHERE ${is_told} AND wallet = ANY (ARRAY(SELECT wallet FROM band))`;
  const crowds = ['told', 'own', 'due'].map((table) => `SELECT condition_id FROM ${table}`).join(' UNION ');
  const active = activeAmong('SELECT condition_id FROM chosen', instant, category === null ? null : parameters.add(category, 'text'));
  // Texts are long: what is grouped by and kept on the way are numbers. Most markets have too few positions for their wallets to be looked up, and few crowds
  // are left of which it is asked whether the market is active.
  const text = `WITH state AS MATERIALIZED (
  SELECT EXISTS (SELECT 1 FROM pm_crowd_told WHERE day = ${parameters.add(band.day, 'date')} AND last_at < ${instant})
    AND (SELECT count(*) FROM (SELECT 1 FROM pm_crowd_due LIMIT ${MOST_DUE + 1}) AS due) <= ${MOST_DUE} AS told
), band AS MATERIALIZED (
  SELECT wallet, score, row_number() OVER () AS w FROM (
    SELECT wallet, score FROM (${scored}) AS anybody WHERE NOT ${is_told}
    UNION ALL SELECT wallet, score FROM pm_crowd_due JOIN (${scored}) AS changed USING (wallet) WHERE ${is_told}
  ) AS member
), told AS MATERIALIZED (
  SELECT * FROM pm_crowd WHERE ${is_told} AND max_score = ${highest}
), due AS MATERIALIZED (${by_due}
), own AS MATERIALIZED (
  SELECT condition_id, w, token_id, score, cost, paid_shares, paid_usdc FROM (${positions}) AS own JOIN band USING (wallet)
), numbered AS MATERIALIZED (
  SELECT condition_id, row_number() OVER () AS m FROM (${crowds}) AS market
), open AS MATERIALIZED (
  SELECT m, w, token_id, score, cost, paid_shares, paid_usdc FROM own JOIN numbered USING (condition_id)
), crowded AS MATERIALIZED (
  SELECT * FROM open WHERE ${is_told} OR (m IN (SELECT m FROM open GROUP BY m HAVING count(*) >= ${fewest})) IS TRUE
), known AS (
  SELECT w FROM band JOIN (${known}) AS known USING (wallet) WHERE trades >= ${FEWEST_TRADES}
), side AS (
  SELECT m, token_id, sum(wallets)::int AS wallets, sum(net_usdc) AS net_usdc, sum(scores) AS scores, sum(paid_shares) AS paid_shares, sum(paid_usdc) AS paid_usdc FROM (
    SELECT m, token_id, 1 AS wallets, net_usdc, score AS scores, paid_shares, paid_usdc FROM (${netSides('SELECT * FROM crowded WHERE (w IN (SELECT w FROM known)) IS TRUE', 'm, w')}) AS held
    UNION ALL SELECT m, token_id, wallets, net_usdc, scores, paid_shares, paid_usdc FROM told JOIN numbered USING (condition_id)
    UNION ALL SELECT m, token_id, -1, -net_usdc, -score, -paid_shares, -paid_usdc FROM due JOIN numbered USING (condition_id)
  ) AS part GROUP BY m, token_id HAVING sum(wallets) > 0
), chosen AS MATERIALIZED (
  SELECT condition_id, token_id, wallets, net_usdc, scores, paid_shares, paid_usdc FROM (
    SELECT *, sum(wallets) OVER market AS all_wallets, sum(net_usdc) OVER market AS all_usdc, max(net_usdc) OVER market AS most_usdc FROM side WINDOW market AS (PARTITION BY m)
  ) AS beside JOIN numbered USING (m)
  WHERE all_wallets >= ${fewest} AND round(all_usdc, 6)::float8 >= ${usdc} AND most_usdc / all_usdc >= ${share} - ${ROUNDING}
)
SELECT chosen.* FROM chosen JOIN (${active}) AS active USING (condition_id)`;
  // Whatever the values, every step finds its rows by key; so long a statement takes two of twelve milliseconds to plan.
  return sql.query<CrowdSide>({ name: `pm_crowd_sides${category === null ? '' : '_category'}`, text, keyed: true }, parameters.values);
}
