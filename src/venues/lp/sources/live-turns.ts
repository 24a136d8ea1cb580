import { UpstreamError } from '../../../workers/upstream';

/** What the index told of those it was asked for one by one; and reason -> of how many it told nothing. */
export interface Told<One> {
  told: { one: One; answer: unknown }[];
  skipped: Record<string, number>;
}

type Status = UpstreamError['status'];
/** The index does not know this one. */
const NOT_LISTED: readonly Status[] = [404, 410];
/** It will say the same whenever it is asked for this one. */
const REFUSED: readonly Status[] = [400, 422];
/** When so many fail in a row, it is the index that fails. */
const FAILED_IN_A_ROW = 3;

/**
 * Asks the index one by one. Whom it does not list is left out and counted as `<what>_not_listed`; whom it cannot tell of while it tells of
 * others as `<what>_not_told`, for one must not stop all: where their turn comes again (`again`), else where asking again would not help.
 * Throws when the index fails.
 */
export async function askInTurn<One>(
  what: string,
  asked: readonly One[],
  ask: (one: One) => Promise<unknown>,
  again = false,
): Promise<Told<One>> {
  const told: { one: One; answer: unknown }[] = [];
  const skipped: Record<string, number> = {};
  const skip = (reason: string): void => void (skipped[`${what}_${reason}`] = (skipped[`${what}_${reason}`] ?? 0) + 1);
  let failed = 0;
  for (const one of asked) {
    try {
      told.push({ one, answer: await ask(one) });
      failed = 0;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      const listed = !NOT_LISTED.includes(error.status);
      failed = listed ? failed + 1 : 0;
      const one_only = failed < FAILED_IN_A_ROW && (again || REFUSED.includes(error.status));
      if (listed && !one_only) throw error;
      skip(listed ? 'not_told' : 'not_listed');
    }
  }
  return { told, skipped };
}
