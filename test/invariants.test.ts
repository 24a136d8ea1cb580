import http from 'node:http';
import type { Endpoint } from '../src/endpoints/endpoint';
import { type Input, ask, requestOf } from './support/ask';
import { ENDPOINTS } from './support/catalogue';
import { type OpenGateway, startOpenGateway } from './support/open-gateway';
import { outOfOrder } from './support/sort-orders';
import { loosestInput } from './support/subjects';
import { type ThreeWorlds, commonWorlds } from './support/three-worlds';

// What must hold between answers and within them, whatever the world, on all three venues: series without holes, hours that add up to days, parts that
// are a whole, one figure whoever tells it, short lists that begin long ones, feeds in order, large moves among all moves, addresses in any spelling.

type Row = Record<string, unknown>;

const HOUR = 3_600_000;
const SIZES: Record<string, number> = { '5m': HOUR / 12, '15m': HOUR / 4, '1h': HOUR, '4h': 4 * HOUR, '12h': 12 * HOUR, '1d': 24 * HOUR, '7d': 168 * HOUR }; // prettier-ignore

let worlds: ThreeWorlds;
let gateway: OpenGateway;
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });

beforeAll(async () => {
  worlds = await commonWorlds();
  gateway = await startOpenGateway(worlds.database, worlds.now);
}, 400_000);
afterAll(async () => {
  agent.destroy();
  await gateway.close();
  await worlds.close();
});

const endpointOf = (name: string): Endpoint => {
  const found = ENDPOINTS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`No endpoint ${name}`);
  return found;
};

const subject = (endpoint: string, name: string, rank = 0): string => worlds.subjects[endpointOf(endpoint).venue][name]?.[rank] as string;

/** The data of an answer; null where there is none. Throws on every other refusal. */
async function get<Data = Row[]>(name: string, input: Input): Promise<Data | null> {
  const endpoint = endpointOf(name);
  const { path, body } = requestOf(endpoint, input);
  const told = await ask(gateway.url, agent, endpoint.method, path, body);
  const json = JSON.parse(told.body) as { data: Data; code?: string };
  if (told.status === 404 || json.code === 'range_too_large') return null;
  if (told.status !== 200) throw new Error(`${name} ${JSON.stringify(input)}: ${told.status} ${told.body}`);
  return json.data;
}

const sum = (rows: readonly Row[], name: string): number => rows.reduce((total, row) => total + Number(row[name] ?? 0), 0);

/** Every list in an answer whose rows have the field. */
function listsWith(value: unknown, field: string): Row[][] {
  if (Array.isArray(value)) {
    const here = value.length > 0 && typeof value[0] === 'object' && value[0] !== null && field in (value[0] as Row);
    return here ? [value as Row[]] : value.flatMap((item) => listsWith(item, field));
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap((child) => listsWith(child, field)) : [];
}

const grouped = (rows: readonly Row[], keyOf: (row: Row) => string): Row[][] => {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups.values()];
};

/** A series may be of one of these; rows of a heatmap without volume are left out by two of the venues. */
const SERIES = ['outcome', 'token_id', 'label', 'coin', 'action', 'pool_type', 'pool_address'];
const SPARSE = ['markets/volume-heatmap', 'lp/platform/volume-heatmap'];
const BUCKETED = ENDPOINTS.filter(({ parameters }) => parameters.some(({ name }) => name === 'bucket_size'));

test.each(BUCKETED.map(({ name }) => [name]))('%s: buckets are multiples of their size, each once, none left out', async (name) => {
  const endpoint = endpointOf(name);
  const choices = endpoint.parameters.find((one) => one.name === 'bucket_size')?.choices ?? [];
  let seen = 0;
  for (const bucket_size of choices.filter((choice) => choice !== 'auto'))
    for (const timeframe of ['24h', '7d', 'all']) {
      const data = await get<unknown>(name, { ...loosestInput(endpoint, worlds.subjects[endpoint.venue]), bucket_size, timeframe });
      const size = SIZES[bucket_size] as number;
      for (const rows of listsWith(data, 'bucket'))
        for (const series of grouped(rows, (row) => JSON.stringify(SERIES.map((key) => row[key])))) {
          const times = series.map(({ bucket }) => Date.parse(String(bucket))).sort((a, b) => a - b);
          const steps = times.slice(1).map((time, index) => (time - (times[index] as number)) / size);
          const isWell = (step: number): boolean => (SPARSE.includes(name) ? step >= 1 && Number.isInteger(step) : step === 1);
          expect([bucket_size, timeframe, times.every((time) => time % size === 0), steps.every(isWell)]).toEqual([bucket_size, timeframe, true, true]); // prettier-ignore
          seen += times.length;
        }
    }
  expect(seen).toBeGreaterThan(20);
});

