import type { GraphQLSchema } from 'graphql';
import { type Endpoint, formatsOf, sampleOf } from '../endpoints/endpoint';
import { type JsonSchema, inputSchema, outputSchema, parameterSchema, presentationSchemas, sampleInput } from '../endpoints/json-schema';
import { wantedOf } from '../endpoints/read';
import { ERRORS } from '../errors';
import type { PaymentMethod } from '../payments/protocol';
import { priceRange } from '../pricing/catalog';
import { META_SCHEMA } from './meta-schema';

/** x402's discovery record of an endpoint: what to send, what comes back, one example. In the body of a 402, never in a header. */
export function bazaarOf(endpoint: Endpoint, schema: GraphQLSchema): Record<string, unknown> {
  const { method } = endpoint;
  const [where, fixed] = method === 'GET' ? ['queryParams', { method }] : ['body', { method, bodyType: 'json' }];
  const answer = { type: 'object', properties: { data: outputSchema(endpoint, schema), meta: { type: 'object' } } };
  return {
    info: { input: { type: 'http', ...fixed, [where]: sampleInput(endpoint) }, output: { type: 'json' } },
    // Crawlers drop a record whose `info` does not satisfy its own schema.
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            type: { const: 'http' },
            ...Object.fromEntries(Object.entries(fixed).map(([name, value]) => [name, { const: value }])),
            [where]: inputSchema(endpoint, schema),
          },
          required: ['type', ...Object.keys(fixed), where],
        },
        output: { type: 'object', properties: { type: { const: 'json' }, example: answer } },
      },
      required: ['input'],
    },
  };
}

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };

/** JSON Schema of everything but a 200; a 402 also holds the offers, the price and the check of the parameters. */
const ERROR_SCHEMA = {
  type: 'object',
  properties: {
    error: { ...text, description: 'A sentence for people.' },
    code: { ...text, enum: Object.keys(ERRORS) },
    reason: textOrNull,
    request_id: text,
    charged: { enum: [false, 'pending'], description: '`pending` only while a payment that was sent is not confirmed.' },
    details: { type: 'array', items: { type: 'object', properties: { param: text, issue: text, allowed: {}, got: {} } } },
    retry_after_s: { type: ['integer', 'null'] },
    fallback: { type: ['object', 'null'], properties: { method: text, path: text, note: text } },
    suggestion: { type: ['object', 'null'] },
  },
};
const ERROR = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

/** Parameters of a GET, or the body of a POST. */
function requestOf(endpoint: Endpoint, schema: GraphQLSchema): Record<string, unknown> {
  if (endpoint.method === 'POST') {
    const content = { 'application/json': { schema: inputSchema(endpoint, schema), example: sampleInput(endpoint) } };
    return { requestBody: { required: true, content } };
  }
  const inQuery = (name: string, of: JsonSchema, more: object = {}): object => ({
    name,
    in: 'query',
    required: false,
    ...(of.type === 'array' ? { style: 'form', explode: false } : {}),
    schema: of,
    ...more,
  });
  return {
    parameters: [
      ...endpoint.parameters.map((parameter) =>
        inQuery(parameter.name, parameterSchema(parameter, schema), {
          required: parameter.required,
          ...(parameter.sample === null ? {} : { example: sampleOf(parameter) }),
        }),
      ),
      ...Object.entries(presentationSchemas(endpoint)).map(([name, of]) => inQuery(name, of)),
    ],
  };
}

const MEDIA_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** The answer in every format of the endpoint. */
function contentOf(endpoint: Endpoint, answer: object): Record<string, unknown> {
  const others = formatsOf(endpoint).flatMap((format) =>
    format === 'json' ? [] : [[MEDIA_TYPES[format], { schema: { type: 'string' } }]],
  );
  return { 'application/json': { schema: answer }, ...Object.fromEntries(others) };
}

/** What OpenAPI cannot say of parameters in a query. */
const wishesOf = ({ oneOfRequired }: Endpoint): string[] => oneOfRequired.map((group) => `Parameters: ${wantedOf(group)}.`);

function operationOf(endpoint: Endpoint, schema: GraphQLSchema, methods: readonly PaymentMethod[]): Record<string, unknown> {
  const { default: price, cheapest, dearest } = priceRange(endpoint);
  const description = `Default price; ${Number(cheapest) / 1e6} to ${Number(dearest) / 1e6} USD by parameters`;
  const offers = methods.map((method) => ({
    intent: 'charge',
    method: method.protocol === 'x402' ? 'x402' : method.method,
    amount: String(price),
    currency: method.asset,
    description,
  }));
  const answer = { type: 'object', properties: { data: outputSchema(endpoint, schema), meta: { $ref: '#/components/schemas/Meta' } } };
  return {
    operationId: endpoint.rootField,
    summary: endpoint.summary,
    tags: [endpoint.venue],
    description: [schema.getQueryType()?.getFields()[endpoint.rootField]?.description ?? endpoint.summary, ...wishesOf(endpoint)].join(
      '\n',
    ),
    'x-payment-info': { offers },
    ...requestOf(endpoint, schema),
    responses: {
      '200': { description: 'Paid and answered', content: contentOf(endpoint, answer) },
      '402': {
        description: 'Payment Required: the exact price of this request and how to pay it',
        content: ERROR,
      },
      default: { description: 'Not charged', content: ERROR },
    },
  };
}

/** The OpenAPI 3.1 description of everything sold, derived from the documents. */
export function openApi(
  endpoints: readonly Endpoint[],
  schema: GraphQLSchema,
  methods: readonly PaymentMethod[],
  about: { version: string; publicUrl: string },
): Record<string, unknown> {
  const paths = Object.fromEntries(
    endpoints.map((endpoint) => [endpoint.path, { [endpoint.method.toLowerCase()]: operationOf(endpoint, schema, methods) }]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Smart money analytics',
      version: about.version,
      description: 'Pay-per-query analytics over a prediction market, perpetual futures and Solana liquidity pools. No data, no charge.',
    },
    servers: [{ url: about.publicUrl }],
    'x-service-info': {
      categories: ['analytics'],
      docs: { homepage: about.publicUrl, apiReference: `${about.publicUrl}/docs`, llms: `${about.publicUrl}/llms.txt` },
    },
    paths,
    components: { schemas: { Meta: META_SCHEMA, Error: ERROR_SCHEMA } },
  };
}

/** Short plain text for language models: what is here, how to pay, every path with its price. */
export function llmsText(endpoints: readonly Endpoint[], publicUrl: string): string {
  const line = (endpoint: Endpoint): string =>
    `- ${endpoint.method} ${endpoint.path}: ${endpoint.summary} ($${Number(priceRange(endpoint).default) / 1e6} by default)`;
  return `# Smart money analytics

Pay-per-query JSON API. Send a request without payment: the 402 answer states the exact price and how to pay it (x402 on Solana, MPP tempo, MPP solana), and checks your parameters for free.
Send the same request again with the proof. You are charged only for data: errors, time-outs and empty answers cost nothing.
Sign the payment, but do not send it to the chain yourself. A header Idempotency-Key of your choice lets you collect a lost answer without paying twice.
Where the x402 offer names no feePayer, send your Solana address as header X-Payer: you pay the fee, and stock clients sign.

Prices: ${publicUrl}/api/v1/pricing  OpenAPI: ${publicUrl}/openapi.json

## Endpoints
${endpoints.map(line).join('\n')}
`;
}
