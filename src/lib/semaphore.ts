interface Waiting {
  due: number;
  begin: () => void;
}

/** A counting semaphore: `max` hold it at once, others wait in line. `watch` hears how many hold it and how many wait, whenever that changes. */
export class Semaphore {
  active = 0;
  private readonly line = new Set<Waiting>();

  constructor(
    readonly max: number,
    private readonly watch: (active: number, waiting: number) => void = () => undefined,
  ) {}

  get waiting(): number {
    return this.line.size;
  }

  /** Runs `work` while it is held. Rejects as `acquire` does. */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    await this.acquire(signal);
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** The next to hold it is who is `due` first, of those who came first. Rejects with the signal's reason as soon as it aborts, in line as well. */
  async acquire(signal?: AbortSignal, due = 0): Promise<void> {
    signal?.throwIfAborted();
    if (this.active < this.max) {
      this.active += 1;
      this.tell();
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const done = (end: () => void): void => {
        this.line.delete(place);
        signal?.removeEventListener('abort', abort);
        this.tell();
        end();
      };
      const abort = (): void => done(() => reject(signal?.reason as Error));
      const place = { due, begin: () => done(resolve) };
      signal?.addEventListener('abort', abort, { once: true });
      this.line.add(place);
      this.tell();
    });
  }

  /** Hands it to the next in line, or frees it. */
  release(): void {
    let [next] = this.line;
    for (const one of this.line) if (next !== undefined && one.due < next.due) next = one;
    if (next !== undefined) return next.begin();
    this.active -= 1;
    this.tell();
  }

  private tell(): void {
    this.watch(this.active, this.line.size);
  }
}
