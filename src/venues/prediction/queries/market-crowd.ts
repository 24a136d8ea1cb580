import type { Sql } from '../../../db/sql';
import { LEAST_REST, type Stance } from '../consensus';
import { positionsSql } from '../rollups/positions-as-of';
import { toldWallets } from '../rollups/told-wallets';
import { Parameters } from './parameters';
import { type AsOf, type ScoreBand, bandOf, heldSql } from './stances';

/** A wallet of a crowd on one outcome; amounts are exact decimal texts. */
interface Member extends Pick<Stance, 'wallet' | 'token_id' | 'score' | 'shares' | 'cost' | 'paid_shares' | 'paid_usdc'> {
  /** Buys and sells ever, and gains realized ever. */
  trades: number;
  gain: string;
}

/** What a crowd holds of one outcome. */
interface CrowdOutcome {
  token_id: string;
  wallet_count: number;
  /** What it cost. */
  total_usdc: string;
  /** Wallets that are net on it, and what their shares of it cost less what their shares of the market's others cost. */
  net_wallets: number;
  net_usdc: string;
}

/** A band's wallets on one market. */
export interface MarketCrowd {
  /** Whether any of the band holds anything, whatever it traded. */
  any: boolean;
  wallets: number;
  /** Sum of the wallets' scores; null of nobody. */
  scores: string | null;
  outcomes: CrowdOutcome[];
  /** The largest by cost. */
  largest: Member[];
}

/** Which wallets of a band, and how many are told one by one; null: any, and none. */
interface CrowdScope {
  /** Buys and sells ever at least. */
  min_trades: number;
  limit: number;
}

/** SQL: the shares cost more than those of the market's others. */
const IS_NET = `2 * cost - all_sides >= ${LEAST_REST}`;

/** What a band's wallets hold of a market, now or when it was resolved: in sum, and the largest of them. */
export async function loadMarketCrowd(
  sql: Sql,
  condition_id: string,
  band: ScoreBand,
  scope: CrowdScope | null,
  { now, overlay }: AsOf,
): Promise<MarketCrowd> {
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const on = `condition_id = ${parameters.add(condition_id, 'text')}`;
  const held = heldSql(band, { positions: on, smart: on }, [instant, later], `(${bandOf(band, parameters)})`, parameters);
  const positionsOf = (some: string): string => positionsSql(instant, later, `wallet = ANY (${some})`);
  const told = toldWallets('ARRAY(SELECT wallet FROM held)', instant, positionsOf, 'wallet, trades, gain');
  const lives = scope === null ? '' : `JOIN (${told}) AS told USING (wallet) WHERE trades >= ${parameters.add(scope.min_trades, 'int')}`;
  const largest = scope === null ? '' : `SELECT wallet, token_id, score::float8 AS score, shares::text AS shares, cost::text AS cost, paid_shares::text AS paid_shares, paid_usdc::text AS paid_usdc, trades, gain::text AS gain
  FROM member ORDER BY member.cost DESC, wallet COLLATE "C", token_id LIMIT ${parameters.add(scope.limit, 'int')}`; // prettier-ignore
  const text = `WITH held AS MATERIALIZED (
  SELECT wallet, token_id, score, shares, cost, paid_shares, paid_usdc FROM (${held}) AS own
), member AS MATERIALIZED (
  SELECT *, sum(cost) OVER (PARTITION BY wallet) AS all_sides, row_number() OVER (PARTITION BY wallet) AS side FROM held ${lives}
), outcome AS (
  SELECT token_id, count(*)::int AS wallet_count, sum(cost)::text AS total_usdc, (count(*) FILTER (WHERE ${IS_NET}))::int AS net_wallets,
    COALESCE(sum(2 * cost - all_sides) FILTER (WHERE ${IS_NET}), 0)::text AS net_usdc
  FROM member GROUP BY token_id
)
SELECT EXISTS (SELECT 1 FROM held) AS any, count(*)::int AS wallets, sum(score) AS scores,
  (SELECT COALESCE(json_agg(outcome), '[]') FROM outcome) AS outcomes, ${largest === '' ? `'[]'::json` : `(SELECT COALESCE(json_agg(largest), '[]') FROM (${largest}) AS largest)`} AS largest
FROM member WHERE side = 1`;
  const name = `pm_market_crowd${scope === null ? '_sums' : ''}`;
  const [row] = await sql.query<MarketCrowd>({ name, text }, parameters.values);
  return row as MarketCrowd;
}
