import type { pm_outcome as OutcomeRecord } from '../../../generated/prisma/client';
import { AppError } from '../../../errors';
import { mean } from '../../../lib/statistics';
import { type Timeframe, windowOf } from '../../../lib/timeframe';
import type { GraphContext, Resolver } from '../../venue';
import { less, over, percent, total } from '../exact';
import { groupedBy } from '../grouped';
import { makeLoaders } from '../loaders';
import { type JudgedPosition, evidenceOf, hasEnded, isPosition } from '../positions/figures';
import { listTakenVolumes, listWalletEvidence } from '../queries/insider-evidence';
import { type InsiderRow, listNewestInsiders } from '../queries/insider-runs';
import { listPositionsAsOf, loadOverlay } from '../rollups/positions-as-of';
import { scoreWallet } from '../scoring/formula';
import { isFlagged, overMarkets, riskOf } from '../scoring/insider';
import { type InsiderFinding, scanInsiders } from '../scoring/insider-scan';
import { getKnownMarket } from './markets-known';
import { loadJudged } from './position';

const DAY = 86_400_000;

interface MarketInsidersArgs {
  condition_id: string;
  limit: number;
  min_score: number;
  timeframe?: Timeframe | null;
}

/** markets/insiders: wallets with insider pattern on one market. Throws not_found for an unknown market, empty_result when no wallet reaches the score. */
export const marketsInsiders: Resolver<unknown, MarketInsidersArgs> = async (_, args, context) => {
  const { market, outcomes } = await getKnownMarket(context, args.condition_id);
  const window = args.timeframe ? windowOf(args.timeframe, context.now) : null;
  Object.assign(context.meta, { timeframe: args.timeframe ?? null, window });
  const held = await listPositionsAsOf(context.sql, { condition_ids: [args.condition_id] }, context.now);
  const scan = await scanInsiders(context.sql, held, context.now, await loadOverlay(context.sql, context.now), args.min_score);
  const found = scan.findings.filter(({ first_bet_at }) => window === null || first_bet_at >= window.from);
  if (found.length === 0) throw new AppError('empty_result', { suggestion: args.timeframe ? { timeframe: null } : { min_score: 0 } });
  const listed = found.sort((a, b) => b.score - a.score || (a.wallet < b.wallet ? -1 : 1)).slice(0, args.limit);
  context.meta.count = listed.length;
  const volume = (await listTakenVolumes(context.sql, [args.condition_id], context.now)).get(args.condition_id) ?? '0';
  const flagged = total(listed.flatMap(({ positions }) => positions.map(({ buy_usdc }) => buy_usdc)));
  return {
    ...market,
    insiders: await Promise.all(listed.map((finding) => insiderOf(finding, outcomes, context))),
    summary: {
      total_candidates_scanned: scan.scanned,
      phase1_passed: scan.survived,
      avg_insider_score: mean(listed.map(({ score }) => score)),
      highest_score: listed[0]?.score,
      dominant_outcome: dominantOf(listed.map(({ position }) => nameOf(position.token_id, outcomes))),
      flagged_buy_usdc: flagged,
      share_of_volume_pct: percent(flagged, volume),
    },
  };
};

const nameOf = (token_id: string, outcomes: readonly OutcomeRecord[]): string =>
  outcomes.find((one) => one.token_id === token_id)?.outcome ?? token_id;

/** What most are on; ties by name. */
export function dominantOf(names: readonly string[]): string | null {
  const counts = [...groupedBy(names, (name) => name)].map(([name, all]) => ({ name, count: all.length }));
  return counts.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))[0]?.name ?? null;
}

async function insiderOf(finding: InsiderFinding, outcomes: readonly OutcomeRecord[], context: GraphContext) {
  const { position, positions, score } = finding;
  const wallet = await context.loaders(makeLoaders).wallet.load(finding.wallet);
  const payout = position.payout === null ? null : Number(position.payout);
  return {
    wallet: finding.wallet,
    insider_score: score,
    signals: finding.signals,
    outcome: nameOf(position.token_id, outcomes),
    net_shares: less(position.shares, position.redeemed_shares),
    buy_usdc: total(positions.map(({ buy_usdc }) => buy_usdc)),
    wallet_age_days: ageOf(wallet?.first_trade_at ?? finding.first_bet_at, context.now),
    first_trade_timestamp: finding.first_bet_at,
    avg_entry_price: over(position.paid_usdc, position.paid_shares),
    won: payout === 1 ? true : payout === 0 ? false : null,
    realized_pnl_usdc: total(positions.map(({ gain }) => gain)),
    risk_level: riskOf(score),
    cluster_id: null,
  };
}

const ageOf = (since: Date, now: Date): number => (now.getTime() - since.getTime()) / DAY;

type InsidersSort = 'insider_score' | 'total_buy_usdc' | 'win_rate' | 'wallet_age_days';

interface InsidersArgs {
  limit: number;
  min_score: number;
  max_wallet_age_days: number;
  category?: string | null;
  sort_by: InsidersSort;
}

