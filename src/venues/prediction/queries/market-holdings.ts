import type { Sql } from '../../../db/sql';
import { BEGINNING } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import { COST } from '../rollups/positions-row';
import { Parameters } from './parameters';
import { cutAt, walletPieces } from './pieces';
import type { AsOf } from './stances';

/** A wallet's position on one outcome; exact decimal texts. */
export interface HoldingRow {
  token_id: string;
  wallet: string;
  /** Held now: of a resolved market what was not redeemed. */
  shares: string;
  cost: string;
  gain: string;
  is_open: boolean;
}

/** Positions of these wallets on a market. */
export function listHoldings(sql: Sql, condition_id: string, wallets: readonly string[], { now, overlay }: AsOf): Promise<HoldingRow[]> {
  const parameters = new Parameters();
  const [instant, later] = [parameters.add(now, 'timestamptz'), parameters.add(overlay, 'jsonb')];
  const own = `condition_id = ${parameters.add(condition_id, 'text')} AND paid_shares > 0 AND wallet = ANY (${parameters.add(wallets, 'text[]')})`;
  const text = `SELECT token_id, wallet, shares - redeemed_shares AS shares, ${COST} AS cost, gain, status = 'open' AS is_open FROM (${positionsSql(instant, later, own)}) AS position`;
  return sql.query<HoldingRow & Record<string, unknown>>({ name: 'pm_holdings', text, keyed: true }, parameters.values);
}

/** First buys of these wallets on these markets before `now`. */
export async function loadFirstBuys(
  sql: Sql,
  condition_ids: readonly string[],
  wallets: readonly string[],
  now: Date,
): Promise<(wallet: string, token_id: string) => Date | null> {
  const parameters = new Parameters();
  const filter = `condition_id = ANY (${parameters.add(condition_ids, 'text[]')}) AND wallet = ANY (${parameters.add(wallets, 'text[]')})`;
  const text = `SELECT wallet, token_id, min(first_buy_at) AS at FROM (${walletPieces(cutAt([BEGINNING, now]), parameters, filter)}) AS piece GROUP BY 1, 2`;
  const rows = await sql.query<{ wallet: string; token_id: string; at: Date | null }>({ name: 'pm_first_buys', text }, parameters.values);
  const first = new Map(rows.map((row) => [`${row.wallet}|${row.token_id}`, row.at]));
  return (wallet, token_id) => first.get(`${wallet}|${token_id}`) ?? null;
}

/** A wallet's buys of one outcome; exact decimal texts. */
export interface BuyerRow {
  token_id: string;
  wallet: string;
  first_buy_at: Date;
  /** Of the first transaction. */
  first_usdc: string;
  first_shares: string;
  buy_usdc: string;
  buy_shares: string;
  score: number | null;
  tags: string[];
}

/** Which buyers of a market. */
export interface BuyerScope {
  condition_id: string;
  token_ids: readonly string[];
  /** USDC of the first transaction at least. */
  min_usdc: number;
  /** Leaves out wallets with this tag; null: nobody. */
  without_tag: string | null;
  /** Only wallets with this score at least; null: all. */
  min_score: number | null;
  score_day: string | null;
}

/** First buyers, one row a wallet and outcome, by the time of their first buy. */
export function listFirstBuyers(sql: Sql, scope: BuyerScope, limit: number, now: Date): Promise<BuyerRow[]> {
  const parameters = new Parameters();
  const market = parameters.add(scope.condition_id, 'text');
  const pieces = walletPieces(
    cutAt([BEGINNING, now]),
    parameters,
    `condition_id = ${market} AND token_id = ANY (${parameters.add(scope.token_ids, 'text[]')})`,
  );
  const [day, least, tag, score] = [
    parameters.add(scope.score_day, 'date'),
    parameters.add(String(scope.min_usdc), 'numeric'),
    parameters.add(scope.without_tag, 'text'),
    parameters.add(scope.min_score, 'numeric'),
  ];
  // In order from the start, so that scores and transactions are read of no more than are told.
  const text = `SELECT buyer.*, scored.score::float8 AS score, COALESCE(scored.tags, '{}') AS tags, first.usdc AS first_usdc, first.shares AS first_shares
FROM (
  SELECT token_id, wallet, min(first_buy_at) AS first_buy_at, sum(buy_usdc) AS buy_usdc, sum(buy_shares) AS buy_shares FROM (${pieces}) AS piece WHERE buys > 0 GROUP BY token_id, wallet
  ORDER BY first_buy_at, wallet, token_id
) AS buyer LEFT JOIN pm_wallet_score AS scored ON scored.wallet = buyer.wallet AND scored.day = ${day}
CROSS JOIN LATERAL (
  SELECT sum(usdc_size) AS usdc, sum(size) AS shares FROM (
    SELECT usdc_size, size, tx_hash, first_value(tx_hash) OVER (ORDER BY trade_id) AS first_hash FROM pm_trade AS trade
    WHERE trade.condition_id = ${market} AND trade."timestamp" = buyer.first_buy_at AND trade.wallet = buyer.wallet AND trade.token_id = buyer.token_id AND trade.side = 'BUY'
  ) AS fill WHERE tx_hash IS NOT DISTINCT FROM first_hash
) AS first
WHERE first.usdc >= ${least} AND (${tag} IS NULL OR scored.tags IS NULL OR NOT ${tag} = ANY (scored.tags)) AND (${score} IS NULL OR scored.score >= ${score})
ORDER BY first_buy_at, buyer.wallet, token_id LIMIT ${parameters.add(limit, 'int')}`;
  return sql.query<BuyerRow & Record<string, unknown>>({ name: 'pm_first_buyers', text }, parameters.values);
}
