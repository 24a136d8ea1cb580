import type { Database } from '../../../../src/db/client';
import type { AppError } from '../../../../src/errors';
import { rawOfBody, readParameters } from '../../../../src/endpoints/read';
import type { AnswerMeta } from '../../../../src/venues/venue';
import { ENDPOINTS } from '../../../support/catalogue';
import { ask, askForError } from '../ask';

/** What a request's parameters become: defaults filled in. Throws when they would be refused, but for what the question itself refuses as well. */
function variablesOf(path: string, sent: Record<string, unknown>): Record<string, unknown> {
  const endpoint = ENDPOINTS.find((one) => one.path === `/api/v1/${path}`);
  if (endpoint === undefined) throw new Error(`No endpoint ${path}`);
  const reading = readParameters(endpoint, rawOfBody(sent));
  const problems = reading.problems.filter(({ code }) => code !== 'range_too_large');
  if (problems.length > 0 || reading.ignored.length > 0)
    throw new Error(`${path} refuses ${JSON.stringify(sent)}: ${JSON.stringify([problems, reading.ignored])}`);
  // What was sent too large is as if absent.
  const tooLarge = reading.problems.map(({ param }) => [param, sent[param]] as const);
  return { ...reading.variables, ...Object.fromEntries(tooLarge) };
}

/** Asks an endpoint with some of its parameters, the others at their defaults; of live feeds that are `settled` up to an instant. */
export const call = <T>(
  db: Database,
  path: string,
  now: Date,
  sent: Record<string, unknown> = {},
  settled: Date | null = null,
): Promise<{ data: T; meta: AnswerMeta }> => ask<T>(db, path, now, variablesOf(path, sent), settled);

/** What an endpoint answers, or `none` where it finds nothing: any other error is one. */
export const callOr = <T>(db: Database, path: string, now: Date, sent: Record<string, unknown>, none: T): Promise<T> =>
  call<T>(db, path, now, sent).then(
    ({ data }) => data,
    (error: AppError) => {
      if (error.code !== 'empty_result') throw error;
      return none;
    },
  );

/** The error an endpoint answers with. */
export const callForError = (db: Database, path: string, now: Date, sent: Record<string, unknown> = {}): Promise<AppError> =>
  askForError(db, path, now, variablesOf(path, sent));
