import type { VenueWorld, WorldPage } from '../simulator/world';

/** What has happened so far in a simulated world; lived when somebody asks. */
export abstract class Past {
  private living: Promise<void> = Promise.resolve();

  /** Nothing is told of what happened before `lived`. */
  constructor(
    private readonly world: VenueWorld,
    private lived: Date,
  ) {}

  /** Brings the past up to now; one at a time. */
  live(now: Date): Promise<void> {
    this.living = this.living.then(() => this.go(now));
    return this.living;
  }

  private async go(now: Date): Promise<void> {
    if (now <= this.lived) return;
    for (const page of this.world.pages(this.lived, now)) {
      this.take(page);
      // A long past must not hold up whoever else is served by this process.
      await new Promise(setImmediate);
    }
    this.lived = now;
    this.arrive(now);
  }

  /** Keeps what a page tells. */
  protected abstract take(page: WorldPage): void;

  /** All up to now was taken: orders it, and forgets what is too old. */
  protected abstract arrive(now: Date): void;
}
