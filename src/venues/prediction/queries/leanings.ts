import type { Sql } from '../../../db/sql';
import { LEAST_REST, byScoreSql } from '../consensus';
import { Parameters } from './parameters';
import { type AsOf, type ScoreBand, bandOf, heldSql, isSmart } from './stances';

/** Wallets of a band that are net on one outcome of a market, and the sum of their weights by score. */
export interface Leaning {
  condition_id: string;
  token_id: string;
  wallets: number;
  weight: number;
}

/** Which outcomes wallets of a band lean to on these markets: what consensusOf tells of listStances, in short. */
export async function listLeanings(
  sql: Sql,
  condition_ids: readonly string[],
  band: ScoreBand,
  { now, overlay }: AsOf,
): Promise<Leaning[]> {
  if (condition_ids.length === 0) return [];
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const on = `condition_id = ANY (${parameters.addUnseen(condition_ids)})`;
  const positions = heldSql(band, { positions: on, smart: on }, [instant, later], `(${bandOf(band, parameters)})`, parameters);
  const text = `WITH held AS MATERIALIZED (
  SELECT condition_id, wallet, token_id, score, cost FROM (${positions}) AS own
), several AS (
  SELECT condition_id, wallet, sum(cost) AS cost FROM held GROUP BY 1, 2 HAVING count(*) > 1
), net AS (
  SELECT held.condition_id, token_id, score, 2 * held.cost - COALESCE(several.cost, held.cost) AS usdc FROM held LEFT JOIN several USING (condition_id, wallet)
)
SELECT condition_id, token_id, count(*)::int AS wallets, sum(usdc::float8 * ${byScoreSql('score')}) AS weight FROM net WHERE usdc >= ${LEAST_REST} GROUP BY 1, 2`;
  return sql.query<Leaning>({ name: isSmart(band) ? 'pm_leanings_smart' : 'pm_leanings', text, keyed: true }, parameters.values);
}
