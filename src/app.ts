import { availableParallelism } from 'node:os';
import { DEFINITIONS, loadCatalogue, paidOf } from './catalogue';
import { type Config, publicUrlOf } from './config';
import { type Database, openDatabase } from './db/client';
import { openKeyedPool } from './db/keyed-pool';
import { type ListNewer, migrationsOf, newerThan } from './db/migrate';
import type { Endpoint } from './endpoints/endpoint';
import { rawOfBody, readParameters, refusalOf } from './endpoints/read';
import { AnswerCache } from './gateway/answers';
import { lagSeconds, makeHealth } from './gateway/health';
import { makeInternal } from './gateway/internal';
import { RateLimit, Slots } from './gateway/limits';
import { AdmissionQueue } from './gateway/admission-queue';
import type { PaidDeps } from './gateway/paid';
import { type Listening, listen, makeGateway } from './gateway/server';
import { lagsBehind, staleError } from './gateway/stale';
import { type ReadArguments, makeExplorer } from './graph/explorer';
import { FailureThrottle } from './lib/failure-throttle';
import type { VenueName } from './lib/venue-name';
import type { Logger } from './observability/logger';
import { type Ages, type Metrics, makeMetrics } from './observability/metrics';
import { createPayments } from './payments/charge';
import { PAYMENT_DEFAULTS, type PaymentsSettings } from './payments/config';
import { type FreshnessWatch, type LiveFeeds, readFreshness, watchFreshness } from './workers/freshness';
import { makeRunner } from './workers/runner';
import { type IsRead, lastScored } from './workers/scores';
import { listKept } from './workers/snapshots';
import { VENUES, venuesOf } from './wings';

const PAID_AT_ONCE = 50;
const QUEUE_PATIENCE_MS = 2_000;
const STOP_GRACE_MS = 10_000;

/** Free questions are refused what they are refused when they are paid for, and words in any case are read as they are then. */
function readAsSold(endpoints: readonly Endpoint[]): ReadArguments {
  const sold = new Map(endpoints.map((endpoint) => [endpoint.rootField, endpoint]));
  return (question, args) => {
    const endpoint = sold.get(question);
    if (endpoint === undefined) return {};
    // How many rows are asked for is not told here, and a cursor is bound to that too: the list itself reads it.
    const { cursor: _, ...asked } = args;
    const reading = readParameters(endpoint, rawOfBody(asked));
    const refused = refusalOf(reading);
    if (refused !== null) throw refused;
    return Object.fromEntries(Object.entries(reading.variables).filter(([name]) => reading.sent.has(name)));
  };
}

export interface AppOptions {
  config: Config;
  /** The folder that holds graphql/ and package.json. */
  root: string;
  version: string;
  databaseUrl: string;
  payments: PaymentsSettings;
  logger: Logger;
  /** Upstreams to poll in place of the configured ones: pretended ones. */
  upstreams?: Config['upstreams'];
}

/** The running product. */
export interface App {
  publicUrl: string;
  internalUrl: string;
  endpoints: readonly Endpoint[];
  db: Database;
  stop(): Promise<void>;
}

/** The live feeds of every venue whose upstreams are set. A clock that stands still has no news. */
function feedsOf({ clockStands, upstreamRates }: Config, upstreams: Config['upstreams']): LiveFeeds {
  if (clockStands) return {};
  return Object.fromEntries(
    VENUES.map(({ name, liveSources }) => [
      name,
      Object.keys(upstreams[name]).length > 0 ? (liveSources?.(upstreams[name], upstreamRates[name]) ?? []) : [],
    ]),
  );
}

/** Throws one sentence when upstreams are set that cannot be read without another one. */
export function checkUpstreams(config: Config): void {
  feedsOf(config, config.upstreams);
}

/** Whether a venue's live feeds are near enough for its answers to be sold: what is judged once a day waits for that. */
export function readEnough(pool: Database['pool'], config: Config, upstreams: Config['upstreams']): IsRead {
  const feeds = feedsOf(config, upstreams);
  return async (venue) => !lagsBehind(await readFreshness(pool, venue, feeds[venue.name] ?? []), config.clock.now());
}

/** Begins to read live feeds over connections of their own: a lock a venue, a transaction a feed. */
async function startReading(
  feeds: LiveFeeds,
  url: string,
  clock: Config['clock'],
  logger: Logger,
  figures: Metrics,
  newer: ListNewer,
): Promise<{ stop(): Promise<void> }> {
  const count = Object.values(feeds).reduce((sum, sources) => sum + sources.length, 0);
  if (count === 0) return { stop: () => Promise.resolve() };
  const db = await openDatabase(url, { max: count + VENUES.length + 1, statement_timeout_ms: 0 });
  const runner = makeRunner({ pool: db.pool, feeds, clock, logger, figures, newer });
  runner.start();
  return {
    stop: async () => {
      await runner.stop();
      await db.close();
    },
  };
}

/** How old what is answered from is. */
function agesOf(freshness: FreshnessWatch, clock: Config['clock'], snapshots: () => ReturnType<typeof listKept>): Ages {
  const age = (at: Date | null): number | null => (at === null ? null : (clock.now().getTime() - at.getTime()) / 1_000);
  const feeds = () => Object.values(freshness.all()).flatMap((venue) => venue.feeds);
  return {
    feeds: () => Object.fromEntries(feeds().map(({ feed, watermark }) => [feed, age(watermark)])),
    scores: () => Object.fromEntries(VENUES.map(({ name }) => [name, age(freshness.scoredAt(name))])),
    snapshots: async () => Object.fromEntries(Object.entries(await snapshots()).map(([name, { as_of }]) => [name, age(as_of)])),
  };
}

