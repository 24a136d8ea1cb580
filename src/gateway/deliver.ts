import type { Statements } from '../db/client';
import type { Endpoint } from '../endpoints/endpoint';
import type { Reading } from '../endpoints/reading';
import { AppError } from '../errors';
import { makeContext } from '../graph/context';
import type { Operation } from '../graph/execute';
import { type Clock, secondOf } from '../lib/clock';
import type { FailureThrottle } from '../lib/failure-throttle';
import { isoDay, isoSecond } from '../lib/time';
import { type Timeframe, withShorter } from '../lib/timeframe';
import type { VenueName } from '../lib/venue-name';
import type { Logger } from '../observability/logger';
import type { Metrics } from '../observability/metrics';
import type { Quote } from '../pricing/quote';
import type { AnswerCache, Executed } from './answers';
import { withFallback } from './fallbacks';
import type { RateLimit, Slots } from './limits';
import { methodologyOf } from './meta-schema';
import type { AdmissionQueue } from './admission-queue';
import { widened } from './wider';

/** What an ordered question is answered with. */
export interface DeliverDeps {
  db: Statements;
  clock: Clock;
  /** Seconds between now and the time up to which the venue's sources have been read; null before the first load. */
  freshness(endpoint: Endpoint): number | null;
  /** Before which instant no more facts of the venue come in the ordinary way; null where nothing is waited for. */
  settled(venue: VenueName): Date | null;
  /** stale_data where the answer would be too old to be sold. */
  stale(endpoint: Endpoint): AppError | null;
  /** Another text once the venue has been scored anew: what was kept before is not given again. */
  edition(endpoint: Endpoint): string;
  cache: AnswerCache;
  slots: Slots;
  /** Who is executed when more are admitted than can run at once. */
  queue: AdmissionQueue;
  /** Queries that ran and were not paid for, by whatever the consumer did. */
  uncharged: RateLimit;
  metrics: Metrics;
  logger: Logger;
  /** Which failures of the database, and of parts of answers, the operator was told of: one that is away fails many. */
  failing: FailureThrottle;
}

/** A question as it was read and priced. */
export interface Order {
  endpoint: Endpoint;
  operation: Operation;
  reading: Reading;
  price: Quote;
  /** One text per question. */
  canonical: string;
  /** Of the consumer. */
  ip: string;
}

/** The answer to what was ordered, executed or kept. The signal aborts with query_timeout when its time is up. Throws AppErrors, with a fallback where there is one: then nothing is charged. */
export async function deliver(order: Order, payer: string, signal: AbortSignal, deps: DeliverDeps): Promise<Executed> {
  const { endpoint, price } = order;
  const callers = callersOf(order, payer);
  const checkCallers = (): void => callers.forEach((caller) => deps.uncharged.check(caller));
  checkCallers();
  const stale = deps.stale(endpoint);
  if (stale !== null) throw withFallback(endpoint, stale);
  try {
    const { answer, hit } = await answerOf(order, signal, deps, checkCallers);
    deps.metrics.cache({ hit });
    const meta = { ...answer.meta, freshness_s: ageOf(answer, deps.clock.now()) };
    return { data: answer.data, meta: { ...meta, cache: hit ? 'hit' : 'miss', price_usd: price.price_usd } };
  } catch (error) {
    if (error instanceof AppError && (error.code === 'empty_result' || error.code === 'not_found'))
      for (const caller of callers) deps.uncharged.count(caller);
    throw withFallback(endpoint, error);
  }
}

/** Seconds from the time up to which the sources had been read for an answer to now: a kept one has grown older. */
function ageOf({ meta, told_at }: Executed, now: Date): number | null {
  const fresh = meta.freshness_s as number | null;
  return fresh === null || told_at === undefined ? fresh : fresh + Math.max(0, Math.round((now.getTime() - told_at.getTime()) / 1_000));
}

/** Who answers for what an order cost us: neither another wallet nor another address makes somebody new. */
export const callersOf = ({ ip }: Order, payer: string): readonly string[] => [`ip:${ip}`, `payer:${payer}`];