const ADDED = ['volume', 'volume_usd', 'smart_volume_usd', 'trade_count', 'event_count', 'buy_volume', 'sell_volume', 'smart_net_flow', 'long_volume', 'short_volume', 'fees_claimed', 'claims', 'insider_trades', 'insider_buy_usdc']; // prettier-ignore

test.each(BUCKETED.map(({ name }) => [name]))('%s: the hours of a day add up to the day', async (name) => {
  const endpoint = endpointOf(name);
  const told = async (bucket_size: string): Promise<Map<string, number>> => {
    const data = await get<unknown>(name, { ...loosestInput(endpoint, worlds.subjects[endpoint.venue]), timeframe: '7d', bucket_size });
    const rows = listsWith(data, 'bucket').flat();
    const cells = rows.flatMap((row) => ADDED.filter((field) => field in row).map((field) => ({ key: JSON.stringify([String(row.bucket).slice(0, 10), field, ...SERIES.map((of) => row[of])]), value: Number(row[field] ?? 0) }))); // prettier-ignore
    const sums = new Map<string, number>();
    for (const { key, value } of cells) sums.set(key, (sums.get(key) ?? 0) + value);
    return new Map([...sums].filter(([, value]) => Math.abs(value) > 0.001).sort());
  };
  const [hours, days] = [await told('1h'), await told('1d')];
  expect(days.size).toBeGreaterThan(2);
  expect([...hours.keys()]).toEqual([...days.keys()]);
  for (const [key, value] of days) expect([key, hours.get(key)]).toEqual([key, expect.closeTo(value, 3)]);
});

/** Lists of which a field adds up to 100, when nothing is cut off. */
const WHOLES: [string, Input, string, (data: never) => Row[][]][] = [
  ['perps/coins/volume-heatmap', { timeframe: '7d', limit: 50 }, 'pct_of_bucket', (data: Row[]) => grouped(data, ({ bucket }) => String(bucket))],
  ['lp/platform/volume-heatmap', { timeframe: '24h', group_by: 'pool', limit: 100 }, 'pct_of_bucket', (data: Row[]) => grouped(data, ({ bucket }) => String(bucket))],
  ['lp/platform/volume-heatmap', { timeframe: '7d', group_by: 'action' }, 'pct_of_bucket', (data: Row[]) => grouped(data, ({ bucket }) => String(bucket))],
  ['markets/volume-by-group', { timeframe: '7d', group_by: 'day' }, 'pct_of_total', ({ groups }: { groups: Row[] }) => [groups]],
  ['markets/volume-heatmap', { timeframe: '7d', group_by: 'hour_of_day' }, 'pct_of_total', ({ breakdown }: { breakdown: Row[] }) => [breakdown]],
  ['markets/volume-heatmap', { timeframe: '7d', group_by: 'day_of_week' }, 'pct_of_total', ({ breakdown }: { breakdown: Row[] }) => [breakdown]],
  ['markets/categories', { timeframe: '7d' }, 'share_of_volume_pct', (data: Row[]) => [data]],
]; // prettier-ignore

test.each(WHOLES)('%s %j: %s adds up to 100', async (name, input, field, listsOf) => {
  const lists = listsOf((await get<never>(name, input)) as never).filter((rows) => rows.some((row) => Number(row[field] ?? 0) > 0));
  expect(lists.length).toBeGreaterThan(0);
  for (const rows of lists) expect(Math.abs(sum(rows, field) - 100)).toBeLessThanOrEqual(0.1);
});