/** wallets/insiders: candidates of the whole venue, from the newest scan. Throws empty_result when there is no candidate. */
export const walletsInsiders: Resolver<unknown, InsidersArgs> = async (_, args, context) => {
  const rows = (await listNewestInsiders(context.sql, context.now)).filter(({ category }) => !args.category || category === args.category);
  const scored = [...groupedBy(rows, ({ wallet }) => wallet)].map(([wallet, markets]) => ({
    wallet,
    markets: markets.sort((a, b) => b.score - a.score || (a.condition_id < b.condition_id ? -1 : 1)),
    score: overMarkets(markets.map(({ score }) => score)),
  }));
  const strong = scored.filter(({ score }) => score >= args.min_score);
  const evidence = await listWalletEvidence(context.sql, strong.map(({ wallet }) => wallet), context.now, await loadOverlay(context.sql, context.now)); // prettier-ignore
  const young = strong.filter(({ wallet }) => {
    const known = evidence.get(wallet);
    return known !== undefined && ageOf(known.first_trade_at, context.now) <= args.max_wallet_age_days;
  });
  if (young.length === 0)
    throw new AppError('empty_result', {
      suggestion: strong.length > 0 ? { max_wallet_age_days: 90 } : { min_score: Math.min(20, args.min_score) },
    });
  const kept = await listPositionsAsOf(context.sql, { wallets: young.map(({ wallet }) => wallet) }, context.now);
  const positions = groupedBy(await loadJudged(kept, context), ({ wallet }) => wallet);
  const candidates = young.map((one) => ({
    ...one,
    own: positions.get(one.wallet) ?? [],
    known: evidence.get(one.wallet) as NonNullable<ReturnType<typeof evidence.get>>,
  }));
  const key = KEYS[args.sort_by];
  const ordered = candidates.map((candidate) => ({ candidate, key: key(candidate, context.now) }));
  ordered.sort((a, b) => b.key - a.key || b.candidate.score - a.candidate.score || (a.candidate.wallet < b.candidate.wallet ? -1 : 1));
  const listed = ordered.slice(0, args.limit).map(({ candidate }) => candidate);
  context.meta.count = listed.length;
  return {
    candidates: await Promise.all(listed.map((candidate) => candidateOf(candidate, context))),
    total_candidates: young.length,
    generated_at: rows[0]?.generated_at,
  };
};

interface Candidate {
  wallet: string;
  score: number;
  markets: InsiderRow[];
  own: JudgedPosition[];
  known: { first_trade_at: Date; markets_traded: number; buy_usdc: string; categories: { category: string; usdc: number }[] };
}

const resolvedOf = (own: readonly JudgedPosition[]): JudgedPosition[] =>
  own.filter((position) => isPosition(position) && position.status === 'resolved');
const winsOf = (own: readonly JudgedPosition[]): number => resolvedOf(own).filter(({ gain }) => Number(gain) > 0).length;

/** Largest first; the youngest first by age. */
const KEYS: Record<InsidersSort, (candidate: Candidate, now: Date) => number> = {
  insider_score: ({ score }) => score,
  total_buy_usdc: ({ known }) => Number(known.buy_usdc),
  win_rate: ({ own }) => over(winsOf(own), resolvedOf(own).length) ?? -1,
  wallet_age_days: ({ known }, now) => -ageOf(known.first_trade_at, now),
};

async function candidateOf({ wallet, score, markets, own, known }: Candidate, context: GraphContext) {
  const ended = own.filter((position) => isPosition(position) && hasEnded(position));
  const resolved = resolvedOf(own);
  const wins = winsOf(own);
  const categories = [...known.categories]
    .sort((a, b) => b.usdc - a.usdc || (a.category < b.category ? -1 : 1))
    .map(({ category }) => category);
  return {
    wallet,
    insider_score: score,
    wallet_age_days: ageOf(known.first_trade_at, context.now),
    first_trade: known.first_trade_at,
    markets_traded: known.markets_traded,
    total_buy_usdc: known.buy_usdc,
    category_count: categories.length,
    categories,
    win_count: wins,
    total_resolved: resolved.length,
    win_rate: over(wins, resolved.length),
    signals: markets[0]?.signals,
    risk_level: riskOf(score),
    flagged_markets: await Promise.all(markets.filter((market) => isFlagged(market.score)).map((market) => flaggedOf(market, context))),
    pnl_usdc: total(ended.map(({ gain }) => gain)),
    p_value: scoreWallet(ended.map(evidenceOf), context.now).p_value,
    cluster_id: null,
  };
}

async function flaggedOf({ condition_id, token_id, buy_usdc, score }: InsiderRow, context: GraphContext) {
  const loaders = context.loaders(makeLoaders);
  const [market, outcomes] = await Promise.all([loaders.market.load(condition_id), loaders.outcomes.load(condition_id)]);
  return { condition_id, token_id, question: market?.question ?? null, outcome: nameOf(token_id, outcomes), buy_usdc, score };
}
