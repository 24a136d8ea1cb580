import fc from 'fast-check';
import { rawOfQuery, readParameters } from '../../src/endpoints/read';
import { priceList, priceRange } from '../../src/pricing/catalog';
import { type Quote, quote } from '../../src/pricing/quote';
import { usd } from '../../src/pricing/tiers';
import { decimal, rounded } from '../../src/lib/rational';
import { ENDPOINTS, endpointNamed } from '../support/catalogue';
import { PRICE_TABLE } from './price-table';

const MARKET = `0x${'ab'.repeat(32)}`;
const wallets = (count: number): string => Array.from({ length: count }, (_, index) => `0x${String(index).padStart(40, '0')}`).join(',');

function quoteOf(name: string, query: string): Quote {
  const endpoint = endpointNamed(name);
  return quote(endpoint, readParameters(endpoint, rawOfQuery(new URLSearchParams(query))).variables);
}

test('the catalogue is the price table: same paths, nothing more', () => {
  expect(ENDPOINTS.map(({ name }) => name).sort()).toEqual(PRICE_TABLE.map(([name]) => name).sort());
});

test('the price list tells what each closed parameter takes', () => {
  const { endpoints } = priceList(ENDPOINTS);
  const taken = new Map(endpoints.flatMap(({ params }) => params.map(({ type, allowed }) => [type, allowed])));
  expect([taken.get('Timeframe'), taken.get('DcaTimeframe'), taken.get('Category')].map((allowed) => allowed?.[0])).toEqual([
    '1h',
    '1m',
    'Politics',
  ]);
});

test('the price list tells of every endpoint what it costs and by what', () => {
  const list = priceList(ENDPOINTS);
  const row = (name: string) => list.endpoints.find(({ path }) => path === `/api/v1/${name}`);
  expect(row('markets/trending')).toMatchObject({
    method: 'GET',
    tier: 'medium',
    base_price: 0.02,
    default_price: 0.02,
    min_price: 0.01,
    max_price: 0.2,
    limit_param: 'limit',
    default_limit: 20,
    max_limit: 100,
    timeframe_default: '24h',
    filters: [{ param: 'category', factor: 0.7, condition: 'sent' }],
  });
  expect(row('wallets/portfolio')?.params[0]).toEqual({
    name: 'wallets',
    in: 'body',
    type: 'EvmAddress[]',
    default: null,
    allowed: null,
    min: 1,
    max: 50,
    required: true,
  });
  expect(row('markets/participants')).toMatchObject({ limit_param: null, default_limit: null, max_limit: null, timeframe_default: null });
  expect(row('markets/trending')?.params[1]).toMatchObject({ name: 'limit', in: 'query', type: 'Int', default: 20, min: 1, max: 100 });
});

test('the version of the price list changes with a number', () => {
  const versionOf = (tier: 'light' | 'heavy'): string => priceList([{ ...endpointNamed('markets/trending'), tier }]).version;
  expect(versionOf('heavy')).not.toBe(versionOf('light'));
});

test('the price list tells each filter once, with when it counts and where', () => {
  const { filters, ...list } = priceList(ENDPOINTS) as { filters: { param: string; condition: string; endpoints: string[] }[] };
  const told = filters.filter(({ param }) => ['pool_type', 'coin', 'coins', 'smart_money_only'].includes(param));
  expect(told.map(({ param, condition }) => `${param}: ${condition}`).sort()).toEqual([
    'coin: always present',
    'coin: sent',
    'coins: sent',
    'pool_type: sent and not all',
    'smart_money_only: true',
  ]);
  expect(filters.find(({ param }) => param === 'coins')).toEqual({
    param: 'coins',
    factor: 0.7,
    condition: 'sent',
    endpoints: ['/api/v1/perps/pressure/pairs'],
  });
  expect(list).toMatchObject({
    tiers: { light: 0.01, medium: 0.02, heavy: 0.05, whale: 0.08 },
    bounds: { floor: 0.01, ceiling: 0.2 },
    timeframe_multipliers: { '1h': 0.5, '30d': 3 },
    caps: { '/api/v1/markets/opportunities': 0.15, '/api/v1/wallets/copy-traders': 0.12 },
  });
});

