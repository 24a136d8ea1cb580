import type { pm_wallet_score as ScoreRecord } from '../../../generated/prisma/client';
import { BEGINNING, type Window } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';
import { over, percent, total } from '../exact';
import { type JudgedPosition, figuresOf, hasEnded, isPosition, topEventShare } from '../positions/figures';
import { type WalletVolume, listWalletVolumes } from '../queries/wallet-volumes';
import { listPositionsAsOf } from '../rollups/positions-as-of';
import type { PmScore } from '../scoring/formula';
import { isSpecialist } from '../scoring/tags';
import { tierOf } from '../scoring/tiers';
import { type KnownPosition, loadKnown, unrealizedOf } from './position';

/** All that is known of a wallet's positions as of an answer. */
export interface WalletState {
  wallet: string;
  /** Bought at all; open ones and ended ones. */
  positions: KnownPosition[];
  /** What was bought and sold in the window, by market. */
  volumes: WalletVolume[];
  score: ScoreRecord | null;
  first_trade: Date | null;
  /** In the newest scan; null when it was no candidate. */
  insider_score: number | null;
}

/** States of these wallets, whole life or a window, in the order asked; null for a wallet that never traded. */
export async function loadWalletStates(
  wallets: readonly string[],
  context: GraphContext,
  window: Window | null,
): Promise<(WalletState | null)[]> {
  const rows = await listPositionsAsOf(context.sql, { wallets }, context.now);
  const known = await loadKnown(rows, context);
  const volumes = window === null ? known.map(lifetimeVolumes) : await listWalletVolumes(context.sql, wallets, window);
  const loaders = context.loaders(makeLoaders);
  return Promise.all(
    wallets.map(async (wallet) => {
      const own = known.filter((position) => position.wallet === wallet);
      if (!own.some(({ trades }) => trades > 0)) return null;
      const traded = volumes.filter((volume) => volume.wallet === wallet && volume.trades > 0);
      const first_trade =
        window === null ? ((await loaders.wallet.load(wallet))?.first_trade_at ?? null) : earliest(traded.map(({ first_at }) => first_at));
      return {
        wallet,
        positions: own.filter(isPosition),
        volumes: traded,
        score: await loaders.score.load(wallet),
        first_trade,
        insider_score: await loaders.insiderScore.load(wallet),
      };
    }),
  );
}

/** What a position adds to its wallet's volume. */
export const lifetimeVolumes = ({
  wallet,
  condition_id,
  category,
  buy_usdc,
  sell_usdc,
  trades,
  opened_at,
  last_trade_at,
}: JudgedPosition): WalletVolume => ({
  wallet,
  condition_id,
  category,
  usdc: total([buy_usdc, sell_usdc]),
  trades,
  first_at: opened_at,
  last_at: last_trade_at ?? BEGINNING,
});

/** Positions of the state that ended in the window. */
const endedIn = (positions: readonly KnownPosition[], window: Window): KnownPosition[] =>
  positions.filter(
    (position) => hasEnded(position) && position.closed_at !== null && position.closed_at >= window.from && position.closed_at <= window.to,
  );

/** Volume by category, largest first. */
export function volumeByCategory(volumes: readonly WalletVolume[]): { category: string; usdc: string }[] {
  const sums = new Map<string, string[]>();
  for (const { category, usdc, trades } of volumes) if (trades > 0) sums.set(category, [...(sums.get(category) ?? []), usdc]);
  return [...sums]
    .map(([category, amounts]) => ({ category, usdc: total(amounts) }))
    .sort((a, b) => Number(b.usdc) - Number(a.usdc) || (a.category < b.category ? -1 : 1));
}

/** The `profile` of wallets/profile (R-WALLET), over positions that ended in the window. */
export function profileOf(state: WalletState, window: Window, context: GraphContext) {
  const { positions, volumes, score } = state;
  const ended = endedIn(positions, window);
  const figures = figuresOf(ended);
  const byCategory = volumeByCategory(volumes);
  const volume = total(volumes.map(({ usdc }) => usdc));
  const top = byCategory[0];
  const breakdown = (score?.breakdown ?? null) as (Partial<PmScore> & { copy_followers?: number }) | null;
  return {
    score: score?.score ?? null,
    sharpe: figures.sharpe,
    win_rate: figures.win_rate,
    total_pnl: figures.pnl,
    total_volume: volume,
    resolved_positions: ended.filter(({ status }) => status === 'resolved').length,
    tags: score?.tags ?? [],
    tier: tierOf(score?.score == null ? null : Number(score.score)),
    primary_category: top?.category ?? null,
    is_specialist:
      top !== undefined && isSpecialist(over(top.usdc, volume), positions.filter(({ category }) => category === top.category).length),
    score_confidence: breakdown?.score_confidence ?? null,
    edge: score?.edge ?? null,
    edge_ci: score?.edge_low == null || score.edge_high === null ? null : [score.edge_low, score.edge_high],
    win_rate_lb: figures.win_rate_lb,
    roi_pct: figures.roi_pct,
    profit_factor: figures.profit_factor,
    max_drawdown_usdc: figures.max_drawdown,
    unrealized_pnl_usdc: total(positions.flatMap((position) => unrealizedOf(position) ?? [])),
    brier: figures.brier,
    avg_entry_price: figures.avg_entry_price,
    followable_roi_pct: score?.followable_roi_pct ?? null,
    followable_share: score?.followable_share ?? null,
    largest_event_share: topEventShare(ended, context.now),
    first_trade: state.first_trade,
    last_trade: latest(volumes.map(({ last_at }) => last_at)),
    markets_traded: new Set(volumes.map(({ condition_id }) => condition_id)).size,
    copy_followers: breakdown?.copy_followers ?? null,
    insider_score: state.insider_score,
  };
}

const earliest = (times: readonly Date[]): Date | null =>
  times.reduce<Date | null>((first, time) => (first === null || time < first ? time : first), null);
const latest = (times: readonly Date[]): Date | null =>
  times.reduce<Date | null>((last, time) => (last === null || time > last ? time : last), null);

/** The `category_breakdown` of wallets/profile, largest volume first; gain and rates are of positions that ended in the window. */
export function categoryBreakdownOf({ positions, volumes }: WalletState, window: Window) {
  const byCategory = volumeByCategory(volumes);
  const all = total(byCategory.map(({ usdc }) => usdc));
  const seen = positions.filter(
    (position) => position.opened_at < window.to && (position.status === 'open' || (position.closed_at as Date) >= window.from),
  );
  const further = [...new Set(seen.map(({ category }) => category))]
    .filter((category) => !byCategory.some((row) => row.category === category))
    .sort();
  return [...byCategory, ...further.map((category) => ({ category, usdc: '0' }))].map(({ category, usdc }) => {
    const figures = figuresOf(endedIn(positions, window).filter((position) => position.category === category));
    return {
      category,
      position_count: seen.filter((position) => position.category === category).length,
      volume: usdc,
      pnl: figures.pnl,
      roi_pct: figures.roi_pct,
      win_rate: figures.win_rate,
      sharpe: figures.sharpe,
      share_of_volume_pct: percent(usdc, all),
    };
  });
}