/** The server ends a statement before, if it is there. */
const ANSWERS_PATIENCE = { silence_ms: PAYMENT_DEFAULTS.deadline_ms + 10_000 };

/** Its statements take milliseconds: a database that lets them wait this long is frozen, or behind a network that loses everything. */
const LEDGER_PATIENCE = { query_timeout: 10_000, connectionTimeoutMillis: 10_000 };

/** A process that is silent for ten seconds is taken for dead: a report that is lost must not keep the next ones waiting as long. */
const HEART = { query_timeout: 4_000, connectionTimeoutMillis: 4_000, max: 1, application_name: 'smart-money-api heart' };

/** The composition root: everything is made and joined here, and nowhere else. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, root, version, logger } = options;
  const catalogue = loadCatalogue(root, venuesOf(config.operatorAccounts));
  const { endpoints, schema } = catalogue;
  const db = await openDatabase(options.databaseUrl, ANSWERS_PATIENCE);
  const reads = config.replicaUrl === false ? db : await openDatabase(config.replicaUrl, ANSWERS_PATIENCE);
  const metrics = makeMetrics();
  const ledger = await openKeyedPool(options.databaseUrl, { ...LEDGER_PATIENCE, application_name: 'smart-money-api payments' });
  const heart = await openKeyedPool(options.databaseUrl, HEART);
  const payments = await createPayments(options.payments, { pool: ledger, heart, logger, figures: metrics });
  const feeds = feedsOf(config, options.upstreams ?? config.upstreams);
  const unasked = new FailureThrottle();
  // How things stand is asked by key: that does not wait behind answers, which may hold all other connections.
  const freshness = await watchFreshness(reads.keyed, VENUES, feeds, (error) =>
    unasked.note(error, (untold) => logger.error({ err: error, untold }, 'the database that answers come from could not be asked')),
  );
  const settled = (venue: VenueName): Date | null =>
    config.clockStands || lagsBehind(freshness.of(venue), config.clock.now()) ? null : freshness.of(venue).settled;
  const newer = newerThan(migrationsOf(root));
  const slots = new Slots(PAID_AT_ONCE, QUEUE_PATIENCE_MS, (active, waiting) => metrics.slots(active, waiting));
  const publicUrl = publicUrlOf(config);
  const startedAt = new Date();
  const deps: PaidDeps = {
    payments,
    db: reads,
    clock: config.clock,
    freshness: (endpoint) => lagSeconds(freshness.of(endpoint.venue), config.clock.now()),
    settled,
    stale: (endpoint) =>
      config.clockStands
        ? null
        : staleError(endpoint, {
            freshness: freshness.of(endpoint.venue),
            scored_at: freshness.scoredAt(endpoint.venue),
            now: config.clock.now(),
          }),
    edition: ({ venue }) => freshness.editionOf(venue),
    cache: new AnswerCache(),
    slots,
    queue: new AdmissionQueue(config.queriesAtOnce || 2 * availableParallelism()),
    unpaid: new RateLimit(config.unpaidPerMinute, 'requests without payment'),
    refused: new RateLimit(config.unpaidPerMinute, 'proofs that paid nothing'),
    uncharged: new RateLimit(config.emptyPerMinute, 'queries without a charge'),
    metrics,
    logger,
    failing: new FailureThrottle(),
    publicUrl,
  };
  const network = payments.methods()[0]?.network ?? 'none';
  const replica = reads === db ? [] : [{ name: 'postgres_replica', pool: reads.keyed }];
  const snapshots = (): ReturnType<typeof listKept> => listKept(reads.keyed, VENUES, config.clock.now());
  const health = makeHealth({
    backends: [{ name: 'postgres', pool: db.keyed }, ...replica],
    payments,
    metrics,
    slots,
    clock: config.clock,
    version,
    network,
    freshness: () => freshness.all(),
    scored: () => lastScored(reads.keyed, VENUES),
    snapshots,
    newer: () => newer(db.keyed),
  });
  metrics.ages(agesOf(freshness, config.clock, snapshots));
  const gateway = makeGateway({
    paid: deps,
    free: {
      endpoints,
      schema,
      definitions: DEFINITIONS,
      payments,
      health,
      clock: config.clock,
      version,
      publicUrl,
      limits: { unpaid: config.unpaidPerMinute, uncharged: config.emptyPerMinute },
      startedAt,
    },
    endpoints: paidOf(catalogue),
    metrics,
    logger,
    trustedProxies: config.trustedProxies,
  });
  const onBug = (error: unknown): void => logger.error({ err: error }, 'a free question failed');
  const internal = makeInternal(makeExplorer(schema, reads, config.clock, { onBug, read: readAsSold(endpoints), settled }), metrics);

  const reading = await startReading(feeds, options.databaseUrl, config.clock, logger, metrics, newer);
  const servers: Listening[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop(STOP_GRACE_MS)));
    await Promise.all([freshness.stop(), reading.stop(), payments.stop()]);
    await Promise.all([ledger.end(), heart.end(), reads.close(), ...(reads === db ? [] : [db.close()])]);
  };
  try {
    await payments.start();
    servers.push(await listen(gateway, config.port, '0.0.0.0'));
    servers.push(await listen(internal, config.internalPort, '127.0.0.1'));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    publicUrl,
    internalUrl: `http://localhost:${servers[1]?.port}`,
    endpoints,
    db,
    stop,
  };
}
