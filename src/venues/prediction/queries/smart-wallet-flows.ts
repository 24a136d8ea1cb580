import type { Sql, Statement } from '../../../db/sql';
import { HOUR_MS, latestOf } from '../../../lib/time';
import { activeAmong, activeMarkets } from './active-markets';
import { Parameters } from './parameters';
import { type Cut, type SmartRule, smartPieces } from './pieces';
import { lifeOf } from './lives';
import { loadToldAndRule, toldMarkets, toldName, toldWalletPieces, withTold } from './told-pieces';

/** What one smart wallet bought of one outcome within a cut; exact decimal texts. */
export interface SmartWalletEntry {
  condition_id: string;
  token_id: string;
  wallet: string;
  /** That its newest fill is judged by. */
  score: number;
  buy_usdc: string;
  buy_shares: string;
  first_buy_at: Date;
  /** When the wallet first did anything on the market within the cut. */
  entered_at: Date;
}

/** What one smart wallet did on one outcome within a cut; exact decimal texts. */
export interface SmartWalletFlow extends Omit<SmartWalletEntry, 'first_buy_at' | 'entered_at'> {
  sell_usdc: string;
  /** Bought less sold. */
  net_usdc: number;
  sell_shares: string;
  first_at: Date;
  last_at: Date;
}

/** In so many hours smart wallets do little against how many markets are active. */
const FEW_HOURS = 48;

type Row<Told> = Told & { told: number } & Record<string, unknown>;
const FLOW = 'condition_id, token_id, wallet, score, buy_usdc, sell_usdc, net_usdc, buy_shares, sell_shares, first_at, last_at, told';
const ENTRY = 'condition_id, token_id, wallet, score, buy_usdc, buy_shares, first_buy_at, entered_at, told';

// Of the newest hour. As one number with it, so that nothing has to be in order: ids are long to sort.
const NEWEST_SCORE = `(max(date_part('epoch', hour)::bigint * 10000 + (10 * score)::int) % 10000)::float8 / 10`;

/** SQL of flows from pieces; `told` is of how many hours are told. */
const flowsOf = (
  pieces: string,
  told: string,
): string => `SELECT condition_id, token_id, wallet, ${NEWEST_SCORE} AS score, sum(buy_usdc) AS buy_usdc,
  sum(sell_usdc) AS sell_usdc, (sum(buy_usdc) - sum(sell_usdc))::float8 AS net_usdc, sum(buy_shares) AS buy_shares, sum(sell_shares) AS sell_shares, min(first_at) AS first_at, max(last_at) AS last_at, min(first_buy_at) AS first_buy_at, ${told} AS told
FROM (${pieces}) AS piece GROUP BY condition_id, token_id, wallet`;

/** Smart wallets' flows within a cut of two bounds, on these markets. */
export function listSmartWalletFlowsOn(sql: Sql, cut: Cut, rule: SmartRule, condition_ids: readonly string[]): Promise<SmartWalletFlow[]> {
  const parameters = new Parameters();
  const pieces = smartPieces(cut, rule, parameters, `condition_id = ANY (${parameters.add(condition_ids, 'text[]')})`);
  const text = `SELECT ${FLOW} FROM (${flowsOf(pieces, '0')}) AS flow`;
  return sql.query<Row<SmartWalletFlow>>({ name: 'pm_smart_wallet_flows_markets', text }, parameters.values);
}

/** Whose fills count as smart, or who tells. */
type Ruled = SmartRule | Promise<SmartRule>;

/** Which flows: on active markets of a category or all, of which at least so many wallets flow on one outcome. */
export interface FlowScope {
  category: string | null;
  on_one_outcome: number;
}

/** Smart wallets' flows within a cut of two bounds, on active markets. */
export const listSmartWalletFlows = (sql: Sql, cut: Cut, rule: Ruled, scope: FlowScope, now: Date): Promise<SmartWalletFlow[]> =>
  listOnActive<SmartWalletFlow>(sql, cut, rule, scope.category, now, 'pm_smart_wallet_flows', (flows, parameters) => {
    const fewest = parameters.add(scope.on_one_outcome, 'int');
    // As a truth value the markets are hashed.
    return `WITH flow AS MATERIALIZED (${flows})
SELECT ${FLOW} FROM flow WHERE (condition_id IN (SELECT condition_id FROM flow GROUP BY condition_id, token_id HAVING count(*) >= ${fewest})) IS TRUE`;
  });

/** Which entries: on active markets of a category or all, of wallets that bought for so much, USDC. */
export interface EntryScope {
  category: string | null;
  usdc: number;
}

