import type { LagFigures } from './feed-store';

const KEPT = 1_000;

/** How long the last events took from happening to being visible, in seconds. */
export class LagMeter {
  private readonly kept: number[] = [];
  private next = 0;

  add(seconds: number): void {
    this.kept[this.next] = seconds;
    this.next = (this.next + 1) % KEPT;
  }

  figures(): LagFigures {
    const sorted = [...this.kept].sort((a, b) => a - b);
    return { events: sorted.length, p50_s: at(sorted, 0.5), p99_s: at(sorted, 0.99) };
  }
}

/** Nearest-rank quantile, to the tenth of a second. */
function at(sorted: readonly number[], share: number): number | null {
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  return value === undefined ? null : Math.round(value * 10) / 10;
}
