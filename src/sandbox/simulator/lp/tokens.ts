import { DAY_MS } from '../../../lib/time';
import { randomOf } from '../world';
import { keyOf, knownKey } from './keys';
import type { Token } from './market';
import { heavyTailed } from './random';

const SYLLABLES = ['lu', 'mo', 'ra', 'ti', 'ne', 'so', 'ka', 'vi', 'do', 'pe', 'zu', 'fa', 'ri', 'be', 'no', 'ta'];
/** The first tokens of every world are those that pools are quoted in. */
export const QUOTES = 3;

/** Well-known quote tokens, then invented ones: settled long before `start`, and launches for `horizon` milliseconds after it. */
export function makeTokens(seed: number, start: number, poolCount: number, horizon: number): Token[] {
  const quotes: Token[] = [
    {
      index: 0,
      mint: knownKey('So11111111111111111111111111111111111111112'),
      symbol: 'SOL',
      name: 'Wrapped SOL',
      decimals: 9,
      base_price: 150,
      volatility: 1,
      created: 0,
    },
    {
      index: 1,
      mint: knownKey('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
      symbol: 'USDC',
      name: 'USD Coin',
      decimals: 6,
      base_price: 1,
      volatility: 0,
      created: 0,
    },
    {
      index: 2,
      mint: knownKey('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'),
      symbol: 'USDT',
      name: 'USDT',
      decimals: 6,
      base_price: 1,
      volatility: 0,
      created: 0,
    },
  ];
  const random = randomOf(seed, 'lp', 'tokens');
  const settled = Math.round(poolCount / 2);
  const all = settled + Math.round((horizon / (30 * DAY_MS)) * launchesIn30Days(poolCount));
  const names = new Set(quotes.map((token) => token.symbol));
  const invented = Array.from({ length: all }, (_, i): Token => {
    const symbol = inventName(random, names);
    const created = i < settled ? start - (10 + random() * 400) * DAY_MS : start + launchTime(seed, i - settled, poolCount);
    return {
      index: QUOTES + i,
      mint: keyOf(seed, 'mint', i),
      symbol,
      name: `${symbol[0]}${symbol.slice(1).toLowerCase()} Token`,
      decimals: random() < 0.6 ? 6 : 9,
      base_price: heavyTailed(random, 0.4, 2.2),
      volatility: 1.2 + 1.6 * random(),
      created: Math.floor(created / 1000) * 1000,
    };
  });
  return [...quotes, ...invented];
}

const launchesIn30Days = (poolCount: number): number => Math.max(6, Math.round(poolCount * 0.4));

/** Launches are spread evenly with some scatter, so that the number of the next one is known without counting. */
function launchTime(seed: number, index: number, poolCount: number): number {
  const step = (30 * DAY_MS) / launchesIn30Days(poolCount);
  return (index + 0.15 + 0.7 * randomOf(seed, 'lp', 'launch', index)()) * step;
}

function inventName(random: () => number, taken: Set<string>): string {
  for (;;) {
    const length = 2 + Math.floor(random() * 2);
    const name = Array.from({ length }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)])
      .join('')
      .toUpperCase();
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}
