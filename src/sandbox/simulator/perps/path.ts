import { DAY_MS } from '../../../lib/time';

/** A price over time without memory: the same instant always gives the same price. */
export interface PricePath {
  /** Price in USD at `time` (milliseconds). */
  at(time: number): number;
  /** Sudden moves that start within [from, to): their times and relative sizes. */
  jumps(from: number, to: number): Jump[];
}

interface Jump {
  time: number;
  /** Relative: 0.06 is +6 %. */
  size: number;
}

export interface PathOptions {
  seed: number;
  base: number;
  /** Typical relative change over a day. */
  daily_vol: number;
  /** The part that moves with all other coins: its path as log-price, and how strongly. */
  market?: { log(time: number): number; beta: number };
}
const WEEK = 7 * DAY_MS;
const LONGEST = 64 * DAY_MS;
const OCTAVES = 17;
const JUMP_RAMP = 10 * 60_000;
const JUMP_MEMORY = 3 * DAY_MS;

/** Hash of two integers, uniform in [-1, 1). */
function lattice(seed: number, index: number): number {
  let h = Math.imul(seed ^ Math.imul(index, 0x27d4eb2d), 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca77);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae3d);
  return ((h ^ (h >>> 16)) >>> 0) / 2_147_483_648 - 1;
}

/** Noise whose spread grows with the root of time, like a random walk's: octaves from 64 days down to about a minute. */
export function walkNoise(seed: number, dailyVol: number): (time: number) => number {
  const octaves = Array.from({ length: OCTAVES }, (_, octave) => {
    const length = LONGEST / 2 ** octave;
    return { length, seed: Math.imul(seed + octave + 1, 0x9e3779b1), scale: 0.8 * dailyVol * Math.sqrt(length / DAY_MS) };
  });
  return (time) => {
    let sum = 0;
    for (const { length, seed: own, scale } of octaves) {
      const place = time / length;
      const index = Math.floor(place);
      const part = place - index;
      const left = lattice(own, index);
      sum += scale * (left + (lattice(own, index + 1) - left) * part * part * (3 - 2 * part));
    }
    return sum;
  };
}

/** A coin's price path: its own noise, the market's, and one sudden move a week that fades over days. */
export function pricePath({ seed, base, daily_vol, market }: PathOptions): PricePath {
  const own = walkNoise(seed, daily_vol);
  const jumpOf = (week: number): Jump => {
    const size = lattice(seed ^ 0x51ed, week);
    return {
      time: week * WEEK + (0.05 + 0.45 * (1 + lattice(seed ^ 0x2545, week))) * WEEK,
      size: Math.sign(size) * (0.03 + 0.06 * Math.abs(size)),
    };
  };
  const jumped = (time: number): number => {
    let sum = 0;
    const week = Math.floor(time / WEEK);
    for (const jump of [jumpOf(week - 1), jumpOf(week)]) {
      const since = time - jump.time;
      if (since > 0) sum += jump.size * Math.min(1, since / JUMP_RAMP) * Math.exp(-since / JUMP_MEMORY);
    }
    return sum;
  };
  return {
    at: (time) => base * Math.exp(own(time) + jumped(time) + (market === undefined ? 0 : market.beta * market.log(time))),
    jumps: (from, to) => {
      const found: Jump[] = [];
      for (let week = Math.floor(from / WEEK); week * WEEK < to; week += 1) found.push(jumpOf(week));
      return found.filter(({ time }) => time >= from && time < to);
    },
  };
}
