import { clear, clip, hhi, logClip, roundTo, sum, wilsonLowerBound } from '../../../lib/statistics';
import type { Category } from '../../../lib/category';

/** Points of the seven signals of the insider pattern, and where they begin and end. What the definition leaves open between its ends runs on a logarithmic scale. */
export const D_INS = {
  wallet_age: { points: 15, days: 30 },
  first_bet_size: { points: 15, multiple: 50, min_usdc: 1_000 },
  bet_timing: { points: 20, full_hours: 6, none_hours: 14 * 24 },
  withdrawal_speed: { points: 10, full_minutes: 60, none_minutes: 24 * 60 },
  market_selection: { points: 10, low_usdc: 50_000, high_usdc: 1_000_000 },
  category_concentration: { points: 10 },
  short_bet_win_rate: { points: 20, hours: 72, min_bets: 3, full_gap: 0.3 },
  /** The price below which news is not out yet. */
  news_price: 0.9,
  risk: { medium: 35, high: 50, critical: 75 },
  /** Of each further flagged market. */
  further_market: 5,
} as const;

/** What the pattern of a wallet on a market is judged by; null: not known. */
export interface InsiderEvidence {
  /** Age of the wallet at its first bet on the market. */
  age_days: number | null;
  first_bet_usdc: number | null;
  /** Usual first bet on the market. */
  median_first_bet_usdc: number | null;
  /** From the bet to the news, or to the end of an unresolved market; negative: the bet came later. */
  hours_before_end: number | null;
  is_resolved: boolean;
  /** From resolution to the first payout taken. */
  minutes_after_resolution: number | null;
  market: { category: string; question: string | null; tags: readonly string[]; outcomes: number; volume_usdc: number };
  /** Volume of the wallet by category. */
  category_volumes: readonly { category: string; usdc: number }[];
  /** Positions opened shortly before resolution: how many, how many won, mean entry price. */
  short_bets: { n: number; wins: number; mean_entry: number | null };
}

/** The seven parts, in the words of InsiderSignals. */
export interface InsiderSignalsRecord {
  wallet_age: { score: number; days: number | null };
  first_bet_size: { score: number; usdc: number | null };
  bet_timing: { score: number; hours_before_end: number | null };
  withdrawal_speed: { score: number; minutes_after_resolution: number | null };
  market_selection: { score: number; is_binary: boolean; is_high_volume: boolean };
  category_concentration: { score: number; distinct_categories: number; primary_category: string | null };
  short_bet_win_rate: { score: number; win_rate: number | null; sample_size: number };
}

const ASSET_QUESTION =
  /\bprices?\b|\bup or down\b|\$\s?\d|\b(above|below|reach|hit|dip to)\b.*\d|\b(close|finish|end|open)\b.*\b(higher|lower|up|down|green|red)\b|\b(new|record|all[- ]time|daily|weekly|monthly|yearly)\b.*\b(high|low)\b|\bath\b/i;
const PRICED: readonly string[] = ['Crypto', 'Finance'] satisfies Category[];
const GAMES: readonly string[] = ['Sports', 'Esports'] satisfies Category[];

/** Nobody knows the outcome of a game or the price of an asset ahead. */
const isKnowable = ({ category, question, tags }: InsiderEvidence['market']): boolean =>
  !GAMES.includes(category) &&
  !(PRICED.includes(category) && (tags.some((tag) => tag.includes('price')) || ASSET_QUESTION.test(question ?? '')));

/** What the score looks at: it asks no names of categories. */
export type WeighedEvidence = Omit<InsiderEvidence, 'category_volumes'> & { category_volumes: readonly { usdc: number }[] };

/** Insider-pattern score of a wallet on a market, 0-100 in tenths. A signal out of play gives its weight to the others. */
export function scoreOf(evidence: WeighedEvidence): number {
  return roundTo(clear(Math.min(100, (100 * sum(Object.values(pointsOf(evidence)))) / inPlay(evidence))), 1);
}

/** The score with its parts. */
export const insiderScore = (evidence: InsiderEvidence): { score: number; signals: InsiderSignalsRecord } => ({
  score: scoreOf(evidence),
  signals: signalsOf(evidence),
});

const hasShortBets = ({ short_bets }: Pick<WeighedEvidence, 'short_bets'>): boolean => short_bets.n >= D_INS.short_bet_win_rate.min_bets;

/** The points of the signals that are in play. */
const inPlay = (evidence: Pick<WeighedEvidence, 'is_resolved' | 'short_bets'>): number =>
  100 - (evidence.is_resolved ? 0 : D_INS.withdrawal_speed.points) - (hasShortBets(evidence) ? 0 : D_INS.short_bet_win_rate.points);

function pointsOf(evidence: WeighedEvidence): Record<keyof InsiderSignalsRecord, number> {
  return {
    wallet_age: walletAgePoints(evidence.age_days),
    first_bet_size: betSizePoints(evidence),
    bet_timing: timingPoints(evidence.hours_before_end),
    withdrawal_speed: evidence.is_resolved ? speedPoints(evidence.minutes_after_resolution) : 0,
    market_selection: selectionPoints(evidence.market),
    category_concentration: concentrationPoints(evidence.category_volumes),
    short_bet_win_rate: hasShortBets(evidence) ? shortBetPoints(evidence.short_bets) : 0,
  };
}