/** What smart wallets bought on active markets within a cut of two bounds, what cost nothing left out; of those that had done anything there before see listEarlier. */
export const listSmartWalletEntries = (sql: Sql, cut: Cut, rule: Ruled, scope: EntryScope, now: Date): Promise<SmartWalletEntry[]> =>
  listOnActive<SmartWalletEntry>(sql, cut, rule, scope.category, now, 'pm_smart_wallet_entries', (flows, parameters) => {
    const entered = `SELECT *, min(first_at) OVER (PARTITION BY condition_id, wallet) AS entered_at FROM (${flows}) AS flow`;
    return `SELECT ${ENTRY} FROM (${entered}) AS flow WHERE buy_usdc > 0 AND buy_usdc >= ${parameters.add(scope.usdc, 'numeric')}`;
  });

async function listOnActive<Told>(
  sql: Sql,
  cut: Cut,
  ruled: Ruled,
  category: string | null,
  now: Date,
  name: string,
  chosenOf: (flows: string, parameters: Parameters) => string,
): Promise<Told[]> {
  const few_hours = cut.whole.to.getTime() - cut.whole.from.getTime() <= FEW_HOURS * HOUR_MS;
  const { rule, hours: known } = await loadToldAndRule(sql, cut, ruled);
  return withTold(known, (hours) => {
    const parameters = new Parameters();
    const scope = [parameters.add(now, 'timestamptz'), category && parameters.add(category, 'text')] as const;
    const markets = activeMarkets(...scope);
    // Of few hours all that is told is looked through, its active markets hashed as a truth value; else each active market is looked up.
    const active = few_hours && hours !== null ? activeAmong(toldMarkets(hours, parameters), ...scope) : null;
    const filter = active === null ? `condition_id IN (${markets})` : `(condition_id IN (SELECT condition_id FROM active)) IS TRUE`;
    const pieces =
      hours === null
        ? smartPieces(cut, rule, parameters, 'true', markets)
        : toldWalletPieces(cut, rule, hours, { category: null, filter, markets }, parameters);
    const chosen = chosenOf(flowsOf(pieces, hours === null ? '0' : 'max(told)'), parameters);
    const text = active === null ? chosen : `WITH active AS MATERIALIZED (${active}) SELECT * FROM (${chosen}) AS chosen`;
    const full = `${name}${category === null ? '' : '_category'}${active === null ? '' : '_hours'}${toldName(hours)}`;
    return sql.query<Row<Told>>({ name: full, text, keyed: active !== null }, parameters.values);
  });
}

// Who opened its position within the cut before it was smart did not come as a smart wallet. A split is no fill: it counts before the cut alone.
// Shares that a conversion brought from other markets leave no row here: the position tells them.
const EARLIER: Statement = {
  name: 'pm_smart_wallet_earlier',
  keyed: true,
  text: `SELECT condition_id, wallet FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS asked(condition_id, wallet, entered_at) JOIN pm_market AS market USING (condition_id)
WHERE EXISTS (SELECT 1 FROM pm_trade AS before WHERE before.wallet = asked.wallet AND before.condition_id = market.condition_id AND before."timestamp" >= $5 AND before."timestamp" < $6
  AND before."timestamp" < CASE COALESCE(before.token_id, '') WHEN '' THEN $4 ELSE asked.entered_at END)
OR EXISTS (SELECT 1 FROM pm_position AS held WHERE held.condition_id = market.condition_id AND held.wallet = asked.wallet AND held.opened_at < $4)`,
};

/** A wallet on a market. */
export type OnMarket = Pick<SmartWalletEntry, 'condition_id' | 'wallet'>;

/** Of entries since `begin`, wallets that had done or held anything on the market before. */
export async function listEarlier(sql: Sql, entries: readonly (OnMarket & { entered_at: Date })[], begin: Date): Promise<OnMarket[]> {
  const [condition_ids, wallets] = [entries.map((entry) => entry.condition_id), entries.map((entry) => entry.wallet)];
  const entered = entries.map((entry) => entry.entered_at);
  const life = await lifeOf(sql, condition_ids, latestOf([begin, ...entered]));
  return sql.query<OnMarket>(EARLIER, [condition_ids, wallets, entered, begin, life.from, life.to]);
}

/** Wallets of at least `min_score` in one run that were on each of these markets before `at`. */
export async function countPriorWallets(
  sql: Sql,
  condition_ids: readonly string[],
  day: string | null,
  min_score: number,
  at: Date,
): Promise<(condition_id: string) => number> {
  const parameters = new Parameters();
  const begin = parameters.add(at, 'timestamptz');
  const text = `SELECT condition_id, count(DISTINCT wallet)::int AS wallets FROM pm_wallet_hour
JOIN (SELECT wallet FROM pm_wallet_score WHERE day = ${parameters.add(day, 'date')} AND score >= ${parameters.add(min_score, 'numeric')}) AS scored USING (wallet)
WHERE condition_id = ANY (${parameters.addUnseen(condition_ids)}) AND hour < ${begin} AND first_at < ${begin} GROUP BY 1`;
  const rows = await sql.query<{ condition_id: string; wallets: number }>({ name: 'pm_prior_wallets', text }, parameters.values);
  const counts = new Map(rows.map((row) => [row.condition_id, row.wallets]));
  return (condition_id) => counts.get(condition_id) ?? 0;
}
