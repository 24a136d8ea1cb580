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

/** So long the work may say, once its time is up, what to ask instead. */
const LAST_WORD_MS = 1_000;

/**
 * Runs the work for at most `ms`. Throws query_timeout when it takes longer (the work's own, where that is quick to throw one), BuyerGone when
 * the buyer hangs up, and whatever the work throws. The work is told by its signal in both cases: the reason is the error. It is not waited for.
 */
export async function runWithin(work: Work, payer: string, ms: number, gone: AbortSignal | undefined): Promise<unknown> {
  assertBuyerThere(gone);
  const stop = new AbortController();
  const late = new AppError('query_timeout');
  let timer = setTimeout(() => stop.abort(late), ms);
  const hangUp = (): void => stop.abort(new BuyerGone());
  gone?.addEventListener('abort', hangUp, { once: true });
  try {
    const stopped = new Promise<never>((_, reject) =>
      stop.signal.addEventListener(
        'abort',
        () => {
          const { reason } = stop.signal as { reason: unknown };
          if (reason === late) timer = setTimeout(() => reject(late), LAST_WORD_MS);
          else reject(reason as Error);
        },
        { once: true },
      ),
    );
    const answer = await Promise.race([Promise.resolve().then(() => work.run({ signal: stop.signal, payer })), stopped]);
    stop.signal.throwIfAborted();
    return answer;
  } catch (error) {
    const told = error instanceof AppError && error.code === late.code;
    throw stop.signal.reason === late && !told ? late : error;
  } finally {
    clearTimeout(timer);
    gone?.removeEventListener('abort', hangUp);
  }
}
