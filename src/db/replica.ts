import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from './client';
import { missingFrom } from './migrate';
import { unreachable } from './reach';

const LOOK_MS = 1_000;
/** One that lets this little wait so long is frozen. */
const SILENCE_MS = 10_000;

/**
 * Waits until the replica at `url` has replayed the migrations of `folder`: answers fail of what it lacks. `waiting` hears once how many it lacks.
 * Throws one clear sentence when it cannot be reached, and what aborted the signal.
 */
export async function untilReplayed(url: string, folder: string, waiting: (missing: number) => void, signal: AbortSignal): Promise<void> {
  const replica = await openDatabase(url, { max: 1, silence_ms: SILENCE_MS });
  const missing = missingFrom(folder);
  try {
    for (let looks = 0; ; looks += 1) {
      const { length } = await missing(replica.pool).catch((error: Error) => Promise.reject(unreachable(url, error)));
      if (length === 0) return;
      if (looks === 0) waiting(length);
      await sleep(LOOK_MS, undefined, { signal });
    }
  } finally {
    await replica.close();
  }
}
