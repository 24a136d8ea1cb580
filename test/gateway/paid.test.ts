import express from 'express';
import { AppError } from '../../src/errors';
import { type PaidDeps, paidHandler } from '../../src/gateway/paid';
import { listen } from '../../src/gateway/server';
import { RateLimit } from '../../src/gateway/limits';
import type { Outcome, Payments } from '../../src/payments/protocol';
import { endpointNamed } from '../support/catalogue';
import { deliverDeps } from './deliver-deps';

// How a buyer is told what became of a payment.

const EXPIRES_AT = new Date('2026-02-01T00:05:00.700Z');

async function toldOf(outcome: Outcome): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
  const payments = { charge: async () => outcome } as Partial<Payments> as Payments;
  const limit = new RateLimit(0, 'requests');
  const deps: PaidDeps = { ...deliverDeps(), payments, unpaid: limit, refused: limit, publicUrl: '' };
  const bazaar = { info: 'of it' };
  const app = express();
  app.use((_request, response, next) => void (response.set('X-Request-Id', 'req_1'), next()));
  app.get('/', paidHandler({ endpoint: endpointNamed('trades/whales'), operation: async () => [], bazaar }, deps));
  const server = await listen(app, 0, '127.0.0.1');
  const response = await fetch(`http://127.0.0.1:${server.port}/?limit=5&colour=red&condition_id=0x${'A'.repeat(64)}`);
  const { status, headers } = response;
  const body = (await response.json()) as Record<string, unknown>;
  await server.stop(0);
  return { status, headers, body };
}

test('a payment of which the chain has not said anything is told as such, with its id: whoever pays again would pay twice', async () => {
  const { status, headers, body } = await toldOf({
    kind: 'refused',
    error: new AppError('settlement_pending', { retry_after_s: 5 }),
    charged: 'pending',
    transaction: 'tx',
    headers: { 'X-Payment-Settlement': 'pending' },
  });
  expect([status, headers.get('x-payment-settlement'), headers.get('retry-after')]).toEqual([503, 'pending', '5']);
  expect(body).toMatchObject({ code: 'settlement_pending', charged: 'pending', transaction: 'tx' });
});

test('of what was never sent no id is told', async () => {
  const error = new AppError('not_found');
  const { status, body } = await toldOf({ kind: 'refused', error, charged: false, transaction: null, headers: {} });
  expect([status, body.charged, 'transaction' in body]).toEqual([404, false, false]);
});

test('a payment that failed is told by its receipt, beside a new offer and until when that stands', async () => {
  const error = new AppError('settlement_failed');
  const x402 = { x402Version: 2, error: 'settlement_failed', accepts: [], extensions: { other: {} } };
  const { status, headers, body } = await toldOf({
    kind: 'challenge',
    error,
    challenge: { x402, headers: { 'PAYMENT-REQUIRED': 'an offer' }, expires_at: EXPIRES_AT },
    headers: { 'PAYMENT-RESPONSE': 'a receipt' },
  });
  expect([status, headers.get('payment-required'), headers.get('payment-response')]).toEqual([402, 'an offer', 'a receipt']);
  expect(body).toMatchObject({
    error: error.message,
    charged: false,
    type: 'https://paymentauth.org/problems/verification-failed',
    status: 402,
    detail: error.message,
    x402Version: 2,
    accepts: [],
    expires_at: '2026-02-01T00:05:00Z',
    extensions: { other: {}, bazaar: { info: 'of it' } },
  });
});

test('a sale is told with its receipt, under the id of this request, and with whatever was odd about it', async () => {
  const meta = { count: 1, warnings: ['odd'], ineffective: { limit: 'all', sort_by: 'all' } };
  const { status, headers, body } = await toldOf({
    kind: 'paid',
    answer: { data: [1], meta },
    replayed: true,
    headers: { 'PAYMENT-RESPONSE': 'a receipt' },
  });
  expect([status, headers.get('payment-response')]).toEqual([200, 'a receipt']);
  expect(body).toEqual({
    data: [1],
    // A default that has no effect is nobody's mistake.
    meta: {
      request_id: 'req_1',
      count: 1,
      warnings: ['odd', 'limit: has no effect with all', 'condition_id: upper-case letters were lowered'],
      ignored_params: ['colour'],
      replayed: true,
    },
  });
});
