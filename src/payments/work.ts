import { AppError } from '../errors';
import type { Work } from './protocol';

/** The buyer hung up before anything was broadcast: nothing is charged and nobody reads the answer. */
export class BuyerGone extends Error {
  constructor() {
    super('the buyer hung up');
  }
}

/** Throws BuyerGone once the signal has aborted. */
export function assertBuyerThere(gone: AbortSignal | undefined): void {
  if (gone?.aborted === true) throw new BuyerGone();
}

/**
 * Runs the work for at most `ms`. Throws query_timeout when it takes longer, BuyerGone when the buyer hangs up, and
 * whatever the work throws. The work is told by its signal in both cases, and not waited for.
 */
export async function runWithin(work: Work, payer: string, ms: number, gone: AbortSignal | undefined): Promise<unknown> {
  assertBuyerThere(gone);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new AppError('query_timeout')), ms);
  const hangUp = (): void => stop.abort(new BuyerGone());
  gone?.addEventListener('abort', hangUp, { once: true });
  try {
    const stopped = new Promise<never>((_, reject) =>
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason as Error), { once: true }),
    );
    const answer = await Promise.race([Promise.resolve().then(() => work.run({ signal: stop.signal, payer })), stopped]);
    stop.signal.throwIfAborted();
    return answer;
  } finally {
    clearTimeout(timer);
    gone?.removeEventListener('abort', hangUp);
  }
}
