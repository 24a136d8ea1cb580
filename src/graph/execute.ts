import { isDeepStrictEqual } from 'node:util';
import { GraphQLError, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { runUntil } from '../db/cancel';
import { awayByPrisma } from '../db/reach';
import { AppError } from '../errors';
import type { GraphContext } from '../venues/venue';

/** A document compiled once, run many times. Resolves to the value under `data:`; throws AppError, or whatever broke. */
export type Operation = (variables: Record<string, unknown>, context: GraphContext) => Promise<unknown>;

/**
 * Compiles one endpoint document against the schema. Throws when it cannot be compiled. By graphql-jit 0.8.7, whose code completes each value in
 * place: 0.8.8 and 0.8.9 call a function for it with lists made each time, and long lists take a third longer.
 */
export function compile(schema: GraphQLSchema, document: DocumentNode): Operation {
  const compiled = compileQuery(schema, document);
  if (!isCompiledQuery(compiled)) throw new Error(`Cannot compile: ${compiled.errors?.map((error) => error.message).join('; ')}`);
  return async (variables, context) => {
    const run = runUntil(context.signal, () => compiled.query(undefined, context, variables));
    const result = (await run) as ExecutionResult<{ data: unknown }>;
    if (result.errors?.length) throw withoutEcho(causeOf(result.errors), variables);
    return result.data?.data;
  };
}

/** The error meant for the consumer where there is one, else the first that was thrown. */
function causeOf(errors: readonly GraphQLError[]): unknown {
  const causes = errors.map((error) => awayByPrisma(error.originalError ?? error));
  return causes.find((cause) => cause instanceof AppError) ?? causes[0];
}

/** A suggestion that changes nothing of what was asked is none. */
function withoutEcho(cause: unknown, asked: Readonly<Record<string, unknown>>): unknown {
  if (!(cause instanceof AppError) || cause.context.suggestion === undefined) return cause;
  const { suggestion, ...context } = cause.context;
  const changes = Object.entries(suggestion).some(([name, value]) => !isDeepStrictEqual(value, asked[name] ?? null));
  return changes ? cause : new AppError(cause.code, context);
}
