import { pause } from '../lib/deadline';

/** A payment the chain has, whose answer is handed out. */
export interface Delivery {
  id: string;
  transaction: string;
  settled_at: Date;
}

/** Deliveries are written down together, this long after the first of them. */
export const DELIVERED_AFTER_MS = 25;

/** Gathers what is handed out, for one statement to write down what many buyers got. */
export class Deliveries {
  private readonly handedOut: Delivery[] = [];
  /** Ends when what was handed out until a while ago is written down. */
  private writing: Promise<void> = Promise.resolve();
  /** The same of what was handed out since; null: nothing. */
  private next: Promise<void> | null = null;

  /** `write` never rejects. */
  constructor(private readonly write: (together: readonly Delivery[], keptMs: number) => Promise<void>) {}

  /** Collectable for `keptMs` milliseconds from when it is written down. */
  add(delivery: Delivery, keptMs: number): void {
    this.handedOut.push(delivery);
    this.next ??= this.writeNext(keptMs);
  }

  /** Waits until everything that was handed out so far is written down. */
  flush(): Promise<void> {
    return this.next ?? this.writing;
  }

  private async writeNext(keptMs: number): Promise<void> {
    await Promise.all([this.writing, pause(DELIVERED_AFTER_MS)]);
    this.writing = this.write(this.handedOut.splice(0), keptMs);
    this.next = null;
    await this.writing;
  }
}
