import { CURSOR_FORMS } from '../../../lib/cursor';
import type { Sql, Statement } from '../../../db/sql';
import { type PagedList, byParent } from '../../../lib/connection';

/** A market by the time its venue made it; `made` is 0 for one known from trades only. */
export interface MarketPlace {
  condition_id: string;
  /** Milliseconds since 1970. */
  made: string;
}

/** Which markets: all, or only those that still trade. */
export interface LinkedMarketsFilter {
  active_only: boolean;
}

const MADE = `COALESCE((extract(epoch FROM market.created_at) * 1000)::bigint, 0)`;

const page = (by: 'category' | 'event_slug'): Statement => ({
  name: `pm_linked_markets_${by}`,
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[]) AS wanted(parent) CROSS JOIN LATERAL (
  SELECT market.condition_id, ${MADE} AS made FROM pm_market AS market
  WHERE market.${by} = wanted.parent AND (market.created_at IS NULL OR market.created_at <= $2::timestamptz)
    AND (NOT $3::boolean OR ((market.resolved_at IS NULL OR market.resolved_at > $2) AND (market.closed_at IS NULL OR market.closed_at > $2) AND (market.end_date IS NULL OR market.end_date > $2)))
    AND ($4::bigint IS NULL OR (${MADE}, market.condition_id) < ($4::bigint, $5::text))
  ORDER BY made DESC, market.condition_id DESC LIMIT $6) AS found
ORDER BY wanted.parent, found.made DESC, found.condition_id DESC`,
});

const PAGES = { category: page('category'), event_slug: page('event_slug') };

/** Markets of a category, or of an event, the newest first. */
export const linkedMarkets = (sql: Sql, by: 'category' | 'event_slug'): PagedList<MarketPlace, LinkedMarketsFilter> => ({
  name: `pm markets by ${by}`,
  list: async (parents, { filter, to, after, limit }) =>
    byParent(
      await sql.query<MarketPlace & { parent: string }>(PAGES[by], [parents, to, filter.active_only, ...(after ?? [null, null]), limit]),
    ),
  position: ({ made, condition_id }) => [made, condition_id],
  forms: [CURSOR_FORMS.instant, CURSOR_FORMS.condition_id],
});
