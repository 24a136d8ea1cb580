import { nearestRank, tenths } from '../lib/statistics';
import type { LagFigures } from './feed-store';

const KEPT = 1_000;

/** How long the last events took from happening to being visible, in seconds, told to the tenth. */
export class LagMeter {
  private readonly kept: number[] = [];
  private next = 0;

  add(seconds: number): void {
    this.kept[this.next] = seconds;
    this.next = (this.next + 1) % KEPT;
  }

  figures(): LagFigures {
    const { kept } = this;
    return { events: kept.length, p50_s: tenths(nearestRank(kept, 0.5)), p99_s: tenths(nearestRank(kept, 0.99)) };
  }
}
