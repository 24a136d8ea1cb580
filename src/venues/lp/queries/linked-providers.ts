import { CURSOR_FORMS } from '../../../lib/cursor';
import type { Sql, Statement } from '../../../db/sql';
import { type PagedList, byParent } from '../../../lib/connection';
import { scoresOf } from '../../venue-scores';

/** A provider's part in a pool in a window. */
export interface PoolProviderRow {
  owner: string;
  /** Deposits and withdrawals, decimal text. */
  volume_usd: string;
  event_count: number;
  last_event: Date;
}

const DAYS = 30;

// $1: pools; $2: instant; $3, $4: volume and owner of the row before the page; $5: rows of each pool.
const PROVIDERS: Statement = {
  name: 'lp_linked_providers',
  text: `WITH provided AS (
  SELECT pool_address, owner, coalesce(sum(usd) FILTER (WHERE kind IN ('deposit', 'withdraw')), 0) AS volume_usd, count(*)::int AS event_count, max("timestamp") AS last_event
  FROM lp_event WHERE pool_address = ANY ($1::text[]) AND "timestamp" >= $2::timestamptz - interval '${DAYS} days' AND "timestamp" < $2 AND owner IS NOT NULL
  GROUP BY pool_address, owner
), ranked AS (
  SELECT *, row_number() OVER (PARTITION BY pool_address ORDER BY volume_usd DESC, owner DESC) AS place FROM provided
  WHERE $3::numeric IS NULL OR (volume_usd, owner) < ($3, $4::text)
)
SELECT pool_address AS parent, owner, volume_usd, event_count, last_event FROM ranked WHERE place <= $5 ORDER BY pool_address, place`,
};

/** Providers of a pool in the last 30 days, most USD moved first. */
export const poolProviders = (sql: Sql): PagedList<PoolProviderRow, null> => ({
  name: 'lp providers of pool',
  list: async (parents, { to, after, limit }) =>
    byParent(await sql.query<PoolProviderRow & { parent: string }>(PROVIDERS, [parents, to, after?.[0], after?.[1], limit])),
  position: ({ volume_usd, owner }) => [volume_usd, owner],
  forms: [CURSOR_FORMS.number, CURSOR_FORMS.base58],
});

/** A row of lp_score; `day` as YYYY-MM-DD, decimals as text. */
export interface ScoreRow {
  owner: string;
  day: string;
  score: string | null;
  n: number;
  wins: number;
  win_rate_lb: string | null;
  deposited_usd: string | null;
  avg_pnl_pct: string | null;
  tags: string[];
  version: string;
}

/** A provider's scores, one a daily run, newest first. */
export const providerScores = scoresOf<ScoreRow>({
  table: 'lp_score',
  account: 'owner',
  columns: `owner, to_char(day, 'YYYY-MM-DD') AS day, score, n, wins, win_rate_lb, deposited_usd, avg_pnl_pct, coalesce(tags, '{}') AS tags, version`,
});
