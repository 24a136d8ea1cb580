import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { nearestRank, tenths } from '../lib/statistics';
import { Recent } from './recent';

/** Figures of the running service: Prometheus for operators, the last minute for /health. */
export interface Metrics {
  registry: Registry;
  request(sample: { endpoint: string; status: number; code: string | null; ms: number }): void;
  query(sample: { endpoint: string; ms: number; outcome: 'data' | 'error' | 'timeout' }): void;
  cache(sample: { hit: boolean }): void;
  slots(active: number, waiting: number): void;
  /** Records a live feed loaded, and those it left out, by reason. */
  loaded(feed: string, report: { inserted: number; duplicates: number; skipped: Readonly<Record<string, number>> }): void;
  /** A poll of a live feed failed. */
  failed(feed: string): void;
  /** Seconds from an event to its being visible. */
  visible(feed: string, seconds: number): void;
  /** What became of a payment, and micro-USDC of it. */
  payment(event: string, record: { protocol: string; amount: bigint }): void;
  /** Payments that wait for the chain's word. */
  unresolved(count: number): void;
  /** Lamports of the wallet that pays fees for buyers. */
  sponsor(lamports: number): void;
  /** Where the figures of how old data is are asked for, whenever they are told. */
  ages(ages: Ages): void;
  lastMinute(): {
    queries: { count: number; p50_ms: number | null; p95_ms: number | null };
    cache: { hits: number; misses: number };
    timeouts: number;
    errors: Record<string, number>;
  };
}

/** How old data is, in seconds, by name; null where there is none. */
type AgesByName = Readonly<Record<string, number | null>>;

/** Each is asked anew; one that fails is told of nothing. */
export interface Ages {
  feeds(): AgesByName;
  scores(): AgesByName;
  snapshots(): Promise<AgesByName>;
}

export function makeMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Answers by endpoint, status and error code',
    labelNames: ['endpoint', 'status', 'code'],
    registers,
  });
  const durations = new Histogram({
    name: 'http_request_seconds',
    help: 'Time from request to answer',
    labelNames: ['endpoint'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers,
  });
  const queryTimes = new Histogram({
    name: 'query_seconds',
    help: 'Time of executed queries',
    labelNames: ['endpoint', 'outcome'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 60],
    registers,
  });
  const cached = new Counter({ name: 'answer_cache_total', help: 'Look-ups in the answer cache', labelNames: ['result'], registers });
  const active = new Gauge({ name: 'paid_slots_active', help: 'Paid executions running', registers });
  const waiting = new Gauge({ name: 'paid_slots_waiting', help: 'Paid executions waiting for a slot', registers });

  const records = new Counter({
    name: 'feed_records_total',
    help: 'Records of live feeds by what became of them',
    labelNames: ['feed', 'outcome'],
    registers,
  });
  const failures = new Counter({ name: 'feed_failures_total', help: 'Polls of live feeds that failed', labelNames: ['feed'], registers });
  const lags = new Histogram({
    name: 'feed_event_lag_seconds',
    help: 'Time from an event to its being visible',
    labelNames: ['feed'],
    buckets: [0.5, 1, 2, 3, 5, 10, 30, 60, 600],
    registers,
  });

  const payments = new Counter({
    name: 'payments_total',
    help: 'What became of payments: settled, pending (sent, no word of the chain in time), failed, released (not sent), owed (paid, not served), rolled_back',
    labelNames: ['protocol', 'outcome'],
    registers,
  });
  const usdc = new Counter({ name: 'payments_usdc_total', help: 'USDC of settled payments', labelNames: ['protocol'], registers });
  const unresolved = new Gauge({
    name: 'payments_unresolved',
    help: "Payments of all processes that wait for the chain's word",
    registers,
  });
  // With a label it is not told, as 0, where there is none.
  const sponsored = new Gauge({
    name: 'payments_sponsor_lamports',
    help: 'Lamports of the wallet that pays fees for buyers',
    labelNames: ['chain'],
    registers,
  });

  let ages: Ages | undefined;
  const ageGauge = (name: string, help: string, label: string, ask: (from: Ages) => AgesByName | Promise<AgesByName>): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      async collect() {
        this.reset();
        const told =
          ages === undefined
            ? {}
            : await Promise.resolve(ages)
                .then(ask)
                .catch(() => ({}));
        for (const [of, seconds] of Object.entries<number | null>(told)) if (seconds !== null) this.set({ [label]: of }, seconds);
      },
    });
  ageGauge('feed_lag_seconds', 'Time since the instant up to which a live feed was read', 'feed', (from) => from.feeds());
  ageGauge('score_age_seconds', 'Time since the instant that the daily scores are as of', 'venue', (from) => from.scores());
  ageGauge('snapshot_age_seconds', 'Time since the instant that a copy is as of, by its oldest part', 'name', (from) => from.snapshots());

  const recentQueries = new Recent<{ ms: number; timeout: boolean }>();
  const recentCache = new Recent<boolean>();
  const recentErrors = new Recent<string>();
  return {
    registry,
    request({ endpoint, status, code, ms }) {
      requests.inc({ endpoint, status: String(status), code: code ?? '' });
      durations.observe({ endpoint }, ms / 1_000);
      // A challenge is how every purchase begins, not an error.
      if (code !== null && code !== 'payment_required') recentErrors.add(code);
    },
    query({ endpoint, ms, outcome }) {
      queryTimes.observe({ endpoint, outcome }, ms / 1_000);
      recentQueries.add({ ms, timeout: outcome === 'timeout' });
    },
    cache({ hit }) {
      cached.inc({ result: hit ? 'hit' : 'miss' });
      recentCache.add(hit);
    },
    slots(running, queued) {
      active.set(running);
      waiting.set(queued);
    },
    loaded(feed, { inserted, duplicates, skipped }) {
      records.inc({ feed, outcome: 'inserted' }, inserted);
      records.inc({ feed, outcome: 'duplicate' }, duplicates);
      for (const [reason, count] of Object.entries(skipped)) records.inc({ feed, outcome: reason }, count);
    },
    failed: (feed) => failures.inc({ feed }),
    visible: (feed, seconds) => lags.observe({ feed }, seconds),
    payment(outcome, { protocol, amount }) {
      payments.inc({ protocol, outcome });
      if (outcome === 'settled') usdc.inc({ protocol }, Number(amount) / 1_000_000);
    },
    unresolved: (count) => unresolved.set(count),
    sponsor: (lamports) => sponsored.set({ chain: 'solana' }, lamports),
    ages: (told) => void (ages = told),
    lastMinute() {
      const queries = recentQueries.list();
      const times = queries.map(({ ms }) => ms);
      const lookups = recentCache.list();
      const hits = lookups.filter(Boolean).length;
      return {
        queries: { count: queries.length, p50_ms: tenths(nearestRank(times, 0.5)), p95_ms: tenths(nearestRank(times, 0.95)) },
        cache: { hits, misses: lookups.length - hits },
        timeouts: queries.filter(({ timeout }) => timeout).length,
        errors: tally(recentErrors.list()),
      };
    },
  };
}

function tally(words: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]).slice(0, 10));
}
