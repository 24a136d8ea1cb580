import type { Database } from './db/client';
import { makeContext } from './graph/context';
import type { Clock } from './lib/clock';
import { wholeSecond } from './lib/time';
import { lpOf } from './venues/lp/index';
import { perps } from './venues/perps/index';
import { prediction } from './venues/prediction/index';
import type { GraphContext, Venue } from './venues/venue';

/** The wings, of an operator with these programs and fee payers. */
export const venuesOf = (operatorAccounts: readonly string[]): readonly Venue[] => [prediction, perps, lpOf(operatorAccounts)];

/** The wings of nobody in particular: for loading, scoring and describing. */
export const VENUES = venuesOf([]);

/** Contexts for what works in the background: it asks the graph as of an instant to the second, the clock's now unless said. */
export const contextsOver =
  (db: Database, { clock }: { clock: Clock }): ((at?: Date) => GraphContext) =>
  (at = clock.now()) =>
    makeContext(db, wholeSecond(at));
