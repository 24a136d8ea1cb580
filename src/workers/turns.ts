import { addCount } from '../lib/grouped';
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
/** Whether the upstream refused a question as none of its own: to ask it again would not help. */
export const isRefusal = (error: unknown): boolean => error instanceof UpstreamError && REFUSED.includes(error.status);
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
  again: boolean,
): Promise<Told<One, Answer>> {
  const told: Told<One, Answer>['told'] = [];
  const skipped: Record<string, number> = {};
  let failed = 0;
  for (const one of asked) {
    try {
      told.push({ one, answer: await ask(one) });
      failed = 0;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      const listed = !NOT_LISTED.includes(error.status);
      failed = listed ? failed + 1 : 0;
      const one_only = failed < FAILED_IN_A_ROW && (again || isRefusal(error));
      if (listed && !one_only) throw error;
      addCount(skipped, `${what}_${listed ? 'not_told' : 'not_listed'}`);
    }
  }
  return { told, skipped };
}

/** At whom the last polls failed, and how often, by key: part of a feed's cursor. */
export type Failing = Readonly<Record<string, number>>;

/** So many polls may fail at one. */
const PATIENCE = 5;

/**
 * As askInTurn, for those whose turn the feed would wait for: at whom five polls have failed is asked last, once others were told of, and left out as
 * `<what>_not_told` when it fails again, for then it is not the upstream that does. `failing` is of the polls before, and then of this one; when
 * `failure` is told the feed notes `failing` in its cursor, and throws it.
 */
export async function askPatiently<One, Answer>(
  what: string,
  asked: readonly One[],
  keyOf: (one: One) => string,
  ask: (one: One) => Promise<Answer>,
  { failing, again = false }: { failing: Failing; again?: boolean },
): Promise<Told<One, Answer> & { failing: Failing; failure: UpstreamError | null }> {
  const polls = new Map(asked.map((one) => [one, failing[keyOf(one)] ?? 0]));
  const isStuck = (one: One): boolean => (polls.get(one) ?? 0) >= PATIENCE;
  const counting = async (one: One): Promise<Answer> => {
    try {
      return await ask(one);
    } catch (error) {
      polls.set(one, (polls.get(one) ?? 0) + 1);
      throw error;
    }
  };
  const [stuck, others] = [asked.filter(isStuck), asked.filter((one) => !isStuck(one))];
  try {
    const { told, skipped } = await askInTurn(what, others.length > 0 ? others : stuck, counting, again);
    for (const one of others.length > 0 ? stuck : []) {
      const last = await askInTurn(what, [one], ask, true);
      told.push(...last.told);
      for (const [reason, count] of Object.entries(last.skipped)) addCount(skipped, reason, count);
    }
    return { told, skipped, failing: {}, failure: null };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const failed = [...polls].filter(([, count]) => count > 0).map(([one, count]) => [keyOf(one), count] as const);
    return { told: [], skipped: {}, failing: Object.fromEntries(failed), failure: error };
  }
}