test.each(PRICE_TABLE)('%s is %s: default %d, cheapest %d, dearest %d', (name, tier, standard, cheapest, dearest, limit) => {
  const endpoint = endpointNamed(name);
  const range = priceRange(endpoint);
  expect({ tier: endpoint.tier, ...range }).toEqual({
    tier,
    default: BigInt(standard),
    cheapest: BigInt(cheapest),
    dearest: BigInt(dearest),
  });
  const priced = endpoint.parameters.find((parameter) => parameter.pricedLimit);
  expect(priced ? `${priced.name} ${String(priced.default)}/${priced.max}` : null).toBe(limit);
});

test.each([
  ['markets/trending', 'timeframe=1h', 10_000],
  ['markets/trending', 'timeframe=7d', 40_000],
  ['markets/trending', 'timeframe=7d&limit=40', 80_000],
  ['markets/trending', 'timeframe=7d&limit=1', 40_000],
  ['markets/trending', 'timeframe=7d&category=Politics', 28_000],
  ['trades/whales', `timeframe=30d&condition_id=${MARKET}&smart_money_only=true`, 21_000],
  ['trades/whales', `timeframe=30d&condition_id=${MARKET}&smart_money_only=false`, 30_000],
  ['wallets/top-performers', '', 200_000],
  ['wallets/top-performers', 'category=Sports', 70_000],
  ['wallets/top-performers', 'timeframe=24h', 100_000],
  ['markets/opportunities', 'limit=100', 150_000],
  ['wallets/copy-traders', `wallet=${wallets(1)}&timeframe=30d`, 120_000],
  ['wallets/copy-traders', `wallet=${wallets(1)}&timeframe=1h`, 40_000],
  ['wallets/compare', `wallets=${wallets(5)}`, 200_000],
  ['wallets/compare', `wallets=${wallets(3)}`, 120_000],
  ['wallets/compare', 'wallets=bad', 80_000],
  ['wallets/portfolio', `wallets=${wallets(15)}`, 120_000],
  ['wallets/profile', `wallet=${wallets(1)}&include_positions=false&include_trades=false`, 20_000],
  ['wallets/profile', `wallet=${wallets(1)}&include_trades=false`, 35_000],
  ['wallets/profile', `wallet=${wallets(1)}&trades_limit=100`, 100_000],
  ['perps/traders/leaderboard', 'timeframe=all', 200_000],
  ['perps/trades/long-short-ratio', 'coin=BTC', 28_000],
  // Without what it must have it is refused, and told the price of the list.
  ['perps/trades/long-short-ratio', '', 28_000],
  ['wallets/portfolio', '', 80_000],
  ['perps/pressure/pairs', 'coins=BTC,ETH', 35_000],
  ['perps/trades/feed', 'coin=BTC&timeframe=all', 10_000],
  ['lp/pools/top', 'pool_type=dlmm', 28_000],
  ['lp/pools/top', 'pool_type=all', 40_000],
  ['lp/dca/pressure', 'timeframe=24h', 20_000],
  ['lp/dca/pressure', 'timeframe=5m&limit=200', 40_000],
  ['markets/capital-flow-comparison', 'timeframes=1h,4h', 14_000],
  ['markets/capital-flow-comparison', 'timeframe=90d', 80_000],
  ['trades/whales', 'timeframe=all&limit=83&category=Sports', 116_200],
  ['trades/whales', 'timeframe=12h&limit=101&category=Sports', 25_452],
])('%s?%s costs %d micro-USDC', (name, query, micro) => {
  expect(quoteOf(name, query).amount).toBe(BigInt(micro));
});

// Of $0.02 a request, where every window counts.
test.each([
  ['1h', 0.5], ['4h', 0.7], ['6h', 0.8], ['12h', 0.9], ['24h', 1], ['1d', 1], ['today', 1], ['7d', 2], ['30d', 3], ['90d', 4], ['365d', 5], ['1y', 5], ['all', 5],
])('a window of %s costs %d times as much as one day', (timeframe, multiplier) => {
  expect(quoteOf('markets/trending', `timeframe=${timeframe}&limit=20`).amount).toBe(BigInt(20_000 * multiplier));
}); // prettier-ignore

