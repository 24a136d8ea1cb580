import path from 'node:path';
import type { Endpoint } from '../../src/endpoints/endpoint';
import { loadEndpoints } from '../../src/endpoints/load';
import { makeSchema } from '../../src/graph/schema';
import { ROOT } from './root';

/** The 74 documents, read against the bare SDL: for tests that need no resolvers. */
export const ENDPOINTS: readonly Endpoint[] = loadEndpoints(
  path.join(ROOT, 'graphql/endpoints'),
  makeSchema(path.join(ROOT, 'graphql/schema'), []),
);

export function endpointNamed(name: string): Endpoint {
  const endpoint = ENDPOINTS.find((candidate) => candidate.name === name);
  if (endpoint === undefined) throw new Error(`No endpoint ${name}`);
  return endpoint;
}
