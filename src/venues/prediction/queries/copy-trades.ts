import type { Sql, Statement } from '../../../db/sql';
import { HOUR_MS, latestOf } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';
import { millisecondsOf } from '../../../lib/tiles';
import type { CopyTrade } from '../scoring/copying';
import { Parameters } from './parameters';
import { marketPieces } from './taken-pieces';

// A transaction that is not known is one second.
const TX = `COALESCE(trade.tx_hash, trade."timestamp"::text)`;
const COLUMNS = `trade.wallet, trade.condition_id, trade.token_id, trade.side, ${TX} AS tx, ${millisecondsOf('min(trade."timestamp")')} AS at, sum(trade.usdc_size) AS usdc, sum(trade.size) AS size, count(*)::int AS fills`;
const TRANSACTION = `trade.wallet, trade.condition_id, trade.token_id, trade.side, ${TX}`;

// Planned each time, as all that goes by wallets and time: by a plan for all windows, of a long one the trades of everybody are read.
const OWN: Statement = {
  name: 'pm_copy_own',
  text: `SELECT ${COLUMNS} FROM pm_trade AS trade WHERE trade.wallet = ANY($1) AND trade."timestamp" >= $2 AND trade."timestamp" < $3 AND trade.side IN ('BUY', 'SELL') GROUP BY ${TRANSACTION}`,
};

/** Trades of wallets in the window, each transaction once. */
export async function listOwnTrades(sql: Sql, wallets: readonly string[], window: Window): Promise<CopyTrade[]> {
  const rows = await sql.query<CopyTrade & Record<'usdc' | 'size', string>>(OWN, [wallets, window.from, window.to]);
  // Read here: PostgreSQL makes floats of exact amounts dearly.
  return rows.map((row) => Object.assign(row, { usdc: Number(row.usdc), size: Number(row.size) }));
}

const NEWEST: Statement = {
  name: 'pm_copy_newest',
  text: `SELECT "timestamp" AS at FROM pm_trade WHERE wallet = $1 AND "timestamp" >= $2 AND "timestamp" < $3 AND side IN ('BUY', 'SELL') ORDER BY "timestamp" DESC OFFSET $4 LIMIT 1`,
};

/** The end of the window from the hour on in which the wallet, whose first fill was at `first`, made the one before its newest `most` fills: the whole window where it made no more. */
export async function narrowToNewest(sql: Sql, wallet: string, { from, to }: Window, first: Date, most: number): Promise<Window> {
  const [before] = await sql.query<{ at: Date }>(NEWEST, [wallet, latestOf([from, first]), to, most]);
  const hour = before === undefined ? 0 : Math.floor(before.at.getTime() / HOUR_MS) * HOUR_MS;
  return { from: new Date(Math.max(from.getTime(), hour)), to };
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
  /** Of a token and side no more than the leader made: each trade of the leader is copied once. */
  most_matches: number;
}

// Begun at the stretches, each a place in an index. Wallets and transactions are told apart by hash: long texts are dear to sort.
const FOLLOWING: Statement = {
  name: 'pm_copy_following',
  keyed: true,
  text: `WITH follower AS MATERIALIZED (
  SELECT min(wallet) AS wallet, sum(trades)::int AS trades, sum(LEAST(trades, led))::int AS most_matches, sum(fills) AS fills FROM (
    SELECT min(wallet) AS wallet, who, count(DISTINCT tx) AS trades, min(led) AS led, count(*) AS fills FROM (
      SELECT trade.wallet, hashtextextended(trade.wallet, 0) AS who, stretch.line, stretch.led, hashtextextended(${TX}, 0) AS tx
      FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::timestamptz[], $7::timestamptz[]) AS stretch(condition_id, token_id, side, line, led, after, until)
      JOIN pm_trade AS trade ON trade.condition_id = stretch.condition_id AND trade.token_id = stretch.token_id AND trade.side = stretch.side
        AND trade."timestamp" > stretch.after AND trade."timestamp" <= stretch.until AND trade."timestamp" < $9
      WHERE trade.wallet <> $8
    ) AS trade GROUP BY who, line
  ) AS own GROUP BY who
)
SELECT wallet, trades, most_matches, (SELECT sum(fills)::int FROM follower) AS all_fills FROM follower WHERE trades >= $10 ORDER BY trades DESC, wallet LIMIT $11`,
};

/** A token and side: its number, and the leader's trades on it. */
interface Line {
  number: number;
  led: number;
}

