import type { Sql } from '../../../db/sql';
import { positionsSql } from '../rollups/positions-as-of';
import { MACHINE_TAGS } from '../scoring/tiers';
import { Parameters } from './parameters';
import type { AsOf } from './stances';

/** How a market's traders overlap with those of the market asked for. */
export interface OverlapRow {
  condition_id: string;
  shared: number;
  shared_smart: number;
  wallets: number;
  /** Cosine of the wallets' vectors, each wallet weighed by its inverse document frequency; 0-1. */
  cosine: number;
}

/** The traders of the market asked for. */
export interface Overlap {
  wallets: number;
  rows: OverlapRow[];
}

/** A wallet belongs to a market on which it bought and sold so much, USDC. */
const BELONGS_USDC = 10;

/**
 * Markets whose wallets overlap with a market's, at least `min_shared` of them, machines left out. A wallet weighs ln(1 + markets / markets it is on):
 * one that is everywhere says little.
 */
export async function findOverlap(
  sql: Sql,
  condition_id: string,
  score_day: string | null,
  smart_score: number,
  min_shared: number,
  { now, overlay }: AsOf,
): Promise<Overlap> {
  const parameters = new Parameters();
  const [instant, later, market] = [
    parameters.add(now, 'timestamptz'),
    parameters.add(overlay, 'jsonb'),
    parameters.add(condition_id, 'text'),
  ];
  const day = parameters.add(score_day, 'date');
  const text = `WITH belongs AS MATERIALIZED (
  SELECT condition_id, wallet FROM (${positionsSql(instant, later)}) AS position GROUP BY condition_id, wallet HAVING sum(buy_usdc + sell_usdc) >= ${BELONGS_USDC}
), scored AS MATERIALIZED (
  SELECT wallet, score >= ${parameters.add(smart_score, 'numeric')} AS smart, tags && ARRAY['${MACHINE_TAGS.join("','")}'] AS machine FROM pm_wallet_score WHERE day = ${day}
), member AS MATERIALIZED (
  SELECT belongs.condition_id, belongs.wallet, COALESCE(scored.smart, false) AS smart FROM belongs LEFT JOIN scored USING (wallet) WHERE scored.machine IS NOT TRUE
), weight AS MATERIALIZED (
  SELECT wallet, ln(1 + (SELECT count(DISTINCT condition_id) FROM member)::float8 / count(*)) ^ 2 AS square FROM member GROUP BY wallet
), own AS MATERIALIZED (
  SELECT wallet FROM member WHERE condition_id = ${market}
), shared AS (
  SELECT member.condition_id, count(*)::int AS shared, (count(*) FILTER (WHERE member.smart))::int AS shared_smart, sum(weight.square) AS dot
  FROM member JOIN own USING (wallet) JOIN weight USING (wallet) WHERE member.condition_id <> ${market} GROUP BY member.condition_id HAVING count(*) >= ${parameters.add(Math.max(1, min_shared), 'int')}
), size AS (
  SELECT member.condition_id, count(*)::int AS wallets, sum(weight.square) AS square FROM member JOIN weight USING (wallet)
  WHERE member.condition_id = ${market} OR member.condition_id IN (SELECT condition_id FROM shared) GROUP BY member.condition_id
)
SELECT size.condition_id, COALESCE(shared, 0) AS shared, COALESCE(shared_smart, 0) AS shared_smart, wallets,
  CASE WHEN shared IS NULL THEN 0 ELSE dot / sqrt(square * (SELECT square FROM size WHERE condition_id = ${market})) END AS cosine
FROM size LEFT JOIN shared USING (condition_id)`;
  const rows = await sql.query<OverlapRow & Record<string, unknown>>({ name: 'pm_overlap', text }, parameters.values);
  return {
    wallets: rows.find((row) => row.condition_id === condition_id)?.wallets ?? 0,
    rows: rows.filter((row) => row.condition_id !== condition_id),
  };
}
