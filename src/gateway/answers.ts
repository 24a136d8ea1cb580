import { LRUCache } from 'lru-cache';
import { untilAborted } from '../lib/deadline';

/** What a query gave, before anything of the single request is added. */
export interface Executed {
  data: unknown;
  meta: Record<string, unknown>;
  /** When `freshness_s` was told. */
  told_at?: Date;
  /** Seconds for which it may be given again, where these may be fewer than those of its cache class. */
  good_for_s?: number | null;
}

interface Running {
  promise: Promise<Executed>;
  abort: AbortController;
  waiting: number;
}

const MOST_BYTES = 64 * 1024 * 1024;

/** Fresh answers are kept for their endpoint's cache class, and equal queries that run at once share one execution. */
export class AnswerCache {
  private readonly fresh: LRUCache<string, Executed>;
  private readonly running = new Map<string, Running>();

  /** `bytes`: how much JSON text to keep at most, roughly. */
  constructor(bytes: number = MOST_BYTES) {
    this.fresh = new LRUCache<string, Executed>({
      maxSize: bytes,
      sizeCalculation: (answer) => Math.ceil(roughBytes(answer.data)) + 500,
    });
  }

  /** The kept answer under `key`, undefined when there is none that is fresh. */
  find(key: string): Executed | undefined {
    return this.fresh.get(key);
  }

  /**
   * The answer under `key`: kept, shared with a running twin, or executed now. The execution is aborted when nobody waits for
   * it any more. Rejects with the signal's reason when this caller's time is up.
   */
  async get(
    key: string,
    ttlSeconds: number,
    signal: AbortSignal,
    execute: (signal: AbortSignal) => Promise<Executed>,
  ): Promise<{ answer: Executed; hit: boolean }> {
    const kept = this.fresh.get(key);
    if (kept !== undefined) return { answer: kept, hit: true };
    signal.throwIfAborted();
    const running = this.running.get(key) ?? this.start(key, ttlSeconds, execute);
    running.waiting += 1;
    try {
      return { answer: await untilAborted(running.promise, signal), hit: false };
    } finally {
      running.waiting -= 1;
      if (running.waiting === 0) this.end(key, running, signal.reason);
    }
  }

  private start(key: string, ttlSeconds: number, execute: (signal: AbortSignal) => Promise<Executed>): Running {
    const abort = new AbortController();
    const promise = execute(abort.signal)
      .then((answer) => {
        const seconds = Math.min(ttlSeconds, answer.good_for_s ?? ttlSeconds);
        // No time at all would be for ever there.
        if (seconds > 0) this.fresh.set(key, answer, { ttl: seconds * 1_000 });
        return answer;
      })
      .finally(() => this.forget(key, running));
    promise.catch(() => undefined);
    const running: Running = { promise, abort, waiting: 0 };
    this.running.set(key, running);
    return running;
  }

  /** Nobody waits any more: a caller who comes now starts anew instead of joining an aborted execution. */
  private end(key: string, running: Running, reason: unknown): void {
    // What has come to its end is forgotten already.
    if (this.running.get(key) !== running) return;
    this.running.delete(key);
    running.abort.abort(reason);
  }

  private forget(key: string, running: Running): void {
    if (this.running.get(key) === running) this.running.delete(key);
  }
}

const SAMPLED_ROWS = 8;

/**
 * About how long a value's JSON text is, without writing it: of a long list the first rows speak for the others. Writing the text
 * only to measure it would cost as much as the answer itself.
 */
export function roughBytes(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  if (Array.isArray(value)) {
    const sampled = value.slice(0, SAMPLED_ROWS);
    const bytes = sampled.reduce<number>((sum, item) => sum + roughBytes(item) + 1, 2);
    return sampled.length === 0 ? bytes : (bytes / sampled.length) * value.length;
  }
  return Object.entries(value).reduce((sum, [name, child]) => sum + name.length + 4 + roughBytes(child), 2);
}
