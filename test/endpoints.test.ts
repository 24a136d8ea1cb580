import zlib from 'node:zlib';
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import type { Endpoint } from '../src/endpoints/endpoint';
import { DEFINITIONS, loadCatalogue } from '../src/catalogue';
import { VENUES } from '../src/wings';
import { sampleInput } from '../src/endpoints/json-schema';
import { rawOfBody, readParameters } from '../src/endpoints/read';
import { bazaarOf } from '../src/gateway/discovery';
import { META_SCHEMA } from '../src/gateway/meta-schema';
import { encodeCursor, listScope } from '../src/lib/cursor';
import { ENDPOINTS } from './support/catalogue';
import { until } from './support/feeds';
import { ROOT } from './support/root';
import { type Product, startProduct } from './support/product';
import { type Unstated, statedBy, withoutReferences } from './support/stated-answers';
import { PRICE_TABLE, priceRowOf } from './pricing/price-table';

// The contract of all 74 paths, over the whole product, unpaid.

let product: Product;
let unstated: Unstated;
const began = Date.now();
beforeAll(async () => {
  product = await startProduct();
  unstated = statedBy((await (await fetchPath('/openapi.json')).json()) as Record<string, unknown>);
});
afterAll(() => product.close());

test('a question that no wing answers stops the start', () => {
  expect(() =>
    loadCatalogue(
      ROOT,
      VENUES.filter(({ name }) => name !== 'lp'),
    ),
  ).toThrow(/^No resolver answers .*pools\/trending/);
});

const fetchPath = (path: string, init?: RequestInit): Promise<Response> => fetch(`${product.publicUrl}${path}`, init);

function request(endpoint: Endpoint, parameters: Record<string, unknown>): Promise<Response> {
  if (endpoint.method === 'POST')
    return fetchPath(endpoint.path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(parameters) });
  return fetchPath(
    `${endpoint.path}?${new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)])).toString()}`,
  );
}

/** Amounts of a 402, as each protocol reads it. */
async function amountsOf(
  response: Response,
): Promise<{ body: string; header: string; mpp: Record<string, string>; order: string[]; json: Record<string, never> }> {
  const json = (await response.json()) as { accepts: { amount: string }[] };
  const header = JSON.parse(Buffer.from(response.headers.get('payment-required') as string, 'base64').toString()) as {
    accepts: { amount: string }[];
  };
  const challenges = [...(response.headers.get('www-authenticate') ?? '').matchAll(/Payment [^]*?method="(\w+)"[^]*?request="([^"]+)"/g)];
  const mpp = Object.fromEntries(
    challenges.map(([, method, body]) => [
      method,
      (JSON.parse(Buffer.from(body as string, 'base64url').toString()) as { amount: string }).amount,
    ]),
  );
  return {
    body: json.accepts[0]?.amount as string,
    header: header.accepts[0]?.amount as string,
    mpp,
    order: challenges.map(([, method]) => method as string),
    json: json as never,
  };
}

const FILTER_SAMPLES: Record<string, unknown> = {
  category: 'Sports',
  condition_id: `0x${'1'.repeat(64)}`,
  coin: 'BTC',
  coins: 'BTC',
  token: 'So11111111111111111111111111111111111111112',
  pool_address: 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo',
  pool_type: 'dlmm',
  smart_money_only: true,
};

const itemOf = (type: string, index: number): string =>
  type === 'EvmAddress' ? `0x${String(index).padStart(40, '0')}` : `${'1'.repeat(31)}${'23456789ABCDEFGH'[index]}`;
const listOf = (type: string, count: number): string[] => Array.from({ length: count }, (_, index) => itemOf(type, index));

/** Parameters at the cheapest and the dearest end of the price table. */
function extremes(endpoint: Endpoint): { cheapest: Record<string, unknown>; dearest: Record<string, unknown> } {
  const cheapest: Record<string, unknown> = sampleInput(endpoint);
  const dearest: Record<string, unknown> = sampleInput(endpoint);
  for (const { name, type, list, required, filter, pricedLimit, min, max } of endpoint.parameters) {
    if (name === 'timeframe') {
      // A comparison needs shorter windows beside it.
      cheapest.timeframe = endpoint.name.endsWith('flow-comparison') ? '4h' : '1h';
      dearest.timeframe = 'all';
    } else if (filter && !required) cheapest[name] = FILTER_SAMPLES[name];
    else if (pricedLimit) dearest[name] = max;
    else if (name.startsWith('include_') && type === 'Boolean') cheapest[name] = false;
    else if (list && required) {
      cheapest[name] = listOf(type, min as number);
      dearest[name] = listOf(type, max as number);
    }
  }
  return { cheapest, dearest };
}

