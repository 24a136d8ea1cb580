import { HOUR_MS } from '../../lib/time';
import type { VenueWorld, WorldPage } from '../simulator/world';

/** How much of the past is kept at hand; after so long it is looked again at what is older. */
const KEPT_MS = 26 * HOUR_MS;
const FORGET_MS = HOUR_MS;
/** When nobody has asked for so long, whoever asks then has much to read, and is told all of it for as long as is kept. */
const AWAY_MS = HOUR_MS;

/** What has happened so far in a simulated world; lived when somebody asks. */
export abstract class Past {
  private living: Promise<void> = Promise.resolve();
  /** When it is next looked at what is old. */
  private forgetting: number;

  /** Nothing is told of what happened before `lived`. */
  constructor(
    private readonly world: VenueWorld,
    private lived: Date,
  ) {
    this.forgetting = lived.getTime() + KEPT_MS;
  }

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
    const away = now.getTime() - this.lived.getTime();
    this.lived = now;
    this.arrive(now);
    const time = now.getTime();
    if (away > AWAY_MS) this.forgetting = time + KEPT_MS;
    if (time < this.forgetting) return;
    this.forgetting = time + FORGET_MS;
    this.forget(new Date(time - KEPT_MS));
  }

  /** Keeps what a page tells. */
  protected abstract take(page: WorldPage): void;

  /** All up to now was taken: orders it. */
  protected abstract arrive(now: Date): void;

  /** Lets go of what happened before. */
  protected abstract forget(before: Date): void;
}
