import type { Sql, Statement } from '../../../db/sql';
import { BEGINNING } from '../../../lib/timeframe';
import { positionsSql } from '../rollups/positions-as-of';
import { COST } from '../rollups/positions-row';
import { lifeOf } from './lives';
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
  return sql.query<HoldingRow>({ name: 'pm_holdings', text, keyed: true }, parameters.values);
}

/** A wallet on a market. */
interface Holder {
  condition_id: string;
  wallet: string;
}

// A position is opened by its first buy or before it: its hours are looked through from there on, not those of the whole market.
const FIRST_BUYS: Statement = {
  name: 'pm_first_buys',
  keyed: true,
  text: `SELECT position.wallet, position.token_id, first.at FROM unnest($1::text[], $2::text[]) AS wanted(condition_id, wallet)
JOIN pm_position AS position ON position.condition_id = wanted.condition_id AND position.wallet = wanted.wallet
CROSS JOIN LATERAL (
  SELECT first_buy_at AS at FROM pm_wallet_hour AS piece
  WHERE piece.condition_id = position.condition_id AND piece.token_id = position.token_id AND piece.wallet = position.wallet
    AND hour >= date_trunc('hour', position.opened_at, 'UTC') AND hour <= position.last_trade_at AND first_buy_at IS NOT NULL
  ORDER BY hour LIMIT 1
) AS first WHERE first.at < $3`,
};

/** First buys of these wallets before `now`, each on its market. */
export async function loadFirstBuys(
  sql: Sql,
  holders: readonly Holder[],
  now: Date,
): Promise<(wallet: string, token_id: string) => Date | null> {
  const rows = await sql.query<{ wallet: string; token_id: string; at: Date }>(FIRST_BUYS, [
    holders.map(({ condition_id }) => condition_id),
    holders.map(({ wallet }) => wallet),
    now,
  ]);
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
export async function listFirstBuyers(sql: Sql, scope: BuyerScope, limit: number, now: Date): Promise<BuyerRow[]> {
  const parameters = new Parameters();
  const life = await lifeOf(sql, [scope.condition_id], now);
  const [born, ended] = [parameters.add(life.from, 'timestamptz'), parameters.add(life.to, 'timestamptz')];
  const [market, instant] = [parameters.add(scope.condition_id, 'text'), parameters.add(now, 'timestamptz')];
  const tokens = parameters.add(scope.token_ids, 'text[]');
  const [day, least, tag, score] = [
    parameters.add(scope.score_day, 'date'),
    parameters.add(String(scope.min_usdc), 'numeric'),
    parameters.add(scope.without_tag, 'text'),
    parameters.add(scope.min_score, 'numeric'),
  ];
  const all = walletPieces(
    cutAt([BEGINNING, now]),
    parameters,
    `condition_id = ${market} AND wallet = ANY (ARRAY(SELECT wallet FROM shown))`,
  );
  // Hour by hour in order from the start of the market, so that no more is looked up than leads to those told (the offset keeps the condition from becoming a join). What a
  // wallet bought in an hour is its first where it bought nothing between the opening of its position and that hour. Who did not buy enough in the hour of the first
  // transaction, or is not scored so high, is not looked up at all.
  const text = `WITH buyer AS (
  SELECT token_id, wallet, hour, first_buy_at FROM pm_wallet_hour AS piece
  WHERE condition_id = ${market} AND token_id = ANY (${tokens}) AND hour < ${instant} AND first_buy_at < ${instant} AND buy_usdc >= ${least}
  AND (${score} IS NULL OR (wallet IN (SELECT wallet FROM pm_wallet_score WHERE day = ${day} AND score >= ${score})) IS TRUE) AND NOT EXISTS (
    SELECT 1 FROM pm_position AS position JOIN pm_wallet_hour AS before ON before.condition_id = position.condition_id AND before.token_id = position.token_id
      AND before.wallet = position.wallet AND before.hour >= date_trunc('hour', position.opened_at, 'UTC') AND before.first_buy_at IS NOT NULL
    WHERE position.condition_id = ${market} AND position.wallet = piece.wallet AND position.token_id = piece.token_id AND before.hour < piece.hour
    OFFSET 0
  )
), shown AS MATERIALIZED (
  SELECT token_id, buyer.wallet, first_buy_at, scored.score::float8 AS score, COALESCE(scored.tags, '{}') AS tags, first.usdc AS first_usdc, first.shares AS first_shares
  FROM buyer LEFT JOIN pm_wallet_score AS scored ON scored.wallet = buyer.wallet AND scored.day = ${day}
  CROSS JOIN LATERAL (
    SELECT sum(usdc_size) AS usdc, sum(size) AS shares FROM (
      SELECT usdc_size, size, tx_hash, first_value(tx_hash) OVER (ORDER BY trade_id) AS first_hash FROM pm_trade AS trade
      WHERE trade.condition_id = ${market} AND trade."timestamp" = buyer.first_buy_at AND trade.wallet = buyer.wallet AND trade.token_id = buyer.token_id AND trade.side = 'BUY'
        AND trade."timestamp" >= ${born} AND trade."timestamp" < ${ended}
    ) AS fill WHERE tx_hash IS NOT DISTINCT FROM first_hash
  ) AS first
  WHERE first.usdc >= ${least} AND (${tag} IS NULL OR scored.tags IS NULL OR NOT ${tag} = ANY (scored.tags))
  ORDER BY hour, first_buy_at, buyer.wallet, token_id LIMIT ${parameters.add(limit, 'int')}
)
SELECT shown.*, buy_usdc, buy_shares FROM shown JOIN (
  SELECT token_id, wallet, sum(buy_usdc) AS buy_usdc, sum(buy_shares) AS buy_shares FROM (${all}) AS piece GROUP BY token_id, wallet
) AS bought USING (token_id, wallet) ORDER BY first_buy_at, wallet, token_id`;
  return sql.query<BuyerRow>({ name: 'pm_first_buyers', text }, parameters.values);
}
