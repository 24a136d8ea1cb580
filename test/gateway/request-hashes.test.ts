import type { Statements } from '../../src/db/client';
import type { Sale } from '../../src/payments/protocol';
import { type OpenGateway, startOpenGateway } from '../support/open-gateway';

// By what a request is known again: by what it means, and by its words.

let gateway: OpenGateway;
beforeAll(async () => {
  gateway = await startOpenGateway({} as Statements, new Date('2026-02-01T00:00:00Z'));
});
afterAll(() => gateway.close());

async function saleOf(target: string, body?: unknown): Promise<Sale> {
  const sent = body === undefined ? undefined : { method: 'POST', body: JSON.stringify(body) };
  const { headers } = await fetch(`${gateway.url}/api/v1/${target}`, sent);
  return gateway.charges.get(headers.get('x-request-id') as string)?.sale as Sale;
}

const TRENDING = 'markets/trending';
const COMPARE = 'wallets/compare';
const [ONE, OTHER, THIRD] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`);

test.each<[string, Parameters<typeof saleOf>, Parameters<typeof saleOf>, meaning: boolean, words: boolean]>([
  ['the same', [`${TRENDING}?limit=5`], [`${TRENDING}?limit=5`], true, true],
  ['another order', [`${TRENDING}?limit=5&timeframe=7d`], [`${TRENDING}?timeframe=7d&limit=5`], true, true],
  ['another order in a body', [COMPARE, { limit: 5, wallets: ['0x1'] }], [COMPARE, { wallets: ['0x1'], limit: 5 }], true, true],
  ['a default that is sent', [TRENDING], [`${TRENDING}?timeframe=24h`], true, false],
  ['another value', [`${TRENDING}?limit=5`], [`${TRENDING}?limit=6`], false, false],
  ['a value that is sent twice', [`${TRENDING}?limit=5`], [`${TRENDING}?limit=5&limit=6`], false, false],
  [
    'another value in a body of no type',
    [COMPARE, { wallets: [ONE, OTHER], timeframe: '7d' }],
    [COMPARE, { wallets: [ONE, OTHER], timeframe: '30d' }],
    false,
    false,
  ],
  ['another item of a list', [COMPARE, { wallets: [ONE, OTHER] }], [COMPARE, { wallets: [ONE, THIRD] }], false, false],
  ['another path', [TRENDING], ['perps/coins/trending'], false, false],
  ['another path that takes the same', ['platform/stats'], ['perps/platform/stats'], false, false],
])('%s', async (_, one, other, meaning, words) => {
  const [first, second] = [await saleOf(...one), await saleOf(...other)];
  expect([first.request_hash === second.request_hash, first.sent_hash === second.sent_hash]).toEqual([meaning, words]);
});
