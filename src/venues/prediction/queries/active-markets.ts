import type { Sql, Statement } from '../../../db/sql';

/** SQL: a market (of pm_market) is active at `now`: listed, not closed, before its end, not resolved. The same as statusOf. */
export const activeAt = (market: string, now: string): string =>
  `(${market}.created_at IS NULL OR ${market}.created_at <= ${now}) AND (${market}.resolved_at IS NULL OR ${market}.resolved_at > ${now})
  AND (${market}.closed_at IS NULL OR ${market}.closed_at > ${now}) AND (${market}.end_date IS NULL OR ${market}.end_date > ${now})`;

const scopeOf = (now: string, category: string | null): string =>
  `${activeAt('market', now)}${category === null ? '' : ` AND market.category = ${category}`}`;

/** SQL of the ids of the markets that are active at `now`, of a category or all. */
export const activeMarkets = (now: string, category: string | null): string =>
  `SELECT condition_id FROM pm_market AS market WHERE ${scopeOf(now, category)}`;

/** The same of `some` markets, SQL of ids, found by key: a venue lists tens of thousands that are active, of which few are traded by those asked for. */
export const activeAmong = (some: string, now: string, category: string | null): string =>
  `SELECT condition_id FROM pm_market AS market WHERE condition_id = ANY (ARRAY(${some})) AND ${scopeOf(now, category)}`;

const BY_CATEGORY: Statement = {
  name: 'pm_active_by_category',
  text: `SELECT category, count(*)::int AS markets FROM pm_market AS market WHERE ${activeAt('market', '$1')} GROUP BY category`,
};

/** Number of active markets by category. */
export async function countActiveMarkets(sql: Sql, now: Date): Promise<Map<string, number>> {
  const rows = await sql.query<{ category: string; markets: number }>(BY_CATEGORY, [now]);
  return new Map(rows.map((row) => [row.category, row.markets]));
}
