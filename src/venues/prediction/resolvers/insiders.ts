import { AppError } from '../../../errors';
import { groupedBy } from '../../../lib/grouped';
import { wilsonLowerBound } from '../../../lib/statistics';
import { DAY_MS, isoDay } from '../../../lib/time';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import { type Json, readSnapshot } from '../../../workers/snapshot';
import type { GraphContext, Resolver, Snapshot } from '../../venue';
import { less, meanScore, over, percent, total } from '../exact';
import { makeLoaders } from '../loaders';
import { makeMarketLoaders } from '../market-loaders';
import { type JudgedPosition, evidenceOf, hasEnded, hasWon, isPosition } from '../positions/figures';
import { type BoughtPosition, type WalletEvidence, listBought, listWalletEvidence, sumTaken } from '../queries/insider-evidence';
import { type InsiderRow, listNewestInsiders } from '../queries/insider-runs';
import { listPositionsAsOf, loadOverlay } from '../rollups/positions-as-of';
import { scoreWallet } from '../scoring/formula';
import { insiderScore, isFlagged, overMarkets, riskOf } from '../scoring/insider';
import { MOST_AGE_DAYS, rescanInsiders } from '../scoring/insider-job';
import { type MarketFinding, scanMarket } from '../scoring/insider-market';
import { mostBought } from '../scoring/insider-venue';
import { looser } from './looser';
import { getKnownMarket } from './markets-known';
import { loadJudged } from './position';

interface MarketInsidersArgs {
  condition_id: string;
  limit: number;
  min_score: number;
  timeframe?: Timeframe | null;
}

/** markets/insiders: wallets with insider pattern on one market. Throws not_found for an unknown market, empty_result when no wallet reaches the score. */
export const marketsInsiders: Resolver<unknown, MarketInsidersArgs> = async (_, args, context) => {
  const { market } = await getKnownMarket(context, args.condition_id);
  const window = args.timeframe ? windowOf(args.timeframe, context.now) : null;
  Object.assign(context.meta, { timeframe: args.timeframe ?? null, window });
  const overlay = await context.loaders(makeMarketLoaders).overlay();
  const scan = await scanMarket(context.sql, args.condition_id, context.now, overlay, args.min_score);
  const found = scan.findings.filter(({ first_bet_at }) => window === null || first_bet_at >= window.from);
  const none = new AppError('empty_result', { suggestion: args.timeframe ? { timeframe: null } : { min_score: 0 } });
  if (found.length === 0) throw none;
  found.sort((a, b) => b.score - a.score || (a.wallet < b.wallet ? -1 : 1));
  const [listed, flagged] = [found.slice(0, args.limit), found.filter(({ score }) => isFlagged(score))];
  const [insiders, taken] = await Promise.all([
    listInsiders(listed, args.condition_id, context),
    sumTaken(context.sql, args.condition_id, flagged.map(({ wallet }) => wallet), context.now),
  ]); // prettier-ignore
  if (insiders.length === 0) throw none;
  context.meta.count = insiders.length;
  return {
    ...market,
    insiders,
    summary: {
      total_candidates_scanned: scan.scanned,
      phase1_passed: scan.survived,
      avg_insider_score: meanScore(found.map(({ score }) => score)),
      highest_score: found[0]?.score,
      dominant_outcome: dominantOf(found.map(({ outcome }) => outcome)),
      flagged_buy_usdc: total(flagged.map(({ buy_usdc }) => buy_usdc)),
      // Volume is what takers paid: what makers paid for the other outcome is no part of it.
      share_of_volume_pct: percent(taken, scan.volume_usdc),
    },
  };
};

/** What most are on; ties by name. */
export function dominantOf(names: readonly string[]): string | null {
  const counts = [...groupedBy(names, (name) => name)].map(([name, all]) => ({ name, count: all.length }));
  return counts.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))[0]?.name ?? null;
}

