import type { Sql } from '../../../db/sql';
import { Parameters } from './parameters';
import { type Cut, hoursOfMarket, tokenPieces } from './pieces';

/** Takers on one outcome in one part of a cut; exact decimal texts. */
export interface ActivityRow {
  token_id: string;
  part: number;
  buy_usdc: string;
  sell_usdc: string;
  volume: string;
  trades: number;
}

/** What was traded of a market's outcomes in each part of a cut. */
export function listActivity(sql: Sql, condition_id: string, cut: Cut): Promise<ActivityRow[]> {
  const parameters = new Parameters();
  const id = parameters.add(condition_id, 'text');
  const pieces = tokenPieces(cut, parameters, hoursOfMarket(id), `condition_id = ${id}`);
  const text = `SELECT token_id, part, sum(buy_usdc) AS buy_usdc, sum(sell_usdc) AS sell_usdc, sum(buy_usdc + sell_usdc) AS volume, sum(buys + sells)::int AS trades FROM (${pieces}) AS piece GROUP BY 1, 2`;
  return sql.query<ActivityRow>({ name: `pm_activity_${cut.bounds.length}`, text, keyed: true }, parameters.values);
}
