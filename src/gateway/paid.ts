import crypto from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { type Endpoint, MEDIA_TYPES, type Value } from '../endpoints/endpoint';
import { type RawParameters, rawOfBody, rawOfQuery, readParameters, refusalOf, validationOf } from '../endpoints/read';
import type { Reading } from '../endpoints/reading';
import { AppError } from '../errors';
import type { Operation } from '../graph/execute';
import { isoSecond } from '../lib/time';
import { carriesProof, keyProblemOf } from '../payments/present';
import { problemOf } from '../payments/protocols/mpp';
import type { Challenge, Outcome, Payments, Sale } from '../payments/protocol';
import { type Quote, quote } from '../pricing/quote';
import { type Answer, sendAnswer } from './answer';
import type { Executed } from './answers';
import { callersOf, deliver, type DeliverDeps } from './deliver';
import { callerOf, type RateLimit } from './limits';
import { queryOf, searchOf } from './query';

/** What the handler of all paid endpoints works with. */
export interface PaidDeps extends DeliverDeps {
  payments: Payments;
  /** Requests without a proof, and requests whose proof was refused: a signed payment is not turned away for questions about the price. */
  unpaid: RateLimit;
  refused: RateLimit;
  /** Public address, without a slash at the end. */
  publicUrl: string;
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
    const [caller, carrying] = [callerOf(request.ip), carriesProof(request.rawHeaders)];
    if (carrying) deps.refused.check(caller);
    else deps.unpaid.count(caller);
    const raw = rawOf(request, endpoint);
    const reading = readParameters(endpoint, raw, deps.clock.now());
    noteIgnored(request, endpoint, reading);
    const keyProblem = keyProblemOf(request.rawHeaders);
    if (keyProblem !== null) reading.problems.push({ ...keyProblem, code: 'invalid_parameter' });
    const price = quote(endpoint, reading.variables);
    const canonical = canonicalRequest(endpoint, reading.variables);
    const asked = { request_hash: sha256(canonical), sent_hash: sha256(wordsOf(endpoint, raw)), media_type: MEDIA_TYPES[reading.format] };
    const sale = saleOf(request, response, endpoint, asked, price, deps);
    const ordered = { endpoint, operation, reading, price, canonical, ip: caller };
    let workedFor: string | null = null;
    const outcome = await deps.payments.charge(sale, {
      refuse: refusalOf(reading),
      run: ({ signal, payer }) => {
        workedFor = payer;
        return deliver(ordered, payer, signal, deps);
      },
    });
    if (carrying && isUseless(outcome, sale)) deps.refused.note(caller);
    if (workedFor !== null && isUnpaidWork(outcome, sale)) callersOf(ordered, workedFor).forEach((one) => deps.uncharged.note(one));
    sendAnswer(response, answerOf(outcome, { reading, price, bazaar, requestId: sale.request_id }));
  };
}

/** A proof that brought nothing new: it cost us the reading, and often questions to a chain and rows in the ledger. */
const isUseless = (outcome: Outcome, sale: Sale): boolean =>
  outcome.kind === 'paid' ? outcome.replayed : outcome.error.status < 500 || hasLeft(sale);

/** A query that ran while its payment failed, its buyer left, or it took all the time there is; of what is empty, `deliver` keeps count. */
const isUnpaidWork = (outcome: Outcome, sale: Sale): boolean =>
  outcome.kind === 'challenge' ||
  (outcome.kind === 'refused' && outcome.charged === false && (hasLeft(sale) || outcome.error.code === 'query_timeout'));

const hasLeft = ({ client_gone }: Sale): boolean => client_gone?.aborted === true;

function rawOf(request: Request, endpoint: Endpoint): RawParameters {
  if (endpoint.method === 'GET') return rawOfQuery(queryOf(request));
  const body: unknown = request.body === undefined ? {} : request.body;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new AppError('invalid_body');
  return rawOfBody(body as Record<string, unknown>);
}

/** Of a query, this much is repeated in the offer: bytes of JSON, in which a backslash takes two. */
const LONGEST_SEARCH = 2_000;

/** The beginning of a text that takes at most `bytes` in JSON. */
function beginningOf(text: string, bytes: number): string {
  let room = bytes;
  const end = [...text].findIndex((char) => (room -= Buffer.byteLength(JSON.stringify(char)) - 2) < 0);
  return end === -1 ? text : [...text].slice(0, end).join('');
}

