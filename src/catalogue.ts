import path from 'node:path';
import type { Endpoint } from './endpoints/endpoint';
import { loadEndpoints } from './endpoints/load';
import { bazaarOf } from './gateway/discovery';
import type { PaidEndpoint } from './gateway/paid';
import type { WingDefinitions } from './gateway/pages/methodology';
import { compile } from './graph/execute';
import { answers, makeSchema } from './graph/schema';
import type { Venue } from './venues/venue';
import { VENUES } from './wings';

/** How each wing's figures are computed. */
export const DEFINITIONS: WingDefinitions = new Map(VENUES.map(({ name, methodology = [] }) => [name, methodology]));

/** What is sold, from the files under graphql/. */
export interface Catalogue {
  endpoints: Endpoint[];
  schema: ReturnType<typeof makeSchema>;
}

/** Endpoints and schema. Throws when a document is wrong or asks what no wing answers. */
export function loadCatalogue(root: string, venues: readonly Venue[] = VENUES): Catalogue {
  const schema = makeSchema(
    path.join(root, 'graphql/schema'),
    venues.map((venue) => venue.resolvers),
  );
  const endpoints = loadEndpoints(path.join(root, 'graphql/endpoints'), schema);
  const unanswered = endpoints.filter(({ rootField }) => !answers(schema, rootField));
  if (unanswered.length > 0) throw new Error(`No resolver answers ${unanswered.map(({ name }) => name).join(', ')}.`);
  return { endpoints, schema };
}

/** Each endpoint with its operation compiled, as the gateway sells it. */
export const paidOf = ({ endpoints, schema }: Catalogue): PaidEndpoint[] =>
  endpoints.map((endpoint) => ({ endpoint, operation: compile(schema, endpoint.document), bazaar: bazaarOf(endpoint, schema) }));
