import express from 'express';
import request from 'supertest';
import { AppError } from '../../src/errors';
import { asAppError, sendAnswer } from '../../src/gateway/answer';

// What stands in headers where the body is csv or ndjson.

async function metaHeadersOf(meta: Record<string, unknown>): Promise<Record<string, string>> {
  const app = express();
  app.get('/', (_request, response) =>
    sendAnswer(response, { kind: 'data', data: [{ a: 1 }], meta, headers: {}, fields: null, format: 'csv' }),
  );
  const { headers } = (await request(app).get('/')) as { headers: Record<string, string> };
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-meta-')));
}
const metaHeaderOf = async (ignored_params: string[]): Promise<string> =>
  (await metaHeadersOf({ ignored_params }))['x-meta-ignored-params'] as string;

test('a short list is told whole, in ASCII', async () => {
  const header = await metaHeaderOf(['über', 'b']);
  expect([JSON.parse(header), header]).toEqual([['über', 'b'], expect.stringMatching(/^[\x20-\x7e]+$/)]);
});

test('of what there is none there is no header: a last page names no next one', async () =>
  expect(await metaHeadersOf({ next_cursor: null, limit: 0, timeframe: '7d' })).toEqual({ 'x-meta-limit': '0', 'x-meta-timeframe': '7d' }));

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

test('what is nobody’s words is told in ours', () => {
  const thrown = new Error('relation "hush" does not exist');
  expect(asAppError(thrown)).toMatchObject({ code: 'internal', message: expect.not.stringContaining('hush'), context: { cause: thrown } });
});

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
