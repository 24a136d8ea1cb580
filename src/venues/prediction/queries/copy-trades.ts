import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import type { CopyTrade } from '../scoring/copying';
import { Parameters } from './parameters';
import { marketPieces } from './taken-pieces';

// A transaction that is not known is one second.
const TX = `COALESCE(trade.tx_hash, trade."timestamp"::text)`;
const COLUMNS = `trade.wallet, trade.condition_id, trade.token_id, trade.side, ${TX} AS tx, min(trade."timestamp") AS at, sum(trade.usdc_size)::float8 AS usdc, sum(trade.size)::float8 AS size, count(*)::int AS fills`;
const TRANSACTION = `trade.wallet, trade.condition_id, trade.token_id, trade.side, ${TX}`;

const OWN: Statement = {
  name: 'pm_copy_own',
  text: `SELECT ${COLUMNS} FROM pm_trade AS trade WHERE trade.wallet = ANY($1) AND trade."timestamp" >= $2 AND trade."timestamp" < $3 AND trade.side IN ('BUY', 'SELL') GROUP BY ${TRANSACTION}`,
};

/** Trades of wallets in the window, each transaction once. */
export function listOwnTrades(sql: Sql, wallets: readonly string[], window: Window): Promise<CopyTrade[]> {
  return sql.query<CopyTrade & Record<string, unknown>>(OWN, [wallets, window.from, window.to]);
}

const COUNTS: Statement = {
  name: 'pm_copy_counts',
  text: `SELECT wallet, count(*)::int AS trades FROM (
  SELECT DISTINCT trade.wallet, trade.condition_id, trade.token_id, trade.side, ${TX} AS tx FROM pm_trade AS trade
  WHERE trade.wallet = ANY($1) AND trade."timestamp" >= $2 AND trade."timestamp" < $3 AND trade.side IN ('BUY', 'SELL')
) AS trade GROUP BY wallet`,
};

/** How many trades wallets made in the window, each transaction once; none is not told. */
export async function countOwnTrades(sql: Sql, wallets: readonly string[], window: Window): Promise<Map<string, number>> {
  const rows = await sql.query<{ wallet: string; trades: number }>(COUNTS, [wallets, window.from, window.to]);
  return new Map(rows.map(({ wallet, trades }) => [wallet, trades]));
}

/** How often a wallet trades after the leader. */
export interface Follower {
  wallet: string;
  /** Each transaction once. */
  trades: number;
}

// Nearby trades of the leader make one stretch, so that no trade is found twice.
const FOLLOWING: Statement = {
  name: 'pm_copy_following',
  text: `WITH stretches AS (
  SELECT condition_id, token_id, side, range_agg(tstzrange(at, at + $6::interval, '(]')) AS spans FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) AS led(condition_id, token_id, side, at)
  GROUP BY condition_id, token_id, side
), spans AS (
  SELECT condition_id, token_id, side, unnest(spans) AS span FROM stretches
), follower AS (
  SELECT wallet, count(*)::int AS trades, sum(fills) AS fills FROM (
    SELECT trade.wallet, count(*) AS fills FROM spans
    JOIN pm_trade AS trade ON trade.condition_id = spans.condition_id AND trade.token_id = spans.token_id AND trade.side = spans.side
      AND trade."timestamp" > lower(span) AND trade."timestamp" <= upper(span) AND trade."timestamp" < $7
    WHERE trade.wallet <> $5 GROUP BY ${TRANSACTION}
  ) AS trade GROUP BY wallet
)
SELECT wallet, trades, (SELECT sum(fills)::int FROM follower) AS all_fills FROM follower WHERE trades >= $8 ORDER BY trades DESC, wallet LIMIT $9`,
};

/** Wallets with at least so many trades within (0, max_lag] after the leader's, on the same token and side, before `to`: those with most; and the fills of all others than the leader there. */
export async function listFollowers(
  sql: Sql,
  leader: string,
  trades: readonly CopyTrade[],
  { max_lag_ms, to, least, most }: { max_lag_ms: number; to: Date; least: number; most: number },
): Promise<{ followers: Follower[]; fills: number }> {
  const values = [
    trades.map(({ condition_id }) => condition_id),
    trades.map(({ token_id }) => token_id),
    trades.map(({ side }) => side),
    trades.map(({ at }) => at),
    leader,
    `${max_lag_ms} milliseconds`,
    to,
    least,
    most,
  ];
  const followers = await sql.query<Follower & { all_fills: number }>(FOLLOWING, values);
  return { followers, fills: followers[0]?.all_fills ?? 0 };
}

/** All fills seen in the window. */
export async function countFills(sql: Sql, window: Window): Promise<number> {
  const parameters = new Parameters();
  const text = `SELECT COALESCE(sum(fills), 0)::int AS fills FROM (${marketPieces([window.from, window.to], 'day', parameters)}) AS piece`;
  const [row] = await sql.query<{ fills: number }>({ name: 'pm_copy_fills', text }, parameters.values);
  return row?.fills ?? 0;
}

const STEPS: Statement = {
  name: 'pm_copy_steps',
  text: `SELECT trade.wallet, trade.condition_id, COALESCE(trade.token_id, '') AS token_id, trade.side, trade."timestamp" AS at, trade.size::float8 AS size
FROM unnest($1::text[], $2::text[]) AS wanted(wallet, condition_id)
JOIN pm_trade AS trade ON trade.wallet = wanted.wallet AND trade.condition_id = wanted.condition_id AND trade."timestamp" < $3 WHERE trade.side <> 'REDEEM'`,
};

/** A row that changes a wallet's shares; token '' changes those of every outcome. */
export interface ShareStep {
  wallet: string;
  condition_id: string;
  token_id: string;
  side: string;
  at: Date;
  size: number;
}

/** What changed the shares of wallets on markets before `to`. */
export function listShareSteps(sql: Sql, pairs: readonly { wallet: string; condition_id: string }[], to: Date): Promise<ShareStep[]> {
  return sql.query<ShareStep & Record<string, unknown>>(STEPS, [
    pairs.map(({ wallet }) => wallet),
    pairs.map(({ condition_id }) => condition_id),
    to,
  ]);
}
