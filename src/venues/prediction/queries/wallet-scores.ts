import type { Sql, Statement } from '../../../db/sql';
import { isoDay } from '../../../lib/time';

/** A wallet's score in one daily run; null: looked at, not scored. */
export interface ScoreOfDay {
  date: string;
  score: string | null;
}

const HISTORY: Statement = {
  name: 'pm_wallet_score_history',
  keyed: true,
  text: `SELECT to_char(day, 'YYYY-MM-DD') AS date, score FROM pm_wallet_score WHERE wallet = $1 AND day > $2::date - $3::int AND day <= $2::date ORDER BY day`,
};

/** Scores of the runs of the last `days` UTC days up to that of `now`, oldest first. */
export function listScoreHistory(sql: Sql, wallet: string, now: Date, days: number): Promise<ScoreOfDay[]> {
  return sql.query<ScoreOfDay>(HISTORY, [wallet, isoDay(now), days]);
}
