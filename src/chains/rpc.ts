import { inTime } from '../lib/deadline';
import { Semaphore } from '../lib/semaphore';

/** No provider gave a usable answer in time. */
export class RpcUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RpcUnavailable';
  }
}

export interface RpcPoolOptions {
  /** Longest one provider may take for one answer, in milliseconds. */
  try_ms: number;
  /** Questions that may be under way at once, over all providers; more wait their turn. */
  max_in_flight: number;
}

/** How a chain is asked unless it is said otherwise. */
export const RPC_DEFAULTS: RpcPoolOptions = { try_ms: 2_000, max_in_flight: 128 };

/** The providers of one chain: questions go to one after the other until one answers, or to all at once. */
export class RpcPool<Client> {
  private preferred = 0;
  private readonly semaphore: Semaphore;

  constructor(
    private readonly clients: readonly Client[],
    private readonly options: RpcPoolOptions = RPC_DEFAULTS,
  ) {
    if (clients.length === 0) throw new Error('A chain needs at least one RPC url.');
    this.semaphore = new Semaphore(options.max_in_flight);
  }

  get size(): number {
    return this.clients.length;
  }

  /** Asks the provider that answered last, then the others. Throws RpcUnavailable when none answers, the signal's reason when it aborts. */
  async first<T>(ask: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    let failure: unknown;
    const start = this.preferred;
    for (let step = 0; step < this.clients.length; step += 1) {
      const index = (start + step) % this.clients.length;
      try {
        const answer = await this.one(index, ask, signal);
        this.preferred = index;
        return answer;
      } catch (error) {
        signal?.throwIfAborted();
        failure = error;
      }
    }
    throw new RpcUnavailable(`No RPC provider answered: ${(failure as Error).message}`, failure);
  }

  /** Asks every provider at once; never rejects. */
  all<T>(ask: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<PromiseSettledResult<T>[]> {
    return Promise.allSettled(this.clients.map((_, index) => this.one(index, ask, signal)));
  }

  private one<T>(index: number, ask: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.semaphore.run(signal, () => inTime(this.options.try_ms, () => ask(this.clients[index] as Client), signal));
  }
}
