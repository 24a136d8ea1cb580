import type { Sql, Statement } from '../../../db/sql';
import { isoDay } from '../../../lib/time';
import { Parameters } from './parameters';

/** SQL of scores that a condition keeps, as a subquery: positions stand by market in a cluster, scores by wallet. */
export const scores = (condition: string): string => `(SELECT wallet, day, score FROM pm_wallet_score WHERE ${condition})`;

/** A smart wallet's shares of one outcome when its market was resolved, and what they cost. */
export interface SettledStance {
  condition_id: string;
  token_id: string;
  wallet: string;
  cost: string;
}

/** A resolved market and the run whose scores were the newest of a day before it was resolved. */
export interface JudgedMarket {
  condition_id: string;
  day: string;
}

/** What wallets with at least `min_score` in each market's own run held of it when it was resolved. */
export async function listSettledStances(sql: Sql, markets: readonly JudgedMarket[], min_score: number): Promise<SettledStance[]> {
  if (markets.length === 0) return [];
  const parameters = new Parameters();
  const ids = parameters.add(markets.map((market) => market.condition_id), 'text[]'); // prettier-ignore
  const days = parameters.add(markets.map((market) => market.day), 'date[]'); // prettier-ignore
  const text = `SELECT position.condition_id, position.token_id, position.wallet, position.settled_cost AS cost
FROM unnest(${ids}, ${days}) AS judged(condition_id, day) JOIN pm_position AS position ON position.condition_id = judged.condition_id
JOIN ${scores(`score >= ${parameters.add(min_score, 'numeric')}`)} AS scored ON scored.wallet = position.wallet AND scored.day = judged.day
WHERE position.settled_cost > 0`;
  return sql.query<SettledStance>({ name: 'pm_settled_stances', text }, parameters.values);
}

const FLAGGED: Statement = {
  name: 'pm_flagged_by_market',
  keyed: true,
  text: `SELECT condition_id, count(*)::int AS wallets FROM (
  SELECT DISTINCT ON (condition_id, wallet) condition_id, score FROM pm_insider WHERE condition_id = ANY ($1) AND day <= $2::date AND generated_at <= $3 ORDER BY condition_id, wallet, day DESC
) AS last WHERE score >= $4 GROUP BY condition_id`,
};

/** Wallets whose insider pattern on each of these markets, as last judged up to `now`, has at least that score. */
export async function countFlagged(
  sql: Sql,
  condition_ids: readonly string[],
  min_score: number,
  now: Date,
): Promise<(condition_id: string) => number> {
  const rows = await sql.query<{ condition_id: string; wallets: number }>(FLAGGED, [condition_ids, isoDay(now), now, min_score]);
  const counts = new Map(rows.map((row) => [row.condition_id, row.wallets]));
  return (condition_id) => counts.get(condition_id) ?? 0;
}
