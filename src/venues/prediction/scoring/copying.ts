import { groupedBy } from '../grouped';
import { clip, mean, median, standardDeviation } from '../../../lib/statistics';

/** All fills of one transaction of a wallet on one token and side. */
export interface CopyTrade {
  wallet: string;
  condition_id: string;
  token_id: string;
  side: string;
  /** The transaction, or its second where it is not known. */
  tx: string;
  at: Date;
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
export const FULL_LIFT = 10;
export const WEIGHTS = { precision: 0.4, coverage: 0.2, lift: 0.2, regularity: 0.2 } as const;

const keyOf = ({ token_id, side }: CopyTrade): string => `${token_id}|${side}`;

/**
 * Trades of one follower that come within (0, max_lag] after a trade of the leader on the same token and side: each takes the newest such trade of
 * the leader that it has not taken yet. `eligible` says whether the follower's shares just before the leader's trade allow it.
 */
export function matchCopies(
  leader: readonly CopyTrade[],
  follower: readonly CopyTrade[],
  max_lag_ms: number,
  eligible: (match: CopyMatch) => boolean,
): CopyMatch[] {
  const matches: CopyMatch[] = [];
  const used = new Set<CopyTrade>();
  const byKey = new Map<string, CopyTrade[]>();
  for (const trade of inTime(leader)) {
    const own = byKey.get(keyOf(trade));
    if (own === undefined) byKey.set(keyOf(trade), [trade]);
    else own.push(trade);
  }
  for (const trade of inTime(follower)) {
    const before = byKey.get(keyOf(trade)) ?? [];
    const lagOf = (one: CopyTrade): number => trade.at.getTime() - one.at.getTime();
    const found = before.findLast((one) => lagOf(one) > 0 && lagOf(one) <= max_lag_ms && !used.has(one));
    if (found === undefined) continue;
    const match = { leader: found, follower: trade, lag_seconds: lagOf(found) / 1_000 };
    if (!eligible(match)) continue;
    used.add(found);
    matches.push(match);
  }
  return matches;
}

/** Trades of a follower within (0, max_lag] after any trade of the leader on the same token and side. */
export function tradesAfter(leader: readonly CopyTrade[], follower: readonly CopyTrade[], max_lag_ms: number): CopyTrade[] {
  const led = groupedBy(leader, keyOf);
  return follower.filter((trade) =>
    (led.get(keyOf(trade)) ?? []).some(({ at }) => trade.at > at && trade.at.getTime() - at.getTime() <= max_lag_ms),
  );
}

const inTime = (trades: readonly CopyTrade[]): CopyTrade[] =>
  [...trades].sort((a, b) => a.at.getTime() - b.at.getTime() || (a.tx < b.tx ? -1 : 1));

/** D-COPY of one follower. */
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
    copy_score:
      WEIGHTS.precision * precision +
      WEIGHTS.coverage * coverage +
      WEIGHTS.lift * (lift === null ? 1 : Math.min(lift / FULL_LIFT, 1)) +
      WEIGHTS.regularity * regularity,
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
  const missing = COPY_SCORE - WEIGHTS.coverage * coverage - WEIGHTS.regularity - 1e-9;
  const full = FULL_LIFT * Math.max(0, chance);
  const precision =
    missing > WEIGHTS.precision * full + WEIGHTS.lift
      ? (missing - WEIGHTS.lift) / WEIGHTS.precision
      : missing / (WEIGHTS.precision + WEIGHTS.lift / full);
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