test.each(['1m', '5m', '30m'])('orders of the next %s cost half of those of a day', (timeframe) => {
  expect(quoteOf('lp/dca/pressure', `timeframe=${timeframe}&limit=200`).amount).toBe(40_000n);
});

test('a quote tells everything that made its price', () => {
  expect(quoteOf('markets/trending', 'timeframe=7d&limit=40&category=Politics')).toEqual({
    amount: 56_000n,
    price_usd: 0.056,
    pricing: {
      tier: 'medium',
      base_usd: 0.02,
      timeframe_multiplier: 2,
      limit_multiplier: 2,
      filter_multiplier: 0.7,
      special_multiplier: 1,
      filters: [{ param: 'category', factor: 0.7 }],
      cap_usd: null,
      clamped: null,
    },
  });
  expect(quoteOf('wallets/compare', `wallets=${wallets(3)}`).pricing).toMatchObject({ special_multiplier: 1.5, filters: [] });
});

test.each([
  ['wallets/copy-traders', `wallet=${wallets(1)}&timeframe=24h&limit=30`, 0.12, 0.12, null],
  ['wallets/copy-traders', `wallet=${wallets(1)}&timeframe=24h&limit=31`, 0.12, 0.12, 'cap'],
  ['perps/traders/leaderboard', 'timeframe=7d&limit=50', 0.2, null, null],
  ['perps/traders/leaderboard', 'timeframe=7d&limit=51', 0.2, null, 'ceiling'],
  ['markets/trending', 'timeframe=1h', 0.01, null, null],
  ['markets/trending', 'timeframe=1h&category=Politics', 0.01, null, 'floor'],
])('%s?%s costs $%d, capped at %s, clamped by %s', (name, query, price_usd, cap_usd, clamped) => {
  expect(quoteOf(name, query)).toMatchObject({ price_usd, pricing: { cap_usd, clamped } });
});

const ORDER = ['1h', '4h', '6h', '12h', '24h', '7d', '30d', '90d', '365d', 'all'];

test('every price stays between floor and ceiling, never falls as the window or the limit grows, and never rises by a filter', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ENDPOINTS), fc.nat(), fc.nat(), fc.nat(), (endpoint, a, b, pick) => {
      const base = Object.fromEntries(
        endpoint.parameters.flatMap((parameter) => (parameter.default === undefined ? [] : [[parameter.name, parameter.default]])),
      );
      const price = (change: object): bigint => quote(endpoint, { ...base, ...change } as never).amount;
      const limit = endpoint.parameters.find((parameter) => parameter.pricedLimit);
      const [small, large] = [a % (limit?.max ?? 1), b % (limit?.max ?? 1)].sort((x, y) => x - y) as [number, number];
      if (limit) expect(price({ [limit.name]: small + 1 }) <= price({ [limit.name]: large + 1 })).toBe(true);
      if (endpoint.parameters.some((parameter) => parameter.name === 'timeframe')) {
        const [short, long] = [a % ORDER.length, b % ORDER.length].sort((x, y) => x - y) as [number, number];
        expect(price({ timeframe: ORDER[short] }) <= price({ timeframe: ORDER[long] })).toBe(true);
      }
      const filters = endpoint.parameters.filter((parameter) => parameter.filter);
      const filter = filters[pick % Math.max(1, filters.length)];
      if (filter)
        expect(price({ [filter.name]: filter.type === 'Boolean' ? true : 'x' }) <= price({ [filter.name]: undefined })).toBe(true);
      const any = price({ ...(limit ? { [limit.name]: large + 1 } : {}) });
      expect(any >= 10_000n && any <= 200_000n).toBe(true);
    }),
  );
});

test('a price is read to the last digit', () => expect([20_000n, 125_000n, 25_452n].map(usd)).toEqual(['$0.02', '$0.125', '$0.025452']));

test('rounding is exact and halves go up', () => {
  expect(rounded({ n: 5n, d: 2n })).toBe(3n);
  expect(rounded({ n: 49n, d: 20n })).toBe(2n);
  // In binary fractions 1.005 × 1000 is 1004.9999999999999.
  expect(rounded({ n: decimal('1.005').n * 100n, d: decimal('1.005').d })).toBe(101n);
});
