import crypto from 'node:crypto';
import http from 'node:http';
import compression from 'compression';
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler, type Response } from 'express';
import { AppError } from '../errors';
import { listenOn } from '../lib/net';
import type { Logger } from '../observability/logger';
import type { Metrics } from '../observability/metrics';
import { asAppError, metaHeader, sendAnswer } from './answer';
import { unknownPath } from './fallbacks';
import { type FreeDeps, freeRoutes } from './free';
import { META_SCHEMA } from './meta-schema';
import { type PaidDeps, type PaidEndpoint, paidHandler } from './paid';

const BODY_LIMIT = 16 * 1024;
/** Proofs with WebAuthn signatures take several KB; beyond this Node answers 431 by itself. */
const MAX_HEADER_BYTES = 32 * 1024;

const ALLOWED_HEADERS =
  'Authorization, Content-Type, PAYMENT-SIGNATURE, X-PAYMENT, X-Payer, Accept-Payment, Idempotency-Key, If-None-Match, Access-Control-Expose-Headers';
const EXPOSED_HEADERS = [
  'WWW-Authenticate, PAYMENT-REQUIRED, X-PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Payment-Receipt, X-Payment-Settlement, Retry-After, X-Request-Id, ETag',
  // Where csv and ndjson have their meta.
  ...Object.keys(META_SCHEMA.properties).map(metaHeader),
].join(', ');

export interface GatewayDeps {
  paid: PaidDeps;
  free: FreeDeps;
  endpoints: readonly PaidEndpoint[];
  metrics: Metrics;
  logger: Logger;
  /** Proxies in front of us whose X-Forwarded-For is believed. */
  trustedProxies: number;
}

/** The public application: free routes, and one route per paid endpoint. */
export function makeGateway(deps: GatewayDeps): Express {
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .enable('strict routing')
    .set('trust proxy', deps.trustedProxies);
  // Express leaves the body out for `If-None-Match: *`: of an answer that was paid for as well. Documents look at the header themselves.
  Object.defineProperty(app.request, 'fresh', { value: false });
  app.use(identify(deps), cors, compression({ filter: packed }));
  const free = freeRoutes(deps.free);
  for (const [path, handler] of Object.entries(free)) app.all(path, only('GET', 'HEAD'), handler);
  for (const endpoint of deps.endpoints) {
    const { method, path } = endpoint.endpoint;
    const body = method === 'POST' ? [fitting, express.json({ limit: BODY_LIMIT, strict: false, type: () => true })] : [];
    app.all(path, only(method), ...body, paidHandler(endpoint, deps.paid));
  }
  const known = [...deps.endpoints.map(({ endpoint }) => endpoint.path), ...Object.keys(free).filter((path) => !path.endsWith('/'))];
  app.use((request: Request, response: Response) => {
    // Browsers ask before they send: refused, they would never read that there is no such path.
    if (request.method === 'OPTIONS') return void response.status(204).end();
    throw unknownPath(request.path, known);
  });
  app.use(lastResort(deps.logger));
  return app;
}

/** What is counted where the caller left before the whole answer was sent. */
const LEFT = 499;

/** Gives every answer its id, and counts it when it is done. */
function identify({ metrics, logger }: GatewayDeps): RequestHandler {
  return (request, response, next) => {
    const requestId = `req_${crypto.randomBytes(12).toString('base64url')}`;
    response.set('X-Request-Id', requestId).vary('Authorization, PAYMENT-SIGNATURE, X-PAYMENT');
    const started = performance.now();
    response.once('close', () => {
      const ms = performance.now() - started;
      const status = response.writableFinished ? response.statusCode : LEFT;
      const endpoint = (request.route as { path?: string } | undefined)?.path ?? 'unknown';
      const code = (response.locals as { code?: string }).code ?? null;
      metrics.request({ endpoint, status, code, ms });
      const about = { request_id: requestId, method: request.method, endpoint, status, code, ms: Math.round(ms) };
      logger.info(about, status === LEFT ? 'left before the answer' : 'answered');
    });
    next();
  };
}

/** Whether an answer is worth packing, and not packed already; the packer's own list of types knows no lines of JSON. */
const packed: compression.CompressionFilter = (request, response: Response) =>
  (response.locals as { packed?: boolean }).packed !== true &&
  (String(response.getHeader('Content-Type')).startsWith('application/x-ndjson') || compression.filter(request, response));

const cors: RequestHandler = (request, response, next) => {
  response.set({ 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED_HEADERS });
  if (request.method === 'OPTIONS')
    response.set({
      'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
      'Access-Control-Allow-Headers': ALLOWED_HEADERS,
      'Access-Control-Max-Age': '86400',
    });
  next();
};

