import type { pm_wallet_score as ScoreRecord } from '../../../generated/prisma/client';
import { scoresOf } from '../../venue-scores';

/** A row of pm_wallet_score; `day` as YYYY-MM-DD, decimals as text. */
export type ScoreRow = Pick<ScoreRecord, 'wallet' | 'tags' | 'version' | 'positions' | 'breakdown'> &
  Record<'day', string> &
  Record<
    'score' | 'win_rate' | 'win_rate_lb' | 'edge' | 'edge_low' | 'edge_high' | 'z' | 'followable_roi_pct' | 'followable_share',
    string | null
  >;

/** A wallet's scores, one a daily run, newest first. */
export const walletScores = scoresOf<ScoreRow>({
  table: 'pm_wallet_score',
  account: 'wallet',
  columns: `wallet, to_char(day, 'YYYY-MM-DD') AS day, score, tags, version, win_rate, win_rate_lb, positions, edge, edge_low, edge_high, z, breakdown, followable_roi_pct, followable_share`,
});
