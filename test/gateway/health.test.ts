import { type HealthDeps, makeHealth } from '../../src/gateway/health';
import { Slots } from '../../src/gateway/limits';
import { realClock } from '../../src/lib/clock';
import { makeMetrics } from '../../src/observability/metrics';
import type { MethodHealth, Payments } from '../../src/payments/protocol';

const OK: MethodHealth = { status: 'ok', latency_ms: 1, last_settlement_at: null };

type Query = HealthDeps['backends'][number]['pool']['query'];
const answering = (async () => ({ rows: [] })) as unknown as Query;
const refusing = (async () => Promise.reject(new Error('refused'))) as unknown as Query;
const frozen = (() => new Promise(() => undefined)) as unknown as Query;

const healthOf = (primary: Query, replica: Query, newer: string[] = []) =>
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

test('a database that stands still is told as down, soon', async () =>
  expect(await reportOf(frozen, answering)).toMatchObject({ status: 'down', postgres: { status: 'down' } }));

test('a newer version has migrated the database', async () =>
  expect(await reportOf(answering, answering, ['3_third'])).toMatchObject({ status: 'degraded', newer_migrations: ['3_third'] }));

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
