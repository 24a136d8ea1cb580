import path from 'node:path';
import { loadEndpoints } from '../../../src/endpoints/load';
import { makeContext } from '../../../src/graph/context';
import { compile } from '../../../src/graph/execute';
import { makeSchema } from '../../../src/graph/schema';
import type { Statements } from '../../../src/db/client';
import { OPERATOR } from '../../../src/sandbox/simulator/lp/keys';
import { lpOf } from '../../../src/venues/lp/index';
import type { AnswerMeta } from '../../../src/venues/venue';

const ROOT = path.resolve(__dirname, '../../..');
const schema = makeSchema(path.join(ROOT, 'graphql/schema'), [lpOf([OPERATOR.text]).resolvers]);
const operations = new Map(
  loadEndpoints(path.join(ROOT, 'graphql/endpoints'), schema)
    .filter((endpoint) => endpoint.name.startsWith('lp/'))
    .map((endpoint) => [endpoint.name, { endpoint, run: compile(schema, endpoint.document) }]),
);

export interface Answer<Data> {
  data: Data;
  meta: AnswerMeta;
}

/** Runs an endpoint's own document, as the gateway would after reading the parameters. Throws what the resolvers throw. */
export async function ask<Data>(
  db: Statements,
  endpoint: string,
  now: Date,
  variables: Record<string, unknown> = {},
): Promise<Answer<Data>> {
  const operation = operations.get(endpoint);
  if (operation === undefined) throw new Error(`no endpoint ${endpoint}`);
  const context = makeContext(db, now);
  const defaults = Object.fromEntries(operation.endpoint.parameters.map((parameter) => [parameter.name, parameter.default ?? null]));
  const data = (await operation.run({ ...defaults, ...variables }, context)) as Data;
  // Compiled answers hold objects without prototype.
  return { data: JSON.parse(JSON.stringify(data)) as Data, meta: context.meta };
}
