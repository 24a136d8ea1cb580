import type { Sql, Statement } from '../../../db/sql';
import { greatest, median, roundTo } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import { over } from '../exact';
import { type JudgedPosition, hasEnded, isPosition, volumeOf } from '../positions/figures';
import { PM_TAGS, type PmBehaviour } from './tags';

const HABITS: Statement = {
  name: 'pm_wallet_habits',
  text: `SELECT wallet, extract(epoch FROM percentile_disc(0.5) WITHIN GROUP (ORDER BY gap))::float8 AS median_gap_seconds, count(DISTINCT day)::int AS active_days FROM (
  SELECT wallet, "timestamp" - lag("timestamp") OVER (PARTITION BY wallet ORDER BY "timestamp") AS gap, date_trunc('day', "timestamp", 'UTC') AS day
  FROM pm_trade WHERE wallet = ANY($1) AND "timestamp" < $2 AND side IN ('BUY', 'SELL')
) AS trade GROUP BY wallet`,
};

/** How often a wallet trades. */
export interface Habits {
  wallet: string;
  median_gap_seconds: number | null;
  active_days: number;
}

/** Wallets with fewer buys and sells than this carry no tag that asks how often they trade. */
const BUSY_TRADES = Math.min(PM_TAGS.hft_bot.gap_trades, PM_TAGS.hft_bot.trades_a_day);

export const isBusy = (trades: number): boolean => trades >= BUSY_TRADES;

export async function listHabits(sql: Sql, wallets: readonly string[], now: Date): Promise<Map<string, Habits>> {
  const rows = wallets.length === 0 ? [] : await sql.query<Habits>(HABITS, [wallets, now]);
  return new Map(rows.map((row) => [row.wallet, row]));
}

/** Trades of two wallets on a token, opposite and next to each other within this time, count as one against the other. */
export const WASH_SECONDS = 60;
export const WASH_DAYS = 90;
/** Fewer matches than this may be chance in a quiet market. */
export const WASH_MATCHES = 5;

// A cluster is two wallets that both do so much of their trading against each other, or one that meets itself in a transaction.
const WASHES: Statement = {
  name: 'pm_wash_shares',
  text: `WITH fills AS (
  SELECT wallet, side, usdc_size, tx_hash, "timestamp", lead(wallet) OVER later AS other, lead(side) OVER later AS other_side, lead(usdc_size) OVER later AS other_usdc,
    lead("timestamp") OVER later AS other_at, lead(tx_hash) OVER later AS other_tx
  FROM pm_trade WHERE "timestamp" >= $1 AND "timestamp" < $2 AND side IN ('BUY', 'SELL') WINDOW later AS (PARTITION BY condition_id, token_id ORDER BY "timestamp", trade_id)
), meetings AS (
  SELECT wallet, other, LEAST(usdc_size, other_usdc) AS usdc FROM fills
  WHERE side <> other_side AND other_at - "timestamp" <= interval '${WASH_SECONDS} seconds' AND (wallet <> other OR tx_hash = other_tx)
), matched AS (
  SELECT one.wallet, one.other, sum(usdc) AS usdc, count(*) AS meetings FROM (
    SELECT wallet, other, usdc FROM meetings UNION ALL SELECT other, wallet, usdc FROM meetings WHERE wallet <> other) AS one GROUP BY one.wallet, one.other
), volumes AS (
  SELECT wallet, sum(usdc_size) AS usdc FROM fills GROUP BY wallet
)
SELECT matched.wallet, max(LEAST(matched.usdc / mine.usdc, 1))::float8 AS share FROM matched
JOIN volumes AS mine ON mine.wallet = matched.wallet JOIN volumes AS theirs ON theirs.wallet = matched.other
WHERE matched.usdc > 0 AND matched.meetings >= ${WASH_MATCHES} AND matched.usdc >= ${PM_TAGS.wash_share} * mine.usdc AND matched.usdc >= ${PM_TAGS.wash_share} * theirs.usdc
GROUP BY matched.wallet`,
};

/** Share of their volume that wallets trade against themselves or each other, over the last 90 days; only shares that make a wash trader. */
export async function listWashShares(sql: Sql, now: Date): Promise<Map<string, number>> {
  const rows = await sql.query<{ wallet: string; share: number }>(WASHES, [new Date(now.getTime() - WASH_DAYS * DAY_MS), now]);
  return new Map(rows.map(({ wallet, share }) => [wallet, share]));
}

/** What is found out about a wallet elsewhere. */
export interface Findings {
  first_trade_at: Date | null;
  habits: Habits | undefined;
  self_trade_share: number | null;
  insider_score: number | null;
  copy_score: number | null;
}

/** What the tags of a wallet look at, from all its positions, also those not seen to be bought; `largest_event_share` as the wallet score has it. */
export function behaviourOf(
  positions: readonly JudgedPosition[],
  largest_event_share: number | null,
  findings: Findings,
): Omit<PmBehaviour, 'score'> {
  const held = positions.filter(isPosition);
  const volume = volumeOf(positions);
  const top = topCategory(positions);
  const markets = new Map<string, number>();
  for (const { condition_id, trades } of positions) if (trades > 0) markets.set(condition_id, (markets.get(condition_id) ?? 0) + 1);
  const entries = held.map(({ paid_usdc, paid_shares }) => Number(paid_usdc) / Number(paid_shares));
  return {
    largest_position_usdc: greatest(held.map(({ paid_usdc }) => Number(paid_usdc))) ?? 0,
    top_category_share: top === null ? null : over(top.usdc, volume),
    top_category_positions: top === null ? 0 : held.filter(({ category }) => category === top.category).length,
    first_trade_at: findings.first_trade_at,
    largest_event_share,
    // Bought below one half, another outcome led.
    against_leader_share: entries.length === 0 ? null : entries.filter((price) => roundTo(price, 6) < 0.5).length / entries.length,
    trades: positions.reduce((sum, { trades }) => sum + trades, 0),
    active_days: findings.habits?.active_days ?? 0,
    median_gap_seconds: findings.habits?.median_gap_seconds ?? null,
    median_hold_seconds: median(
      held.filter(hasEnded).map(({ opened_at, closed_at }) => ((closed_at as Date).getTime() - opened_at.getTime()) / 1_000),
    ),
    both_sides_share: markets.size === 0 ? null : [...markets.values()].filter((outcomes) => outcomes > 1).length / markets.size,
    self_trade_share: findings.self_trade_share,
    insider_score: findings.insider_score,
    copy_score: findings.copy_score,
  };
}

/** The category with most volume. */
function topCategory(positions: readonly JudgedPosition[]): { category: string; usdc: string } | null {
  const categories = [...new Set(positions.map(({ category }) => category))].sort();
  const sums = categories.map((category) => ({
    category,
    usdc: volumeOf(positions.filter((position) => position.category === category)),
  }));
  return sums.sort((a, b) => Number(b.usdc) - Number(a.usdc))[0] ?? null;
}
