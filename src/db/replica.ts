import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from './client';
import { unreachable } from './reach';

const LOOK_MS = 1_000;
/** One that lets this little wait so long is frozen. */
const SILENCE_MS = 10_000;

/**
 * Waits until the replica at `url` has replayed what `isThere` looks for; `waiting` hears once that it has not. Throws one clear sentence when it
 * cannot be reached, and an AbortError when the signal aborts.
 */
export async function untilReplayed(
  url: string,
  isThere: (replica: Database) => Promise<boolean>,
  waiting: (host: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const replica = await openDatabase(url, { max: 1, silence_ms: SILENCE_MS });
  const look = (): Promise<boolean> => isThere(replica).catch((error: Error) => Promise.reject(unreachable(url, error)));
  try {
    for (let looks = 0; !(await look()); looks += 1) {
      if (looks === 0) waiting(new URL(url).host);
      await sleep(LOOK_MS, undefined, { signal });
    }
  } finally {
    await replica.close();
  }
}
