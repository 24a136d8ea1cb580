import { loadCatalogue } from '../../src/catalogue';
import type { Statements } from '../../src/db/client';
import { openApi } from '../../src/gateway/discovery';
import { type HealthDeps, makeHealth } from '../../src/gateway/health';
import { Slots } from '../../src/gateway/limits';
import type { VenueFreshness } from '../../src/gateway/stale';
import { realClock } from '../../src/lib/clock';
import { makeMetrics } from '../../src/observability/metrics';
import type { MethodHealth, Payments } from '../../src/payments/protocol';
import { startOpenGateway } from '../support/open-gateway';
import { ROOT } from '../support/root';
import { statedBy } from '../support/stated-answers';

const OK: MethodHealth = { status: 'ok', latency_ms: 1, last_settlement_at: null };

type Query = HealthDeps['backends'][number]['pool']['query'];
const answering = (async () => ({ rows: [] })) as unknown as Query;
const refusing = (async () => Promise.reject(new Error('refused'))) as unknown as Query;
const frozen = (() => new Promise(() => undefined)) as unknown as Query;

const healthOf = (primary: Query, replica: Query, newer: string[] = [], other: Partial<HealthDeps> = {}) =>
  makeHealth({
    backends: [
      { name: 'postgres', pool: { query: primary } },
      { name: 'postgres_replica', pool: { query: replica } },
    ],
    payments: { health: async () => ({ x402: OK, mpp_tempo: OK, mpp_solana: OK }) } as unknown as Payments,
    metrics: makeMetrics(),
    slots: new Slots(1, 1),
    clock: realClock,
    version: '0',
    network: 'none',
    freshness: () => ({}),
    newer: async () => newer,
    scored: async () => (await primary('SELECT') , {}),
    snapshots: async () => ({}),
    ...other,
  }); // prettier-ignore

const reportOf = (...of: Parameters<typeof healthOf>) => healthOf(...of).report();

test('all databases answer', async () =>
  expect(await reportOf(answering, answering)).toMatchObject({
    status: 'ok',
    postgres: { status: 'ok' },
    backends: [
      { name: 'postgres', status: 'ok' },
      { name: 'postgres_replica', status: 'ok' },
    ],
  }));

test('without the replica nothing is answered', async () =>
  expect(await reportOf(answering, refusing)).toMatchObject({
    status: 'down',
    postgres: { status: 'ok' },
    backends: [{ status: 'ok' }, { name: 'postgres_replica', status: 'down' }],
  }));

test('how far behind the replica replays is told, where it replays anything', async () => {
  const behind = (lag: number | null) => (async () => ({ rows: [{ lag }] })) as unknown as Query;
  const reports = await Promise.all([behind(62.345), behind(-0.2), behind(null), refusing].map((replica) => reportOf(answering, replica)));
  expect(reports.map(({ backends }) => backends)).toMatchObject(
    [62.3, 0, null, null].map((replay_lag_s) => [{ replay_lag_s: null }, { name: 'postgres_replica', replay_lag_s }]),
  );
});

test('a database that stands still is told as down, soon', async () =>
  expect(await reportOf(frozen, answering)).toMatchObject({ status: 'down', postgres: { status: 'down' } }));

test('a database that takes no writes any more takes no payments; a replica never did', async () => {
  const reading = (async () => ({ rows: [{ no: 'on' }] })) as unknown as Query;
  expect(await reportOf(reading, answering)).toMatchObject({ status: 'down', postgres: { status: 'down' } });
  expect(await reportOf(answering, reading)).toMatchObject({ status: 'ok' });
});

test('who looks at the status alone, as load balancers do, is told when nothing can be sold', async () => {
  const told = ['ok', 'degraded', 'down'] as const;
  const left = [...told];
  const gateway = await startOpenGateway({} as Statements, new Date(), undefined, () => left.shift() ?? 'ok');
  const statuses: unknown[] = [];
  for (const status of told) {
    const response = await fetch(`${gateway.url}/health`);
    statuses.push([status, response.status, await response.json()]);
  }
  await gateway.close();
  expect(statuses).toEqual(told.map((status) => [status, status === 'down' ? 503 : 200, { status }]));
});

test.each([
  ['fails', () => Promise.reject(new Error('refused'))],
  ['stands still', () => new Promise<never>(() => undefined)],
])('a look that %s leaves out what it would tell, and nothing else', async (_, look) => {
  const report = await reportOf(answering, answering, [], { scored: look, snapshots: look, newer: look });
  expect(report).toMatchObject({ status: 'ok', newer_migrations: [], data_freshness: { scores: {}, snapshots: {} } });
});

