import type { Sql } from '../../../db/sql';
import type { Stance } from '../consensus';
import { positionsSql } from '../rollups/positions-as-of';
import { COST } from '../rollups/positions-row';
import { toldWallets } from '../rollups/told-wallets';
import { SMART_SCORE } from '../scoring/tiers';
import { activeAmong } from './active-markets';
import { Parameters } from './parameters';

/** Whose positions: wallets with a score in these bounds in one run; without a run nobody. */
export interface ScoreBand {
  day: string | null;
  min: number;
  max: number;
}

/** The instant positions are as of, and what is kept of later ones (of loadOverlay). */
export interface AsOf {
  now: Date;
  overlay: string;
}

/** SQL of which positions hold shares of a market that is not resolved. */
export const OPEN = `status = 'open' AND shares > 0 AND paid_shares > 0`;

const TAGS = `COALESCE(scored.tags, '{}') AS tags`;

/** SQL of a band's wallets with their scores and tags. */
export function bandOf({ day, min, max }: ScoreBand, parameters: Parameters): string {
  const score = (bound: number): string => parameters.add(bound, 'numeric');
  return `SELECT wallet, score, tags FROM pm_wallet_score WHERE day = ${parameters.add(day, 'date')} AND score >= ${score(min)} AND score <= ${score(max)}`;
}

/** Whether a band holds smart wallets alone: what they hold is kept. */
export const isSmart = ({ min }: ScoreBand): boolean => min >= SMART_SCORE;

const HELD = 'condition_id, wallet, token_id, score, shares, cost, paid_shares, paid_usdc, opened_at';

/** Of which positions: conditions on those of any wallet, and on what is kept of smart ones. */
interface HeldScope {
  positions: string;
  smart: string;
}

/**
 * SQL of what a band's wallets hold, now or when a market was resolved, columns HELD and tags: of smart ones as it is kept, without tags, where that is of the
 * same run, else the band's among all positions. `scored` is a table of the band.
 */
export function heldSql(
  band: ScoreBand,
  { positions, smart }: HeldScope,
  as_of: [instant: string, later: string],
  scored: string,
  parameters: Parameters,
): string {
  const among = (kept: string): string =>
    `SELECT condition_id, wallet, token_id, score, shares, ${COST} AS cost, paid_shares, paid_usdc, opened_at, tags FROM (${positionsSql(...as_of, `shares > 0 AND paid_shares > 0 AND ${positions}`, kept)}) AS own JOIN ${scored} AS scored USING (wallet)`;
  if (!isSmart(band)) return among('true');
  const is_kept = `EXISTS (SELECT 1 FROM pm_smart_run WHERE day = ${parameters.add(band.day, 'date')})`;
  const [least, most] = [parameters.add(band.min, 'numeric'), parameters.add(band.max, 'numeric')];
  return `SELECT ${HELD}, NULL::text[] AS tags FROM pm_smart_position WHERE ${is_kept} AND shares > 0 AND last_at < ${as_of[0]}::timestamptz AND score >= ${least} AND score <= ${most} AND ${smart}
UNION ALL ${among(`NOT ${is_kept}`)}`;
}

/** Shares held by wallets of a band on these markets: now, or when a market was resolved. */
export async function listStances(sql: Sql, condition_ids: readonly string[], band: ScoreBand, { now, overlay }: AsOf): Promise<Stance[]> {
  if (condition_ids.length === 0) return [];
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const on = `condition_id = ANY (${parameters.add(condition_ids, 'text[]')})`;
  // In its place the planner knows how many a band holds, and hashes it.
  const scored = `(${bandOf(band, parameters)})`;
  const held = heldSql(band, { positions: on, smart: on }, [instant, later], scored, parameters);
  // Whoever is not smart was looked for in the band already.
  const told = isSmart(band) ? `(${held}) AS held JOIN ${scored} AS scored USING (wallet)` : `(${held}) AS scored`;
  const text = `SELECT condition_id, token_id, wallet, scored.score::float8 AS score, ${TAGS}, shares, cost, paid_shares, paid_usdc, opened_at FROM ${told}`;
  const name = `pm_stances${isSmart(band) ? '_smart' : ''}`;
  return sql.query<Stance>({ name, text, keyed: isSmart(band) }, parameters.values);
}

/** Which active markets: those with enough holders. */
export interface MarketScope {
  category: string | null;
  /** At least so many wallets of the band on one outcome. */
  on_one_outcome: number;
  /** At least so many on the market. */
  on_market: number;
}

/** What wallets of a band hold on active markets, in no order. */
export async function listHeldStances(sql: Sql, band: ScoreBand, scope: MarketScope, { now, overlay }: AsOf): Promise<Stance[]> {
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  // Of all open positions few are of a band: its wallets, known beforehand, find them in the index.
  const open = { positions: `status = 'open' AND wallet = ANY (ARRAY(SELECT wallet FROM scored))`, smart: 'is_open' };
  const held = heldSql(band, open, [instant, later], 'scored', parameters);
  const category = scope.category === null ? null : parameters.add(scope.category, 'text');
  const [on_one, on_market] = [parameters.add(scope.on_one_outcome, 'int'), parameters.add(scope.on_market, 'int')];
  const crowded = `SELECT condition_id FROM open GROUP BY condition_id HAVING count(*) >= ${on_market}`;
  // As truth values the markets are hashed: the planner guesses them far too few, and would look through them for each position.
  const text = `WITH scored AS MATERIALIZED (${bandOf(band, parameters)}), open AS MATERIALIZED (${held}
), held AS MATERIALIZED (
  SELECT * FROM open WHERE (condition_id IN (${activeAmong(crowded, instant, category)})) IS TRUE
), chosen AS MATERIALIZED (
  SELECT * FROM held
  WHERE (condition_id IN (SELECT condition_id FROM (SELECT condition_id, count(*) AS holders FROM held GROUP BY condition_id, token_id) AS token GROUP BY condition_id HAVING max(holders) >= ${on_one})) IS TRUE
)
SELECT condition_id, token_id, wallet, chosen.score::float8 AS score, ${TAGS}, shares, cost, paid_shares, paid_usdc, opened_at FROM chosen JOIN scored USING (wallet)`;
  return sql.query<Stance>(
    { name: `pm_held_stances${isSmart(band) ? '_smart' : ''}${scope.category === null ? '' : '_category'}`, text },
    parameters.values,
  );
}

/** Median of what a wallet ever paid for a position, USDC; of who mostly paid nothing that counts none is told. */
export async function listMedianBets(sql: Sql, wallets: readonly string[], { now, overlay }: AsOf): Promise<Map<string, number>> {
  if (wallets.length === 0) return new Map();
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const told = toldWallets(
    parameters.add(wallets, 'text[]'),
    instant,
    (some) => positionsSql(instant, later, `wallet = ANY (${some})`),
    'wallet, median_bet',
  );
  const text = `SELECT wallet, median_bet AS bet FROM (${told}) AS told WHERE median_bet > 0`;
  const rows = await sql.query<{ wallet: string; bet: number }>({ name: 'pm_median_bets', text, keyed: true }, parameters.values);
  return new Map(rows.map((row) => [row.wallet, row.bet]));
}
