import crypto from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Request, RequestHandler, Response } from 'express';
import type { Endpoint, Value } from '../endpoints/endpoint';
import { crossCheck } from '../endpoints/checks';
import { type RawParameters, type Reading, rawOfBody, rawOfQuery, readParameters } from '../endpoints/read';
import { AppError } from '../errors';
import type { Operation } from '../graph/execute';
import { makeContext } from '../graph/context';
import type { Database } from '../db/client';
import type { Clock } from '../lib/clock';
import type { Logger } from '../observability/logger';
import type { Metrics } from '../observability/metrics';
import { problemOf } from '../payments/protocols/mpp';
import type { Challenge, Outcome, Payments, Sale } from '../payments/protocol';
import { type Quote, quote } from '../pricing/quote';
import { type Answer, asAppError, sendAnswer } from './answer';
import type { AnswerCache, Executed } from './answers';
import { withFallback } from './fallbacks';
import { isTable } from './formats';
import type { RateLimit, Slots } from './limits';

/** What the handler of all paid endpoints works with. */
export interface PaidDeps {
  payments: Payments;
  db: Pick<Database, 'pool' | 'prisma'>;
  clock: Clock;
  /** Seconds between now and the time up to which the venue's sources have been read; null before the first load. */
  freshness(endpoint: Endpoint): number | null;
  /** stale_data where the answer would be too old to be sold. */
  stale(endpoint: Endpoint): AppError | null;
  cache: AnswerCache;
  slots: Slots;
  unpaid: RateLimit;
  empties: RateLimit;
  metrics: Metrics;
  logger: Logger;
  /** Public address, without a slash at the end. */
  publicUrl: string;
  queryDeadlineMs: number;
}

/** A paid endpoint that is ready to answer. */
export interface PaidEndpoint {
  endpoint: Endpoint;
  operation: Operation;
  /** What to send and what comes back, for crawlers and agents. */
  bazaar: Record<string, unknown>;
}

/** THE handler of all paid paths: read, quote, charge(deliver), answer. */
export function paidHandler({ endpoint, operation, bazaar }: PaidEndpoint, deps: PaidDeps): RequestHandler {
  return async (request, response) => {
    try {
      if (!carriesProof(request)) deps.unpaid.count(request.ip ?? '');
      const reading = readParameters(endpoint, rawOf(request, endpoint));
      crossCheck(endpoint, reading);
      noteIgnoredQuery(request, endpoint, reading);
      const price = quote(endpoint, reading.variables);
      const sale = saleOf(request, response, endpoint, reading, price, deps);
      const outcome = await deps.payments.charge(sale, {
        refuse: reading.problems.length > 0 ? problemsOf(reading) : null,
        run: ({ signal, payer }) => deliver(request, endpoint, operation, reading, price, signal, payer, deps),
      });
      sendAnswer(response, answerOf(outcome, { reading, price, bazaar, requestId: sale.request_id }));
    } catch (thrown) {
      const error = asAppError(thrown);
      if (error.code === 'internal') deps.logger.error({ err: thrown, request_id: response.get('X-Request-Id') }, 'request failed');
      sendAnswer(response, { kind: 'error', error, charged: false, headers: {} });
    }
  };
}

const PROOF_HEADERS = ['payment-signature', 'x-payment'] as const;

function carriesProof(request: Request): boolean {
  return PROOF_HEADERS.some((name) => request.headers[name] !== undefined) || /^payment\s/i.test(request.headers.authorization ?? '');
}

function rawOf(request: Request, endpoint: Endpoint): RawParameters {
  if (endpoint.method === 'GET') return rawOfQuery(queryOf(request));
  const body: unknown = request.body === undefined ? {} : request.body;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new AppError('invalid_body');
  return rawOfBody(body as Record<string, unknown>);
}

const queryOf = (request: Request): URLSearchParams => new URLSearchParams(request.originalUrl.split('?').slice(1).join('?'));

