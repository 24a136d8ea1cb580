import express from 'express';
import request from 'supertest';
import { AppError } from '../../src/errors';
import type { Format } from '../../src/endpoints/endpoint';
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

test('a word is told in ASCII as well', async () =>
  expect(await metaHeadersOf({ methodology: 'ü' })).toEqual({ 'x-meta-methodology': '\\u00fc' }));

test.each<[format: Format, fields: string[] | null, type: RegExp, text: string]>([
  ['json', null, /^application\/json/, '{"data":[{"a":1,"b":2}],"meta":{"limit":1}}'],
  ['json', ['b'], /^application\/json/, '{"data":[{"b":2}],"meta":{"limit":1}}'],
  ['csv', ['b'], /^text\/csv/, 'b\r\n2\r\n'],
  ['ndjson', null, /^application\/x-ndjson/, '{"a":1,"b":2}\n'],
])('what was bought is told as %s, of it %j, with its receipt, and for its buyer alone', async (format, fields, type, text) => {
  const app = express();
  const headers = { 'Payment-Receipt': 'paid', 'Cache-Control': 'public' };
  app.get('/', (_request, response) =>
    sendAnswer(response, { kind: 'data', data: [{ a: 1, b: 2 }], meta: { limit: 1 }, headers, fields, format }),
  );
  const response = await request(app)
    .get('/')
    .buffer(true)
    .parse((sent, done) => {
      let body = '';
      sent.on('data', (piece) => (body += String(piece)));
      sent.on('end', () => done(null, body));
    });
  expect([response.status, response.headers['content-type'], response.body]).toEqual([200, expect.stringMatching(type), text]);
  expect(response.headers).toMatchObject({ 'payment-receipt': 'paid', 'cache-control': 'private' });
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
    sendAnswer(response, { kind: 'error', error, charged: 'pending', headers: { 'X-One': 'more' }, extra: { price_usd: 0.01 } }),
  );
  const { status, headers, body } = await request(app).get('/');
  expect([status, headers['retry-after'], headers['x-one'], headers['cache-control']]).toEqual([503, '2', 'more', 'no-store']);
  expect(body).toEqual({
    error: error.message,
    code: 'at_capacity',
    reason: null,
    request_id: null,
    charged: 'pending',
    details: [],
    retry_after_s: 2,
    fallback: null,
    suggestion: null,
    price_usd: 0.01,
  });
});
