import type { Sql } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import { type KnownPosition, type WalletsScope, knownSql } from './known-positions';

export type BreakdownSort = 'pnl' | 'abs_pnl' | 'roi' | 'cost' | 'closed_at';

/** Which positions, and how many of them. */
export interface RankedFilter {
  /** In which they ended. */
  window: Window;
  category: string | null;
  include_open: boolean;
  sort_by: BreakdownSort;
  limit: number;
}

/** A position with its place in the order asked; best and worst by gain among ended ones. */
export type RankedPosition = KnownPosition & { place: number; is_best: boolean; is_worst: boolean };

const KEYS: Record<BreakdownSort, string> = {
  pnl: 'gain DESC',
  abs_pnl: 'abs(gain) DESC',
  roi: 'gain::float8 / NULLIF(paid_usdc, 0)::float8 DESC NULLS LAST',
  cost: 'paid_usdc DESC',
  closed_at: 'closed_at DESC NULLS FIRST',
};

const ranked = (sort: BreakdownSort): string => `SELECT *, row_number() OVER (ORDER BY ${KEYS[sort]}, condition_id, token_id)::int AS place,
  status <> 'open' AND 1 = row_number() OVER (PARTITION BY status = 'open' ORDER BY gain DESC, condition_id, token_id) AS is_best,
  status <> 'open' AND 1 = row_number() OVER (PARTITION BY status = 'open' ORDER BY gain, condition_id DESC, token_id DESC) AS is_worst
FROM (${positionsSql('$2', '$3', "wallet = ANY ($1) AND paid_shares > 0 AND (CASE status WHEN 'open' THEN $7 ELSE closed_at >= $4 AND closed_at <= $5 END)")}) AS chosen
WHERE $6::text IS NULL OR $6 = COALESCE((SELECT category FROM pm_market AS market WHERE market.condition_id = chosen.condition_id), 'Other')`;

const text = (sort: BreakdownSort): string =>
  knownSql(`SELECT * FROM (${ranked(sort)}) AS ranked WHERE place <= $8 OR is_best OR is_worst`, 'true', ', place, is_best, is_worst');

/** The first of the positions, and those that gained and lost most among all that ended, in the order asked. */
export async function listRankedPositions(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  filter: RankedFilter,
): Promise<RankedPosition[]> {
  const { window, category, include_open, sort_by, limit } = filter;
  const rows = await sql.query<RankedPosition & Record<string, unknown>>({ name: `pm_ranked_positions_${sort_by}`, text: text(sort_by) }, [
    wallets,
    now,
    overlay,
    window.from,
    window.to,
    category,
    include_open,
    limit,
  ]);
  return rows.sort((a, b) => a.place - b.place);
}
