import { MINUTE_MS } from '../lib/time';

const MOST = 20_000;

/** What happened in the last minute, for /health: measured, bounded in memory. */
export class Recent<Sample> {
  private samples: { at: number; sample: Sample }[] = [];

  add(sample: Sample): void {
    this.samples.push({ at: performance.now(), sample });
    if (this.samples.length > MOST) this.forget();
  }

  /** Samples of the last 60 seconds, oldest first. */
  list(): Sample[] {
    this.forget();
    return this.samples.map(({ sample }) => sample);
  }

  private forget(): void {
    const since = performance.now() - MINUTE_MS;
    const first = this.samples.findIndex(({ at }) => at >= since);
    this.samples = first === -1 ? [] : this.samples.slice(Math.max(first, this.samples.length - MOST));
  }
}