test('instants are told in seconds, and what was read further than the clock shows does not lag', async () => {
  const health = async () => ({ x402: { ...OK, last_settlement_at: new Date('2026-02-01T00:00:00.400Z') }, mpp_tempo: OK, mpp_solana: OK });
  const ahead = { mode: 'live' as const, watermark: new Date(Date.now() + 60_000), last_event_at: null, feeds: [] };
  const report = await reportOf(answering, answering, [], {
    payments: { health } as unknown as Payments,
    freshness: () => ({ lp: ahead, perps: { ...ahead, watermark: null } }),
  });
  expect(report).toMatchObject({
    payments: { x402: { last_settlement_at: '2026-02-01T00:00:00Z' } },
    // Of what nothing was read yet there is nothing to sell.
    status: 'degraded',
    data_freshness: { lp: { lag_s: 0, status: 'ok' }, perps: { lag_s: null, status: 'empty' } },
    semaphore: { active: 0, waiting: 0, max: 1 },
  });
});

test('what was counted in the last minute is told, who waits, and as of when data are', async () => {
  const recent = { timeouts: 1, queries: { count: 3, p50_ms: 1, p95_ms: 2 }, cache: { hits: 1, misses: 2 }, errors: { internal: 2 } };
  const [at, told] = [new Date('2026-02-01T00:00:00.400Z'), '2026-02-01T00:00:00Z'];
  const marks = { watermark: at, last_event_at: at };
  const totals = { read: 3, inserted: 2, duplicates: 1, skipped: {} };
  const feed = { feed: 'lp.chain', gates: true, ...marks, totals, lag: { events: 2, p50_s: 1, p99_s: 2 }, failure: null };
  const report = await reportOf(answering, answering, [], {
    metrics: { lastMinute: () => recent } as unknown as HealthDeps['metrics'],
    slots: { active: 2, waiting: 3, max: 4 } as Slots,
    clock: { now: () => new Date(at.getTime() + 5_000) },
    freshness: () => ({ lp: { mode: 'live', ...marks, feeds: [feed] } }),
    scored: async () => ({ lp: at, perps: null }),
    snapshots: async () => ({ 'wallets/insiders': { as_of: at, served: true } }),
  });
  expect(report).toMatchObject({
    semaphore: { active: 2, waiting: 3, max: 4, timeouts_1m: 1 },
    queries_1m: recent.queries,
    cache_1m: recent.cache,
    top_errors: recent.errors,
    data_freshness: {
      lp: {
        last_event_at: told,
        lag_s: 5,
        feeds: [{ feed: 'lp.chain', lag_s: 5, last_event_at: told, event_lag: feed.lag, records: totals }],
      },
      scores: { lp: told, perps: null },
      snapshots: { 'wallets/insiders': told },
    },
  });
});

test('OpenAPI tells of whatever a report may hold: feeds that fail, since when if it is known, and a service that is down', async () => {
  const { endpoints, schema } = loadCatalogue(ROOT);
  const unstated = statedBy(openApi(endpoints, schema, [], { version: '0', publicUrl: '' }) as Parameters<typeof statedBy>[0]);
  const [at, words] = ['2026-02-01T00:00:00.000Z', 'host/path answered 500'];
  const marks = { watermark: new Date(at), last_event_at: new Date(at) };
  const totals = { read: 3, inserted: 1, duplicates: 1, skipped: { odd: 1 } };
  const feeds = [{ at, since: at, words }, { at, words }, null].map((failure) => ({ feed: 'lp.chain', gates: true, ...marks, totals, lag: { events: 2, p50_s: 1, p99_s: 2 }, failure })); // prettier-ignore
  const other: Partial<HealthDeps> = {
    freshness: () => ({ lp: { mode: 'live', ...marks, feeds } }),
    scored: async () => ({ lp: new Date(at), perps: null }),
    snapshots: async () => ({ 'wallets/insiders': { as_of: new Date(at), served: true } }),
  };
  const reports = [await reportOf(answering, answering, ['3_third'], other), await reportOf(refusing, answering, [], other)];
  expect(reports.map(({ status }) => status)).toEqual(['degraded', 'down']);
  for (const [index, report] of reports.entries()) {
    const told = JSON.parse(JSON.stringify(report)) as unknown;
    expect(unstated('GET', '/health', [200, 503][index] as number, told)).toEqual([]);
  }
});

test('a newer version has migrated the database', async () =>
  expect(await reportOf(answering, answering, ['3_third'])).toMatchObject({ status: 'degraded', newer_migrations: ['3_third'] }));

