import { UpstreamError } from './upstream';

/** What an upstream told of those it was asked for one by one; and reason -> of how many it told nothing. */
export interface Told<One, Answer> {
  told: { one: One; answer: Answer }[];
  skipped: Record<string, number>;
}

type Status = UpstreamError['status'];
/** The upstream does not know this one. */
const NOT_LISTED: readonly Status[] = [404, 410];
/** It will say the same whenever it is asked for this one. */
const REFUSED: readonly Status[] = [400, 422];
/** When so many fail in a row, it is the upstream that fails. */
const FAILED_IN_A_ROW = 3;

/**
 * Asks an upstream one by one. Whom it does not list is left out and counted as `<what>_not_listed`; whom it cannot tell of while it tells of
 * others as `<what>_not_told`, for one must not stop all: where their turn comes again (`again`), else where asking again would not help.
 * Throws when the upstream fails.
 */
export async function askInTurn<One, Answer>(
  what: string,
  asked: readonly One[],
  ask: (one: One) => Promise<Answer>,
  again = false,
): Promise<Told<One, Answer>> {
  const told: Told<One, Answer>['told'] = [];
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
