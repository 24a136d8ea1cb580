import type { Sql } from '../../../db/sql';
import { BEGINNING } from '../../../lib/timeframe';
import { Parameters } from './parameters';
import { cutAt, walletPieces } from './pieces';

/** What a wallet traded of one outcome, ever; exact decimal texts. Score and tags of one run: null and none when it has no row there. */
export interface ParticipantRow {
  wallet: string;
  token_id: string;
  usdc: string;
  buy_usdc: string;
  buy_shares: string;
  score: string | null;
  tags: string[];
  /** Its first fill on the market was its first of all. */
  is_new: boolean;
}

/** Wallets that traded a market before `now`, one row an outcome, scored by the run of `score_day`. */
export function listParticipants(sql: Sql, condition_id: string, now: Date, score_day: string | null): Promise<ParticipantRow[]> {
  const parameters = new Parameters();
  const pieces = walletPieces(cutAt([BEGINNING, now]), parameters, `condition_id = ${parameters.add(condition_id, 'text')}`);
  const day = parameters.add(score_day, 'date');
  const text = `SELECT traded.wallet, traded.token_id, usdc, buy_usdc, buy_shares, scored.score, COALESCE(scored.tags, '{}') AS tags,
  COALESCE(min(first_at) OVER (PARTITION BY traded.wallet) <= known.first_trade_at, false) AS is_new
FROM (
  SELECT wallet, token_id, sum(buy_usdc) + sum(sell_usdc) AS usdc, sum(buy_usdc) AS buy_usdc, sum(buy_shares) AS buy_shares, min(first_at) AS first_at FROM (${pieces}) AS piece GROUP BY wallet, token_id
) AS traded LEFT JOIN pm_wallet AS known ON known.wallet = traded.wallet LEFT JOIN pm_wallet_score AS scored ON scored.wallet = traded.wallet AND scored.day = ${day}`;
  return sql.query<ParticipantRow & Record<string, unknown>>({ name: 'pm_participants', text }, parameters.values);
}