describe.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))('%s', (name, endpoint) => {
  const [, , standard, cheapest, dearest] = priceRowOf(name);

  test('asks for the price of the table, the same in every protocol: default, cheapest, dearest', async () => {
    const ends = extremes(endpoint);
    for (const [parameters, price] of [
      [sampleInput(endpoint), standard],
      [ends.cheapest, cheapest],
      [ends.dearest, dearest],
    ] as const) {
      const response = await request(endpoint, parameters);
      expect(response.status).toBe(402);
      const amounts = await amountsOf(response);
      expect(amounts).toMatchObject({
        body: String(price),
        header: String(price),
        mpp: { tempo: String(price), solana: String(price) },
        order: ['tempo', 'solana'],
      });
      expect(amounts.json).toMatchObject({
        code: 'payment_required',
        charged: false,
        price_usd: price / 1e6,
        validation: { valid: true, errors: [], ignored_params: [] },
      });
    }
  });

  test('a free quote says the same', async () => {
    const query = new URLSearchParams([
      ['path', endpoint.path],
      ['method', endpoint.method],
      ...Object.entries(sampleInput(endpoint)).map(([key, value]) => [key, String(value)]),
    ]);
    const { quote } = (await (await fetchPath(`/api/v1/pricing?${query.toString()}`)).json()) as { quote: { amount: string } };
    expect(quote.amount).toBe(String(standard));
  });

  test('crawlers of x402 accept its discovery record', async () => {
    const { extensions, resource } = (await (await request(endpoint, {})).json()) as { extensions: { bazaar: never }; resource: object };
    expect(resource).toMatchObject({ description: endpoint.summary });
    // Whether its example is in the answer's shape, the record's own schema says.
    const { example } = (extensions.bazaar as { info: { output: { example: Record<string, object> } } }).info.output;
    expect(Object.keys(example)).toEqual(['data', 'meta']);
    expect(Object.keys(example.meta as object).sort()).toEqual([...META_SCHEMA.required].sort());
    expect(example.meta).toMatchObject({ endpoint: endpoint.name, price_usd: Number(standard) / 1e6 });
    // Formats are words to the crawler: it says so for each of them.
    const warned = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    expect(validateDiscoveryExtension(extensions.bazaar)).toEqual({ valid: true });
    expect(validateDiscoveryExtensionSpec(extensions.bazaar)).toEqual({ valid: true });
    warned.mockRestore();
  });

  test('the other methods are refused, with Allow', async () => {
    for (const method of ['GET', 'POST', 'HEAD', 'PUT', 'DELETE'].filter((other) => other !== endpoint.method)) {
      const response = await fetchPath(endpoint.path, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, `${endpoint.method}, OPTIONS`]);
      const details = [{ param: 'method', allowed: endpoint.method, got: method }];
      if (method !== 'HEAD') expect(await response.json()).toMatchObject({ code: 'method_not_allowed', details });
    }
    const options = await fetchPath(endpoint.path, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, `${endpoint.method}, OPTIONS`]);
  });

  test('without required parameters it says which, and still names the price of the list', async () => {
    const response = await request(endpoint, {});
    const body = (await response.json()) as { error: string; price_usd: number; validation: { errors: { param: string }[] } };
    const missing = endpoint.parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name);
    expect(response.status).toBe(402);
    expect(unstated(endpoint.method, endpoint.path, 402, body)).toEqual([]);
    expect(body.price_usd).toBe(Number(standard) / 1e6);
    expect(body.validation.errors.map(({ param }) => param)).toEqual(expect.arrayContaining(missing));
    // Nobody is told to pay for what would be refused.
    expect(body.error).toMatch(body.validation.errors.length === 0 ? /sign one of the offers/ : /would be refused/);
    expect(Object.keys(body).indexOf('validation')).toBeLessThan(Object.keys(body).indexOf('accepts'));
    expect(Object.keys(body).at(-1)).toBe('extensions');
  });
});

test('the price list states the same 74 prices', async () => {
  const { endpoints } = (await (await fetchPath('/api/v1/pricing')).json()) as {
    endpoints: { path: string; default_price: number; min_price: number; max_price: number }[];
  };
  const listed = Object.fromEntries(
    endpoints.map((row) => [row.path.slice('/api/v1/'.length), [row.default_price, row.min_price, row.max_price]]),
  );
  expect(listed).toEqual(
    Object.fromEntries(PRICE_TABLE.map(([path, , ...prices]) => [path, prices.slice(0, 3).map((micro) => (micro as number) / 1e6)])),
  );
});

