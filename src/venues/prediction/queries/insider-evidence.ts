import type { Sql, Statement } from '../../../db/sql';
import { BEGINNING } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import type { PositionRow } from '../rollups/positions-row';
import { toldWallets } from '../rollups/told-wallets';
import { D_INS } from '../scoring/insider';
import { Parameters } from './parameters';
import { marketPieces } from './taken-pieces';

/** First bet of a wallet on a market: its first purchase, all fills of that transaction together. */
export interface FirstBet {
  wallet: string;
  condition_id: string;
  first_at: Date;
  usdc: number;
}

const FIRST_BETS: Statement = {
  name: 'pm_first_bets',
  text: `WITH buys AS (
  SELECT condition_id, wallet, "timestamp", COALESCE(tx_hash, '') AS tx, usdc_size, trade_id FROM pm_trade WHERE condition_id = ANY($1) AND side = 'BUY' AND "timestamp" < $2
), first AS (
  SELECT DISTINCT ON (condition_id, wallet) condition_id, wallet, "timestamp", tx FROM buys ORDER BY condition_id, wallet, "timestamp", trade_id
)
SELECT condition_id, wallet, min("timestamp") AS first_at, sum(usdc_size)::float8 AS usdc FROM buys JOIN first USING (condition_id, wallet, "timestamp", tx) GROUP BY condition_id, wallet`,
};

/** First bets of all wallets on these markets before `now`. */
export function listFirstBets(sql: Sql, condition_ids: readonly string[], now: Date): Promise<FirstBet[]> {
  return sql.query<FirstBet & Record<string, unknown>>(FIRST_BETS, [condition_ids, now]);
}

const NEWS: Statement = {
  name: 'pm_news_times',
  text: `SELECT trade.condition_id, max(trade."timestamp") AS at FROM pm_market AS market
JOIN pm_outcome AS winner ON winner.condition_id = market.condition_id AND winner.outcome = market.winning_outcome
JOIN pm_trade AS trade ON trade.condition_id = market.condition_id AND trade.token_id = winner.token_id AND trade."timestamp" < LEAST(market.resolved_at, $2)
WHERE market.condition_id = ANY($1) AND market.resolved_at <= $2 AND trade.price < ${D_INS.news_price} GROUP BY trade.condition_id`,
};

/** When the news was out on resolved markets: the last fill of the winner below 0.9. */
export async function listNewsTimes(sql: Sql, condition_ids: readonly string[], now: Date): Promise<Map<string, Date>> {
  const rows = await sql.query<{ condition_id: string; at: Date }>(NEWS, [condition_ids, now]);
  return new Map(rows.map(({ condition_id, at }) => [condition_id, at]));
}

// Redemptions of a market are few, and in an index of their own: all of them are read.
const WITHDRAWALS: Statement = {
  name: 'pm_first_withdrawals',
  text: `SELECT wallet, condition_id, min("timestamp") AS at FROM pm_trade
WHERE condition_id = ANY($2) AND wallet = ANY($1) AND side = 'REDEEM' AND usdc_size > 0 AND "timestamp" < $3 GROUP BY wallet, condition_id`,
};

/** First payouts that these wallets took on these markets, by `wallet|condition_id`. */
export async function listWithdrawals(
  sql: Sql,
  wallets: readonly string[],
  condition_ids: readonly string[],
  now: Date,
): Promise<Map<string, Date>> {
  const rows = await sql.query<{ wallet: string; condition_id: string; at: Date }>(WITHDRAWALS, [wallets, condition_ids, now]);
  return new Map(rows.map(({ wallet, condition_id, at }) => [`${wallet}|${condition_id}`, at]));
}

const BOUGHT = [
  'wallet',
  'condition_id',
  'token_id',
  'shares',
  'redeemed_shares',
  'paid_shares',
  'paid_usdc',
  'buy_usdc',
  'gain',
  'payout',
  'opened_at',
] as const satisfies readonly (keyof PositionRow)[];

