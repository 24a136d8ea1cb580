import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { buy } from '../src/sandbox/buyer';
import { ROOT } from './support/root';
import { type Product, startProduct } from './support/product';
import { loadWorld } from './support/world';

// The whole product, bought from by unmodified stock clients: money moves for data, and only for data.

const MPPX = path.join(ROOT, 'node_modules/mppx/dist/bin.js');
const START = new Date('2026-02-01T00:00:00Z');
const NOW = '2026-02-03T00:00:00Z';

let product: Product;
beforeAll(async () => {
  product = await startProduct({}, NOW);
  for (const venue of ['prediction', 'perps', 'lp'] as const) await loadWorld(product.pool, venue, 6_000, START, new Date(NOW));
});
afterAll(() => product.close());

type BuyOptions = { protocol?: 'x402' | 'tempo' | 'solana'; headers?: Record<string, string>; method?: 'GET' | 'POST'; body?: unknown };

const purchase = (path: string, { protocol = 'x402', headers, method = 'GET', body }: BuyOptions = {}): ReturnType<typeof buy> =>
  buy({ method, url: `${product.publicUrl}/api/v1/${path}`, headers, body, protocol }, product.wallets);

/** Micro-USDC of the merchant on both chains. */
async function earned(): Promise<bigint> {
  const { solana, tempo } = product.chains;
  return (
    (await solana.usdcBalance(product.wallets.solana.pay_to)) + ((await tempo?.usdcBalance(product.wallets.tempo?.pay_to as string)) ?? 0n)
  );
}

