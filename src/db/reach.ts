import { DatabaseError } from 'pg';
import { AppError } from '../errors';

/** The error of a database that cannot be reached, as one sentence without its password. */
export function unreachable(url: string, cause: unknown): Error {
  const { host, pathname } = new URL(url);
  const { message, code } = cause as Error & { code?: string };
  // A refused connection to a name with several addresses has no message of its own.
  return new Error(`The database at ${host}${pathname} cannot be reached: ${message || code}`, { cause });
}

/** By these the server, or a pooler before it, refuses a connection or ends one; its word for how severe an error is it says in its own language. */
const NO_CONNECTION = '08|28|3D|57P|55000';
/** By these it cannot do now what it could: no room on its disk, a disk that fails, nothing written any more, a copy that must go on replaying, others' locks that wait for its own. */
const UNABLE = '53|58|25006|40001|40P01';
const NO_ANSWER = new RegExp(`^(${NO_CONNECTION}|${UNABLE})`);

const refusals = new WeakSet<object>();

/** Notes that a connection was refused by this error, whose code tells everything and nothing: a server without room on its disk calls it an internal one. */
export const noteRefusal = (error: Error): void => void refusals.add(error);

/** Whether the database answered a statement, if with an error: not where the connection failed, or was ended by the server, or it could not be served at the time. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof DatabaseError && !refusals.has(error) && !NO_ANSWER.test(error.code ?? '');

/** Whether the database could not serve a statement at the time: a connection that told so is not used again, for it may go on saying so when others no longer do. */
export const isUnable = (error: unknown): boolean => error instanceof DatabaseError && !isAnswer(error);

/** Whether a migration has changed the columns of a statement that its connection keeps: there it fails for good, and is sound anywhere else. Told by PostgreSQL's routine, for its words are in its own language. */
export const isOutdated = (error: unknown): boolean => error instanceof DatabaseError && error.routine === 'RevalidateCachedQuery';

/** A database that is started anew is back within seconds. */
const AWAY_RETRY_S = 5;

/** What is told to who asked a database that cannot be reached. */
export const away = (cause: unknown): AppError =>
  new AppError('maintenance', { message: 'The database cannot be reached right now.', retry_after_s: AWAY_RETRY_S, cause });

/** The same where Prisma handed it on, of which it keeps the code; any other error as it is. */
export const awayByPrisma = (error: unknown): unknown =>
  !(error instanceof AppError) && (error as { code?: unknown } | null)?.code === away(null).code ? away(error) : error;
