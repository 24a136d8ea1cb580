import type { Sql, Statement } from '../../../db/sql';
import { type Columns, byColumn, rowsOf } from './by-column';

/** What rows about a wallet are shown with, of a score run; figures are exact decimal texts. */
export interface Judgement {
  wallet: string;
  score: string | null;
  win_rate: string | null;
  tags: string[];
  followable_roi_pct: string | null;
  followable_share: string | null;
}

const COLUMNS: Columns<Judgement> = {
  wallet: 'plain',
  score: 'exact',
  win_rate: 'exact',
  tags: 'plain',
  followable_roi_pct: 'exact',
  followable_share: 'exact',
};

const JUDGEMENTS: Statement = {
  name: 'pm_judgements',
  keyed: true,
  text: byColumn(
    COLUMNS,
    'SELECT wallet, score, win_rate, tags, followable_roi_pct, followable_share FROM pm_wallet_score WHERE wallet = ANY ($1) AND day = $2::date',
  ),
};

/** Judgements of wallets in the run of `day` (`YYYY-MM-DD`), in no order; who is not in it is not told. */
export async function listJudgements(sql: Sql, wallets: readonly string[], day: string): Promise<Judgement[]> {
  const [told] = await sql.query(JUDGEMENTS, [wallets, day]);
  return rowsOf(COLUMNS, told);
}