/** POST endpoints read the body alone; what stands in the query is ignored, and said so. */
function noteIgnoredQuery(request: Request, endpoint: Endpoint, reading: Reading): void {
  if (endpoint.method === 'POST') reading.ignored.push(...[...new Set(queryOf(request).keys())].map((name) => name.slice(0, 100)));
}

function problemsOf(reading: Reading): AppError {
  const code = reading.problems.every((problem) => problem.missing) ? 'missing_parameter' : 'invalid_parameter';
  const [first] = reading.problems;
  return new AppError(code, {
    message: `${first?.param}: ${first?.issue}`,
    details: detailsOf(reading),
    ...(Object.keys(reading.suggestion).length > 0 ? { suggestion: reading.suggestion } : {}),
  });
}

const detailsOf = (reading: Reading): AppError['context']['details'] => reading.problems.map(({ missing: _, ...problem }) => problem);

function saleOf(request: Request, response: Response, endpoint: Endpoint, reading: Reading, price: Quote, deps: PaidDeps): Sale {
  return {
    request_id: response.get('X-Request-Id') as string,
    method: endpoint.method,
    path: endpoint.path,
    url: `${deps.publicUrl}${endpoint.method === 'GET' ? request.originalUrl.slice(0, 2_000) : endpoint.path}`,
    description: endpoint.summary,
    amount: price.amount,
    request_hash: crypto.createHash('sha256').update(canonicalRequest(endpoint, reading.variables)).digest('hex'),
    headers: request.headers,
    raw_headers: request.rawHeaders,
    client_gone: goneSignal(response),
  };
}

/** Aborts when the consumer leaves before the answer is written. */
function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Error('The consumer left.'));
  });
  return gone.signal;
}

/** One text per question: method, path and parameters in declared order. Also the cache key. */
function canonicalRequest(endpoint: Endpoint, variables: Readonly<Record<string, Value>>): string {
  return JSON.stringify([
    endpoint.method,
    endpoint.path,
    endpoint.parameters.flatMap(({ name }) => (variables[name] === undefined ? [] : [[name, variables[name]]])),
  ]);
}

async function deliver(
  request: Request,
  endpoint: Endpoint,
  operation: Operation,
  reading: Reading,
  price: Quote,
  signal: AbortSignal,
  payer: string,
  deps: PaidDeps,
): Promise<unknown> {
  const callers = [`ip:${request.ip}`, `payer:${payer}`];
  for (const caller of callers) deps.empties.check(caller);
  const stale = deps.stale(endpoint);
  if (stale !== null) throw withFallback(endpoint, stale);
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(deps.queryDeadlineMs)]);
  try {
    const { answer, hit } = await deps.slots.run(deadline, () =>
      deps.cache.get(canonicalRequest(endpoint, reading.variables), endpoint.fresh, deadline, (aborted) =>
        execute(endpoint, operation, reading, aborted, deps),
      ),
    );
    deps.metrics.cache({ hit });
    if (reading.format === 'csv' && !isTable(answer.data)) throw notATable();
    return { data: answer.data, meta: { ...answer.meta, cache: hit ? 'hit' : 'miss', price_usd: price.price_usd } };
  } catch (thrown) {
    const error = lateError(thrown, deadline);
    if (error instanceof AppError && (error.code === 'empty_result' || error.code === 'not_found'))
      for (const caller of callers) deps.empties.count(caller);
    throw withFallback(endpoint, error);
  }
}

const notATable = (): AppError =>
  new AppError('invalid_parameter', {
    details: [{ param: 'format', issue: 'csv needs an answer that is a list of rows', allowed: ['json', 'ndjson'], got: 'csv' }],
  });

/** A query cut off by its deadline is a timeout, whatever the database called it. */
function lateError(thrown: unknown, deadline: AbortSignal): unknown {
  const timedOut = deadline.aborted && (deadline.reason as Error | undefined)?.name === 'TimeoutError';
  return timedOut ? new AppError('query_timeout', { suggestion: { timeframe: 'a shorter one' }, cause: thrown }) : thrown;
}

