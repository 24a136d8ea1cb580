import { COPY_WEIGHTS, FULL_LIFT, copyScoreOf } from '../../../lib/copy-score';
import { clip, mean, median, roundTo, standardDeviation } from '../../../lib/statistics';

/** All fills of one transaction of a wallet on one token and side. */
export interface CopyTrade {
  wallet: string;
  condition_id: string;
  token_id: string;
  side: 'BUY' | 'SELL';
  /** The transaction, or its second where it is not known. */
  tx: string;
  /** Milliseconds since 1970. */
  at: number;
  usdc: number;
  size: number;
  fills: number;
}

/** A trade of a follower after the leader's. */
export interface CopyMatch {
  leader: CopyTrade;
  follower: CopyTrade;
  lag_seconds: number;
}

/** From this score on one wallet copies another. */
export const COPY_SCORE = 0.5;
const SCORE_DIGITS = 6;

/** Trades of a wallet. */
export interface Course {
  /** Oldest first. */
  all: readonly CopyTrade[];
  /** The same by token, purchases and sales apart. */
  lines: ReadonlyMap<string, { BUY: CopyTrade[]; SELL: CopyTrade[] }>;
}

export function courseOf(trades: readonly CopyTrade[]): Course {
  const all = [...trades].sort((a, b) => a.at - b.at || (a.tx < b.tx ? -1 : 1));
  const lines = new Map<string, { BUY: CopyTrade[]; SELL: CopyTrade[] }>();
  for (const trade of all) {
    const line = lines.get(trade.token_id);
    if (line === undefined) lines.set(trade.token_id, { BUY: [], SELL: [], [trade.side]: [trade] });
    else line[trade.side].push(trade);
  }
  return { all, lines };
}

const NONE: readonly CopyTrade[] = [];
const lineOf = ({ lines }: Course, { token_id, side }: CopyTrade): readonly CopyTrade[] => lines.get(token_id)?.[side] ?? NONE;

/** How many of what is told in the order of time come before an instant. */
export function countBefore(told: readonly { at: number }[], at: number): number {
  let [from, to] = [0, told.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((told[middle] as { at: number }).at < at) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** A trade of the leader, and one of the follower after it on the same token and side. */
export type CopyPair = Pick<CopyMatch, 'leader' | 'follower'>;

/**
 * Trades of one follower that come within (0, max_lag_ms] after a trade of the leader on the same token and side: each takes the newest such trade of
 * the leader that it has not taken yet and that is `eligible`: whether the follower's shares just before the leader's trade allow it.
 */
export function matchCopies(leader: Course, follower: Course, max_lag_ms: number, eligible: (pair: CopyPair) => boolean): CopyMatch[] {
  const matches: CopyMatch[] = [];
  // Of each line of the leader how many trades have been, and those that can be taken, the newest last: one that is too old now is so from now on.
  const lines = new Map<readonly CopyTrade[], { been: number; free: CopyTrade[] }>();
  for (const trade of follower.all) {
    const line = lineOf(leader, trade);
    const state = lines.get(line) ?? { been: 0, free: [] };
    lines.set(line, state);
    for (const before = countBefore(line, trade.at); state.been < before; state.been += 1) {
      const led = line[state.been] as CopyTrade;
      if (trade.at - led.at <= max_lag_ms && eligible({ leader: led, follower: trade })) state.free.push(led);
    }
    const led = state.free.pop();
    if (led !== undefined && trade.at - led.at <= max_lag_ms)
      matches.push({ leader: led, follower: trade, lag_seconds: (trade.at - led.at) / 1_000 });
  }
  return matches;
}

/** Of a follower's trades those within (0, max_lag_ms] after any trade of the leader on the same token and side. */
export function tradesAfter(leader: Course, follower: readonly CopyTrade[], max_lag_ms: number): CopyTrade[] {
  return follower.filter((trade) => {
    const line = lineOf(leader, trade);
    const newest = line[countBefore(line, trade.at) - 1];
    return newest !== undefined && trade.at - newest.at <= max_lag_ms;
  });
}

/** How well one follower copies. */
export interface CopyFigures {
  overlap_trades: number;
  precision: number;
  coverage: number;
  lift: number | null;
  p_value: number;
  copy_score: number;
  avg_lag_seconds: number;
  median_lag_seconds: number;
}

/** Figures of matches (one at least) among so many trades of follower and leader; `chance` is the share of all trades that fall into the leader's windows. */
export function copyFigures(matches: readonly CopyMatch[], follower_trades: number, leader_trades: number, chance: number): CopyFigures {
  const lags = matches.map(({ lag_seconds }) => lag_seconds);
  const precision = Math.min(1, matches.length / Math.max(1, follower_trades));
  const coverage = Math.min(1, matches.length / Math.max(1, leader_trades));
  const lift = chance > 0 ? precision / chance : null;
  const average = mean(lags) as number;
  const spread = standardDeviation(lags);
  // One lag alone says nothing of regularity.
  const regularity = spread === null || average === 0 ? 0 : clip(1 - spread / average);
  return {
    overlap_trades: matches.length,
    precision,
    coverage,
    lift,
    p_value: binomialTail(matches.length, Math.max(follower_trades, matches.length), chance),
    // As it is told: binary fractions make a little less of some halves.
    copy_score: roundTo(copyScoreOf({ precision, coverage, lift: lift ?? Infinity, regularity }), SCORE_DIGITS),
    avg_lag_seconds: average,
    median_lag_seconds: median(lags) as number,
  };
}

/**
 * Most trades of a follower of which so many followed ones can make a copier, every lag being the same; Infinity where no number is too many. `chance` as of
 * `copyFigures`: where much falls into the leader's windows, little precision is little lift.
 */
export function mostTrades(most_matches: number, leader_trades: number, chance: number): number {
  const coverage = Math.min(1, most_matches / Math.max(1, leader_trades));
  // Sums of fractions err in their last digits.
  const missing = COPY_SCORE - COPY_WEIGHTS.coverage * coverage - COPY_WEIGHTS.regularity - 1e-9;
  const full = FULL_LIFT * Math.max(0, chance);
  const precision =
    missing > COPY_WEIGHTS.precision * full + COPY_WEIGHTS.lift
      ? (missing - COPY_WEIGHTS.lift) / COPY_WEIGHTS.precision
      : missing / (COPY_WEIGHTS.precision + COPY_WEIGHTS.lift / full);
  return precision > 0 ? Math.floor(most_matches / precision) : Infinity;
}

/** P(X >= k) of a binomial of n trials with probability p; terms are summed in logarithms from k on. */
export function binomialTail(k: number, n: number, p: number): number {
  if (k <= 0) return 1;
  if (p <= 0) return 0;
  if (p >= 1) return 1;
  let log = 0;
  for (let i = 0; i < k; i += 1) log += Math.log((n - i) / (k - i));
  let term = log + k * Math.log(p) + (n - k) * Math.log1p(-p);
  let sum = 0;
  for (let i = k; i <= n; i += 1) {
    sum += Math.exp(term);
    term += Math.log(((n - i) / (i + 1)) * (p / (1 - p)));
    if (i < n && Math.exp(term) < sum * 1e-16 && i > n * p) break;
  }
  return Math.min(1, sum);
}
