import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time';
import type { SimCoin } from './coins';
import type { Role } from './roster';

const SECOND = 1_000;

/** From flat to flat in one coin: when, which way, how much. */
export interface Trip {
  enter: number;
  exit: number;
  /** +1 long, −1 short. */
  side: 1 | -1;
  usd: number;
  /** Orders it is entered and left by. */
  entries: number;
  exits: number;
  liquidated: boolean;
}

/** How a role trades. Amounts in USD, times in milliseconds; both spread log-normally around the median. */
export interface Style {
  usd: number;
  usd_spread: number;
  hold: number;
  hold_spread: number;
  entries: [number, number];
  exits: [number, number];
  /** How often it is on the right side of what comes. */
  skill: number;
  /** Smallest relative move worth a trade, for those who see it coming. */
  least_move: number;
  /** Adverse relative move that ends the position by force. */
  liquidated_at: number;
}

const RETAIL: Style = {
  usd: 350,
  usd_spread: 2,
  hold: 7 * HOUR_MS,
  hold_spread: 1,
  entries: [1, 2],
  exits: [1, 2],
  skill: 0.49,
  least_move: 0,
  liquidated_at: Infinity,
};

export const STYLES: Partial<Record<Role, Style>> = {
  retail: RETAIL,
  newcomer: { ...RETAIL, usd: 900 },
  skilled: {
    ...RETAIL,
    usd: 15_000,
    usd_spread: 1.3,
    hold: 5 * HOUR_MS,
    hold_spread: 0.6,
    entries: [2, 5],
    exits: [2, 5],
    skill: 0.9,
    least_move: 0.006,
  },
  loser: { ...RETAIL, usd: 3_000, usd_spread: 1.7, hold: 4 * HOUR_MS, entries: [1, 3], exits: [1, 2], skill: 0.28 },
  degen: { ...RETAIL, usd: 1_200, usd_spread: 1.8, hold: 5 * HOUR_MS, liquidated_at: 0.025 },
  whale: { ...RETAIL, usd: 500_000, usd_spread: 1.4, hold: 34 * HOUR_MS, hold_spread: 0.5, entries: [4, 8], exits: [3, 7], skill: 0.42 },
  scalper: { ...RETAIL, usd: 600, usd_spread: 0.4, hold: 6 * MINUTE_MS, hold_spread: 0.5, entries: [1, 1], exits: [1, 1], skill: 0.8 },
  wash_b: { ...RETAIL, usd: 4_000, usd_spread: 0.3, hold: 4 * MINUTE_MS, hold_spread: 0.5, entries: [1, 1], exits: [1, 1] },
  lucky: {
    ...RETAIL,
    usd: 60_000,
    usd_spread: 0.6,
    hold: 20 * HOUR_MS,
    hold_spread: 0.3,
    entries: [2, 3],
    exits: [2, 3],
    skill: 1,
    least_move: 0.01,
  },
};

/** A standard normal number. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export const exponential = (random: () => number, mean: number): number => -Math.log(1 - random()) * mean;
export const between = (random: () => number, [least, most]: readonly [number, number]): number =>
  least + Math.floor(random() * (most - least + 1));
const around = (random: () => number, median: number, spread: number): number => median * Math.exp(spread * normal(random));

/** The world's day: busiest at 15:00 UTC, a third as busy at 3:00. 0..1. */
export function busyAt(time: number): number {
  return 0.66 + 0.34 * Math.cos((2 * Math.PI * (time - 15 * HOUR_MS)) / DAY_MS);
}

/** One trip of a style from `enter` on, over by `latest`; null when the trader sees nothing worth it or there is no time left. */
export function makeTrip(style: Style, coin: SimCoin, enter: number, latest: number, random: () => number): Trip | null {
  const price = coin.path.at(enter);
  let hold = around(random, style.hold, style.hold_spread);
  let move = 0;
  for (let tries = 0; tries < 4; tries += 1) {
    const exit = Math.min(enter + hold, latest);
    move = Math.log(coin.path.at(exit) / price);
    if (Math.abs(move) >= style.least_move) break;
    hold *= 1.6;
  }
  const exit = Math.min(enter + hold, latest);
  if (Math.abs(move) < style.least_move || exit - enter < SECOND) return null;
  const right: 1 | -1 = move >= 0 ? 1 : -1;
  const side: 1 | -1 = random() < style.skill ? right : (-right as 1 | -1);
  const forced = liquidation(coin, enter, exit, side, style.liquidated_at);
  const usd = around(random, style.usd, style.usd_spread);
  const entries = between(random, style.entries);
  const exits = forced === null ? between(random, style.exits) : 1;
  return { enter, exit: forced ?? exit, side, usd, entries, exits, liquidated: forced !== null };
}

/** The first of 24 looks at which the position is too far under water. */
function liquidation(coin: SimCoin, enter: number, exit: number, side: number, at: number): number | null {
  if (!Number.isFinite(at)) return null;
  const price = coin.path.at(enter);
  for (let look = 1; look < 24; look += 1) {
    const time = enter + ((exit - enter) * look) / 24;
    if (side * Math.log(coin.path.at(time) / price) < -at) return time;
  }
  return null;
}