async function execute(endpoint: Endpoint, operation: Operation, reading: Reading, signal: AbortSignal, deps: PaidDeps): Promise<Executed> {
  // A question may have a dozen statements under way at once, and each listens.
  setMaxListeners(0, signal);
  const context = makeContext(deps.db, deps.clock.now(), signal);
  const started = performance.now();
  let outcome: 'data' | 'error' | 'timeout' = 'error';
  try {
    const data = await operation(reading.variables, context);
    // Whatever a question forgets: nothing is never sold.
    if (data === null || data === undefined || (Array.isArray(data) && data.length === 0)) throw new AppError('empty_result');
    outcome = 'data';
    return { data, meta: metaOf(endpoint, reading, context, deps) };
  } catch (thrown) {
    if (signal.aborted) outcome = 'timeout';
    throw thrown;
  } finally {
    deps.metrics.query({ endpoint: endpoint.name, ms: performance.now() - started, outcome });
  }
}

function metaOf(endpoint: Endpoint, reading: Reading, context: ReturnType<typeof makeContext>, deps: PaidDeps): Record<string, unknown> {
  const { meta } = context;
  const limit = endpoint.parameters.find((parameter) => parameter.pricedLimit);
  return {
    endpoint: endpoint.name,
    as_of: second(meta.as_of ?? context.now),
    timeframe: meta.timeframe ?? (reading.variables.timeframe as string | undefined) ?? null,
    window: meta.window && { from: second(meta.window.from), to: second(meta.window.to) },
    count: meta.count,
    limit: limit === undefined ? null : (reading.variables[limit.name] as number),
    next_cursor: meta.next_cursor,
    freshness_s: deps.freshness(endpoint),
    score_version: meta.score_version,
    methodology: `/docs/methodology#${endpoint.name.replace(/\//g, '-')}`,
    warnings: meta.warnings,
    ...(meta.track_record === null ? {} : { track_record: meta.track_record }),
  };
}

const second = (instant: Date): string => `${instant.toISOString().slice(0, 19)}Z`;

interface Told {
  reading: Reading;
  price: Quote;
  bazaar: Record<string, unknown>;
  requestId: string;
}

function answerOf(outcome: Outcome, told: Told): Answer {
  if (outcome.kind === 'paid') return paidAnswer(outcome, told);
  if (outcome.kind === 'refused') {
    const extra = outcome.transaction === null ? undefined : { transaction: outcome.transaction };
    return { kind: 'error', error: outcome.error, charged: outcome.charged, headers: outcome.headers, extra };
  }
  const { challenge, error } = outcome;
  return {
    kind: 'error',
    error,
    charged: false,
    headers: { ...challenge.headers, ...outcome.headers },
    extra: challengeBody(challenge, error, told),
  };
}

function paidAnswer(outcome: Outcome & { kind: 'paid' }, { reading, requestId }: Told): Answer {
  const { data, meta } = outcome.answer as Executed;
  // What belongs to this one request is added last: the rest may be a kept answer.
  const whole = {
    request_id: requestId,
    ...meta,
    ignored_params: reading.ignored,
    warnings: [...(meta.warnings as string[]), ...reading.warnings],
    replayed: outcome.replayed,
  };
  return { kind: 'data', data, meta: whole, headers: outcome.headers, fields: reading.fields, format: reading.format };
}

/** The part of a 402 that a machine pays by and a person understands. */
function challengeBody(challenge: Challenge, error: AppError, { reading, price, bazaar }: Told): Record<string, unknown> {
  return {
    ...(challenge.x402 ?? {}),
    ...problemOf(error),
    error: error.message,
    price_usd: price.price_usd,
    pricing: price.pricing,
    validation: {
      valid: reading.problems.length === 0,
      errors: detailsOf(reading),
      ignored_params: reading.ignored,
      resolved: reading.variables,
      suggestion: reading.suggestion,
    },
    expires_at: second(challenge.expires_at),
    extensions: { ...(challenge.x402?.extensions as object | undefined), bazaar },
  };
}
