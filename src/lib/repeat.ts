/** Work that is done over and over, one run after the other. */
export interface Repeated {
  /** Begins no further run; resolves when the one at work has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `work` again and again, `everyMs` milliseconds after its last run ended; the first time after that long too, or at once. The work deals with
 * its own failures, and may ask whether it has been told to stop.
 */
export function repeat(work: (stopped: () => boolean) => Promise<void>, everyMs: number, first: 'at once' | 'later' = 'later'): Repeated {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let working: Promise<void> = Promise.resolve();
  const run = (): void => {
    working = work(() => stopped).then(wait);
  };
  const wait = (): void => {
    if (!stopped) timer = setTimeout(run, everyMs);
  };
  if (first === 'at once') run();
  else wait();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await working;
    },
  };
}