async function listInsiders(findings: readonly MarketFinding[], condition_id: string, context: GraphContext): Promise<unknown[]> {
  const wallets = findings.map(({ wallet }) => wallet);
  const overlay = await context.loaders(makeMarketLoaders).overlay();
  const [held, evidence] = await Promise.all([
    listBought(context.sql, condition_id, wallets, context.now, overlay),
    listWalletEvidence(context.sql, wallets, context.now, overlay),
  ]);
  const positions = groupedBy(held, ({ wallet }) => wallet);
  return findings.flatMap((finding) => {
    const [bought, known] = [mostBought(positions.get(finding.wallet) ?? []), evidence.get(finding.wallet)];
    // Everything a wallet did may be taken back after the scan.
    return bought[0] === undefined || known === undefined ? [] : [insiderOf(finding, bought, bought[0], known, context.now)];
  });
}

function insiderOf(
  finding: MarketFinding,
  positions: readonly BoughtPosition[],
  position: BoughtPosition,
  known: WalletEvidence,
  now: Date,
): Record<string, unknown> {
  const payout = position.payout === null ? null : Number(position.payout);
  return {
    wallet: finding.wallet,
    insider_score: finding.score,
    signals: insiderScore({ ...finding.evidence, category_volumes: known.categories }).signals,
    outcome: finding.outcome,
    net_shares: less(position.shares, position.redeemed_shares),
    buy_usdc: finding.buy_usdc,
    wallet_age_days: ageOf(known.first_trade_at, now),
    first_trade_timestamp: finding.first_bet_at,
    avg_entry_price: over(position.paid_usdc, position.paid_shares),
    won: payout === 1 ? true : payout === 0 ? false : null,
    realized_pnl_usdc: total(positions.map(({ gain }) => gain)),
    risk_level: riskOf(finding.score),
    cluster_id: null,
  };
}

const ageOf = (since: Date, now: Date): number => (now.getTime() - since.getTime()) / DAY_MS;

type InsidersSort = 'insider_score' | 'total_buy_usdc' | 'win_rate' | 'wallet_age_days';

interface InsidersArgs {
  limit: number;
  min_score: number;
  max_wallet_age_days: number;
  category?: string | null;
  sort_by: InsidersSort;
}

/** A wallet of the newest scan with everything it is listed by; its markets in order of score. */
interface Suspect {
  wallet: string;
  first_trade_at: Date;
  markets_traded: number;
  buy_usdc: string;
  /** Largest first. */
  categories: string[];
  wins: number;
  resolved: number;
  pnl_usdc: string;
  p_value: number | null;
  markets: InsiderRow[];
}

/** Every wallet of the newest scan, which is made again first: one part. */
export const insidersSnapshot: Snapshot<{ generated_at: Date | null; suspects: Suspect[] }> = {
  name: 'wallets/insiders',
  every_s: 600,
  parts: ['all'],
  refresh: rescanInsiders,
  build: async (context, _, refreshed) => {
    // A scan that finds nobody leaves no row: what was just scanned again is of today, those of the day before are found no more.
    const day = refreshed ? isoDay(context.now) : ((await context.loaders(makeLoaders).scoreRun())?.day ?? null);
    const rows = await listNewestInsiders(context.sql, context.now, day);
    const byWallet = groupedBy(rows, ({ wallet }) => wallet);
    const wallets = [...byWallet.keys()];
    const evidence = await listWalletEvidence(context.sql, wallets, context.now, await loadOverlay(context.sql, context.now));
    const judged = await loadJudged(await listPositionsAsOf(context.sql, { wallets }, context.now), context);
    const positions = groupedBy(judged, ({ wallet }) => wallet);
    const suspects = [...byWallet].flatMap(([wallet, markets]): Suspect[] => {
      const known = evidence.get(wallet);
      return known === undefined ? [] : [suspectOf(wallet, known, markets, positions.get(wallet) ?? [], context.now)];
    });
    return { generated_at: rows[0]?.generated_at ?? null, suspects };
  },
};

function suspectOf(
  wallet: string,
  known: WalletEvidence,
  markets: readonly InsiderRow[],
  own: readonly JudgedPosition[],
  now: Date,
): Suspect {
  const ended = own.filter((position) => isPosition(position) && hasEnded(position));
  const resolved = ended.filter(({ status }) => status === 'resolved');
  const categories = [...known.categories].sort((a, b) => b.usdc - a.usdc || (a.category < b.category ? -1 : 1));
  return {
    wallet,
    first_trade_at: known.first_trade_at,
    markets_traded: known.markets_traded,
    buy_usdc: known.buy_usdc,
    categories: categories.map(({ category }) => category),
    wins: resolved.filter(hasWon).length,
    resolved: resolved.length,
    pnl_usdc: total(ended.map(({ gain }) => gain)),
    p_value: scoreWallet(ended.map(evidenceOf), now).p_value,
    markets: [...markets].sort((a, b) => b.score - a.score || (a.condition_id < b.condition_id ? -1 : 1)),
  };
}