test('long and short, and holders of an outcome, are a hundred together', async () => {
  const { coins } = (await get<{ coins: Row[] }>('perps/pressure/summary', { timeframe: '7d' })) as { coins: Row[] };
  expect(coins.length).toBeGreaterThan(1);
  for (const { long_percent, short_percent } of coins)
    // Where nobody opened anything there are no parts.
    if (long_percent === null) expect(short_percent).toBeNull();
    else expect(Number(long_percent) + Number(short_percent)).toBeCloseTo(100, 4);
  let seen = 0;
  for (let rank = 0; rank < 12; rank += 1) {
    const answer = await get<{ outcomes: Row[] }>('markets/ownership', { condition_id: subject('markets/ownership', 'condition_id', rank), min_shares: 0 }); // prettier-ignore
    for (const { distribution, holder_count } of answer?.outcomes ?? []) {
      if (holder_count === 0) continue;
      expect(sum(distribution as Row[], 'pct_of_outcome')).toBeCloseTo(100, 3);
      expect(sum(distribution as Row[], 'holder_count')).toBe(holder_count);
      seen += 1;
    }
  }
  expect(seen).toBeGreaterThan(5);
});

test.each(['24h', '7d', 'all'])('one volume of a venue, whoever tells it: %s', async (timeframe) => {
  const perps = (await get<Row>('perps/platform/stats', { timeframe })) as Row;
  const coins = (await get('perps/coins/volume-heatmap', { timeframe, limit: 50 })) as Row[];
  expect(new Set(coins.map(({ coin }) => coin)).size).toBe(perps.unique_coins);
  expect(sum(coins, 'volume_usd')).toBeCloseTo(Number(perps.total_volume_usd), 3);
  expect(sum(coins, 'trade_count')).toBe(perps.total_trades);
  expect(Number(perps.buy_volume_usd) + Number(perps.sell_volume_usd)).toBeCloseTo(Number(perps.total_volume_usd), 3);
  const pools = (await get<Row & { by_pool_type: Row[] }>('lp/platform/stats', { timeframe })) as Row & { by_pool_type: Row[] };
  const actions = (await get('lp/platform/volume-heatmap', { timeframe, group_by: 'action' })) as Row[];
  const moves = actions.filter(({ action }) => action === 'deposit' || action === 'withdraw');
  for (const told of [sum(pools.by_pool_type, 'volume_usd'), Number(pools.deposits_usd) + Number(pools.withdrawals_usd), sum(moves, 'volume_usd')])
    expect(told).toBeCloseTo(Number(pools.total_volume_usd), 3); // prettier-ignore
});

test('side by side is as one by one', async () => {
  const traders = (worlds.subjects.perps.trader ?? []).slice(0, 5);
  for (const days of [7, 30]) {
    const { traders: compared } = (await get<{ traders: Row[] }>('perps/traders/compare', { traders, days })) as { traders: Row[] };
    for (const { trader, stats, coin_breakdown } of compared) {
      const profile = (await get<Row>('perps/traders/profile', { trader, days })) as Row;
      expect([trader, stats, coin_breakdown]).toEqual([trader, profile.stats, (profile.coin_breakdown as Row[]).slice(0, 5)]);
    }
  }
  const owners = (worlds.subjects.lp.owner ?? []).slice(0, 5);
  for (const pool_type of ['all', 'dlmm']) {
    const { lps } = (await get<{ lps: Row[] }>('lp/lps/compare', { owners, pool_type })) as { lps: Row[] };
    for (const { owner, found, summary, pool_breakdown } of lps) {
      const profile = await get<Row>('lp/lps/profile', { owner, pool_type });
      expect([owner, found]).toEqual([owner, profile !== null]);
      if (profile !== null) expect([summary, pool_breakdown]).toEqual([profile.summary, (profile.pool_breakdown as Row[]).slice(0, 5)]);
    }
  }
});