interface Quoted {
  validation: { valid: boolean; errors: unknown[] };
}

const DOCUMENTS = ['/api/v1/pricing', '/openapi.json', '/llms.txt', '/docs', '/docs/methodology', '/.well-known/x402', '/.well-known/mpp'];
const FREE_PATHS = ['/api/v1/pricing', '/health'];

interface Described {
  properties: Record<string, unknown>;
  required: string[];
}

interface Told {
  required?: string[];
  properties?: Record<string, { description?: string }>;
}

interface Operation {
  'x-payment-info': { offers: { amount: string; method: string; currency: string; description: string }[] };
  parameters?: { name: string; in: string; required: boolean; example?: unknown; schema: { pattern?: string } }[];
  requestBody?: { required: boolean; content: { 'application/json': { example: Record<string, unknown> } } };
  responses: Record<string, { content: Record<string, unknown> }>;
}

const describeApi = async (): Promise<unknown> =>
  withoutReferences((await (await fetchPath('/openapi.json')).json()) as Record<string, unknown>);

test('OpenAPI describes every path, with its price, a 402 and an example that is accepted', async () => {
  const { paths, servers } = (await describeApi()) as {
    paths: Record<string, Record<string, Operation>>;
    servers: unknown;
  };
  expect(servers).toEqual([{ url: product.publicUrl }]);
  expect(Object.keys(paths).sort()).toEqual([...ENDPOINTS.map(({ path }) => path), ...FREE_PATHS].sort());
  const { schema: graph } = loadCatalogue(ROOT);
  for (const endpoint of ENDPOINTS) {
    const operation = paths[endpoint.path]?.[endpoint.method.toLowerCase()];
    expect(operation?.responses).toHaveProperty('402');
    const [, , price, cheapest, dearest] = priceRowOf(endpoint.name);
    const description = `Default price; ${Number(cheapest) / 1e6} to ${Number(dearest) / 1e6} USD by parameters`;
    const told = { amount: String(price), currency: expect.any(String), description };
    expect(operation?.['x-payment-info'].offers).toMatchObject(['x402', 'tempo', 'solana'].map((method) => ({ method, ...told })));
    const required = operation?.parameters?.filter((one) => one.in === 'query' && one.required).map(({ name }) => name);
    expect(required).toEqual(endpoint.method === 'GET' ? endpoint.parameters.filter((one) => one.required).map(({ name }) => name) : []);
    expect(operation?.requestBody?.required).toBe(endpoint.method === 'POST' ? true : undefined);
    const example =
      operation?.requestBody?.content['application/json'].example ??
      Object.fromEntries((operation?.parameters ?? []).flatMap(({ name, example: value }) => (value === undefined ? [] : [[name, value]])));
    expect([endpoint.name, readParameters(endpoint, rawOfBody(example)).problems]).toEqual([endpoint.name, []]);
    // An address may be written with a checksum in its letters.
    for (const { name, example: value, schema } of operation?.parameters ?? [])
      if (schema.pattern !== undefined && typeof value === 'string' && value.startsWith('0x'))
        expect([endpoint.name, name, `0x${value.slice(2).toUpperCase()}`]).toEqual([
          endpoint.name,
          name,
          expect.stringMatching(schema.pattern),
        ]);
    const names = operation?.parameters?.map(({ name }) => name) ?? [];
    expect(endpoint.method === 'POST' || (names.includes('fields') && names.includes('format'))).toBe(true);
    expect('text/csv' in (operation?.responses['200']?.content ?? {})).toBe(endpoint.answer.table);
    // The answer's example is the one of the discovery record.
    const { info } = bazaarOf(endpoint, graph) as { info: { output: { example: object } } };
    expect(operation?.responses['200']?.content['application/json']).toHaveProperty('example', info.output.example);
  }
});