/** A kept answer at once; others in a slot, until their time is up. `begin` is called before one is executed, and may throw. */
async function answerOf(
  order: Order,
  signal: AbortSignal,
  deps: DeliverDeps,
  begin: () => void,
): Promise<{ answer: Executed; hit: boolean }> {
  const { canonical, endpoint } = order;
  // Of what was told of today nothing is today's once the day has turned.
  const key = `${canonical} ${deps.edition(endpoint)} ${isoDay(deps.clock.now())}`;
  const kept = deps.cache.find(key);
  if (kept !== undefined) return { answer: kept, hit: true };
  try {
    return await deps.slots.run(signal, () => {
      // Others of theirs may have come to nothing while this one waited.
      begin();
      return deps.cache.get(key, endpoint.fresh, signal, (aborted) =>
        deps.queue.run(endpoint.name, aborted, () => execute(order, aborted, deps)),
      );
    });
  } catch (thrown) {
    throw lateError(thrown, signal, order);
  }
}

/** A query cut off because its time was up is a timeout, whatever the database called it. */
function lateError(thrown: unknown, signal: AbortSignal, order: Order): unknown {
  const reason: unknown = signal.reason;
  if (!(reason instanceof AppError && reason.code === 'query_timeout')) return thrown;
  const timeframe = shorterThan(order);
  return new AppError('query_timeout', { ...(timeframe === undefined ? {} : { suggestion: { timeframe } }), cause: thrown });
}

/** The next shorter window than the one asked for, which left out is everything; none for windows that are named one by one. */
function shorterThan({ endpoint, reading }: Order): Timeframe | undefined {
  const has = (wanted: string): boolean => endpoint.parameters.some(({ name }) => name === wanted);
  if (!has('timeframe') || reading.sent.has('timeframes')) return undefined;
  const everything = has('timeframes') ? undefined : 'all';
  const asked = (reading.variables.timeframe as Timeframe | undefined) ?? everything;
  return asked === undefined ? undefined : withShorter(asked).at(-2);
}

async function execute({ endpoint, operation, reading }: Order, signal: AbortSignal, deps: DeliverDeps): Promise<Executed> {
  const failed = (part: string, err: unknown): void =>
    deps.failing.note(
      err,
      (untold) => deps.logger.error({ err, endpoint: endpoint.name, part, untold }, 'a part of an answer failed'),
      `${endpoint.name} ${part}`,
    );
  const context = makeContext(deps.db, secondOf(deps.clock), signal, failed, deps.settled);
  const started = performance.now();
  let outcome: 'data' | 'error' | 'timeout' = 'error';
  try {
    const data = await operation(reading.variables, context);
    // Whatever a question forgets: nothing is never sold.
    if (data === null || data === undefined || (Array.isArray(data) && data.length === 0)) throw new AppError('empty_result');
    outcome = 'data';
    return { data, meta: metaOf(endpoint, reading, context, deps), told_at: deps.clock.now(), good_for_s: context.meta.good_for_s };
  } catch (thrown) {
    if (signal.aborted) outcome = 'timeout';
    if (thrown instanceof AppError && thrown.code === 'maintenance') {
      const err = thrown.context.cause ?? thrown;
      deps.failing.note(err, (untold) => deps.logger.error({ err, endpoint: endpoint.name, untold }, 'the database could not answer'));
    }
    throw widened(thrown, endpoint, reading);
  } finally {
    deps.metrics.query({ endpoint: endpoint.name, ms: performance.now() - started, outcome });
  }
}

function metaOf(endpoint: Endpoint, reading: Reading, context: ReturnType<typeof makeContext>, deps: DeliverDeps): Record<string, unknown> {
  const { meta } = context;
  const limit = endpoint.parameters.find((parameter) => parameter.pricedLimit);
  return {
    endpoint: endpoint.name,
    as_of: isoSecond(meta.as_of ?? context.now),
    timeframe: meta.timeframe ?? (reading.variables.timeframe as string | undefined) ?? null,
    window: meta.window && { from: isoSecond(meta.window.from), to: isoSecond(meta.window.to) },
    count: meta.count,
    limit: limit === undefined ? null : (reading.variables[limit.name] as number),
    next_cursor: meta.next_cursor,
    freshness_s: deps.freshness(endpoint),
    score_version: meta.score_version,
    methodology: methodologyOf(endpoint),
    warnings: meta.warnings,
    ineffective: meta.ineffective,
    ...(meta.track_record === null ? {} : { track_record: meta.track_record }),
  };
}