test.each<
  [x402: MethodHealth['status'], tempo: MethodHealth['status'], solana: MethodHealth['status'], status: string, facilitator: boolean]
>([
  ['ok', 'off', 'off', 'ok', true],
  ['ok', 'down', 'ok', 'degraded', true],
  ['down', 'off', 'down', 'down', false],
  ['off', 'off', 'off', 'down', false],
])('by x402 %s, Tempo %s and Solana %s', async (x402, tempo, solana, status, facilitator) => {
  const health = async () => ({
    x402: { ...OK, status: x402 },
    mpp_tempo: { ...OK, status: tempo },
    mpp_solana: { ...OK, status: solana },
  });
  const payments = { health } as unknown as Payments;
  expect(await reportOf(answering, answering, [], { payments })).toMatchObject({ status, facilitator });
});

test('many who ask at once are told the same and cost as much as one; who asks later is told anew', async () => {
  let asked = 0;
  const counting = (async () => ((asked += 1), { rows: [] })) as unknown as Query;
  const health = healthOf(answering, counting);
  const [first, ...others] = await Promise.all(Array.from({ length: 10 }, () => health.report()));
  for (const other of others) expect(other).toBe(first);
  expect(asked).toBe(1);
  expect(await health.report()).not.toBe(first);
  expect(asked).toBe(2);
});

describe('what is too old to be sold makes it degraded', () => {
  const ago = (seconds: number): Date => new Date(Date.now() - 1_000 * seconds);
  const statusOf = async (other: Partial<HealthDeps>): Promise<unknown> =>
    (await healthOf(answering, answering, [], other).report()).status;
  const feed = (since: Date | null): VenueFreshness['feeds'][number] => ({
    feed: 'lp.positions',
    gates: false,
    watermark: ago(1),
    last_event_at: null,
    totals: { read: 0, inserted: 0, duplicates: 0, skipped: {} },
    lag: { events: 0, p50_s: null, p99_s: null },
    failure: since === null ? null : { at: ago(1).toISOString(), since: since.toISOString(), words: 'host/path answered 500' },
  });
  const venue = (lag_s: number, since: Date | null = null): Partial<HealthDeps> => ({
    freshness: () => ({ lp: { mode: 'live', watermark: ago(lag_s), last_event_at: null, feeds: [feed(since)] } }),
  });

  test('scores', async () => {
    expect(await statusOf({ scored: async () => ({ perps: ago(47 * 3_600), lp: null }) })).toBe('ok');
    expect(await statusOf({ scored: async () => ({ perps: ago(49 * 3_600), lp: null }) })).toBe('degraded');
  });

  test('copies of what is rebuilt in the background', async () => {
    const kept = (served: boolean) => statusOf({ snapshots: async () => ({ 'wallets/insiders': { as_of: ago(60), served } }) });
    expect([await kept(true), await kept(false)]).toEqual(['ok', 'degraded']);
  });

  test('what a feed brings that cannot be read for long, whether answers wait for it or not', async () => {
    expect(await statusOf(venue(1, ago(60)))).toBe('ok');
    expect(await statusOf(venue(1, ago(601)))).toBe('degraded');
  });

  test('what a feed brings that lags, to the same instant as answers are refused', async () => {
    expect(await statusOf(venue(599))).toBe('ok');
    const now = new Date();
    const clock = { now: () => now };
    const behind = (ms: number) => ({ clock, freshness: () => ({ lp: { mode: 'live' as const, watermark: new Date(now.getTime() - ms), last_event_at: null, feeds: [] } }) }); // prettier-ignore
    expect([await statusOf(behind(600_000)), await statusOf(behind(600_001))]).toEqual(['ok', 'degraded']);
  });
});

test('figures tell how old data is, asked anew each time; what cannot be told is left out', async () => {
  const metrics = makeMetrics();
  expect(await metrics.registry.getSingleMetricAsString('feed_lag_seconds')).not.toContain('feed=');
  let lag = 3;
  const snapshots = () => Promise.reject(new Error('the database is gone'));
  metrics.ages({ feeds: () => ({ 'lp.chain': lag, 'lp.pools': null }), scores: () => ({ lp: 86_400 }), snapshots });
  const told = async (): Promise<string[]> => (await metrics.registry.metrics()).split('\n').filter((line) => /^(feed_lag|score_age|snapshot_age)_seconds/.test(line)); // prettier-ignore
  expect(await told()).toEqual(['feed_lag_seconds{feed="lp.chain"} 3', 'score_age_seconds{venue="lp"} 86400']);
  lag = 4;
  expect(await told()).toContain('feed_lag_seconds{feed="lp.chain"} 4');
});