/** A suspect within the category asked for. */
interface Candidate {
  suspect: Json<Suspect>;
  markets: readonly Json<InsiderRow>[];
  score: number;
  age_days: number;
}

/**
 * wallets/insiders: candidates of the whole venue, from the newest scan. Throws empty_result when there is no candidate, stale_data when its
 * snapshot is too old.
 */
export const walletsInsiders: Resolver<unknown, InsidersArgs> = async (_, args, context) => {
  const { body } = await readSnapshot(context, insidersSnapshot, 'all');
  const young = candidatesIn(body.suspects, args, context.now);
  if (young.length === 0) throw new AppError('empty_result', { suggestion: await suggestionOf(body.suspects, args, context.now) });
  const key = KEYS[args.sort_by];
  const ordered = young.sort((a, b) => key(b) - key(a) || b.score - a.score || (a.suspect.wallet < b.suspect.wallet ? -1 : 1));
  const listed = ordered.slice(0, args.limit);
  context.meta.count = listed.length;
  return { candidates: listed.map(candidateOf), total_candidates: young.length, generated_at: body.generated_at };
};

/** Candidates in scope, in no order. */
function candidatesIn(
  suspects: readonly Json<Suspect>[],
  { category, min_score, max_wallet_age_days }: Omit<InsidersArgs, 'limit' | 'sort_by'>,
  now: Date,
): Candidate[] {
  return suspects
    .flatMap((suspect): Candidate[] => {
      const markets = category ? suspect.markets.filter((market) => market.category === category) : suspect.markets;
      if (markets.length === 0) return [];
      const score = overMarkets(markets.map((market) => market.score));
      return [{ suspect, markets, score, age_days: ageOf(new Date(suspect.first_trade_at), now) }];
    })
    .filter(({ score, age_days }) => score >= min_score && age_days <= max_wallet_age_days);
}

/** Older wallets, the highest score that somebody reaches, all categories: what brings candidates. */
const suggestionOf = (suspects: readonly Json<Suspect>[], args: InsidersArgs, now: Date): Promise<Record<string, unknown>> =>
  looser(args, [{ max_wallet_age_days: MOST_AGE_DAYS }, { min_score: 0 }, { category: null }], async (asked) => {
    const scores = candidatesIn(suspects, asked, now).map(({ score }) => score);
    if (scores.length === 0) return undefined;
    return asked.min_score === args.min_score ? {} : { min_score: Math.floor(Math.max(...scores)) };
  });

/** Largest first; the youngest first by age. */
const KEYS: Record<InsidersSort, (candidate: Candidate) => number> = {
  insider_score: ({ score }) => score,
  total_buy_usdc: ({ suspect }) => Number(suspect.buy_usdc),
  win_rate: ({ suspect }) => wilsonLowerBound(suspect.wins, suspect.resolved) ?? -1,
  wallet_age_days: ({ age_days }) => -age_days,
};

function candidateOf({ suspect, markets, score, age_days }: Candidate) {
  const { wallet, categories, wins, resolved } = suspect;
  return {
    wallet,
    insider_score: score,
    wallet_age_days: age_days,
    first_trade: suspect.first_trade_at,
    markets_traded: suspect.markets_traded,
    total_buy_usdc: suspect.buy_usdc,
    category_count: categories.length,
    categories,
    win_count: wins,
    total_resolved: resolved,
    win_rate: over(wins, resolved),
    win_rate_lb: wilsonLowerBound(wins, resolved),
    signals: markets[0]?.signals,
    risk_level: riskOf(score),
    flagged_markets: markets.filter((market) => isFlagged(market.score)),
    pnl_usdc: suspect.pnl_usdc,
    p_value: suspect.p_value,
    cluster_id: null,
  };
}