const only =
  (...methods: readonly ('GET' | 'HEAD' | 'POST')[]): RequestHandler =>
  (request, response, next) => {
    if (methods.some((method) => method === request.method)) return next();
    response.set('Allow', [...methods, 'OPTIONS'].join(', '));
    if (request.method === 'OPTIONS') return void response.status(204).end();
    throw new AppError('method_not_allowed', {
      details: [{ param: 'method', issue: 'is not the method of this path', allowed: methods.join(', '), got: request.method }],
    });
  };

/** Whoever says beforehand how much it will send is told at once that it is too much; of others it shows while they send. */
const fitting: RequestHandler = ({ headers }, _response, next) => {
  const length = Number(headers['content-length'] ?? 0);
  if (length > BODY_LIMIT) throw tooLarge(length);
  next();
};

const tooLarge = (bytes?: number): AppError =>
  new AppError('body_too_large', {
    details: [{ param: 'body', issue: 'has too many bytes', allowed: { max: BODY_LIMIT }, ...(bytes === undefined ? {} : { got: bytes }) }],
  });

/** Errors of the body parser as ours; anything unexpected as 500 without a word of what it was. */
function lastResort(logger: Logger): ErrorRequestHandler {
  return (thrown: Error & { type?: string; status?: number }, _request, response: Response, _next) => {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const error = thrown instanceof AppError ? thrown : (bodyError(thrown) ?? asAppError(thrown));
    if (error.code === 'internal') logger.error({ err: thrown, request_id: response.get('X-Request-Id') }, 'request failed');
    sendAnswer(response, { kind: 'error', error, charged: false, headers: {} });
  };
}

function bodyError(thrown: { type?: string; status?: number }): AppError | null {
  if (thrown.type === 'entity.too.large') return tooLarge();
  // Its charset or its packing: the JSON inside may be good.
  if (thrown.status === 415)
    return new AppError('invalid_body', { message: 'The body must be UTF-8, as it is or in gzip, deflate or br.' });
  // A broken percent-encoding in the path is the router's error, everything else here the body parser's.
  if (thrown instanceof URIError) return new AppError('endpoint_not_found');
  return thrown.status !== undefined && thrown.status >= 400 && thrown.status < 500 ? new AppError('invalid_body') : null;
}

/** A listening HTTP server. */
export interface Listening {
  port: number;
  /** Stops accepting, lets running answers finish for `graceMs`, each the last of its connection, then closes what is left. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Hears a caller that asks before it sends its body (`Expect: 100-continue`): it is told to go on when the body is read. What is refused before is never sent,
 * and the connection ends there: whether a body follows after all, nobody knows.
 */
function whenRead(request: http.IncomingMessage, response: http.ServerResponse, handler: http.RequestListener): void {
  const kept = response.shouldKeepAlive;
  response.shouldKeepAlive = false;
  request.once('resume', () => {
    if (response.headersSent) return;
    response.shouldKeepAlive = kept;
    response.writeContinue();
  });
  handler(request, response as Parameters<typeof handler>[1]);
}

/** Longer than the longest question and the wait for its settlement take together: a connection as silent as this is given up. */
const SILENT_MS = 150_000;
/** Longer than load balancers keep theirs, 60 s as a rule: one that is used again at the last moment is still there. */
const KEEP_ALIVE_MS = 65_000;

/**
 * Listens on `port` (0: any free one). A connection on which nothing moved for `silentMs`, because its client does not read, is closed. Throws
 * one clear sentence when the port is taken.
 */
export async function listen(handler: http.RequestListener, port: number, host: string, silentMs = SILENT_MS): Promise<Listening> {
  const open = new Set<http.ServerResponse>();
  let stopping = false;
  const answer: http.RequestListener = (request, response) => {
    open.add(response);
    // What is over keeps no connection: on one that stays, Node takes requests as long as it stays.
    if (stopping) response.shouldKeepAlive = false;
    response.once('close', () => {
      open.delete(response);
      if (stopping) server.closeIdleConnections();
    });
    handler(request, response);
  };
  const server = http.createServer(
    { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 30_000, headersTimeout: 15_000, keepAliveTimeout: KEEP_ALIVE_MS },
    answer,
  );
  server.timeout = silentMs;
  server.on('checkContinue', (request, response) => whenRead(request, response, answer));
  return {
    port: await listenOn(server, port, host),
    stop: (graceMs) =>
      new Promise((resolve) => {
        stopping = true;
        for (const response of open) response.shouldKeepAlive = false;
        const force = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close(() => {
          clearTimeout(force);
          resolve();
        });
      }),
  };
}