/** Rows of a list up to `most`, page by page. */
async function all(name: string, input: Input, most = 5_000): Promise<Row[]> {
  const endpoint = endpointOf(name);
  const rows: Row[] = [];
  for (let cursor: string | null = null; ;) {
    const { path, body } = requestOf(endpoint, { ...input, ...(cursor === null ? {} : { cursor }) });
    const told = await ask(gateway.url, agent, endpoint.method, path, body);
    if (told.status === 404) return rows;
    expect([name, told.status]).toEqual([name, 200]);
    const { data, meta } = JSON.parse(told.body) as { data: Row[]; meta: { next_cursor: string | null } };
    rows.push(...data);
    cursor = meta.next_cursor;
    if (cursor === null || rows.length >= most) return rows;
  }
}

/** Whether the lists of the one are beginnings of the other's, and all else is the same. */
function begins(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length <= other.length && one.every((item, index) => begins(item, other[index]));
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  return Object.entries(one).every(([name, child]) => begins(child, (other as Row)[name]));
}

/** Grids are in order of time, and one summary is of the rows listed. */
const OF_THE_ROWS = ['markets/volume-heatmap', 'lp/platform/volume-heatmap', 'markets/early-movers'];
const LIMITED = ENDPOINTS.filter(({ name, parameters }) => parameters.some((one) => one.pricedLimit) && !OF_THE_ROWS.includes(name));

test.each(LIMITED.map(({ name }) => [name]))('%s: a shorter list is the beginning of a longer one, in pages or whole', async (name) => {
  const endpoint = endpointOf(name);
  const limit = endpoint.parameters.find((one) => one.pricedLimit) as (typeof endpoint.parameters)[number];
  const paged = endpoint.parameters.some((one) => one.name === 'cursor');
  for (const timeframe of endpoint.parameters.some((one) => one.name === 'timeframe') ? ['7d', '30d'] : [null]) {
    const input = { ...loosestInput(endpoint, worlds.subjects[endpoint.venue]), ...(timeframe !== null && { timeframe }) };
    const whole = await get<unknown>(name, { ...input, [limit.name]: limit.max });
    for (const most of [1, 2, 7]) {
      const short = await get<unknown>(name, { ...input, [limit.name]: most });
      expect([timeframe, most, whole === null ? short : begins(short, whole)]).toEqual([timeframe, most, whole === null ? null : true]);
    }
    if (paged && Array.isArray(whole)) expect((await all(name, { ...input, limit: 7 }, 50)).slice(0, 50)).toEqual(whole.slice(0, 50));
  }
});

test('large moves are among all moves, and none of them is missing', async () => {
  const idOf = ({ TxId, tx_id, UsdTotal, usd_total, EventType, event_type, PositionAddress, position_address }: Row): string =>
    JSON.stringify([TxId ?? tx_id, UsdTotal ?? usd_total, EventType ?? event_type, PositionAddress ?? position_address]);
  let seen = 0;
  for (const pool_address of (worlds.subjects.lp.pool_address ?? []).slice(0, 4))
    for (const min_usd of [100, 1_000]) {
      const large = await all('lp/lps/whales', { pool_address, timeframe: 'all', min_usd, limit: 200 });
      const whole = await all('lp/pools/events', { pool_address, limit: 500, min_usd });
      const moves = whole.filter((row) => /(add|remove)_?liquidity/i.test(String(row.EventType ?? row.event_type)));
      expect(large.map(idOf).sort()).toEqual(moves.map(idOf).sort());
      seen += large.length;
    }
  for (const coin of (worlds.subjects.perps.coin ?? []).slice(0, 3))
    for (const min_usd of [1_000, 20_000]) {
      const large = await all('perps/trades/whales', { coin, timeframe: 'all', min_usd, limit: 200 });
      const whole = (await all('perps/trades/feed', { coin, timeframe: 'all', limit: 500 })).filter(({ usd_value }) => Number(usd_value) >= min_usd); // prettier-ignore
      const key = ({ smart_score: _score, ...row }: Row): string => JSON.stringify(Object.entries(row).sort());
      expect(large.map(key).sort()).toEqual(whole.map(key).sort());
      seen += large.length;
    }
  expect(seen).toBeGreaterThan(200);
});

