import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import type { WalletsScope } from './known-positions';

/** Which of a wallet's positions. */
export interface PeriodScope {
  condition_id: string | null;
  category: string | null;
  open_only: boolean;
}

/** What the wallet's positions that had facts in the window tell at its end. */
export interface PeriodPositions {
  /** Booked since they were opened, an exact decimal text. */
  gain: string;
  new_positions: number;
  closed_positions: number;
  /** Tokens, and their markets, of those opened before the window that ever booked anything. */
  older_tokens: string[] | null;
  older_markets: string[] | null;
}

// What was booked before may have been lost again since.
const OLDER = 'opened_at < $4 AND (gain <> 0 OR received_shares > 0)';

// Said so that no index of time is asked for all that happened since, of whomever: a wallet's positions are few beside that.
const MOVED = '(last_at < $4) IS FALSE';

const POSITIONS: Statement = {
  name: 'pm_period_positions',
  text: `SELECT COALESCE(sum(gain), 0) AS gain, count(*) FILTER (WHERE opened_at >= $4)::int AS new_positions,
  count(*) FILTER (WHERE status <> 'open' AND closed_at >= $4 AND closed_at <= $2)::int AS closed_positions,
  array_agg(token_id) FILTER (WHERE ${OLDER}) AS older_tokens, array_agg(condition_id) FILTER (WHERE ${OLDER}) AS older_markets
FROM (${positionsSql('$2', '$3', `wallet = ANY ($1) AND paid_shares > 0 AND ${MOVED} AND ($5::text IS NULL OR condition_id = $5) AND ($7 IS FALSE OR status = 'open')`)}) AS position
WHERE $6::text IS NULL OR $6 = COALESCE((SELECT category FROM pm_market AS market WHERE market.condition_id = position.condition_id), 'Other')`,
};

/** Positions of the scope's wallet as of its instant, which ends the window from `from`. */
export async function getPeriodPositions(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  from: Window['from'],
  { condition_id, category, open_only }: PeriodScope,
): Promise<PeriodPositions> {
  const values = [wallets, now, overlay, from, condition_id, category, open_only];
  const [row] = await sql.query<PeriodPositions>(POSITIONS, values);
  return row as PeriodPositions;
}
