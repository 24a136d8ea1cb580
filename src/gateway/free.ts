import crypto from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { Endpoint } from '../endpoints/endpoint';
import { rawOfQuery, readParameters, validationOf } from '../endpoints/read';
import { AppError } from '../errors';
import type { Clock } from '../lib/clock';
import { isoSecond } from '../lib/time';
import type { Payments } from '../payments/protocol';
import { type PriceList, priceList, priceListOf } from '../pricing/catalog';
import { quote } from '../pricing/quote';
import { llmsText, openApi } from './discovery';
import { unknownPath } from './fallbacks';
import { FREE_OPERATIONS } from './free-operations';
import { type WingDefinitions, methodologyPage } from './pages/methodology';
import { type CallerLimits, docsPage } from './pages/reference';
import type { Health } from './health';
import { queryOf } from './query';

/** What the free routes tell about. */
export interface FreeDeps {
  endpoints: readonly Endpoint[];
  schema: GraphQLSchema;
  definitions: WingDefinitions;
  payments: Payments;
  health: Health;
  clock: Clock;
  version: string;
  publicUrl: string;
  limits: CallerLimits;
  /** When this price list came into force: the service's start. */
  startedAt: Date;
}

type FreeHandler = (request: Request, response: Response) => Promise<void> | void;

/** Free paths and their handlers (GET only): two data endpoints and the documents. */
export function freeRoutes(deps: FreeDeps): Record<keyof typeof FREE_OPERATIONS, FreeHandler> & Record<string, FreeHandler> {
  const { endpoints, schema, payments, version, publicUrl } = deps;
  const list = priceList(endpoints);
  const methods = payments.methods();
  const priced = (of: PriceList) => ({
    ...of,
    updated_at: isoSecond(deps.startedAt),
    protocols: methods,
    free_endpoints: Object.keys(FREE_OPERATIONS),
  });
  const document = (type: string, body: string): FreeHandler => {
    const etag = `"${crypto.createHash('sha256').update(body).digest('base64url').slice(0, 20)}"`;
    const plain = Buffer.from(body);
    // Anybody may ask, as often as they like: packed once it costs a hundredth of packing it for each.
    const packed = new Map<string, Buffer>();
    return (request, response) => {
      response.locals.packed = true;
      // A weak one: the same document goes out plain and compressed.
      response.set({ ETag: `W/${etag}`, 'Cache-Control': 'public, max-age=60' }).vary('Accept-Encoding');
      if (matches(request.headers['if-none-match'], etag)) return void response.status(304).end();
      const coding = request.acceptsEncodings('br', 'gzip', 'identity') || 'identity';
      const pack = PACKERS[coding];
      if (pack === undefined) return void response.type(type).send(plain);
      const bytes = packed.get(coding) ?? pack(plain);
      packed.set(coding, bytes);
      response.set('Content-Encoding', coding).type(type).send(bytes);
    };
  };
  const sendPricing = document('application/json', JSON.stringify(priced(list)));
  const wellKnown = (protocol: string): string =>
    JSON.stringify({
      version: 1,
      resources: endpoints.map((endpoint) => `${publicUrl}${endpoint.path}`),
      methods: methods.filter((method) => method.protocol === protocol),
    });
  const pages = {
    '/docs': document('text/html', docsPage(endpoints, schema, publicUrl, deps.limits)),
    '/docs/methodology': document('text/html', methodologyPage(endpoints, schema, deps.definitions)),
  };
  const leadTo =
    (page: string): FreeHandler =>
    (_request, response) =>
      response.redirect(page);
  return {
    // Who opens the address that was printed is a person.
    '/': leadTo('/docs'),
    '/health': async (_request, response) => {
      const report = await deps.health.report();
      response
        .status(report.status === 'down' ? 503 : 200)
        .set('Cache-Control', 'no-store')
        .json(report);
    },
    '/api/v1/pricing': (request, response) => {
      const query = queryOf(request);
      if (!query.has('path')) return sendPricing(request, response);
      const { endpoint, ...told } = quoteOf(query, endpoints, deps.clock.now());
      response.set('Cache-Control', 'no-store').json({ quote: told, ...priced(priceListOf(endpoint, list)) });
    },
    '/openapi.json': document('application/json', JSON.stringify(openApi(endpoints, schema, methods, { version, publicUrl }))),
    '/llms.txt': document('text/plain', llmsText(endpoints, publicUrl)),
    '/.well-known/x402': document('application/json', wellKnown('x402')),
    '/.well-known/mpp': document('application/json', wellKnown('mpp')),
    ...pages,
    // People write addresses of pages so.
    ...Object.fromEntries(Object.keys(pages).map((page) => [`${page}/`, leadTo(page)])),
  };
}

/** Of Brotli the quality after which packing takes longer than it spares anybody. */
const PACKERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes) => gzipSync(bytes),
};

/** Whether If-None-Match names the document (RFC 9110, 13.1.2): any of several tags, weak ones too, or `*`. Express would send it anew to `fetch`, which says `no-cache` with the header. */
const matches = (wanted: string | undefined, etag: string): boolean =>
  wanted?.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, ''))) === true;

const HTTP_METHODS = new Set(['GET', 'POST']);

/** The price of a request without a 402 round trip. `path` names the endpoint; `method` is the HTTP method only when it is GET or POST. */
function quoteOf(query: URLSearchParams, endpoints: readonly Endpoint[], now: Date): { endpoint: Endpoint; [field: string]: unknown } {
  const [path, ...others] = query.getAll('path') as [string, ...string[]];
  if (others.length > 0)
    throw new AppError('invalid_parameter', {
      details: [{ param: 'path', issue: 'was sent more than once', got: [path, ...others].join(', ').slice(0, 200) }],
    });
  const endpoint = endpoints.find((candidate) => candidate.path === path || candidate.name === path.replace(/^\//, ''));
  if (endpoint === undefined)
    throw unknownPath(
      path,
      endpoints.map((candidate) => candidate.path),
    );
  const parameters = new URLSearchParams(
    [...query].filter(([name, value]) => name !== 'path' && !(name === 'method' && HTTP_METHODS.has(value.toUpperCase()))),
  );
  const reading = readParameters(endpoint, rawOfQuery(parameters), now);
  const price = quote(endpoint, reading.variables);
  return {
    endpoint,
    method: endpoint.method,
    path: endpoint.path,
    price_usd: price.price_usd,
    amount: String(price.amount),
    pricing: price.pricing,
    validation: validationOf(reading),
  };
}
