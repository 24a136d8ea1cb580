import type { Sql } from '../../../db/sql';
import { positionsSql } from '../rollups/positions-as-of';
import { marketNumber } from '../rollups/market-number';
import { BELONGS, toldWallets } from '../rollups/told-wallets';
import { IS_MACHINE } from '../scoring/tiers';
import { type ListedStatus, statusAt } from './market-lists';
import { Parameters } from './parameters';
import type { AsOf } from './stances';

/** How a market's wallets overlap with those of the market asked for. */
export interface OverlapRow {
  condition_id: string;
  question: string | null;
  category: string;
  shared: number;
  shared_smart: number;
  wallets: number;
  /** Cosine of the wallets' vectors, each wallet weighed by its inverse document frequency; 0-1. */
  cosine: number;
}

/** The wallets of the market asked for, and the other markets they are on. */
export interface Overlap {
  wallets: number;
  rows: OverlapRow[];
}

/** SQL of who belongs to which market: `condition` chooses positions; machines of the run of `day` are left out. */
function memberSql(instant: string, later: string, day: string, smart_score: string, condition = 'true'): string {
  // As truth values the few that are smart or machines are hashed: the planner guesses members far too few, and would look up the score of each.
  return `WITH smart AS MATERIALIZED (
  SELECT wallet FROM pm_wallet_score WHERE day = ${day} AND score >= ${smart_score}
), machine AS MATERIALIZED (
  SELECT wallet FROM pm_wallet_score WHERE day = ${day} AND ${IS_MACHINE}
)
SELECT condition_id, wallet, (wallet IN (SELECT wallet FROM smart)) IS TRUE AS smart FROM (
  SELECT condition_id, wallet FROM (${positionsSql(instant, later, condition)}) AS position GROUP BY condition_id, wallet HAVING ${BELONGS}
) AS belongs WHERE (wallet IN (SELECT wallet FROM machine)) IS NOT TRUE`;
}

// A wallet that is everywhere says little.
const SQUARE = (markets: string, own: string): string => `ln(1 + ${markets}::float8 / ${own}) ^ 2`;

const NORMS = (member: string): string => `WITH member AS MATERIALIZED (${member}), weight AS MATERIALIZED (
  SELECT wallet, ${SQUARE('(SELECT count(DISTINCT condition_id) FROM member)', 'count(*)')} AS square FROM member GROUP BY wallet
)
SELECT condition_id, count(*)::int AS wallets, sum(square) AS square FROM member JOIN weight USING (wallet) GROUP BY condition_id`;

/** Length of every market as a vector of its wallets, and their number. */
export interface MarketNorm {
  condition_id: string;
  wallets: number;
  square: number;
}

/** Norms of all markets anyone belongs to. */
export function listNorms(sql: Sql, score_day: string | null, { now, overlay }: AsOf): Promise<MarketNorm[]> {
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const text = NORMS(memberSql(instant, later, parameters.add(score_day, 'date'), '0'));
  return sql.query<MarketNorm>({ name: 'pm_norms', text }, parameters.values);
}

/** Which markets may overlap, and by whose scores wallets are machines or smart. */
export interface OverlapScope {
  status: ListedStatus;
  min_shared: number;
  score_day: string | null;
  smart_score: number;
  /** Number of all markets where norms are kept; null: all is counted now. */
  markets: number | null;
}

/**
 * Markets whose wallets overlap with a market's, at least `min_shared` of them, machines left out. A wallet weighs ln(1 + markets / markets it is on).
 */
export async function findOverlap(
  sql: Sql,
  condition_id: string,
  { status, min_shared, score_day, smart_score, markets }: OverlapScope,
  { now, overlay }: AsOf,
): Promise<Overlap> {
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const market = parameters.add(condition_id, 'text');
  const day = parameters.add(score_day, 'date');
  const smart = parameters.add(smart_score, 'numeric');
  const least = parameters.add(Math.max(1, min_shared), 'int');
  const member = (condition?: string): string => memberSql(instant, later, day, smart, condition);
  const norm = markets === null ? NORMS(member()) : 'SELECT condition_id, wallets, square FROM pm_market_norm';
  const count = markets === null ? '(SELECT count(*) FROM norm)' : parameters.add(markets, 'int');
  const positionsOf = (some: string): string => positionsSql(instant, later, `wallet = ANY (${some})`);
  // Markets without a result stand in a list of their own, as is known now: where one was resolved later it tells too few.
  const open = `CASE WHEN EXISTS (SELECT 1 FROM pm_market WHERE resolved_at > ${instant}) THEN belongs ELSE belongs_open END`;
  const [belongs, columns] = status === 'active' || status === 'closing_soon' ? [open, 'belongs, belongs_open'] : ['belongs', 'belongs'];
  const told = toldWallets('ARRAY(SELECT wallet FROM own)', instant, positionsOf, `wallet, belongs_n, ${columns}`);
  const text = `WITH norm AS ${markets === null ? 'MATERIALIZED' : 'NOT MATERIALIZED'} (${norm}), allowed AS MATERIALIZED (
  SELECT condition_id, question, category, ${marketNumber('condition_id')} AS number FROM pm_market AS market WHERE condition_id <> ${market} AND (${statusAt(status, 'market', instant)})
), own AS MATERIALIZED (
  SELECT wallet, smart FROM (${member(`condition_id = ${market}`)}) AS member
), weight AS MATERIALIZED (
  SELECT smart, ${belongs} AS belongs, ${SQUARE(count, 'belongs_n')} AS square FROM own JOIN (${told}) AS told USING (wallet)
), self AS MATERIALIZED (
  SELECT count(*)::int AS wallets, sum(square) AS dot FROM weight
), shared AS (
  SELECT number, count(*)::int AS shared, (count(*) FILTER (WHERE smart))::int AS shared_smart, sum(square) AS dot
  FROM (SELECT smart, square, unnest(belongs) AS number FROM weight) AS member GROUP BY number HAVING count(*) >= ${least}
)
SELECT condition_id, question, category, shared, shared_smart, GREATEST(wallets, shared) AS wallets,
  LEAST(1, COALESCE(dot / NULLIF(sqrt(square * (SELECT dot FROM self)), 0), 0)) AS cosine
FROM shared JOIN allowed USING (number) LEFT JOIN norm USING (condition_id)
UNION ALL SELECT ${market}, NULL, '', wallets, 0, wallets, 1 FROM self`;
  const name = `pm_overlap_${status}${markets === null ? '' : '_kept'}`;
  const rows = await sql.query<OverlapRow>({ name, text }, parameters.values);
  return {
    wallets: rows.find((row) => row.condition_id === condition_id)?.shared ?? 0,
    rows: rows.filter((row) => row.condition_id !== condition_id),
  };
}
