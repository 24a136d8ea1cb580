import { DAY_MS } from '../../../lib/time';
import { BEGINNING } from '../../../lib/timeframe';

const LATELY_MS = 30 * DAY_MS;

/**
 * What is newest before `now`, by `find`, which reads what is not before `since`: of the last month alone where that is `enough`, so that months before
 * it need not be opened, else of everything.
 */
export async function findLately<Found>(
  now: Date,
  find: (since: Date) => Promise<Found>,
  enough: (found: Found, since: Date) => boolean,
): Promise<Found> {
  const since = new Date(now.getTime() - LATELY_MS);
  const found = await find(since);
  return enough(found, since) ? found : find(BEGINNING);
}
