import type { Sql, Statement } from '../../../db/sql';
import { type Columns, byColumn, rowsOf } from './by-column';

/** An outcome token as rows of trades are told with it; its payout an exact decimal text, null until it is known. */
export interface TradedOutcome {
  token_id: string;
  outcome: string;
  outcome_index: number | null;
  payout: string | null;
}

/** What of a market rows of trades are told with, its outcomes in the venue's order. */
export interface TradedMarket {
  condition_id: string;
  question: string | null;
  category: string;
  resolved_at: Date | null;
  is_voided: boolean;
  /** Whether it belongs to a group of markets, between which conversions move shares. */
  is_grouped: boolean;
  winning_outcome: string | null;
  /** Outcomes the catalogue names. */
  named_outcomes: number;
  outcomes: TradedOutcome[];
}

const COLUMNS: Columns<TradedMarket> = {
  condition_id: 'plain',
  question: 'plain',
  category: 'plain',
  resolved_at: 'instant',
  is_voided: 'plain',
  is_grouped: 'plain',
  winning_outcome: 'plain',
  named_outcomes: 'plain',
  outcomes: 'plain',
};

const OUTCOMES = `SELECT json_agg(json_build_object('token_id', token_id, 'outcome', outcome, 'outcome_index', outcome_index, 'payout', payout::text) ORDER BY outcome_index, token_id)
  FROM pm_outcome AS token WHERE token.condition_id = market.condition_id`;

const MARKETS: Statement = {
  name: 'pm_traded_markets',
  keyed: true,
  text: byColumn(
    COLUMNS,
    `SELECT condition_id, question, category, resolved_at, is_voided, neg_risk_id IS NOT NULL AS is_grouped, winning_outcome, cardinality(outcomes) AS named_outcomes, COALESCE((${OUTCOMES}), '[]') AS outcomes
FROM pm_market AS market WHERE condition_id = ANY ($1)`,
  ),
};

/** Markets by their ids, in no order; unknown ones are not told. */
export async function listTradedMarkets(sql: Sql, condition_ids: readonly string[]): Promise<TradedMarket[]> {
  const [told] = await sql.query(MARKETS, [condition_ids]);
  return rowsOf(COLUMNS, told);
}
