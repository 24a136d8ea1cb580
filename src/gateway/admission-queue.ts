import { Semaphore } from '../lib/semaphore';

/** Who waits may be overtaken by what is shorter, if that comes within so many times as long as the longer is expected to take. */
const OVERTAKEN = 10;
/** Nor by what comes so much later: a question has a minute for both, its turn and its answer. */
const LONGEST_LEAD_MS = 5_000;
/** How much the newest time counts in what is expected of the next. */
const NEWEST = 0.1;
/** What takes longer leaves its turn to others and goes on beside them: four slow questions are not to stop all. */
const LONGEST_TURN_MS = 1_000;

/**
 * `atOnce` executions that compete for processors: beyond what these can do at once, each more makes all others slower. The next is who came first, where
 * what is expected to take long counts as having come later: who asks for little does not wait for much, and nobody waits for ever.
 */
export class AdmissionQueue {
  private readonly semaphore: Semaphore;
  /** Milliseconds by kind. */
  private readonly expected = new Map<string, number>();

  constructor(
    atOnce: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.semaphore = new Semaphore(atOnce);
  }

  /** Runs `work` when its turn comes; what is of one `kind` takes about as long. Rejects with the signal's reason when it aborts before. */
  async run<T>(kind: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.semaphore.acquire(signal, this.dueOf(kind));
    const began = this.now();
    let left = false;
    const leave = (): void => {
      if (!left) this.semaphore.release();
      left = true;
    };
    const timer = setTimeout(leave, LONGEST_TURN_MS);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      this.learn(kind, this.now() - began);
      leave();
    }
  }

  private learn(kind: string, took: number): void {
    const before = this.expected.get(kind) ?? took;
    this.expected.set(kind, before + (took - before) * NEWEST);
  }

  private dueOf(kind: string): number {
    return this.now() + Math.min(OVERTAKEN * (this.expected.get(kind) ?? 0), LONGEST_LEAD_MS);
  }
}
