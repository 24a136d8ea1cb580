import type { Sql, Statement } from '../../../db/sql';
import { DAY_MS } from '../../../lib/time';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import type { PositionRow } from '../rollups/positions-row';
import { toldWallets } from '../rollups/told-wallets';
import { millisecondsOf } from '../../../lib/tiles';
import { D_INS } from '../scoring/insider';
import { inHalf } from '../../../db/halves';
import { Parameters } from './parameters';
import { cutAt, walletPieces } from './pieces';

/** SQL of a list of a value, in the order of the rows: of thousands of rows each costs more than what it holds. */
const listOf = (value: string): string => `COALESCE(json_agg(${value}), '[]')`;

/** First bets of all wallets on a market: its first purchase, all fills of that transaction together. The n-th of each list is one wallet's. */
export interface FirstBets {
  condition_id: string;
  wallet: string[];
  /** Milliseconds. */
  first_at: number[];
  usdc: number[];
}

const FIRST_BETS: Statement = {
  name: 'pm_first_bets',
  text: `WITH bet AS (
  SELECT condition_id, wallet, "timestamp" AS first_at, sum(usdc_size)::float8 AS usdc FROM (
    SELECT condition_id, wallet, "timestamp", usdc_size,
      "timestamp" = first_value("timestamp") OVER own AND tx_hash IS NOT DISTINCT FROM first_value(tx_hash) OVER own AS of_first
    FROM pm_trade WHERE condition_id = ANY($1) AND side = 'BUY' AND "timestamp" >= $2 AND "timestamp" < $3 WINDOW own AS (PARTITION BY condition_id, wallet ORDER BY "timestamp", trade_id)
  ) AS buy WHERE of_first GROUP BY condition_id, wallet, "timestamp"
)
SELECT condition_id, ${listOf('wallet')} AS wallet, ${listOf(millisecondsOf('first_at'))} AS first_at, ${listOf('usdc')} AS usdc FROM bet GROUP BY condition_id`,
};

/** First bets on these markets in their life until now. */
export function listFirstBets(sql: Sql, condition_ids: readonly string[], { from, to }: Window): Promise<FirstBets[]> {
  return sql.query<FirstBets>(FIRST_BETS, [condition_ids, from, to]);
}

// Read backwards from the resolution: the news is not long before it. Prices are compared as they are told, to the millionth.
const NEWS: Statement = {
  name: 'pm_news_times',
  keyed: true,
  text: `SELECT market.condition_id, (
  SELECT max(trade."timestamp") FROM pm_trade AS trade WHERE trade.condition_id = market.condition_id AND trade.token_id = winner.token_id
    AND trade."timestamp" < LEAST(market.resolved_at, $2) AND trade.price < ${D_INS.news_price - 5e-7}
) AS at FROM pm_market AS market JOIN pm_outcome AS winner ON winner.condition_id = market.condition_id AND winner.outcome = market.winning_outcome
WHERE market.condition_id = ANY($1) AND market.resolved_at <= $2`,
};

/** When the news was out on resolved markets: the last fill of the winner below 0.9. */
export async function listNewsTimes(sql: Sql, condition_ids: readonly string[], now: Date): Promise<Map<string, Date>> {
  const rows = await sql.query<{ condition_id: string; at: Date | null }>(NEWS, [condition_ids, now]);
  return new Map(rows.flatMap(({ condition_id, at }) => (at === null ? [] : [[condition_id, at] as const])));
}

/** First payouts that wallets took on a market. The n-th of each list is one wallet's. */
export interface FirstWithdrawals {
  condition_id: string;
  wallet: string[];
  /** Milliseconds. */
  at: number[];
}

// Redemptions of a market are few, and in an index of their own: all of them are read.
const WITHDRAWALS: Statement = {
  name: 'pm_first_withdrawals',
  text: `SELECT condition_id, ${listOf('wallet')} AS wallet, ${listOf(millisecondsOf('at'))} AS at FROM (
  SELECT condition_id, wallet, min("timestamp") AS at FROM pm_trade
  WHERE condition_id = ANY($2) AND ($1::text[] IS NULL OR wallet IN (SELECT unnest($1::text[]))) AND side = 'REDEEM' AND usdc_size > 0 AND "timestamp" >= $3 AND "timestamp" < $4 GROUP BY condition_id, wallet
) AS taken GROUP BY condition_id`,
};

