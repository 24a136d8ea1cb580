import type { pm_wallet_score as ScoreRecord } from '../../../generated/prisma/client';
import { groupedBy } from '../../../lib/grouped';
import { wilsonLowerBound } from '../../../lib/statistics';
import { BEGINNING, type Window, windowOf } from '../../../lib/timeframe';
import type { GraphContext } from '../../venue';
import { makeLoaders } from '../loaders';
import { over, percent, total } from '../exact';
import type { WalletsScope } from '../queries/known-positions';
import { type WalletFigures, listWalletFigures } from '../queries/wallet-figures';
import { type WalletVolume, listWalletVolumes } from '../queries/wallet-volumes';
import type { PmScore } from '../scoring/formula';
import { isSpecialist } from '../scoring/tags';
import { tierOf } from '../scoring/tiers';

/** All that is known of a wallet as of an answer: figures of its positions that ended in the window, and what it traded in it. */
export interface WalletState {
  wallet: string;
  whole: WalletFigures;
  categories: WalletFigures[];
  /** What was bought and sold in the window, by category, largest first. */
  volumes: WalletVolume[];
  score: ScoreRecord | null;
  first_trade: Date | null;
  /** In the newest scan; null when it was no candidate. */
  insider_score: number | null;
}

/** States of these wallets, whole life or a window, in the order asked; null for a wallet that never traded. */
export async function loadWalletStates(scope: WalletsScope, context: GraphContext, window: Window | null): Promise<(WalletState | null)[]> {
  const lifetime = windowOf('all', scope.now);
  const [rows, traded] = await Promise.all([
    listWalletFigures(context.sql, scope, window ?? lifetime, null),
    window && listWalletVolumes(context.sql, scope.wallets, window),
  ]);
  const figures = groupedBy(rows, ({ wallet }) => wallet);
  const loaders = context.loaders(makeLoaders);
  return Promise.all(
    scope.wallets.map(async (wallet) => {
      const [score, insider_score, record] = await Promise.all([
        loaders.score.load(wallet),
        loaders.insiderScore.load(wallet),
        window === null ? loaders.wallet.load(wallet) : null,
      ]);
      const own = figures.get(wallet) ?? [];
      const whole = own.find(({ category }) => category === null);
      if (whole === undefined || whole.trades === 0) return null;
      const categories = own.filter(({ category }) => category !== null);
      const volumes = (traded?.filter((volume) => volume.wallet === wallet) ?? categories.flatMap(lifetimeVolume)).sort(byVolume);
      return {
        wallet,
        whole,
        categories,
        volumes,
        score,
        first_trade: window === null ? (record?.first_trade_at ?? null) : earliest(volumes.map(({ first_at }) => first_at)),
        insider_score,
      };
    }),
  );
}

/** What was ever bought and sold in a category; nothing where nothing was. */
const lifetimeVolume = ({ wallet, category, trades, volume, markets, last_trade_at }: WalletFigures): WalletVolume[] =>
  trades === 0 ? [] : [{ wallet, category: category as string, volume, markets, first_at: BEGINNING, last_at: last_trade_at ?? BEGINNING }];

const byVolume = (a: WalletVolume, b: WalletVolume): number => Number(b.volume) - Number(a.volume) || (a.category < b.category ? -1 : 1);

/** The `profile` of wallets/profile (R-WALLET), over positions that ended in the window; `unrealized` is of those that are open. */
export function profileOf({ whole, categories, volumes, score, first_trade, insider_score }: WalletState, unrealized: string) {
  const volume = total(volumes.map((one) => one.volume));
  const top = volumes[0];
  const breakdown = (score?.breakdown ?? null) as (Partial<PmScore> & { copy_followers?: number }) | null;
  return {
    score: score?.score ?? null,
    sharpe: whole.sharpe,
    win_rate: over(whole.wins, whole.counted),
    total_pnl: whole.pnl,
    total_volume: volume,
    resolved_positions: whole.resolved,
    tags: score?.tags ?? [],
    tier: tierOf(score?.score == null ? null : Number(score.score)),
    primary_category: top?.category ?? null,
    is_specialist:
      top !== undefined && isSpecialist(over(top.volume, volume), categories.find(({ category }) => category === top.category)?.held ?? 0),
    score_confidence: breakdown?.score_confidence ?? null,
    edge: score?.edge ?? null,
    edge_ci: score?.edge_low == null || score.edge_high === null ? null : [score.edge_low, score.edge_high],
    win_rate_lb: wilsonLowerBound(whole.wins, whole.counted),
    roi_pct: percent(whole.pnl, whole.cost),
    profit_factor: over(whole.gained, whole.lost),
    max_drawdown_usdc: whole.max_drawdown,
    unrealized_pnl_usdc: unrealized,
    brier: whole.brier,
    avg_entry_price: whole.avg_entry_price,
    followable_roi_pct: score?.followable_roi_pct ?? null,
    followable_share: score?.followable_share ?? null,
    largest_event_share: whole.largest_event_share,
    first_trade,
    last_trade: latest(volumes.map(({ last_at }) => last_at)),
    markets_traded: volumes.reduce((sum, { markets }) => sum + markets, 0),
    copy_followers: breakdown?.copy_followers ?? null,
    insider_score,
  };
}

const earliest = (times: readonly Date[]): Date | null =>
  times.reduce<Date | null>((first, time) => (first === null || time < first ? time : first), null);
const latest = (times: readonly Date[]): Date | null =>
  times.reduce<Date | null>((last, time) => (last === null || time > last ? time : last), null);

/** The `category_breakdown` of wallets/profile, largest volume first; gain and rates are of positions that ended in the window. */
export function categoryBreakdownOf({ categories, volumes }: WalletState) {
  const all = total(volumes.map(({ volume }) => volume));
  const traded = volumes.map(({ category, volume }) => ({
    category,
    volume,
    figures: categories.find((one) => one.category === category),
  }));
  const further = categories
    .filter(({ category, seen }) => seen > 0 && !volumes.some((row) => row.category === category))
    .map((figures) => ({ category: figures.category as string, volume: '0', figures }))
    .sort((a, b) => (a.category < b.category ? -1 : 1));
  return [...traded, ...further].map(({ category, volume, figures }) => ({
    category,
    position_count: figures?.seen ?? 0,
    volume,
    pnl: figures?.pnl ?? '0',
    roi_pct: figures ? percent(figures.pnl, figures.cost) : null,
    win_rate: figures ? over(figures.wins, figures.counted) : null,
    sharpe: figures?.sharpe ?? null,
    share_of_volume_pct: percent(volume, all),
  }));
}
