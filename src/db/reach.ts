import { DatabaseError } from 'pg';

/** The error of a database that cannot be reached, as one sentence without its password. */
export function unreachable(url: string, cause: unknown): Error {
  const { host, pathname } = new URL(url);
  const { message, code } = cause as Error & { code?: string };
  // A refused connection to a name with several addresses has no message of its own.
  return new Error(`The database at ${host}${pathname} cannot be reached: ${message || code}`, { cause });
}

/** Whether the database answered a statement, if with an error: not where the connection failed, or was ended by the server. */
export const isAnswer = (error: unknown): boolean => error instanceof DatabaseError && error.severity === 'ERROR';