/** POST endpoints read the body alone, GET endpoints the query alone; what stands in the other one is ignored, and said so. */
function noteIgnored(request: Request, endpoint: Endpoint, reading: Reading): void {
  if (endpoint.method === 'POST') reading.ignored.push(...[...new Set(queryOf(request).keys())].map((name) => name.slice(0, 100)));
  else if (carriesBody(request)) reading.ignored.push('body');
}

const carriesBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

type Asked = Pick<Sale, 'request_hash' | 'sent_hash' | 'media_type'>;

function saleOf(request: Request, response: Response, endpoint: Endpoint, asked: Asked, price: Quote, deps: PaidDeps): Sale {
  return {
    ...asked,
    request_id: response.get('X-Request-Id') as string,
    method: endpoint.method,
    path: endpoint.path,
    url: `${deps.publicUrl}${endpoint.path}${endpoint.method === 'GET' ? beginningOf(searchOf(request), LONGEST_SEARCH) : ''}`,
    description: endpoint.summary,
    amount: price.amount,
    raw_headers: request.rawHeaders,
    client_gone: goneSignal(response),
  };
}

/** Aborts when the consumer leaves before the answer is written. */
function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => {
    if (!response.writableFinished) gone.abort(new Error('The consumer left.'));
  };
  // Who left while a packed body was unpacked has left before anybody listened.
  if (response.destroyed) leave();
  response.once('close', leave);
  return gone.signal;
}

/** One text per question: method, path and parameters in declared order. */
function canonicalRequest(endpoint: Endpoint, variables: Readonly<Record<string, Value>>): string {
  return JSON.stringify([
    endpoint.method,
    endpoint.path,
    endpoint.parameters.flatMap(({ name }) => (variables[name] === undefined ? [] : [[name, variables[name]]])),
  ]);
}

/** One text per request as it was sent, in whatever order. */
function wordsOf({ method, path }: Endpoint, raw: RawParameters): string {
  const words = [...raw].map(([name, values]) => [name, values.map(flat)] as const);
  return JSON.stringify([method, path, words.sort(([one], [other]) => (one < other ? -1 : 1))]);
}

/** A value as far as a parameter can hold one, which is a list at most: a body may be nested more deeply than can be written. */
const flat = (value: unknown): unknown => (Array.isArray(value) ? value.map(bare) : bare(value));
const bare = (value: unknown): unknown => (typeof value === 'object' ? null : value);

const sha256 = (text: string): string => crypto.createHash('sha256').update(text).digest('hex');

interface Told {
  reading: Reading;
  price: Quote;
  bazaar: Record<string, unknown>;
  requestId: string;
}

function answerOf(outcome: Outcome, told: Told): Answer {
  if (outcome.kind === 'paid') return paidAnswer(outcome, told);
  if (outcome.kind === 'refused') {
    const { error, charged, headers, transaction } = outcome;
    return { kind: 'error', error, charged, headers, extra: { ...problemOf(error), ...(transaction === null ? {} : { transaction }) } };
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
  const { data, meta: kept } = outcome.answer as Executed;
  const { ineffective = {}, ...meta } = kept;
  // What belongs to this one request is added last: the rest may be a kept answer.
  const whole = {
    request_id: requestId,
    ...meta,
    ignored_params: reading.ignored,
    warnings: [...(meta.warnings as string[]), ...idleOf(ineffective as Readonly<Record<string, string>>, reading), ...reading.warnings],
    replayed: outcome.replayed,
  };
  return { kind: 'data', data, meta: whole, headers: outcome.headers, fields: reading.fields, format: reading.format };
}

/** Said of what was sent alone: a default that changes nothing is nobody's mistake. */
function idleOf(ineffective: Readonly<Record<string, string>>, { sent }: Reading): string[] {
  return Object.entries(ineffective).flatMap(([name, by]) => (sent.has(name) ? [`${name}: has no effect with ${by}`] : []));
}

/** Said in place of a call to pay. */
const UNSOUND = 'Payment required, but as it stands the request would be refused, uncharged: validation.errors says why.';

/** The part of a 402 that a machine pays by and a person understands. */
function challengeBody(challenge: Challenge, error: AppError, { reading, price, bazaar }: Told): Record<string, unknown> {
  const { error: _, extensions, ...offer } = challenge.x402 ?? {};
  const validation = validationOf(reading);
  // What people look for comes first, what is long last.
  return {
    error: error.code === 'payment_required' && !validation.valid ? UNSOUND : error.message,
    price_usd: price.price_usd,
    pricing: price.pricing,
    validation,
    ...offer,
    ...problemOf(error),
    expires_at: isoSecond(challenge.expires_at),
    extensions: { ...(extensions as object | undefined), bazaar },
  };
}
