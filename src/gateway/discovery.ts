import type { GraphQLSchema } from 'graphql';
import { type Endpoint, MEDIA_TYPES, formatsOf, sampleOf } from '../endpoints/endpoint';
import { type JsonSchema, inputSchema, outputSchema, parameterSchema, presentationSchemas, sampleInput } from '../endpoints/json-schema';
import { wantedOf } from '../endpoints/read';
import { sampleData } from '../endpoints/sample-answer';
import type { PaymentMethod } from '../payments/protocol';
import { priceRange } from '../pricing/catalog';
import { dollars, usd } from '../pricing/tiers';
import { ERROR_SCHEMA, OFFER_SCHEMA, contentOfError, object, text } from './error-schema';
import { FREE_OPERATIONS, FREE_TAG } from './free-operations';
import { META_SCHEMA, sampleMeta } from './meta-schema';
import { VENUE_TITLES } from './pages/page';

/** An answer as it is sent, in its shape: its figures are made up. */
const sampleAnswer = (endpoint: Endpoint, schema: GraphQLSchema): object => ({
  data: sampleData(endpoint, schema),
  meta: sampleMeta(endpoint),
});

/** x402's discovery record of an endpoint: what to send, what comes back, one example. In the body of a 402, never in a header. */
export function bazaarOf(endpoint: Endpoint, schema: GraphQLSchema): Record<string, unknown> {
  const { method } = endpoint;
  const [where, fixed] = method === 'GET' ? ['queryParams', { method }] : ['body', { method, bodyType: 'json' }];
  const answer = {
    type: 'object',
    properties: { data: outputSchema(endpoint, schema), meta: { type: 'object' } },
    required: ['data', 'meta'],
  };
  return {
    info: {
      input: { type: 'http', ...fixed, [where]: sampleInput(endpoint) },
      output: { type: 'json', example: sampleAnswer(endpoint, schema) },
    },
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

const headers = (told: Record<string, string>): object =>
  Object.fromEntries(Object.entries(told).map(([name, description]) => [name, { description, schema: text }]));

const RECEIPTS = headers({
  'PAYMENT-RESPONSE': 'The receipt of x402, base64 of JSON.',
  'Payment-Receipt': 'The receipt of MPP, base64url of JSON.',
});
const OFFERS = headers({
  'PAYMENT-REQUIRED': 'The offers of x402, base64 of JSON; the proof is sent as `PAYMENT-SIGNATURE`.',
  'WWW-Authenticate': 'The offers of MPP, one `Payment` challenge each; the proof is sent as `Authorization: Payment …`.',
});
const RETRY = headers({ 'Retry-After': 'Seconds until the same request may go through.' });

/** Headers of a request that any client may send; those of the proof are each protocol's own. */
const HEADER_PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'A word of your choice: a lost answer is given again for it, to the same payer, without paying twice.',
    schema: { ...text, minLength: 1, maxLength: 128, pattern: '^[!-~]+$' },
  },
  Payer: {
    name: 'X-Payer',
    in: 'header',
    required: false,
    description: 'Your Solana address, where the x402 offer names no `feePayer`.',
    schema: text,
  },
  AcceptPayment: {
    name: 'Accept-Payment',
    in: 'header',
    required: false,
    description: 'The MPP methods that you can pay by, best first by their `q`: the 402 then has no headers but theirs.',
    schema: text,
    example: 'tempo/charge, solana/charge;q=0.5',
  },
};

/** What every paid operation refers to instead of repeating it. */
const COMPONENTS = {
  schemas: { Meta: META_SCHEMA, Error: ERROR_SCHEMA, PaymentRequired: OFFER_SCHEMA },
  parameters: HEADER_PARAMETERS,
  headers: RECEIPTS,
  responses: {
    PaymentRequired: {
      description: 'Payment Required: the exact price of this request and how to pay it',
      headers: OFFERS,
      content: contentOfError('PaymentRequired'),
    },
    NotCharged: { description: 'Not charged', headers: RETRY, content: contentOfError('Error') },
  },
};

const referTo = (kind: keyof typeof COMPONENTS, name: string): { $ref: string } => ({ $ref: `#/components/${kind}/${name}` });
const SHARED_PARAMETERS = Object.keys(HEADER_PARAMETERS).map((name) => referTo('parameters', name));
const SHARED_HEADERS = Object.fromEntries(Object.keys(RECEIPTS).map((name) => [name, referTo('headers', name)]));