test('OpenAPI tells what is always there, what a 402 holds, and which headers matter', async () => {
  const { paths, components, security, tags } = (await describeApi()) as {
    security: unknown;
    tags: { name: string }[];
    paths: Record<
      string,
      Record<string, { tags: string[]; parameters: { name: string }[]; responses: Record<string, { headers: object; content: unknown }> }>
    >;
    components: {
      schemas: Record<'Meta' | 'Error' | 'PaymentRequired', Told & { allOf?: Told[] }>;
    };
  };
  const { Meta, Error: told, PaymentRequired } = components.schemas;
  const offer = (await (await fetchPath('/api/v1/trades/whales')).json()) as Record<string, unknown>;
  const unknown = (await (await fetchPath('/api/v1/nothing')).json()) as Record<string, unknown>;
  expect(security).toEqual([]);
  expect(told.required).toEqual(Object.keys(unknown));
  expect(Meta.required).toContain('next_cursor');
  for (const { properties } of [Meta, told])
    expect(Object.entries(properties ?? {}).filter(([, { description }]) => description === undefined)).toEqual([]);
  for (const name of ['price_usd', 'pricing', 'validation', 'expires_at', 'accepts', 'extensions']) expect(offer).toHaveProperty(name);
  const refused = (await (await fetchPath('/api/v1/trades/whales', { headers: { 'X-PAYMENT': '%' } })).json()) as Record<string, unknown>;
  const untold = (body: object, ...schemas: (typeof told)[]): string[] =>
    Object.keys(body).filter((name) => !schemas.some(({ properties }) => properties !== undefined && name in properties));
  expect(untold(offer, ...(PaymentRequired.allOf ?? []))).toEqual([]);
  expect(untold(refused, told)).toEqual([]);
  for (const operation of ENDPOINTS.flatMap(({ path }) => Object.values(paths[path] ?? {}))) {
    expect(operation.responses['200']).toMatchObject({
      headers: { 'PAYMENT-RESPONSE': {}, 'Payment-Receipt': {} },
      content: { 'application/json': { schema: { required: ['data', 'meta'] } } },
    });
    expect(operation.responses['402']?.headers).toMatchObject({ 'PAYMENT-REQUIRED': {}, 'WWW-Authenticate': {} });
    expect(tags.map(({ name }) => name)).toEqual(expect.arrayContaining(operation.tags));
    expect(operation.parameters.map(({ name }) => name)).toEqual(expect.arrayContaining(['Idempotency-Key', 'X-Payer']));
  }
});

/** Schemas in a description, with where they stand. */
function schemasIn(value: unknown, path = '', found: [string, Record<string, unknown>][] = []): [string, Record<string, unknown>][] {
  if (typeof value !== 'object' || value === null) return found;
  const { items, properties, additionalProperties, oneOf, anyOf, allOf } = value as Record<string, unknown>;
  found.push([path, value as Record<string, unknown>]);
  for (const [name, one] of Object.entries({ '[]': items, '{}': additionalProperties, ...(properties as object | undefined) })) schemasIn(one, `${path}.${name}`, found);
  for (const one of [oneOf, anyOf, allOf].flat()) schemasIn(one, path, found);
  return found;
} // prettier-ignore

test('OpenAPI tells programs what each value of an answer is: a type with every choice, the fields of every object, or that they are free', async () => {
  const { paths } = (await describeApi()) as {
    paths: Record<string, Record<string, { responses: Record<string, { content: Record<string, { schema: unknown }> }> }>>;
  };
  const schemas = Object.entries(paths).flatMap(([path, operations]) =>
    Object.values(operations).flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ content }) => schemasIn(content['application/json']?.schema, path)),
    ),
  );
  const isObject = ({ type }: Record<string, unknown>): boolean => [type].flat().includes('object');
  const wordless = schemas.filter(([, one]) => isObject(one) && !('properties' in one) && !('additionalProperties' in one));
  expect([...new Set(wordless.map(([path]) => path))]).toEqual([]);
  expect([...new Set(schemas.filter(([, one]) => 'enum' in one && !('type' in one)).map(([path]) => path))]).toEqual([]);
  const named = (name: RegExp) => schemas.filter(([path, one]) => name.test(path) && [one.type].flat().includes('string'));
  const closed = named(/\.(category|timeframe|band|side|size_bucket)$/);
  expect(closed.length).toBeGreaterThan(30);
  expect(closed.filter(([, one]) => !('enum' in one)).map(([path]) => path)).toEqual([]);
});

test.each(['/health', '/api/v1/pricing', '/api/v1/pricing?path=trades/whales'])(
  'OpenAPI describes %s: it is free, and holds what is told of it',
  async (path) => {
    const { paths, tags } = (await describeApi()) as {
      tags: { name: string }[];
      paths: Record<
        string,
        { get: { tags: string[]; responses: Record<string, { content: { 'application/json': { schema: Described } } }> } }
      >;
    };
    const { get } = paths[path.replace(/\?.*/, '')] as (typeof paths)[string];
    const answer = (await (await fetchPath(path)).json()) as Record<string, unknown>;
    const { properties, required } = get.responses['200']?.content['application/json'].schema as Described;
    expect(get).not.toHaveProperty('x-payment-info');
    expect(get.responses).not.toHaveProperty('402');
    expect(tags.map(({ name }) => name)).toEqual(expect.arrayContaining(get.tags));
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(answer)));
    expect(Object.keys(answer)).toEqual(expect.arrayContaining(required));
    expect(unstated('GET', path.replace(/\?.*/, ''), 200, answer)).toEqual([]);
    if ('quote' in answer)
      expect(Object.keys(answer.quote as object).sort()).toEqual(Object.keys((properties.quote as Described).properties).sort());
  },
);