/** First payouts that these wallets, or all, took on these markets in their life until now. */
export function listWithdrawals(
  sql: Sql,
  wallets: readonly string[] | null,
  condition_ids: readonly string[],
  { from, to }: Window,
): Promise<FirstWithdrawals[]> {
  return sql.query<FirstWithdrawals>(WITHDRAWALS, [wallets, condition_ids, from, to]);
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

const boughtOn = (market: string): string => `condition_id = ${market} AND paid_shares > 0 AND buy_usdc > 0`;

/** Positions these wallets bought on a market as of `now`, in no order. */
export function listBought(
  sql: Sql,
  condition_id: string,
  wallets: readonly string[],
  now: Date,
  overlay: string,
): Promise<BoughtPosition[]> {
  const parameters = new Parameters();
  const [at, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const bought = `${boughtOn(parameters.add(condition_id, 'text'))} AND wallet = ANY (${parameters.add(wallets, 'text[]')})`;
  const text = `SELECT ${BOUGHT.join(', ')} FROM (${positionsSql(at, later, bought)}) AS position`;
  return sql.query<BoughtPosition>({ name: 'pm_market_bought', text, keyed: true }, parameters.values);
}

/** What everybody who bought on a market is weighed by; the n-th of each list is one wallet's. Times are in milliseconds. */
export interface Suspects {
  wallet: string[];
  /** When it opened its first position there. */
  opened_at: number[];
  /** What it bought there, exact decimal text, and the outcome it bought most of, by name or, of no known name, by token. */
  buy_usdc: string[];
  outcome: string[];
  first_trade_at: number[];
  /** Volume of each category it traded in. */
  volumes: (number[] | null)[];
  short_n: number[];
  short_wins: number[];
  short_entry: (number | null)[];
}

/** Half of the wallets that bought on a market as of `now` (`listHalves`), with what wallet-level tables tell of them. */
export async function listSuspects(sql: Sql, condition_id: string, now: Date, overlay: string, half: number): Promise<Suspects> {
  const parameters = new Parameters();
  const [at, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const market = parameters.add(condition_id, 'text');
  const positions = positionsSql(at, later, `${boughtOn(market)} AND ${inHalf('wallet', parameters.add(half, 'int'))}`);
  const told = toldWallets('ARRAY(SELECT wallet FROM bought)', at, (some) => positionsSql(at, later, `wallet = ANY (${some})`), 'wallet, categories, short_n, short_wins, short_sum'); // prettier-ignore
  const list = (name: keyof Suspects, value: string): string => `${listOf(value)} AS ${name}`;
  const text = `WITH bought AS MATERIALIZED (
  SELECT DISTINCT ON (wallet) wallet, condition_id, token_id, min(opened_at) OVER own AS opened_at, sum(buy_usdc) OVER own AS buy_usdc
  FROM (${positions}) AS position WINDOW own AS (PARTITION BY wallet) ORDER BY wallet, position.buy_usdc::float8 DESC, token_id
)
SELECT ${list('wallet', 'wallet')}, ${list('opened_at', millisecondsOf('opened_at'))}, ${list('buy_usdc', 'buy_usdc::text')}, ${list('outcome', 'COALESCE(named.outcome, token_id)')},
  ${list('first_trade_at', millisecondsOf('first_trade_at'))}, ${list('volumes', `jsonb_path_query_array(categories, '$[*].usdc')`)},
  ${list('short_n', 'short_n')}, ${list('short_wins', 'short_wins')}, ${list('short_entry', SHORT_ENTRY)}
FROM bought JOIN (${told}) AS told USING (wallet) JOIN pm_wallet AS known USING (wallet) LEFT JOIN (SELECT token_id, outcome FROM pm_outcome WHERE condition_id = ${market}) AS named USING (token_id) WHERE known.first_trade_at < ${at}`;
  const [row] = await sql.query<Suspects>({ name: 'pm_insider_suspects', text }, parameters.values);
  return row as Suspects;
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

/** SQL of the mean entry price of short bets. */
const SHORT_ENTRY = '(short_sum / NULLIF(short_n, 0))::float8';

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
  const text = `SELECT told.wallet, known.first_trade_at, categories, markets AS markets_traded, buy_usdc, short_n, short_wins, ${SHORT_ENTRY} AS short_entry
FROM (${told}) AS told JOIN pm_wallet AS known ON known.wallet = told.wallet WHERE known.first_trade_at < ${at}`;
  const rows = await sql.query<WalletEvidence>({ name: 'pm_wallet_evidence', text, keyed: true }, parameters.values);
  return new Map(rows.map((row) => [row.wallet, { ...row, categories: (row.categories as WalletEvidence['categories'] | null) ?? [] }]));
}

/** USDC that these wallets took on a market before `now`; exact decimal text. */
export async function sumTaken(sql: Sql, condition_id: string, wallets: readonly string[], now: Date): Promise<string> {
  const parameters = new Parameters();
  const own = `condition_id = ${parameters.add(condition_id, 'text')} AND wallet = ANY (${parameters.addUnseen(wallets)})`;
  const text = `SELECT COALESCE(sum(taker_usdc), 0) AS usdc FROM (${walletPieces(cutAt([BEGINNING, now]), parameters, own)}) AS piece`;
  const [row] = await sql.query<{ usdc: string }>({ name: 'pm_taken_by_wallets', text }, parameters.values);
  return row?.usdc ?? '0';
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
  const young = parameters.add(new Date(now.getTime() - max_age_days * DAY_MS), 'timestamptz');
  const text = `SELECT wallet, condition_id FROM (${positionsSql(at, later, `opened_at >= ${young}`)}) AS position
WHERE wallet IN (SELECT wallet FROM pm_wallet WHERE first_trade_at >= ${young} AND first_trade_at < ${at})
GROUP BY wallet, condition_id HAVING sum(buy_usdc) >= ${D_INS.first_bet_size.min_usdc} ORDER BY condition_id, wallet`;
  return sql.query<{ wallet: string; condition_id: string }>({ name: 'pm_insider_pairs', text }, parameters.values);
}