/** What the insider scan reads of a position. */
export type BoughtPosition = Pick<PositionRow, (typeof BOUGHT)[number]>;

/** Positions bought on a market as of `now`, in no order. */
export function listBought(sql: Sql, condition_id: string, now: Date, overlay: string): Promise<BoughtPosition[]> {
  const parameters = new Parameters();
  const [at, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const bought = `condition_id = ${parameters.add(condition_id, 'text')} AND paid_shares > 0 AND buy_usdc > 0`;
  const text = `SELECT ${BOUGHT.join(', ')} FROM (${positionsSql(at, later, bought)}) AS position`;
  return sql.query<BoughtPosition & Record<string, unknown>>({ name: 'pm_market_bought', text }, parameters.values);
}

/** What wallet-level tables tell of a wallet. */
export interface WalletEvidence {
  wallet: string;
  first_trade_at: Date;
  categories: { category: string; usdc: number }[];
  markets_traded: number;
  buy_usdc: string;
  /** Positions opened at most 72 hours before resolution. */
  short_n: number;
  short_wins: number;
  short_entry: number | null;
}

/** Of wallets that traded before `now`. */
export async function listWalletEvidence(
  sql: Sql,
  wallets: readonly string[],
  now: Date,
  overlay: string,
): Promise<Map<string, WalletEvidence>> {
  const parameters = new Parameters();
  const [at, later, chosen] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb'), parameters.add(wallets, 'text[]')];
  const columns = 'wallet, categories, markets, buy_usdc, short_n, short_wins, short_sum';
  const told = toldWallets(chosen, at, (some) => positionsSql(at, later, `wallet = ANY (${some})`), columns);
  const text = `SELECT told.wallet, known.first_trade_at, categories, markets AS markets_traded, buy_usdc, short_n, short_wins, (short_sum / NULLIF(short_n, 0))::float8 AS short_entry
FROM (${told}) AS told JOIN pm_wallet AS known ON known.wallet = told.wallet WHERE known.first_trade_at < ${at}`;
  const rows = await sql.query<WalletEvidence & Record<string, unknown>>({ name: 'pm_wallet_evidence', text }, parameters.values);
  return new Map(rows.map((row) => [row.wallet, { ...row, categories: (row.categories as WalletEvidence['categories'] | null) ?? [] }]));
}

/** USDC taken on these markets before `now`. */
export async function listTakenVolumes(sql: Sql, condition_ids: readonly string[], now: Date): Promise<Map<string, string>> {
  const parameters = new Parameters();
  const chosen = parameters.add(condition_ids, 'text[]');
  const pieces = marketPieces([BEGINNING, now], 'life', parameters, `condition_id = ANY (${chosen})`);
  const text = `SELECT condition_id, sum(buy_usdc + sell_usdc) AS usdc FROM (${pieces}) AS piece GROUP BY condition_id`;
  const rows = await sql.query<{ condition_id: string; usdc: string }>({ name: 'pm_taken_volumes', text }, parameters.values);
  return new Map(rows.map(({ condition_id, usdc }) => [condition_id, usdc]));
}

/** Pairs for the scan of the whole venue: young wallets that put real money on a market. */
export async function listVenuePairs(
  sql: Sql,
  now: Date,
  overlay: string,
  max_age_days: number,
): Promise<{ wallet: string; condition_id: string }[]> {
  const parameters = new Parameters();
  const [at, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const young = parameters.add(new Date(now.getTime() - max_age_days * 86_400_000), 'timestamptz');
  const text = `SELECT wallet, condition_id FROM (${positionsSql(at, later, `opened_at >= ${young}`)}) AS position
WHERE wallet IN (SELECT wallet FROM pm_wallet WHERE first_trade_at >= ${young} AND first_trade_at < ${at})
GROUP BY wallet, condition_id HAVING sum(buy_usdc) >= ${D_INS.first_bet_size.min_usdc} ORDER BY condition_id, wallet`;
  return sql.query<{ wallet: string; condition_id: string }>({ name: 'pm_insider_pairs', text }, parameters.values);
}
