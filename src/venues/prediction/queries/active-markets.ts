import type { Sql, Statement } from '../../../db/sql';

/** SQL: a market (of pm_market) is active at `now`: listed, not closed, before its end, not resolved. The same as statusOf. */
export const activeAt = (market: string, now: string): string =>
  `(${market}.created_at IS NULL OR ${market}.created_at <= ${now}) AND (${market}.resolved_at IS NULL OR ${market}.resolved_at > ${now})
  AND (${market}.closed_at IS NULL OR ${market}.closed_at > ${now}) AND (${market}.end_date IS NULL OR ${market}.end_date > ${now})`;

/** SQL of the ids of the markets that are active at `now`, of a category or all. */
export const activeMarkets = (now: string, category: string | null): string =>
  `SELECT condition_id FROM pm_market AS market WHERE ${activeAt('market', now)}${category === null ? '' : ` AND market.category = ${category}`}`;

const BY_CATEGORY: Statement = {
  name: 'pm_active_by_category',
  text: `SELECT category, count(*)::int AS markets FROM pm_market AS market WHERE ${activeAt('market', '$1')} GROUP BY category`,
};

/** Number of active markets by category. */
export async function countActiveMarkets(sql: Sql, now: Date): Promise<Map<string, number>> {
  const rows = await sql.query<{ category: string; markets: number }>(BY_CATEGORY, [now]);
  return new Map(rows.map((row) => [row.category, row.markets]));
}
