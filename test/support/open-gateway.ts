import { availableParallelism } from 'node:os';
import type { Statements } from '../../src/db/client';
import { loadCatalogue, paidOf } from '../../src/catalogue';
import { AnswerCache, type Executed } from '../../src/gateway/answers';
import type { Health } from '../../src/gateway/health';
import { RateLimit, Slots } from '../../src/gateway/limits';
import { AdmissionQueue } from '../../src/gateway/admission-queue';
import type { PaidEndpoint } from '../../src/gateway/paid';
import { listen, makeGateway } from '../../src/gateway/server';
import { standingClock } from '../../src/lib/clock';
import { FailureThrottle } from '../../src/lib/failure-throttle';
import { makeLogger } from '../../src/observability/logger';
import { makeMetrics } from '../../src/observability/metrics';
import type { MethodHealth, Payments, Sale } from '../../src/payments/protocol';
import { ROOT } from './root';

/** What the corridor without money would have charged, by request id. */
type Charges = Map<string, { sale: Sale; charged: boolean }>;

/** The gateway over a database, without chains: every request counts as paid, and whether it would be charged is on record. */
export interface OpenGateway {
  url: string;
  paid: readonly PaidEndpoint[];
  charges: Charges;
  /** What was logged as a fault of ours. */
  faults: unknown[];
  /** What was logged of each request. */
  logged: unknown[];
  close(): Promise<void>;
}

const OFF: MethodHealth = { status: 'off', latency_ms: null, last_settlement_at: null };
const NEVER_RECONCILED = { released: 0, unresolved: 0, confirmed: 0, failed: 0, open: 0 };

/** Goes the corridor's way with a proof that is always good: what is refused or fails is not charged, all else is. */
function corridorWithoutMoney(charges: Charges): Payments {
  return {
    async charge(sale, { refuse, run }) {
      const record = { sale, charged: false };
      charges.set(sale.request_id, record);
      if (refuse !== null) throw refuse;
      const answer = await run({ signal: new AbortController().signal, payer: 'nobody' });
      record.charged = true;
      return { kind: 'paid', answer, replayed: false, headers: {} };
    },
    methods: () => [],
    health: async () => ({ x402: OFF, mpp_tempo: OFF, mpp_solana: OFF }),
    reconcile: async () => NEVER_RECONCILED,
    start: async () => undefined,
    stop: async () => undefined,
  };
}

/** Keeps nothing and shares nothing: every request executes. */
class NoCache extends AnswerCache {
  override async get(
    _key: string,
    _ttlSeconds: number,
    signal: AbortSignal,
    execute: (signal: AbortSignal) => Promise<Executed>,
  ): Promise<{ answer: Executed; hit: boolean }> {
    return { answer: await execute(signal), hit: false };
  }
}

/** Starts the gateway on a free port. `now` is the now of analytics; the answer cache is off unless one is given. */
export async function startOpenGateway(
  db: Statements,
  now: Date,
  cache: AnswerCache = new NoCache(1),
  status: () => 'ok' | 'degraded' | 'down' = () => 'ok',
): Promise<OpenGateway> {
  const catalogue = loadCatalogue(ROOT);
  const { endpoints, schema } = catalogue;
  const paid = paidOf(catalogue);
  const charges: Charges = new Map();
  const faults: unknown[] = [];
  const logged: unknown[] = [];
  const payments = corridorWithoutMoney(charges);
  const metrics = makeMetrics();
  const silent = makeLogger('silent');
  const logger = Object.assign(Object.create(silent) as typeof silent, {
    error: (fields: { err?: unknown }) => void faults.push(fields.err),
    info: (fields: unknown) => void logged.push(fields),
  });
  const publicUrl = 'http://localhost';
  const gateway = makeGateway({
    paid: {
      payments,
      db,
      clock: standingClock(now),
      freshness: () => 0,
      settled: () => null,
      stale: () => null,
      edition: () => '',
      cache,
      slots: new Slots(50, 2_000),
      queue: new AdmissionQueue(2 * availableParallelism()),
      unpaid: new RateLimit(0, 'requests'),
      refused: new RateLimit(0, 'requests'),
      uncharged: new RateLimit(0, 'requests'),
      metrics,
      logger,
      failing: new FailureThrottle(),
      publicUrl,
    },
    free: {
      endpoints,
      schema,
      definitions: new Map(),
      payments,
      health: { report: async () => ({ status: status() }) } as unknown as Health,
      clock: standingClock(now),
      version: '0.0.0-test',
      publicUrl,
      limits: { unpaid: 0, uncharged: 0 },
      startedAt: now,
    },
    endpoints: paid,
    metrics,
    logger,
    trustedProxies: 0,
  });
  const server = await listen(gateway, 0, '127.0.0.1');
  return { url: `http://127.0.0.1:${server.port}`, paid, charges, faults, logged, close: () => server.stop(1_000) };
}