test('a language model is told how to find parameters, pages and mistakes', async () => {
  const text = await (await fetchPath('/llms.txt')).text();
  for (const told of [
    '/docs',
    '/docs/methodology',
    '/openapi.json',
    'meta.next_cursor',
    'extensions.bazaar.schema',
    'Retry-After',
    '?path=',
    // Ten cents, as people write them.
    'pools/smart-wallet: Pools with highest smart-wallet participation ($0.10 by default)',
  ])
    expect(text).toContain(told);
});

test('where one of several parameters will do, OpenAPI, the discovery record and the reference say so', async () => {
  const { paths, components } = (await describeApi()) as {
    paths: Record<string, Record<string, { description: string }>>;
    components: { schemas: Record<string, unknown> };
  };
  expect(components.schemas).toHaveProperty('Error');
  const reference = await (await fetchPath('/docs')).text();
  const groups = ENDPOINTS.flatMap((endpoint) => endpoint.oneOfRequired.map((group) => [endpoint, group] as const));
  expect(groups.length).toBeGreaterThan(0);
  for (const [endpoint, group] of groups) {
    const words = `Parameters: one of ${group.join(', ')} is required.`;
    expect(Object.values(paths[endpoint.path] ?? {})[0]?.description).toContain(words);
    expect(reference).toContain(words);
    const { extensions } = (await (await request(endpoint, {})).json()) as { extensions: { bazaar: never } };
    expect(JSON.stringify(extensions.bazaar)).toContain(JSON.stringify({ anyOf: group.map((name) => ({ required: [name] })) }));
  }
});

test.each([
  ['csv', 'text/csv'],
  ['ndjson', 'application/x-ndjson'],
])('the offer of x402 names the media type of an answer in %s', async (format, mimeType) => {
  const response = await fetchPath(`/api/v1/trades/whales?format=${format}`);
  const header = JSON.parse(Buffer.from(response.headers.get('payment-required') as string, 'base64').toString()) as unknown;
  for (const offer of [header, await response.json()]) expect(offer).toMatchObject({ resource: { mimeType } });
});

test('the body of a 402 tells of the extensions of x402 that its header offers, beside the discovery record', async () => {
  const response = await fetchPath('/api/v1/trades/whales');
  const header = JSON.parse(Buffer.from(response.headers.get('payment-required') as string, 'base64').toString()) as { extensions: object };
  const { bazaar, ...others } = ((await response.json()) as { extensions: Record<string, unknown> }).extensions;
  expect([Object.keys(others), others, bazaar]).toEqual([['payment-identifier'], header.extensions, expect.any(Object)]);
});

test('a quote is the price list as far as it concerns the endpoint, and the price of the request', async () => {
  const told = async (search: string): Promise<Record<string, unknown>> =>
    (await (await fetchPath(`/api/v1/pricing${search}`)).json()) as Record<string, unknown>;
  const whole = await told('');
  const inForce = Date.parse(whole.updated_at as string);
  expect([inForce >= began - 1_000, inForce <= Date.now()]).toEqual([true, true]);
  const [whales, compare, copies] = await Promise.all(
    ['trades/whales&limit=100', 'wallets/compare', 'wallets/copy-traders'].map((path) => told(`?path=${path}`)),
  );
  for (const quoted of [whales, compare, copies]) expect(Object.keys(quoted ?? {}).sort()).toEqual([...Object.keys(whole), 'quote'].sort());
  expect(whales).toMatchObject({
    version: whole.version,
    protocols: whole.protocols,
    quote: { path: '/api/v1/trades/whales', validation: { resolved: { limit: 100 } } },
    special_rules: [],
    caps: {},
    free_endpoints: FREE_PATHS,
  });
  expect(whales?.endpoints).toEqual((whole.endpoints as { path: string }[]).filter(({ path }) => path === '/api/v1/trades/whales'));
  expect(whales?.filters).toContainEqual({ param: 'category', factor: 0.7, condition: 'sent', endpoints: ['/api/v1/trades/whales'] });
  expect(compare?.special_rules).toEqual([
    { endpoints: ['/api/v1/wallets/compare'], rule: 'number of wallets / 2' },
    { endpoints: ['/api/v1/wallets/compare'], rule: 'timeframe: min(1, multiplier)' },
  ]);
  expect(copies?.caps).toEqual({ '/api/v1/wallets/copy-traders': 0.12 });
  expect(JSON.stringify(whales).length).toBeLessThan(JSON.stringify(whole).length / 10);
});

