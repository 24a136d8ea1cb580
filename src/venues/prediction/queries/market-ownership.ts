import type { Sql } from '../../../db/sql';
import { positionsSql } from '../rollups/positions-as-of';
import { COST } from '../rollups/positions-row';
import { PM_TAGS } from '../scoring/tags';
import { SMART_SCORE } from '../scoring/tiers';
import { VENUE_CONTRACTS } from '../venue-contracts';
import { Parameters } from './parameters';
import type { AsOf } from './stances';

/** One of the largest holders of an outcome; exact decimal texts. */
interface Holder {
  wallet: string;
  score: number | null;
  tags: string[];
  /** Held now: of a resolved market what was not redeemed. */
  shares: string;
  cost: string;
  paid_shares: string;
  paid_usdc: string;
  is_open: boolean;
}

/** Who holds an outcome; exact decimal texts. */
export interface OutcomeHolders {
  token_id: string;
  holder_count: number;
  shares: string;
  /** Of the largest holder, the five and the ten largest. */
  top1: string;
  top5: string;
  top10: string;
  /** Of smart and of low-score wallets. */
  smart: string;
  dumb: string;
  /** Shares of each holder, in no order. */
  amounts: number[];
  /** The largest of them, in their order. */
  holders: Holder[];
  /** Holders and shares by size of what they hold. */
  sizes: { holder_count: number; shares: string }[];
  /** Wallets that hold several outcomes of the market. */
  overlap: number;
}

/** What is asked of holders. */
export interface HoldersScope {
  condition_id: string;
  /** Outcomes with the prices by which sizes are told: without one, what is held of it has no size. */
  outcomes: readonly { token_id: string; price: number | null }[];
  /** Upper ends of sizes, USDC, but of the last. */
  sizes: readonly number[];
  /** Holders of fewer shares do not count. */
  min_shares: number;
  /** Holders told of each outcome. */
  limit: number;
  /** Run that scores them. */
  score_day: string | null;
}

/** Who holds the outcomes of a market; an outcome without holders is not told. */
export function listOutcomeHolders(sql: Sql, scope: HoldersScope, { now, overlay }: AsOf): Promise<OutcomeHolders[]> {
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const own = `condition_id = ${parameters.add(scope.condition_id, 'text')} AND paid_shares > 0 AND shares > redeemed_shares AND wallet <> ALL (${parameters.add(VENUE_CONTRACTS, 'text[]')})`;
  const tokens = parameters.add(scope.outcomes.map(({ token_id }) => token_id), 'text[]'); // prettier-ignore
  const prices = parameters.add(scope.outcomes.map(({ price }) => price), 'float8[]'); // prettier-ignore
  const ends = parameters.add(scope.sizes, 'float8[]');
  const day = parameters.add(scope.score_day, 'date');
  const sum = (condition: string): string => `COALESCE(sum(shares) FILTER (WHERE ${condition}), 0)`;
  const size = (_: unknown, n: number): string =>
    `json_build_object('holder_count', count(*) FILTER (WHERE size = ${n}), 'shares', ${sum(`size = ${n}`)}::text)`;
  const limit = parameters.add(scope.limit, 'int');
  // Of all holders it is asked whether they are smart or of a low score, which are few and stand together; scores are looked up of those told. The largest alone are put in order.
  // The size is told once a holder: not where it is compared with each size, which would tell it ten times.
  const text = `WITH smart AS MATERIALIZED (
  SELECT wallet FROM pm_wallet_score WHERE day = ${day} AND score >= ${SMART_SCORE}
), dumb AS MATERIALIZED (
  SELECT wallet FROM pm_wallet_score WHERE day = ${day} AND score <= ${PM_TAGS.dumb_score}
), held AS MATERIALIZED (
  SELECT n, wallet, shares - redeemed_shares AS shares, ${COST} AS cost, paid_shares, paid_usdc, status = 'open' AS is_open,
    width_bucket((shares - redeemed_shares)::float8 * price, ${ends}) AS size
  FROM (${positionsSql(instant, later, own)}) AS position LEFT JOIN unnest(${tokens}, ${prices}) WITH ORDINALITY AS asked(token_id, price, n) USING (token_id)
  WHERE (shares - redeemed_shares)::float8 >= ${parameters.add(scope.min_shares, 'float8')}
), largest AS MATERIALIZED (
  SELECT asked.n, own.*, row_number() OVER (PARTITION BY asked.n ORDER BY own.shares DESC, own.wallet) AS rank FROM generate_series(1, cardinality(${tokens})) AS asked(n)
  CROSS JOIN LATERAL (SELECT wallet, shares, cost, paid_shares, paid_usdc, is_open FROM held WHERE held.n = asked.n ORDER BY shares DESC, wallet LIMIT GREATEST(10, ${limit})) AS own
), listed AS (
  SELECT n, ${sum('rank <= 1')} AS top1, ${sum('rank <= 5')} AS top5, ${sum('rank <= 10')} AS top10,
    json_agg(json_build_object('wallet', largest.wallet, 'score', score, 'tags', COALESCE(tags, '{}'), 'shares', shares::text, 'cost', cost::text, 'paid_shares', paid_shares::text,
      'paid_usdc', paid_usdc::text, 'is_open', is_open) ORDER BY rank) FILTER (WHERE rank <= ${limit}) AS holders
  FROM largest LEFT JOIN pm_wallet_score AS scored ON scored.wallet = largest.wallet AND scored.day = ${day} GROUP BY n
), summed AS (
  SELECT n, count(*)::int AS holder_count, sum(shares) AS shares, json_agg(shares::float8) AS amounts, json_build_array(${[...scope.sizes, null].map(size).join(', ')}) AS sizes,
    ${sum('(wallet IN (SELECT wallet FROM smart)) IS TRUE')} AS smart, ${sum('(wallet IN (SELECT wallet FROM dumb)) IS TRUE')} AS dumb
  FROM held WHERE n IS NOT NULL GROUP BY n
)
SELECT (${tokens})[n] AS token_id, summed.*, top1, top5, top10, holders,
  (SELECT count(*)::int FROM (SELECT 1 FROM held GROUP BY wallet HAVING count(*) > 1) AS several) AS overlap
FROM summed JOIN listed USING (n)`;
  return sql.query<OutcomeHolders>({ name: 'pm_outcome_holders', text }, parameters.values);
}