/** A time (after, until] in which somebody who trades the token on that side follows the leader. */
interface Stretch extends Pick<CopyTrade, 'condition_id' | 'token_id' | 'side'> {
  line: Line;
  after: Date;
  until: Date;
}

/** Nearby trades of the leader make one stretch, so that no trade is found twice. */
function stretchesOf(trades: readonly CopyTrade[], max_lag_ms: number): Stretch[] {
  const newest = new Map<string, Stretch>();
  const stretches: Stretch[] = [];
  for (const { condition_id, token_id, side, at } of [...trades].sort((a, b) => a.at - b.at)) {
    const key = `${condition_id}|${token_id}|${side}`;
    const until = new Date(at + max_lag_ms);
    const last = newest.get(key);
    if (last !== undefined) last.line.led += 1;
    if (last !== undefined && at <= last.until.getTime()) last.until = until;
    else {
      const next = { condition_id, token_id, side, line: last?.line ?? { number: newest.size, led: 1 }, after: new Date(at), until };
      newest.set(key, next);
      stretches.push(next);
    }
  }
  return stretches;
}

/** Wallets with at least so many trades within (0, max_lag_ms] after the leader's, on the same token and side, before `to`: those with most; and the fills of all others than the leader there. */
export async function listFollowers(
  sql: Sql,
  leader: string,
  trades: readonly CopyTrade[],
  { max_lag_ms, to, least, most }: { max_lag_ms: number; to: Date; least: number; most: number },
): Promise<{ followers: Follower[]; fills: number }> {
  const stretches = stretchesOf(trades, max_lag_ms);
  const values = [
    stretches.map(({ condition_id }) => condition_id),
    stretches.map(({ token_id }) => token_id),
    stretches.map(({ side }) => side),
    stretches.map(({ line }) => line.number),
    stretches.map(({ line }) => line.led),
    stretches.map(({ after }) => after),
    stretches.map(({ until }) => until),
    leader,
    to,
    least,
    most,
  ];
  const followers = await sql.query<Follower & { all_fills: number }>(FOLLOWING, values);
  return { followers, fills: followers[0]?.all_fills ?? 0 };
}

// An outcome token traded in a whole hour is a trade at least.
const WITHIN: Statement = {
  name: 'pm_copy_within',
  keyed: true,
  text: 'SELECT wallet FROM pm_wallets_within($1, $2, $3, $4) AS within(wallet)',
};

/** Of wallets, each with a number of trades, all that made no more in the window, and few others. */
export async function listWithin(sql: Sql, wallets: ReadonlyMap<string, number>, window: Window): Promise<string[]> {
  const rows = await sql.query<{ wallet: string }>(WITHIN, [[...wallets.keys()], [...wallets.values()], window.from, window.to]);
  return rows.map(({ wallet }) => wallet);
}

/** All fills seen in the window. */
export async function countFills(sql: Sql, window: Window): Promise<number> {
  const parameters = new Parameters();
  const pieces = marketPieces([window.from, window.to], 'day', parameters, 'true', 'all');
  const text = `SELECT COALESCE(sum(fills), 0)::int AS fills FROM (${pieces}) AS piece`;
  const [row] = await sql.query<{ fills: number }>({ name: 'pm_copy_fills', text }, parameters.values);
  return row?.fills ?? 0;
}

const STEPS: Statement = {
  name: 'pm_copy_steps',
  keyed: true,
  text: `SELECT pair::int, COALESCE(trade.token_id, '') AS token_id, trade.side, ${millisecondsOf('trade."timestamp"')} AS at, trade.size::float8 AS size
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted(wallet, condition_id, pair)
JOIN pm_trade AS trade ON trade.wallet = wanted.wallet AND trade.condition_id = wanted.condition_id AND trade."timestamp" < $3 WHERE trade.side <> 'REDEEM'`,
};

/** A row that changes a wallet's shares; token '' changes those of every outcome. */
export interface ShareStep {
  /** Number of the wallet and market among those asked, from 1. */
  pair: number;
  token_id: string;
  side: string;
  /** Milliseconds since 1970. */
  at: number;
  size: number;
}

/** What changed the shares of wallets on markets before `to`. */
export function listShareSteps(sql: Sql, pairs: readonly { wallet: string; condition_id: string }[], to: Date): Promise<ShareStep[]> {
  return sql.query<ShareStep>(STEPS, [pairs.map(({ wallet }) => wallet), pairs.map(({ condition_id }) => condition_id), to]);
}
