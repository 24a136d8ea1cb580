import { randomOf } from '../world';

const HEX = Array.from({ length: 65_536 }, (_, number) => number.toString(16).padStart(4, '0'));

/** A source of randomness for one named thing of the world. */
export class Chance {
  private readonly next: () => number;

  constructor(seed: number, ...name: (string | number)[]) {
    this.next = randomOf(seed, ...name);
  }

  /** Uniform in [0, 1). */
  unit(): number {
    return this.next();
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** Whole number in [low, high]. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** Standard normal (Box-Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  /** Log-normal with that median. */
  around(median: number, spread: number): number {
    return median * Math.exp(spread * this.normal());
  }

  /** Exponential with that mean. */
  wait(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  /** Poisson: Knuth's product for small means, rounded normal above. */
  count(mean: number): number {
    if (mean > 40) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()));
    const limit = Math.exp(-mean);
    let product = this.next();
    let count = 0;
    while (product > limit) {
      count += 1;
      product *= this.next();
    }
    return count;
  }

  hex(digits: number): string {
    let text = '';
    while (text.length < digits) {
      const drawn = Math.floor(this.next() * 4_294_967_296);
      text += (HEX[drawn >>> 16] as string) + (HEX[drawn & 0xffff] as string);
    }
    return text.slice(0, digits);
  }
}

/** Distribution function of the standard normal, to 1.5e-7 (Abramowitz and Stegun 7.1.26). */
export function normalCdf(x: number): number {
  const t = 1 / (1 + (0.3275911 * Math.abs(x)) / Math.SQRT2);
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const half = 0.5 * series * Math.exp((-x * x) / 2);
  return x >= 0 ? 1 - half : half;
}

/** Its inverse, by bisection. */
export function normalQuantile(p: number): number {
  let [low, high] = [-8, 8];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