function signalsOf(evidence: InsiderEvidence): InsiderSignalsRecord {
  const { age_days, first_bet_usdc, hours_before_end, minutes_after_resolution, market, category_volumes, short_bets } = evidence;
  const points = pointsOf(evidence);
  const primary = [...category_volumes].sort((a, b) => b.usdc - a.usdc || (a.category < b.category ? -1 : 1))[0];
  return {
    wallet_age: { score: points.wallet_age, days: age_days },
    first_bet_size: { score: points.first_bet_size, usdc: first_bet_usdc },
    bet_timing: { score: points.bet_timing, hours_before_end },
    withdrawal_speed: { score: points.withdrawal_speed, minutes_after_resolution },
    market_selection: {
      score: points.market_selection,
      is_binary: market.outcomes === 2,
      is_high_volume: market.volume_usdc >= D_INS.market_selection.high_usdc,
    },
    category_concentration: {
      score: points.category_concentration,
      distinct_categories: category_volumes.length,
      primary_category: primary?.category ?? null,
    },
    short_bet_win_rate: {
      score: points.short_bet_win_rate,
      win_rate: short_bets.n === 0 ? null : short_bets.wins / short_bets.n,
      sample_size: short_bets.n,
    },
  };
}

const walletAgePoints = (days: number | null): number =>
  days === null ? 0 : clear(D_INS.wallet_age.points * clip((D_INS.wallet_age.days - days) / D_INS.wallet_age.days));

function betSizePoints({ first_bet_usdc: usdc, median_first_bet_usdc: median }: WeighedEvidence): number {
  const { points, multiple, min_usdc } = D_INS.first_bet_size;
  return usdc === null || usdc < min_usdc || !median ? 0 : points * logClip(usdc / median, 1, multiple);
}

function timingPoints(hours: number | null): number {
  const { points, full_hours, none_hours } = D_INS.bet_timing;
  return hours === null || hours < 0 ? 0 : points * logClip(Math.max(hours, full_hours), none_hours, full_hours);
}

function speedPoints(minutes: number | null): number {
  const { points, full_minutes, none_minutes } = D_INS.withdrawal_speed;
  return minutes === null ? 0 : points * logClip(Math.max(minutes, full_minutes), none_minutes, full_minutes);
}

function selectionPoints(market: InsiderEvidence['market']): number {
  const { points, low_usdc, high_usdc } = D_INS.market_selection;
  return market.outcomes !== 2 || !isKnowable(market) ? 0 : points * logClip(Math.max(market.volume_usdc, low_usdc), high_usdc, low_usdc);
}

const concentrationPoints = (volumes: readonly { usdc: number }[]): number =>
  clear(D_INS.category_concentration.points * (hhi(volumes.map(({ usdc }) => usdc)) ?? 0));

function shortBetPoints({ n, wins, mean_entry }: InsiderEvidence['short_bets']): number {
  const { points, full_gap } = D_INS.short_bet_win_rate;
  return points * clip(((wilsonLowerBound(wins, n) ?? 0) - (mean_entry ?? 1)) / full_gap);
}

/** The most a wallet can reach on a market by what wallet-level tables tell: its first phase. */
export function reachOf(
  evidence: Pick<WeighedEvidence, 'age_days' | 'market' | 'category_volumes' | 'is_resolved' | 'short_bets'>,
): number {
  const known = walletAgePoints(evidence.age_days) + selectionPoints(evidence.market) + concentrationPoints(evidence.category_volumes);
  const open =
    D_INS.first_bet_size.points +
    D_INS.bet_timing.points +
    (evidence.is_resolved ? D_INS.withdrawal_speed.points : 0) +
    (hasShortBets(evidence) ? shortBetPoints(evidence.short_bets) : 0);
  return clear((100 * (known + open)) / inPlay(evidence));
}

/**
 * Whether a wallet on a market can be a candidate of the venue-wide list by its first phase: young at its bet, on a market that somebody can know
 * of, its volume in no more than two categories' worth (an index of one half). Without it the many markets of a large trader make a flag by chance.
 */
export function isCandidate(evidence: Pick<WeighedEvidence, 'age_days' | 'market' | 'category_volumes'>): boolean {
  const narrow = concentrationPoints(evidence.category_volumes) * 2 >= D_INS.category_concentration.points;
  return walletAgePoints(evidence.age_days) > 0 && selectionPoints(evidence.market) > 0 && narrow;
}

export type RiskLevel = 'low' | 'medium' | 'high' | 'critical';

export function riskOf(score: number): RiskLevel {
  const { medium, high, critical } = D_INS.risk;
  return score >= critical ? 'critical' : score >= high ? 'high' : score >= medium ? 'medium' : 'low';
}

/** A score that makes a flag. */
export const isFlagged = (score: number): boolean => score >= D_INS.risk.high;

/** Score of a wallet over its markets: the highest, 5 more for each further flagged one, 100 at most. */
export function overMarkets(scores: readonly number[]): number {
  const flagged = scores.filter(isFlagged).length;
  return Math.min(100, Math.max(0, ...scores) + D_INS.further_market * Math.max(0, flagged - 1));
}