/** Orders of lists that no parameter changes: list in the answer, field; a minus: ascending. */
const ORDERS: Record<string, [string | null, string]> = {
  'markets/similar': [null, 'similarity'], 'markets/insiders': ['insiders', 'insider_score'], 'markets/opportunities': [null, 'signal_score'], 'markets/trades': ['trades', 'timestamp'], 'trades/whales': [null, 'timestamp'],
  'wallets/activity': ['trades', 'timestamp'], 'wallets/copy-traders': [null, 'copy_score'], 'markets/new-smart-interest': [null, 'interest_score'], 'markets/early-movers': ['movers', '-first_buy_at'],
  'wallets/alpha-callers': [null, 'alpha_score'], 'wallets/insiders/trend': ['top_markets', 'total_insider_volume'], 'markets/volume-heatmap': ['breakdown', 'volume'], 'perps/trades/whales': [null, 'timestamp'],
  'perps/trades/feed': [null, 'timestamp'], 'perps/smart-wallets/activity': ['trades', 'timestamp'], 'perps/smart-wallets/signals': [null, 'signal_score'], 'perps/traders/daily-pnl': [null, '-date'],
  'lp/pools/trending': [null, 'volume_spike_multiplier'], 'lp/pools/events': [null, 'timestamp'], 'lp/lps/whales': [null, 'timestamp'], 'lp/pools/fee-analysis': ['top_claimers', 'fees_claimed'],
}; // prettier-ignore

test.each(Object.entries(ORDERS))('%s is in its order', async (name, [list, field]) => {
  const endpoint = endpointOf(name);
  let seen = 0;
  for (const timeframe of ['24h', '7d', 'all']) {
    const names = new Set(endpoint.parameters.map((one) => one.name));
    const input = { ...loosestInput(endpoint, worlds.subjects[endpoint.venue]), ...(names.has('timeframe') && { timeframe }), ...(names.has('field_case') && { field_case: 'snake' }) }; // prettier-ignore
    const data = await get<unknown>(name, input);
    const rows = (data === null ? [] : list === null ? data : (data as Row)[list]) as Row[];
    expect([timeframe, outOfOrder({ rows, field: field.replace('-', ''), ascending: field.startsWith('-'), magnitude: false })]).toEqual([timeframe, null]); // prettier-ignore
    seen += rows.length;
  }
  // A small world has few copiers, and few markets on which skilled wallets agree.
  if (name !== 'wallets/copy-traders' && name !== 'markets/opportunities') expect(seen).toBeGreaterThan(1);
});

const HEX = ['condition_id', 'wallet', 'wallets', 'trader', 'traders'];
const BASE58 = ['pool_address', 'owner', 'owners', 'position_address'];
const turned = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()));

describe.each(ENDPOINTS.filter(({ parameters }) => parameters.some(({ name, required }) => required && [...HEX, ...BASE58].includes(name))).map((one) => [one.name, one] as const))('%s', (name, endpoint) => {
  test('hex is the same in capitals, base58 is another address with its case turned', async () => {
    const input = loosestInput(endpoint, worlds.subjects[endpoint.venue]);
    if (endpoint.parameters.some((one) => one.name === 'timeframe')) input.timeframe = '7d';
    const id = endpoint.parameters.find((one) => one.required && [...HEX, ...BASE58].includes(one.name))?.name as string;
    const change = (spell: (text: string) => string): Input => ({ ...input, [id]: Array.isArray(input[id]) ? input[id].map((one) => spell(String(one))) : spell(String(input[id])) }); // prettier-ignore
    const answer = await get<unknown>(name, input);
    if (HEX.includes(id)) {
      expect(await get(name, change((text) => `0x${text.slice(2).toUpperCase()}`))).toEqual(answer);
      for (const [, hex] of JSON.stringify(answer).matchAll(/"(0x[0-9a-fA-F.…]*)"/g)) expect(hex).toMatch(/^0x([0-9a-f]{40}|[0-9a-f]{64})$/); // prettier-ignore
      return;
    }
    const { path, body } = requestOf(endpoint, change(turned));
    const { status } = await ask(gateway.url, agent, endpoint.method, path, body);
    expect([400, 404]).toContain(status);
    const [own] = [input[id]].flat();
    if (answer !== null && name !== 'lp/pools/volume-history') expect(JSON.stringify(answer)).toContain(String(own));
  });
}); // prettier-ignore
