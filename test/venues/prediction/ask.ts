import fs from 'node:fs';
import path from 'node:path';
import { graphql, parse } from 'graphql';
import type { Database } from '../../../src/db/client';
import { AppError } from '../../../src/errors';
import { emptyMeta, makeContext } from '../../../src/graph/context';
import { compile } from '../../../src/graph/execute';
import { makeSchema } from '../../../src/graph/schema';
import { prediction } from '../../../src/venues/prediction/index';
import type { AnswerMeta } from '../../../src/venues/venue';

const root = path.resolve(__dirname, '../../..');
const schema = makeSchema(path.join(root, 'graphql/schema'), [prediction.resolvers]);
const compiled = new Map<string, ReturnType<typeof compile>>();

/** Asks an endpoint's document as the product does: compiled, with the document's own defaults; of live feeds that are `settled` up to an instant. */
export async function ask<T>(
  db: Database,
  endpoint: string,
  now: Date,
  variables: Record<string, unknown>,
  settled: Date | null = null,
): Promise<{ data: T; meta: AnswerMeta }> {
  const operation =
    compiled.get(endpoint) ?? compile(schema, parse(fs.readFileSync(path.join(root, 'graphql/endpoints', `${endpoint}.graphql`), 'utf8')));
  compiled.set(endpoint, operation);
  const context = makeContext(db, now, undefined, undefined, () => settled);
  const data = (await operation(variables, context)) as T;
  return { data, meta: context.meta };
}

/** The AppError an endpoint answers with. Throws when it answers. */
export async function askForError(db: Database, endpoint: string, now: Date, variables: Record<string, unknown>): Promise<AppError> {
  try {
    await ask(db, endpoint, now, variables);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error(`${endpoint} answered`);
}

/** A free question, as an analyst asks it. */
export async function explore<T>(db: Database, now: Date, source: string): Promise<T> {
  const result = await graphql({ schema, source, contextValue: { ...makeContext(db, now), meta: emptyMeta() } });
  if (result.errors) throw result.errors[0];
  return result.data as T;
}
