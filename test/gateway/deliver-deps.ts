import { AnswerCache } from '../../src/gateway/answers';
import type { DeliverDeps } from '../../src/gateway/deliver';
import { RateLimit, Slots } from '../../src/gateway/limits';
import { standingClock } from '../../src/lib/clock';
import { AdmissionQueue } from '../../src/gateway/admission-queue';
import { FailureThrottle } from '../../src/lib/failure-throttle';
import { makeLogger } from '../../src/observability/logger';
import { makeMetrics } from '../../src/observability/metrics';

/** What orders are answered with, without a database: one that nothing limits but `uncharged` queries, and whose time stands still. */
export const deliverDeps = (uncharged = 0): DeliverDeps => ({
  db: {} as DeliverDeps['db'],
  clock: standingClock(new Date('2026-02-01T00:00:00Z')),
  freshness: () => 0,
  settled: () => null,
  stale: () => null,
  edition: () => '',
  cache: new AnswerCache(1_000_000),
  slots: new Slots(50, 2_000),
  queue: new AdmissionQueue(50),
  uncharged: new RateLimit(uncharged, 'queries without a charge', () => 0),
  metrics: makeMetrics(),
  logger: makeLogger('silent'),
  failing: new FailureThrottle(),
});