/** Parameters of a GET, or the body of a POST. */
function requestOf(endpoint: Endpoint, schema: GraphQLSchema): Record<string, unknown> {
  if (endpoint.method === 'POST') {
    const content = { 'application/json': { schema: inputSchema(endpoint, schema), example: sampleInput(endpoint) } };
    return { parameters: SHARED_PARAMETERS, requestBody: { required: true, content } };
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
      ...SHARED_PARAMETERS,
    ],
  };
}

/** The answer in every format of the endpoint. */
function contentOf(endpoint: Endpoint, answer: object, example: object): Record<string, unknown> {
  const others = formatsOf(endpoint).flatMap((format) =>
    format === 'json' ? [] : [[MEDIA_TYPES[format], { schema: { type: 'string' } }]],
  );
  return { 'application/json': { schema: answer, example }, ...Object.fromEntries(others) };
}

/** What OpenAPI cannot say of parameters in a query. */
const wishesOf = ({ oneOfRequired }: Endpoint): string[] => oneOfRequired.map((group) => `Parameters: ${wantedOf(group)}.`);

function operationOf(endpoint: Endpoint, schema: GraphQLSchema, methods: readonly PaymentMethod[]): Record<string, unknown> {
  const { default: price, cheapest, dearest } = priceRange(endpoint);
  const description = `Default price; ${dollars(cheapest)} to ${dollars(dearest)} USD by parameters`;
  const offers = methods.map((method) => ({
    intent: 'charge',
    method: method.protocol === 'x402' ? 'x402' : method.method,
    amount: String(price),
    currency: method.asset,
    description,
  }));
  const answer = {
    ...object,
    properties: { data: outputSchema(endpoint, schema), meta: referTo('schemas', 'Meta') },
    required: ['data', 'meta'],
  };
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
      '200': {
        description: 'Paid and answered; with `fields`, what is not named there is left out',
        headers: SHARED_HEADERS,
        content: contentOf(endpoint, answer, sampleAnswer(endpoint, schema)),
      },
      '402': referTo('responses', 'PaymentRequired'),
      default: referTo('responses', 'NotCharged'),
    },
  };
}

/** The OpenAPI 3.1 description: everything sold, derived from the documents, then what is free. */
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
    // A payment is no login: there is nothing to be given a key for.
    security: [],
    tags: [...VENUE_TITLES, FREE_TAG].map(([name, description]) => ({ name, description })),
    'x-service-info': {
      categories: ['analytics'],
      docs: { homepage: about.publicUrl, apiReference: `${about.publicUrl}/docs`, llms: `${about.publicUrl}/llms.txt` },
    },
    paths: { ...paths, ...Object.fromEntries(Object.entries(FREE_OPERATIONS).map(([path, get]) => [path, { get }])) },
    components: COMPONENTS,
  };
}

/** Short plain text for language models: what is here, how to pay, every path with its price. */
export function llmsText(endpoints: readonly Endpoint[], publicUrl: string): string {
  const line = (endpoint: Endpoint): string =>
    `- ${endpoint.method} ${endpoint.path}: ${endpoint.summary} (${usd(priceRange(endpoint).default)} by default)`;
  return `# Smart money analytics

Pay-per-query JSON API. Send a request without payment: the 402 answer states the exact price and how to pay it (x402 on Solana, MPP tempo, MPP solana), and checks your parameters for free.
Send the same request again with the proof. You are charged only for data: errors, time-outs and empty answers cost nothing.
The proof is a header: PAYMENT-SIGNATURE for an offer of PAYMENT-REQUIRED (x402), Authorization: Payment for a challenge of WWW-Authenticate (MPP); what it holds and what is signed: ${publicUrl}/docs#by-hand
Sign the payment, but do not send it to the chain yourself. A header Idempotency-Key of your choice lets you collect a lost answer without paying twice.
Where the x402 offer names no feePayer, send your Solana address as header X-Payer: you pay the fee, and stock clients sign.

A GET takes its parameters in the query, the items of a list separated by commas; a POST as one JSON object. What an endpoint takes and gives stands in the body of its 402 (extensions.bazaar.schema, with an example in extensions.bazaar.info) and in OpenAPI.
Answers are { "data", "meta" }. Where meta.next_cursor is not null, send it as cursor, all else unchanged, for the next page. fields=a,b.c keeps some fields; format=csv or ndjson writes lists so.
Errors hold code, details, suggestion and fallback; where Retry-After is sent, the same may go through then. 404 empty_result: nothing in scope, suggestion says what to loosen; 404 not_found: unknown identifier.

Reference: ${publicUrl}/docs  How figures are computed: ${publicUrl}/docs/methodology
Prices: ${publicUrl}/api/v1/pricing (?path=trades/whales&limit=100 quotes one request)  OpenAPI: ${publicUrl}/openapi.json

## Endpoints
${endpoints.map(line).join('\n')}
`;
}
