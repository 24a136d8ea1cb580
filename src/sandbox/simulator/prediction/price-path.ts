import { type Chance, normalCdf, normalQuantile } from './chance';

const STEPS = 96;

/** How a market's first outcome was priced over its life, and whether it won. */
export interface PricePath {
  first_wins: boolean;
  /** Fair price of the first outcome at a share of the life, 0 to 1. */
  at(share: number): number;
}

/**
 * A fair price: the chance that a Brownian motion ends above zero, seen from where it stands. Prices so made are true odds, so nobody
 * gains by buying favourites or long shots; `wanted` keeps the first path that ends or goes as asked.
 */
export function makePath(chance: Chance, first: number, wanted: (path: PricePath) => boolean): PricePath {
  for (let attempt = 0; ; attempt += 1) {
    const path = walk(chance, first);
    if (attempt >= 400 || wanted(path)) return path;
  }
}

function walk(chance: Chance, first: number): PricePath {
  const places = [normalQuantile(first)];
  const step = Math.sqrt(1 / STEPS);
  for (let n = 1; n <= STEPS; n += 1) places.push((places[n - 1] as number) + step * chance.normal());
  const prices = places.map((place, n) => (n === STEPS ? Number(place > 0) : normalCdf(place / Math.sqrt(1 - n / STEPS))));
  return {
    first_wins: (places[STEPS] as number) > 0,
    at: (share) => {
      const position = Math.min(Math.max(share, 0), 0.999) * STEPS;
      const left = Math.floor(position);
      return (prices[left] as number) + (position - left) * ((prices[left + 1] as number) - (prices[left] as number));
    },
  };
}
