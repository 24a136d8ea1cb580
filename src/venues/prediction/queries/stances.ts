import type { Sql } from '../../../db/sql';
import type { Stance } from '../consensus';
import { positionsSql } from '../rollups/positions-as-of';
import { toldWallets } from '../rollups/told-wallets';
import { activeMarkets } from './active-markets';
import { Parameters } from './parameters';

/** Whose positions: wallets with a score in these bounds in one run; without a run nobody. */
export interface ScoreBand {
  day: string | null;
  min: number;
  max: number;
  /** But those between these two. */
  without?: { above: number; below: number };
}

/** The instant positions are as of, and what is kept of later ones (of loadOverlay). */
export interface AsOf {
  now: Date;
  overlay: string;
}

/** SQL of what the shares held at resolution had cost on average: what they pay less what that gained; of what was traded later the mean price tells it. */
const SETTLED_COST = `CASE WHEN last_trade_at > settled_at THEN shares * paid_usdc / paid_shares ELSE payout_usdc - gain_resolution END`;

/** SQL of what the shares held cost on average. */
export const COST = `CASE WHEN status IN ('resolved', 'voided') THEN ${SETTLED_COST} ELSE cost END`;

/** SQL of which positions hold shares of a market that is not resolved. */
export const OPEN = `status = 'open' AND shares > 0 AND paid_shares > 0`;

const SCORED = `scored.score::float8 AS score, COALESCE(scored.tags, '{}') AS tags`;
const STANCE = `${SCORED}, shares, ${COST} AS cost, paid_shares, paid_usdc, opened_at`;

/** SQL of a band's wallets with their scores and tags. */
export function bandOf({ day, min, max, without }: ScoreBand, parameters: Parameters): string {
  const score = (bound: number): string => parameters.add(bound, 'numeric');
  const band = `SELECT wallet, score, tags FROM pm_wallet_score WHERE day = ${parameters.add(day, 'date')} AND score >= ${score(min)} AND score <= ${score(max)}`;
  return without === undefined ? band : `${band} AND NOT (score > ${score(without.above)} AND score < ${score(without.below)})`;
}

/** Shares held by wallets of a band on these markets: now, or when a market was resolved. */
export async function listStances(sql: Sql, condition_ids: readonly string[], band: ScoreBand, { now, overlay }: AsOf): Promise<Stance[]> {
  if (condition_ids.length === 0) return [];
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const positions = positionsSql(
    instant,
    later,
    `condition_id = ANY (${parameters.add(condition_ids, 'text[]')}) AND shares > 0 AND paid_shares > 0`,
  );
  const text = `SELECT condition_id, token_id, wallet, ${STANCE} FROM (${positions}) AS held JOIN (${bandOf(band, parameters)}) AS scored USING (wallet)`;
  const name = band.without === undefined ? 'pm_stances' : 'pm_stances_apart';
  return sql.query<Stance & Record<string, unknown>>({ name, text }, parameters.values);
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
  const positions = positionsSql(instant, later, `${OPEN} AND wallet = ANY (ARRAY(SELECT wallet FROM scored))`);
  const active = activeMarkets(instant, scope.category === null ? null : parameters.add(scope.category, 'text'));
  const [on_one, on_market] = [parameters.add(scope.on_one_outcome, 'int'), parameters.add(scope.on_market, 'int')];
  // Texts are long: markets are told apart by numbers, and what is said of a wallet is joined to those that are left.
  const text = `WITH scored AS MATERIALIZED (${bandOf(band, parameters)}), active AS MATERIALIZED (
  SELECT condition_id, row_number() OVER () AS m FROM (${active}) AS market
), open AS MATERIALIZED (
  SELECT m, token_id, wallet, shares, ${COST} AS cost, paid_shares, paid_usdc, opened_at FROM (${positions}) AS own JOIN active USING (condition_id)
), held AS MATERIALIZED (
  SELECT * FROM open WHERE (m IN (SELECT m FROM open GROUP BY m HAVING count(*) >= ${on_market})) IS TRUE
)
SELECT condition_id, token_id, wallet, ${SCORED}, shares, cost, paid_shares, paid_usdc, opened_at FROM held JOIN scored USING (wallet) JOIN active USING (m)
WHERE (m IN (SELECT m FROM (SELECT m, count(*) AS holders FROM held GROUP BY m, token_id) AS token GROUP BY m HAVING max(holders) >= ${on_one})) IS TRUE`;
  return sql.query<Stance & Record<string, unknown>>(
    { name: `pm_held_stances${scope.category === null ? '' : '_category'}`, text },
    parameters.values,
  );
}

/** Median of what a wallet ever paid for a position, USDC. */
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
  const text = `SELECT wallet, median_bet AS bet FROM (${told}) AS told WHERE median_bet IS NOT NULL`;
  const rows = await sql.query<{ wallet: string; bet: number }>({ name: 'pm_median_bets', text, keyed: true }, parameters.values);
  return new Map(rows.map((row) => [row.wallet, row.bet]));
}

/** What a wallet did in all its life. */
export interface Lifetime {
  trades: number;
  gain: string;
}

/** Buys and sells ever, and gains realized ever, of these wallets. */
export async function loadLifetimes(sql: Sql, wallets: readonly string[], { now, overlay }: AsOf): Promise<(wallet: string) => Lifetime> {
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const told = toldWallets(
    parameters.add(wallets, 'text[]'),
    instant,
    (some) => positionsSql(instant, later, `wallet = ANY (${some})`),
    'wallet, trades, gain',
  );
  const text = `SELECT wallet, trades, gain FROM (${told}) AS told`;
  const rows = await sql.query<Lifetime & { wallet: string }>({ name: 'pm_lifetimes', text, keyed: true }, parameters.values);
  const found = new Map(rows.map((row) => [row.wallet, row]));
  return (wallet) => found.get(wallet) ?? { trades: 0, gain: '0' };
}
