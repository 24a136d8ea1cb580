import { roundTo } from '../../../lib/statistics';
import { DAY_MS } from '../../../lib/time';
import { S_PM } from './parameters';
import { tierOf } from './tiers';

export type PmTag =
  | 'elite'
  | 'smart'
  | 'whale'
  | 'specialist'
  | 'fresh'
  | 'one_hit'
  | 'contrarian'
  | 'market_maker'
  | 'hft_bot'
  | 'wash'
  | 'insider_pattern'
  | 'copy_trader'
  | 'dumb';

/** What the tags of a wallet look at, over its whole life. Null: not known, and then no tag. */
export interface PmBehaviour {
  score: number | null;
  /** Cost of its largest position, USDC. */
  largest_position_usdc: number;
  /** Share of its largest category in its volume, and positions there. */
  top_category_share: number | null;
  top_category_positions: number;
  first_trade_at: Date | null;
  /** Share of its largest event in its net gain. */
  largest_event_share: number | null;
  /** Share of its entries on an outcome that was not the price leader. */
  against_leader_share: number | null;
  /** Buys and sells, and days with any. */
  trades: number;
  active_days: number;
  median_gap_seconds: number | null;
  median_hold_seconds: number | null;
  /** Share of its markets in which it traded more than one outcome. */
  both_sides_share: number | null;
  /** Share of its volume against itself or its cluster. */
  self_trade_share: number | null;
  /** Highest insider-pattern score over its markets. */
  insider_score: number | null;
  /** Highest copy score with any leader. */
  copy_score: number | null;
}

/** Where the tags begin. What a tag may not reach but must exceed is named `above`. */
export const PM_TAGS = {
  whale_usdc: 50_000,
  specialist: { share: 0.6, positions: 10 },
  fresh_days: 14,
  contrarian_above: 0.5,
  market_maker: { both_sides_above: 0.6, hold_seconds: 3_600, trades: 500 },
  hft_bot: { trades_a_day: 500, gap_seconds: 5, gap_trades: 200 },
  wash_share: 0.3,
  insider_score: 50,
  copy_score: 0.5,
  dumb_score: 30,
} as const;

/** Share and positions of one category that make a specialist. */
export const isSpecialist = (share: number | null, positions: number): boolean =>
  atLeast(share, PM_TAGS.specialist.share) && positions >= PM_TAGS.specialist.positions;

/** Tags of a wallet as of `now`, in the order of PmTag. */
export function tagsOf(wallet: PmBehaviour, now: Date): PmTag[] {
  const tier = tierOf(wallet.score);
  const rules: [PmTag, boolean][] = [
    ['elite', tier === 'elite'],
    ['smart', tier === 'smart'],
    ['whale', wallet.largest_position_usdc >= PM_TAGS.whale_usdc],
    ['specialist', isSpecialist(wallet.top_category_share, wallet.top_category_positions)],
    ['fresh', wallet.first_trade_at !== null && now.getTime() - wallet.first_trade_at.getTime() < PM_TAGS.fresh_days * DAY_MS],
    ['one_hit', atLeast(wallet.largest_event_share, S_PM.one_hit.event_share)],
    ['contrarian', above(wallet.against_leader_share, PM_TAGS.contrarian_above)],
    ['market_maker', isMarketMaker(wallet)],
    ['hft_bot', isBot(wallet)],
    ['wash', atLeast(wallet.self_trade_share, PM_TAGS.wash_share)],
    ['insider_pattern', atLeast(wallet.insider_score, PM_TAGS.insider_score)],
    ['copy_trader', atLeast(wallet.copy_score, PM_TAGS.copy_score)],
    ['dumb', wallet.score !== null && wallet.score <= PM_TAGS.dumb_score],
  ];
  return rules.filter(([, holds]) => holds).map(([tag]) => tag);
}

function isMarketMaker({ trades, both_sides_share, median_hold_seconds }: PmBehaviour): boolean {
  const rule = PM_TAGS.market_maker;
  return trades >= rule.trades && above(both_sides_share, rule.both_sides_above) && below(median_hold_seconds, rule.hold_seconds);
}

function isBot({ trades, active_days, median_gap_seconds }: PmBehaviour): boolean {
  const rule = PM_TAGS.hft_bot;
  return (
    (active_days > 0 && trades / active_days >= rule.trades_a_day) ||
    (trades >= rule.gap_trades && below(median_gap_seconds, rule.gap_seconds))
  );
}

/** Shares are compared as they are told: three fifths as a binary fraction may be a little less. */
const atLeast = (x: number | null, bound: number): boolean => x !== null && roundTo(x, 6) >= bound;
const above = (x: number | null, bound: number): boolean => x !== null && x > bound;
const below = (x: number | null, bound: number): boolean => x !== null && x < bound;
