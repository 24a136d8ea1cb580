import { CURSOR_FORMS } from '../../../lib/cursor';
import type { Sql, Statement } from '../../../db/sql';
import { type PagedList, byParent } from '../../../lib/connection';
import { isoDay } from '../../../lib/time';

/** A row of perp_score; `day` as YYYY-MM-DD, decimals as text. */
export interface ScoreRow {
  trader: string;
  day: string;
  score: string | null;
  tags: string[];
  version: string;
  trades: number;
  closing_trades: number;
  winning_trades: number;
  win_rate_lb: string | null;
  net_pnl: string;
  caps: string[];
}

/** SQL of its columns. */
export const SCORE_COLUMNS = `trader, to_char(day, 'YYYY-MM-DD') AS day, score, tags, version, trades, closing_trades, winning_trades, win_rate_lb, net_pnl, caps`;

const PAGE: Statement = {
  name: 'perps_linked_scores',
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[]) AS wanted(parent) CROSS JOIN LATERAL (
  SELECT ${SCORE_COLUMNS}
  FROM perp_score AS kept WHERE kept.trader = wanted.parent AND kept.day <= $2::date AND ($3::date IS NULL OR kept.day < $3)
  ORDER BY kept.day DESC LIMIT $4) AS found
ORDER BY wanted.parent, found.day DESC`,
};

/** An account's scores, one a daily run, newest first. */
export const traderScores = (sql: Sql): PagedList<ScoreRow, null> => ({
  name: 'perps scores of trader',
  list: async (parents, { to, after, limit }) =>
    byParent(await sql.query<ScoreRow & { parent: string }>(PAGE, [parents, isoDay(to), after?.[0], limit])),
  position: ({ day }) => [day],
  forms: [CURSOR_FORMS.day],
});
