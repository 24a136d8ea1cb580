import express from 'express';
import request from 'supertest';
import { AppError } from '../../src/errors';
import { sendAnswer } from '../../src/gateway/answer';

// What stands in headers where the body is csv or ndjson.

async function metaHeaderOf(ignored_params: string[]): Promise<string> {
  const app = express();
  app.get('/', (_request, response) =>
    sendAnswer(response, { kind: 'data', data: [{ a: 1 }], meta: { ignored_params }, headers: {}, fields: null, format: 'csv' }),
  );
  return (await request(app).get('/')).headers['x-meta-ignored-params'] as string;
}

test('a short list is told whole', async () => expect(JSON.parse(await metaHeaderOf(['über', 'b']))).toEqual(['über', 'b']));

test.each([1, 99])(
  'a list too long for a header stays JSON: whole items, and how many more there are (names of %s letters)',
  async (letters) => {
    const names = Array.from({ length: 3_000 }, (_, index) => `${index}${'ü'.repeat(letters)}`);
    const header = await metaHeaderOf(names);
    const told = JSON.parse(header) as string[];
    expect(header.length).toBeLessThanOrEqual(2_000);
    expect(told.slice(0, -1)).toEqual(names.slice(0, told.length - 1));
    expect(told.at(-1)).toBe(`… and ${names.length - told.length + 1} more`);
  },
);

test('an error tells every field, those of no value too', async () => {
  const error = new AppError('at_capacity', { retry_after_s: 2 });
  const app = express();
  app.get('/', (_request, response) =>
    sendAnswer(response, { kind: 'error', error, charged: false, headers: { 'X-One': 'more' }, extra: { price_usd: 0.01 } }),
  );
  const { status, headers, body } = await request(app).get('/');
  expect([status, headers['retry-after'], headers['x-one'], headers['cache-control']]).toEqual([503, '2', 'more', 'no-store']);
  expect(body).toEqual({
    error: error.message,
    code: 'at_capacity',
    reason: null,
    request_id: null,
    charged: false,
    details: [],
    retry_after_s: 2,
    fallback: null,
    suggestion: null,
    price_usd: 0.01,
  });
});
