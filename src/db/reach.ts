import { DatabaseError } from 'pg';

/** The error of a database that cannot be reached, as one sentence without its password. */
export function unreachable(url: string, cause: unknown): Error {
  const { host, pathname } = new URL(url);
  const { message, code } = cause as Error & { code?: string };
  // A refused connection to a name with several addresses has no message of its own.
  return new Error(`The database at ${host}${pathname} cannot be reached: ${message || code}`, { cause });
}

/** By these the server, or a pooler before it, refuses a connection or ends one; its word for how severe an error is it says in its own language. */
const NO_CONNECTION = /^(08|28|3D|53|57P)|^55000$/;

/** Whether the database answered a statement, if with an error: not where the connection failed, or was ended by the server. */
export const isAnswer = (error: unknown): boolean => error instanceof DatabaseError && !NO_CONNECTION.test(error.code ?? '');
