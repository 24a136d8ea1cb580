import { scoresOf } from '../../venue-scores';

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

/** An account's scores, one a daily run, newest first. */
export const traderScores = scoresOf<ScoreRow>({ table: 'perp_score', account: 'trader', columns: SCORE_COLUMNS });