/** The first page of a list endpoint, without paying: straight from the graph. */
async function graph<T>(query: string): Promise<T> {
  const response = await fetch(`${product.internalUrl}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = (await response.json()) as { data: T; errors?: unknown };
  expect(errors).toBeUndefined();
  return data;
}

const SOLD = [
  ['trades/whales?timeframe=7d&min_usdc=100', 40_000n],
  ['platform/stats?timeframe=7d', 20_000n],
  ['perps/trades/whales?timeframe=24h&min_usd=1000', 20_000n],
  ['perps/trades/feed?coin=BTC', 10_000n],
  ['perps/platform/stats', 10_000n],
  ['lp/pools/search?query=SOL', 10_000n],
  ['lp/platform/stats?timeframe=7d', 20_000n],
] as const;

describe.each(['x402', 'tempo', 'solana'] as const)('bought by %s', (protocol) => {
  test.each(SOLD)('%s moves exactly %d micro-USDC, for data', async (path, price) => {
    const before = await earned();
    const bought = await purchase(path, { protocol });
    const { data, meta } = JSON.parse(bought.body) as { data: unknown; meta: Record<string, unknown> };
    expect(bought.status).toBe(200);
    expect((await earned()) - before).toBe(price);
    expect(bought.receipt).not.toBeNull();
    expect(meta).toMatchObject({
      endpoint: path.split('?')[0],
      as_of: NOW,
      price_usd: Number(price) / 1e6,
      replayed: false,
      ignored_params: [],
    });
    expect(Array.isArray(data) ? data.length : Object.keys(data as object).length).toBeGreaterThan(0);
    expect(bought.headers['cache-control']).toBe('private');
    expect(bought.headers['x-request-id']).toBe(meta.request_id);
  });
});

test('markets and pools found in one answer can be asked for in the next', async () => {
  const whales = JSON.parse((await purchase('trades/whales?timeframe=7d&min_usdc=100')).body) as { data: { condition_id: string }[] };
  const trades = JSON.parse((await purchase(`markets/trades?condition_id=${whales.data[0]?.condition_id}&timeframe=7d`)).body) as {
    data: { trade_count: number; trades: unknown[] };
  };
  expect(trades.data.trade_count).toBeGreaterThan(0);
  const pools = JSON.parse((await purchase('lp/pools/search?query=SOL')).body) as { data: { pool_address: string; event_count: number }[] };
  const busy = pools.data.find((pool) => pool.event_count > 0);
  const events = JSON.parse((await purchase(`lp/pools/events?pool_address=${busy?.pool_address}`)).body) as { data: unknown[] };
  expect(events.data.length).toBeGreaterThan(0);
});

test.each(['GET:/api/v1/perps/platform/stats', 'POST:/api/v1/perps/traders/pnl-by-coin'])(
  'the stock validator of MPP servers discovers, provokes and buys %s, and finds nothing amiss',
  async (endpoint) => {
    const { rows } = await product.pool.query<{ trader: string }>('SELECT trader FROM perp_trader ORDER BY fills DESC LIMIT 1');
    const body = endpoint.startsWith('POST') ? ['--body', JSON.stringify({ trader: rows[0]?.trader, timeframe: '7d' })] : [];
    const env = {
      ...process.env,
      NODE_OPTIONS: '',
      MPPX_CONFIG: path.join(ROOT, 'test/support/mppx.config.mjs'),
      TEMPO_WALLET: JSON.stringify(product.wallets.tempo),
    };
    const asked = ['validate', product.publicUrl, '--endpoint', endpoint, ...body, '--yes', '--output-json'];
    const { stdout } = await promisify(execFile)(process.execPath, [MPPX, ...asked], { env, maxBuffer: 64 * 1024 * 1024 });
    const told = JSON.parse(stdout) as { summary: Record<string, number>; endpoints: { payment: { label: string; severity: string }[] }[] };
    expect(told.summary).toMatchObject({ failed: 0, warnings: 0 });
    expect(told.endpoints[0]?.payment).toContainEqual(expect.objectContaining({ label: 'Receipt status is "success"', severity: 'pass' }));
  },
  300_000,
);

test('REST and GraphQL say the same', async () => {
  const rest = JSON.parse((await purchase('perps/platform/stats?timeframe=7d')).body) as { data: Record<string, unknown> };
  const { perpsPlatformStats } = await graph<{ perpsPlatformStats: unknown }>(
    `{ perpsPlatformStats(timeframe: "7d") { ${Object.keys(rest.data).join(' ')} } }`,
  );
  expect(perpsPlatformStats).toEqual(rest.data);
});

describe('nothing is charged for', () => {
  test.each([
    ['an unknown coin', 'perps/trades/feed?coin=NOSUCHCOIN', 404, 'not_found'],
    ['an empty window', 'perps/trades/whales?min_usd=1000000000', 404, 'empty_result'],
    ['a bad parameter', 'perps/trades/feed?coin=BTC&limit=9999', 400, 'invalid_parameter'],
    ['a missing parameter', 'perps/trades/feed', 400, 'missing_parameter'],
    ['a table that is none', 'platform/stats?format=csv', 400, 'invalid_parameter'],
  ])('%s', async (_, path, status, code) => {
    const before = await earned();
    const answers = [await purchase(path), await purchase(path, { protocol: 'tempo' }), await purchase(path, { protocol: 'solana' })];
    for (const answer of answers) {
      expect([answer.status, (JSON.parse(answer.body) as { code: string; charged: boolean }).code, answer.receipt]).toEqual([
        status,
        code,
        null,
      ]);
      expect(JSON.parse(answer.body)).toMatchObject({ charged: false });
    }
    expect(await earned()).toBe(before);
  });
});

test('the same proof again is refused, or collects the answer without paying again', async () => {
  const before = await earned();
  let proof = '';
  const spying: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    proof = headers.get('PAYMENT-SIGNATURE') ?? proof;
    return realFetch(input, init);
  };
  const realFetch = globalThis.fetch;
  globalThis.fetch = spying;
  // A wallet object of its own: the buyer keeps one client, and its fetch, per wallet.
  const bought = await buy(
    { method: 'GET', url: `${product.publicUrl}/api/v1/perps/platform/stats`, protocol: 'x402' },
    { ...product.wallets },
  ).finally(() => (globalThis.fetch = realFetch));
  expect([bought.status, proof === '']).toEqual([200, false]);
  const again = await fetch(`${product.publicUrl}/api/v1/perps/platform/stats`, { headers: { 'PAYMENT-SIGNATURE': proof } });
  expect(again.status).toBe(200);
  expect(((await again.json()) as { meta: { replayed: boolean } }).meta.replayed).toBe(true);
  const elsewhere = await fetch(`${product.publicUrl}/api/v1/lp/platform/stats`, { headers: { 'PAYMENT-SIGNATURE': proof } });
  expect(elsewhere.status).toBe(402);
  expect((await earned()) - before).toBe(10_000n);
});

test('what is paid for is sent, also to a buyer who says to have it already', async () => {
  // The client adds `no-cache` where nothing else is said, and that alone would have it sent.
  const headers = { 'If-None-Match': '*', 'Cache-Control': 'max-age=0' };
  const bought = await purchase('perps/platform/stats', { headers });
  expect(bought.status).toBe(200);
  expect(JSON.parse(bought.body)).toMatchObject({ data: { total_trades: expect.any(Number) }, meta: { price_usd: 0.01 } });
  expect((await fetch(`${product.publicUrl}/health`, { headers })).status).toBe(200);
});

test('csv, ndjson and chosen fields', async () => {
  const csv = await purchase('perps/trades/feed?coin=BTC&limit=3&format=csv&%C3%BCber=1');
  expect(csv.headers['content-type']).toContain('text/csv');
  expect(csv.body.split('\r\n')[0]).toContain('trader,coin,side');
  expect(csv.headers['x-meta-endpoint']).toBe('perps/trades/feed');
  expect(JSON.parse(csv.headers['x-meta-ignored-params'] as string)).toEqual(['über']);
  // Native rows of both kinds stand in one set of columns.
  const [columns = ''] = (await purchase('lp/lps/whales?min_usd=1&timeframe=all&format=csv')).body.split('\r\n');
  expect([columns.split(',').length, columns]).toEqual([15, columns.toLowerCase()]);
  const lines = (await purchase('perps/trades/feed?coin=BTC&limit=3&format=ndjson&fields=price')).body.trim().split('\n');
  expect(lines).toHaveLength(3);
  expect(Object.keys(JSON.parse(lines[0] as string) as object)).toEqual(expect.arrayContaining(['coin', 'price', 'trader']));
  expect(lines[0]).not.toContain('usd_value');
});

test.each(['json', 'csv', 'ndjson'])('a long answer as %s travels packed', async (format) => {
  const { headers } = await purchase(`perps/trades/feed?coin=BTC&format=${format}`, { headers: { 'Accept-Encoding': 'br' } });
  expect([headers['content-encoding'], headers.vary]).toEqual(['br', expect.stringContaining('Accept-Encoding')]);
});

test('/health tells what was measured', async () => {
  const health = (await (await fetch(`${product.publicUrl}/health`)).json()) as Record<string, unknown>;
  expect(health).toMatchObject({ status: 'ok', facilitator: true, auth_mode: 'x402+mpp', semaphore: { active: 0, max: 50 } });
  expect(Object.keys(health.data_freshness as object)).toEqual(expect.arrayContaining(['prediction', 'perps', 'lp', 'scores']));
  expect((health.queries_1m as { count: number }).count).toBeGreaterThan(10);
});