test('a quote is asked for by any spelling of the method, and kept by nobody', async () => {
  const quoted = await fetchPath('/api/v1/pricing?path=/trades/whales&method=get&limit=5');
  expect([quoted.status, quoted.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(await quoted.json()).toMatchObject({ quote: { validation: { valid: true, ignored_params: [] } } });
  // One endpoint has a parameter of that name.
  const similar = await fetchPath(`/api/v1/pricing?path=markets/similar&condition_id=0x${'1'.repeat(64)}&method=text`);
  expect(await similar.json()).toMatchObject({ quote: { validation: { valid: true, resolved: { method: 'text' } } } });
});

test('the free checks of a request, by its 402 and by its quote, know how old a cursor is', async () => {
  const endpoint = ENDPOINTS.find(({ name }) => name === 'trades/whales') as Endpoint;
  const old = encodeCursor([0, 'a'], listScope(endpoint.name, readParameters(endpoint, new Map()).variables));
  const { validation: asked } = (await (await fetchPath(`${endpoint.path}?cursor=${old}`)).json()) as Quoted;
  const { quote } = (await (await fetchPath(`/api/v1/pricing?path=trades/whales&cursor=${old}`)).json()) as { quote: Quoted };
  for (const { valid, errors } of [asked, quote.validation])
    expect([valid, errors]).toMatchObject([false, [{ param: 'cursor', issue: expect.stringContaining('too old') }]]);
});

test('a quote of two paths is a quote of none', async () => {
  const response = await fetchPath(`/api/v1/pricing?path=perps/platform/stats&path=${'x'.repeat(1_000)}`);
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { code: 'invalid_parameter', details: [{ param: 'path', got: `perps/platform/stats, ${'x'.repeat(200)}`.slice(0, 200) }] },
  ]);
});

