import path from 'node:path';
import { graphql } from 'graphql';
import { VENUES } from '../../src/wings';
import type { Statements } from '../../src/db/client';
import { makeContext } from '../../src/graph/context';
import { makeSchema } from '../../src/graph/schema';
import { ROOT } from '../support/root';

export const SCHEMA = makeSchema(
  path.join(ROOT, 'graphql/schema'),
  VENUES.map(({ resolvers }) => resolvers),
);

/** A free question over all wings, as an analyst asks it. Throws the first error. */
export async function explore<T>(db: Statements, now: Date, source: string): Promise<T> {
  const result = await graphql({ schema: SCHEMA, source, contextValue: makeContext(db, now) });
  if (result.errors?.[0]) throw result.errors[0].originalError ?? result.errors[0];
  return JSON.parse(JSON.stringify(result.data)) as T;
}
