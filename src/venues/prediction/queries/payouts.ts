import type { Sql, Statement } from '../../../db/sql';

/** What a share of an outcome paid, 0-1, and since when that is known. */
export interface Payout {
  condition_id: string;
  token_id: string;
  payout: number;
  resolved_at: Date;
}

const PAYOUTS: Statement = {
  name: 'pm_payouts',
  text: `SELECT condition_id, token_id, payout::float8 AS payout, resolved_at FROM pm_market JOIN pm_outcome USING (condition_id)
WHERE condition_id = ANY($1) AND resolved_at <= $2 AND payout IS NOT NULL`,
};

/** Payouts of those of these markets that are resolved by `now`, refunded ones too. */
export function listPayouts(sql: Sql, condition_ids: readonly string[], now: Date): Promise<Payout[]> {
  return sql.query<Payout>(PAYOUTS, [condition_ids, now]);
}