describe('free paths and unknown paths', () => {
  test.each([
    '/health',
    '/api/v1/pricing',
    '/openapi.json',
    '/llms.txt',
    '/docs',
    '/docs/methodology',
    '/.well-known/x402',
    '/.well-known/mpp',
  ])('%s is free', async (path) => {
    const response = await fetchPath(path);
    expect([200, 503]).toContain(response.status);
    expect((await response.text()).length).toBeGreaterThan(50);
    // As probes of uptime ask: the same answer without its text.
    const head = await fetchPath(path, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      response.status,
      response.headers.get('content-type'),
      '',
    ]);
    const refused = await fetchPath(path, { method: 'DELETE' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    const options = await fetchPath(path, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  });

  test.each([
    '/api/v1', '/api/v1/', '/api/v1/markets', '/api/v1/markets/trending/', '/api/v1/Markets/Trending', '/api/v1/markets%2Ftrending', '/api/v1/markets/trending%0a', '/api/v1//markets/trending',
    '/api/v2/markets/trending', '/%ff', '/graphql', '/metrics', '/api/v1/markets/trending;x=1',
  ])('%s is 404, never 402', async (path) => {
    const response = await fetchPath(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'endpoint_not_found', charged: false });
  }); // prettier-ignore

  test.each([
    ['/api/v1/market/trending', '/api/v1/markets/trending'],
    ['/api/v1/Markets/Trending/', '/api/v1/markets/trending'],
    ['/perps/trades/wales', '/api/v1/perps/trades/whales'],
    // What is wrong with the rest of an address does not make another endpoint nearer.
    ['/API/v1/trades/whales', '/api/v1/trades/whales'],
    ['//api/v1//trades/whales', '/api/v1/trades/whales'],
    ['/api/v2/trades/whales', '/api/v1/trades/whales'],
    ['/health/', '/health'],
    ['/api/v1/Pricing', '/api/v1/pricing'],
    ['/openapi.yaml', '/openapi.json'],
    ['/DOCS', '/docs'],
    ['/api/v1/something/else', undefined],
  ])('%s is answered with the path that is meant', async (path, meant) => {
    const told = (await (await fetchPath(path)).json()) as Record<string, unknown>;
    expect(unstated('GET', '/api/v1/pricing', 404, told)).toEqual([]);
    expect(told).toMatchObject({ details: [{ param: 'path', got: path }], fallback: { path: '/api/v1/pricing' } });
    expect(told.suggestion).toEqual(meant === undefined ? null : { path: meant });
  });

  test('a quote may be asked for by mistake with a whole address', async () => {
    const told = await (await fetchPath('/api/v1/pricing?path=http://localhost:3000/api/v1/trades/whales%3Flimit=5')).json();
    expect(told).toMatchObject({ code: 'endpoint_not_found', suggestion: { path: '/api/v1/trades/whales' } });
  });

  test.each([
    ['/', '/docs'],
    ['/docs/', '/docs'],
    ['/docs/methodology/', '/docs/methodology'],
  ])('%s leads to the documentation', async (path, page) => {
    const response = await fetchPath(path, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, page]);
    expect((await fetchPath(path)).headers.get('content-type')).toContain('text/html');
  });

  test.each(['x402', 'mpp'])('/.well-known/%s names what is sold, and its own ways to pay alone', async (protocol) => {
    const { version, resources, methods } = (await (await fetchPath(`/.well-known/${protocol}`)).json()) as {
      version: number;
      resources: string[];
      methods: { protocol: string }[];
    };
    expect([version, resources]).toEqual([1, ENDPOINTS.map(({ path }) => `${product.publicUrl}${path}`)]);
    expect([...new Set(methods.map((method) => method.protocol))]).toEqual([protocol]);
  });

  test('the price list is cached by ETag', async () => {
    const first = await fetchPath('/api/v1/pricing');
    const again = await fetchPath('/api/v1/pricing', { headers: { 'If-None-Match': first.headers.get('etag') as string } });
    expect(again.status).toBe(304);
    // The same bytes are not promised: the document goes out plain and compressed.
    expect(first.headers.get('etag')).toMatch(/^W\/"[\w-]{20}"$/);
    const strong = first.headers.get('etag')?.slice('W/'.length);
    const among = await fetchPath('/api/v1/pricing', { headers: { 'If-None-Match': `"other", ${strong}` } });
    expect(among.status).toBe(304);
    expect((await fetchPath('/api/v1/pricing', { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
    expect((await fetchPath('/api/v1/pricing', { headers: { 'If-None-Match': '*' } })).status).toBe(304);
  });

  test('no two documents share a tag: a cache would give one for another, or the old one for the new', async () => {
    const tags = await Promise.all(DOCUMENTS.map(async (path) => (await fetchPath(path, { method: 'HEAD' })).headers.get('etag')));
    expect([new Set(tags).size, tags.includes(null)]).toEqual([DOCUMENTS.length, false]);
  });

  test('documents name the address and the version that are served, and how every wing counts', async () => {
    const text = async (path: string): Promise<string> => (await fetchPath(path)).text();
    for (const path of ['/docs', '/llms.txt', '/openapi.json']) expect(await text(path)).toContain(product.publicUrl);
    expect(JSON.parse(await text('/openapi.json'))).toMatchObject({ info: { version: '0.0.0-test' } });
    // Of callers: this one is set up without limits.
    expect(await text('/docs')).toContain('any number of requests without payment');
    const methodology = await text('/docs/methodology');
    for (const [{ id } = { id: 'none' }] of DEFINITIONS.values()) expect(methodology).toContain(`<h3 id="${id}">`);
  });

  test('how often which request failed is told by /health, by code', async () => {
    await fetchPath('/api/v1/nothing');
    const counted = async (): Promise<boolean> =>
      ((await (await fetchPath('/health')).json()) as { top_errors: Record<string, number> }).top_errors.endpoint_not_found !== undefined;
    await until(counted, 'a path that is not there is counted');
  });

  test('documents are packed once in each coding: who asks often has nothing packed', async () => {
    const told = async (encodings: string) => {
      const response = await fetchPath('/openapi.json', { headers: { 'Accept-Encoding': encodings } });
      const { headers } = response;
      // What is packed while it is sent has no length.
      const bytes = Number(headers.get('content-length'));
      return { packed: headers.get('content-encoding'), bytes, vary: headers.get('vary'), text: await response.text() };
    };
    const [plain, ...others] = [await told('identity'), await told('zstd'), await told('deflate')];
    expect(plain.bytes).toBe(Buffer.byteLength(plain.text));
    for (const { packed, bytes } of [plain, ...others]) expect([packed, bytes]).toEqual([null, plain.bytes]);
    const packers = [jest.spyOn(zlib, 'brotliCompressSync'), jest.spyOn(zlib, 'gzipSync')];
    for (const [encodings, coding] of [
      ['gzip', 'gzip'],
      ['br', 'br'],
      ['br;q=0.5, gzip', 'gzip'],
      ['gzip;q=0.5, br', 'br'],
      ['br', 'br'],
    ] as const) {
      const { packed, bytes, text, vary } = await told(encodings);
      expect([encodings, packed, vary]).toEqual([encodings, coding, plain.vary]);
      expect(text).toBe(plain.text);
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThan(plain.bytes / 4);
    }
    for (const { vary } of [plain, ...others]) expect(vary).toContain('Accept-Encoding');
    for (const packer of packers) expect(packer.mock.calls.length).toBeLessThan(2);
    jest.restoreAllMocks();
  });

  test('proxies may keep documents, never an offer, and know what an answer depends on', async () => {
    const offer = await fetchPath('/api/v1/trades/whales');
    expect([offer.status, offer.headers.get('cache-control')]).toEqual([402, 'no-store']);
    for (const response of [offer, await fetchPath('/api/v1/pricing')])
      expect(response.headers.get('vary')).toContain('Authorization, PAYMENT-SIGNATURE, X-PAYMENT');
    expect((await fetchPath('/api/v1/pricing')).headers.get('cache-control')).toBe('public, max-age=60');
    expect((await fetchPath('/health')).headers.get('cache-control')).toBe('no-store');
    // Nor is it told by what it is served, nor a tag by which nothing is ever found unchanged.
    for (const name of ['x-powered-by', 'server', 'etag']) expect([name, offer.headers.get(name)]).toEqual([name, null]);
  });

  test.each(['', 'two words', 'x'.repeat(129)])(
    'the 402 tells of the Idempotency-Key %j, for which the paid request would be refused',
    async (key) => {
      const offer = await fetchPath('/api/v1/trades/whales?limit=0', { headers: { 'Idempotency-Key': key } });
      const told = (await offer.json()) as { error: string; validation: { valid: boolean; errors: object[] } };
      expect([offer.status, told.validation.valid]).toEqual([402, false]);
      expect(told.error).toContain('would be refused');
      expect(told.validation.errors).toMatchObject([{ param: 'limit' }, { param: 'Idempotency-Key', got: key }]);
      expect(unstated('GET', '/api/v1/trades/whales', 402, told)).toEqual([]);
    },
  );

  test('a method is what it is: overrides are not heard', async () => {
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      const response = await fetchPath('/api/v1/trades/whales?_method=GET', { method: 'POST', headers: { [name]: 'GET' } });
      expect([name, response.status]).toEqual([name, 405]);
    }
  });

  test('browsers may pay: preflight allows the proof headers, answers expose the receipts', async () => {
    const [preflight, challenge] = [
      await fetchPath('/api/v1/trades/whales', { method: 'OPTIONS' }),
      await fetchPath('/api/v1/trades/whales'),
    ];
    // Of a path that is not there too: else the browser would not let the page read that it is not.
    expect([preflight.status, (await fetchPath('/api/v1/nowhere', { method: 'OPTIONS' })).status]).toEqual([204, 204]);
    const told = ({ headers }: Response, name: string): string[] => (headers.get(name) ?? '').split(', ');
    // Without being logged in anywhere, from whatever page.
    for (const response of [preflight, challenge, await fetchPath('/api/v1/nowhere')])
      expect(told(response, 'access-control-allow-origin')).toEqual(['*']);
    expect(told(preflight, 'access-control-allow-methods')).toEqual(['GET', 'POST', 'OPTIONS']);
    expect(told(preflight, 'access-control-max-age')).toEqual(['86400']);
    // A page that is shown an ETag may ask by it; `@x402/fetch` sends which headers it wants to read.
    expect(told(preflight, 'access-control-allow-headers')).toEqual(
      expect.arrayContaining(['Authorization', 'Content-Type', 'PAYMENT-SIGNATURE', 'X-PAYMENT', 'X-Payer', 'Accept-Payment', 'Idempotency-Key', 'If-None-Match', 'Access-Control-Expose-Headers']), // prettier-ignore
    );
    expect(told(challenge, 'access-control-expose-headers')).toEqual(
      expect.arrayContaining(['WWW-Authenticate', 'PAYMENT-REQUIRED', 'X-PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE', 'Payment-Receipt', 'X-Payment-Settlement', 'Retry-After', 'X-Request-Id', 'ETag', 'X-Meta-next-cursor']), // prettier-ignore
    );
    expect(challenge.headers.get('cache-control')).toBe('no-store');
  });
});
