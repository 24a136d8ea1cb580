import { roundTo } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import { tierOf } from '../tier';
import { isOneCoinDay, partOf } from './formula';

const MINUTE = 60;

export type PerpTag =
  | 'elite'
  | 'smart'
  | 'whale'
  | 'specialist'
  | 'fresh'
  | 'one_hit'
  | 'market_maker'
  | 'hft_bot'
  | 'wash'
  | 'vault'
  | 'liquidated'
  | 'scalper'
  | 'swing'
  | 'copy_trader';

/** What the tags of a trader look at, over its whole life. Dollars. Null: not known, and then no tag. */
export interface PerpBehaviour {
  score: number | null;
  net_pnl: number;
  largest_coin_day_pnl: number;
  /** Largest position at its entry price. */
  largest_position_usd: number;
  /** Share of its largest coin in its volume, and round trips there. */
  top_coin_share: number | null;
  top_coin_round_trips: number;
  first_trade_at: Date | null;
  fills: number;
  active_days: number;
  median_gap_seconds: number | null;
  /** Of its round trips. */
  median_hold_seconds: number | null;
  /** Share of its fills that gave liquidity, of those where it is known. */
  maker_share: number | null;
  /** Buys less sells, and both together. */
  net_volume: number;
  gross_volume: number;
  /** Share of its volume against itself or its cluster. */
  self_trade_share: number | null;
  /** On the upstream's list of vaults. */
  is_vault: boolean;
  liquidations: number;
  /** Highest copy score with any leader. */
  copy_score: number | null;
}

/** Where the tags begin. */
export const PERP_TAGS = {
  whale_usd: 50_000,
  specialist: { share: 0.6, round_trips: 10 },
  fresh_days: 14,
  market_maker: { fills: 500, maker_share: 0.8, net_share: 0.1 },
  hft_bot: { fills_a_day: 500, gap_seconds: 5, gap_fills: 200 },
  wash_share: 0.3,
  scalper_below_seconds: 15 * MINUTE,
  swing_from_seconds: 24 * 60 * MINUTE,
  copy_score: 0.5,
} as const;

/** Tags of a trader as of `now`, in the order of PerpTag. */
export function tagsOf(trader: PerpBehaviour, now: Date): PerpTag[] {
  const tier = tierOf(trader.score);
  const { specialist } = PERP_TAGS;
  const rules: [PerpTag, boolean][] = [
    ['elite', tier === 'elite'],
    ['smart', tier === 'smart'],
    ['whale', roundTo(trader.largest_position_usd, 6) >= PERP_TAGS.whale_usd],
    ['specialist', atLeast(trader.top_coin_share, specialist.share) && trader.top_coin_round_trips >= specialist.round_trips],
    ['fresh', trader.first_trade_at !== null && now.getTime() - trader.first_trade_at.getTime() < PERP_TAGS.fresh_days * DAY_MS],
    ['one_hit', isOneCoinDay(trader)],
    ['market_maker', isMarketMaker(trader)],
    ['hft_bot', isBot(trader)],
    ['wash', atLeast(trader.self_trade_share, PERP_TAGS.wash_share)],
    ['vault', trader.is_vault],
    ['liquidated', trader.liquidations > 0],
    ['scalper', below(trader.median_hold_seconds, PERP_TAGS.scalper_below_seconds)],
    ['swing', atLeast(trader.median_hold_seconds, PERP_TAGS.swing_from_seconds)],
    ['copy_trader', atLeast(trader.copy_score, PERP_TAGS.copy_score)],
  ];
  return rules.filter(([, holds]) => holds).map(([tag]) => tag);
}

function isMarketMaker({ fills, maker_share, net_volume, gross_volume }: PerpBehaviour): boolean {
  const rule = PERP_TAGS.market_maker;
  return (
    fills >= rule.fills &&
    atLeast(maker_share, rule.maker_share) &&
    gross_volume > 0 &&
    partOf(gross_volume, Math.abs(net_volume)) <= rule.net_share
  );
}

function isBot({ fills, active_days, median_gap_seconds }: PerpBehaviour): boolean {
  const rule = PERP_TAGS.hft_bot;
  return (
    (active_days > 0 && fills / active_days >= rule.fills_a_day) || (fills >= rule.gap_fills && below(median_gap_seconds, rule.gap_seconds))
  );
}

const atLeast = (x: number | null, bound: number): boolean => x !== null && x >= bound;
const below = (x: number | null, bound: number): boolean => x !== null && x < bound;
