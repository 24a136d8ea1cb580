import { DatabaseError } from 'pg';
import type { Statements } from '../../src/db/client';
import { AppError } from '../../src/errors';
import { until } from '../support/feeds';
import { type OpenGateway, startOpenGateway } from '../support/open-gateway';

const broken = new DatabaseError('relation "hush" does not exist', 1, 'error');
const client = { query: () => Promise.reject(broken), release: () => undefined };
const pool = { connect: () => Promise.resolve(client) };

let gateway: OpenGateway;
beforeAll(async () => {
  gateway = await startOpenGateway({ pool, keyed: pool } as unknown as Statements, new Date('2026-02-01T00:00:00Z'));
});
afterAll(() => gateway.close());

test('of a request it is logged who asked for what and how that ended, by paths that are known: not what was paid with, nor what was asked', async () => {
  const headers = { Authorization: 'Payment hush', 'PAYMENT-SIGNATURE': 'hush', 'Idempotency-Key': 'hush' };
  const asked = [
    ['/api/v1/trades/whales?limit=0', '/api/v1/trades/whales', 400, 'invalid_parameter'],
    ['/api/v1/hush', 'unknown', 404, 'endpoint_not_found'],
    ['/health', '/health', 200, null],
  ] as const;
  const expected: unknown[] = [];
  for (const [path, endpoint, status, code] of asked) {
    const request_id = (await fetch(`${gateway.url}${path}`, { headers })).headers.get('x-request-id');
    expected.push({ request_id, method: 'GET', endpoint, status, code, ms: expect.any(Number) });
  }
  await until(() => Promise.resolve(gateway.logged.length === asked.length), 'all are logged');
  expect([gateway.logged, gateway.faults]).toEqual([expected, []]);
});

test('why we failed is told to the operator alone', async () => {
  const response = await fetch(`${gateway.url}/api/v1/trades/whales`);
  expect([response.status, await response.json()]).toMatchObject([500, { code: 'internal', error: new AppError('internal').message }]);
  expect(gateway.faults).toEqual([broken]);
});
