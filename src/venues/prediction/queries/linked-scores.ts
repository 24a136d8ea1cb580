import { CURSOR_FORMS } from '../../../lib/cursor';
import type { pm_wallet_score as ScoreRecord } from '../../../generated/prisma/client';
import type { Sql, Statement } from '../../../db/sql';
import { type PagedList, byParent } from '../../../lib/connection';
import { isoDay } from '../../../lib/time';

/** A row of pm_wallet_score; `day` as YYYY-MM-DD, decimals as text. */
export type ScoreRow = Pick<ScoreRecord, 'wallet' | 'tags' | 'version' | 'positions' | 'breakdown'> &
  Record<'day', string> &
  Record<
    'score' | 'win_rate' | 'win_rate_lb' | 'edge' | 'edge_low' | 'edge_high' | 'z' | 'followable_roi_pct' | 'followable_share',
    string | null
  >;

const PAGE: Statement = {
  name: 'pm_linked_scores',
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[]) AS wanted(parent) CROSS JOIN LATERAL (
  SELECT wallet, to_char(day, 'YYYY-MM-DD') AS day, score, tags, version, win_rate, win_rate_lb, positions, edge, edge_low, edge_high, z, breakdown, followable_roi_pct, followable_share
  FROM pm_wallet_score AS kept WHERE kept.wallet = wanted.parent AND kept.day <= $2::date AND ($3::date IS NULL OR kept.day < $3)
  ORDER BY kept.day DESC LIMIT $4) AS found
ORDER BY wanted.parent, found.day DESC`,
};

/** A wallet's scores, one a daily run, newest first. */
export const walletScores = (sql: Sql): PagedList<ScoreRow, null> => ({
  name: 'pm scores of wallet',
  list: async (parents, { to, after, limit }) =>
    byParent(await sql.query<ScoreRow & { parent: string }>(PAGE, [parents, isoDay(to), after?.[0] ?? null, limit])),
  position: ({ day }) => [day],
  forms: [CURSOR_FORMS.day],
});
