import type { Sql } from '../../../db/sql';
import { DAY_MS } from '../../../lib/time';
import { BEGINNING, END } from '../../../lib/timeframe';
import { Parameters } from './parameters';
import { marketPieces } from './taken-pieces';

/** USDC taken on a market ever, and in the last 24 hours; exact decimal texts. */
export interface LifetimeVolume {
  total: string;
  last_24h: string;
}

const NOTHING: LifetimeVolume = { total: '0', last_24h: '0' };

/** Volume of these markets before `now`; a market without any is 0. */
export async function loadLifetimeVolumes(
  sql: Sql,
  condition_ids: readonly string[],
  now: Date,
): Promise<(condition_id: string) => LifetimeVolume> {
  const parameters = new Parameters();
  const ids = `condition_id = ANY (${parameters.addUnseen(condition_ids)})`;
  // What came later is of the same rows as the last day: both are read at once.
  const pieces = marketPieces([new Date(now.getTime() - DAY_MS), now, END], 'day', parameters, ids);
  const text = `SELECT condition_id, buy_usdc + sell_usdc - COALESCE(later, 0) AS total, COALESCE(last_24h, 0) AS last_24h FROM (SELECT * FROM pm_market_total WHERE ${ids}) AS kept
LEFT JOIN (SELECT condition_id, sum(buy_usdc + sell_usdc) FILTER (WHERE part = 1) AS last_24h, sum(buy_usdc + sell_usdc) FILTER (WHERE part = 2) AS later FROM (${pieces}) AS piece GROUP BY 1) AS recent USING (condition_id)`;
  const rows = await sql.query<LifetimeVolume & { condition_id: string }>({ name: 'pm_lifetime_volumes', text }, parameters.values);
  const byMarket = new Map(rows.map((row) => [row.condition_id, row]));
  return (condition_id) => byMarket.get(condition_id) ?? NOTHING;
}

/** USDC taken on these markets before `now`, exact decimal texts; a market without any is not told. */
export async function listTakenVolumes(sql: Sql, condition_ids: readonly string[], now: Date): Promise<Map<string, string>> {
  const parameters = new Parameters();
  const pieces = marketPieces([BEGINNING, now], 'life', parameters, `condition_id = ANY (${parameters.addUnseen(condition_ids)})`);
  const text = `SELECT condition_id, buy_usdc + sell_usdc AS usdc FROM (${pieces}) AS piece`;
  const rows = await sql.query<{ condition_id: string; usdc: string }>({ name: 'pm_taken_volumes', text }, parameters.values);
  return new Map(rows.map(({ condition_id, usdc }) => [condition_id, usdc]));
}
