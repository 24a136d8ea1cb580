import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What `ask` brings, told by its signal when `ms` milliseconds have passed (a TimeoutError) or `signal` aborts (its reason). The clock
 * stops with the answer. `AbortSignal.any` over `AbortSignal.timeout` will not do: Node 20 gives the timeout to the garbage collector,
 * and then it never comes.
 */
export async function withDeadline<T>(ms: number, ask: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException(`no answer within ${ms} ms`, 'TimeoutError')), ms);
  const pass = (): void => deadline.abort(signal?.reason);
  if (signal?.aborted === true) pass();
  else signal?.addEventListener('abort', pass, { once: true });
  try {
    return await ask(deadline.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', pass);
  }
}

/** What `work` brings, or a TimeoutError when `ms` milliseconds have passed, or the signal's reason when that aborts first: for work that knows no signals and goes on by itself. */
export const inTime = <T>(ms: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
  withDeadline(ms, (over) => untilAborted(work(), over), signal);

/** What `promise` brings, or the signal's reason when that aborts first: for work that knows no signals and goes on by itself. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Resolves after `ms` milliseconds; earlier when the signal aborts. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined);
