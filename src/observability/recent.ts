import { MINUTE_MS } from '../lib/time';

/** What happened in the last minute, for /health: measured, bounded in memory. */
export class Recent<Sample> {
  private samples: { at: number; sample: Sample }[] = [];

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly most = 20_000,
  ) {}

  add(sample: Sample): void {
    this.samples.push({ at: this.now(), sample });
    if (this.samples.length > this.most) this.forget();
  }

  /** Samples of the last 60 seconds, oldest first. */
  list(): Sample[] {
    this.forget();
    return this.samples.map(({ sample }) => sample);
  }

  private forget(): void {
    const since = this.now() - MINUTE_MS;
    const first = this.samples.findIndex(({ at }) => at >= since);
    this.samples = first === -1 ? [] : this.samples.slice(Math.max(first, this.samples.length - this.most));
  }
}
