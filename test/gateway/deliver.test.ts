import { AppError } from '../../src/errors';
import { rawOfQuery, readParameters } from '../../src/endpoints/read';
import { AnswerCache } from '../../src/gateway/answers';
import { deliver, type DeliverDeps, type Order } from '../../src/gateway/deliver';
import { Slots } from '../../src/gateway/limits';
import { AdmissionQueue } from '../../src/gateway/admission-queue';
import { makeContext } from '../../src/graph/context';
import type { Operation } from '../../src/graph/execute';
import { standingClock } from '../../src/lib/clock';
import { encodeCursor, listScope } from '../../src/lib/cursor';
import { runWithin } from '../../src/payments/work';
import { quote } from '../../src/pricing/quote';
import { endpointNamed } from '../support/catalogue';
import { deliverDeps } from './deliver-deps';

// What the gateway does with an order that is as good as paid for.

const endpoint = endpointNamed('markets/trending');
const reading = readParameters(endpoint, new Map());
const never = new AbortController().signal;

let orders = 0;
/** An order of its own, from 198.51.100.`ip`. */
function order(operation: Operation, ip = 1): Order {
  orders += 1;
  const price = quote(endpoint, reading.variables);
  return { endpoint, operation, reading, price, canonical: String(orders), ip: `198.51.100.${ip}` };
}

const codeOf = (delivery: Promise<unknown>): Promise<string> =>
  delivery.then(
    () => 'sold',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

test.each([[null], [undefined], [[]]])('nothing is never sold: %j', async (data) =>
  expect(
    await codeOf(
      deliver(
        order(async () => data),
        'payer',
        never,
        deliverDeps(),
      ),
    ),
  ).toBe('empty_result'),
);

describe('what is empty suggests something wider', () => {
  const told = async (name: string, query: Record<string, string>, thrown: AppError): Promise<AppError['context']> => {
    const asked = endpointNamed(name);
    const of = readParameters(asked, rawOfQuery(new URLSearchParams(query)));
    const operation: Operation = () => Promise.reject(thrown);
    const ordered = { ...order(operation), endpoint: asked, reading: of };
    return deliver(ordered, 'payer', never, deliverDeps()).then(
      () => ({}),
      (error: AppError) => error.context,
    );
  };
  const suggested = async (...asked: Parameters<typeof told>): Promise<unknown> => (await told(...asked)).suggestion;
  const empty = new AppError('empty_result');

  test.each([
    ['markets/volume-heatmap', { category: 'Other', smart_money_only: 'true' }, { category: null, smart_money_only: false }],
    ['markets/volume-heatmap', {}, undefined],
    ['markets/new-smart-interest', { min_score: '100', min_usdc: '0' }, { min_score: 0 }],
    ['wallets/activity', { wallet: `0x${'1'.repeat(40)}`, side: 'SELL' }, { side: null }],
    ['markets/trades', { condition_id: `0x${'1'.repeat(64)}`, side: 'REDEEM', outcome: 'Yes' }, { outcome: null, side: null }],
    ['lp/pools/search', { query: 'SOL', pool_type: 'dlmm' }, { pool_type: 'all' }],
    ['lp/pools/search', { query: 'SOL', pool_type: 'ALL' }, undefined],
    // What it is asked about stays, the window is the question's own, and a least that is no number has none that is less.
    ['lp/positions/active', { pool_address: '1'.repeat(32), pool_type: 'dlmm' }, { pool_type: 'all' }],
    ['perps/trades/feed', { timeframe: '1h', coin: 'BTC' }, undefined],
    ['markets/opportunities', { min_signal_strength: 'strong' }, { min_smart_wallets: 1 }],
  ])('%s %j', async (name, query, suggestion) => expect(await suggested(name, query, empty)).toEqual(suggestion));

  test('unless the question knows better, has no such thing, or has come to its end', async () => {
    const query = { category: 'Other' };
    const better = new AppError('empty_result', { suggestion: { timeframe: '7d' } });
    expect(await suggested('markets/trending', query, better)).toEqual({ timeframe: '7d' });
    expect(await suggested('markets/trending', query, new AppError('not_found'))).toBeUndefined();
    const why = new AppError('empty_result', { reason: 'unscored' });
    expect(await told('markets/trending', query, why)).toEqual({ reason: 'unscored', suggestion: { category: null } });
    // What it asks about stays: only a trader is required there.
    expect(await suggested('perps/traders/pnl-by-coin', { trader: `0x${'1'.repeat(40)}` }, empty)).toBeUndefined();
    const market = { condition_id: `0x${'1'.repeat(64)}`, min_usdc: '5' };
    expect(await suggested('markets/trades', market, empty)).toEqual({ min_usdc: 0 });
    const { variables } = readParameters(endpointNamed('markets/trades'), rawOfQuery(new URLSearchParams(market)));
    const cursor = encodeCursor([1], listScope('markets/trades', variables));
    expect(await suggested('markets/trades', { ...market, cursor }, empty)).toBeUndefined();
  });
});

test('empty answers tell something and cost nothing: they are rationed, by payer and by address', async () => {
  const shop = deliverDeps(2);
  const ask = (operation: Operation, payer: string, ip: number): Promise<string> =>
    codeOf(deliver(order(operation, ip), payer, never, shop));
  const unknown: Operation = () => Promise.reject(new AppError('not_found'));
  const empty: Operation = async () => [];
  const full: Operation = async () => [{ question: '?' }];
  expect([await ask(full, 'a', 1), await ask(empty, 'a', 1), await ask(full, 'a', 1), await ask(unknown, 'a', 1)]).toEqual(
    ['sold', 'empty_result', 'sold', 'not_found'], // prettier-ignore
  );
  // Neither with another wallet nor from another address; others are not their keepers.
  expect([await ask(empty, 'b', 1), await ask(empty, 'a', 2), await ask(empty, 'b', 2)]).toEqual([
    'rate_limited',
    'rate_limited',
    'empty_result',
  ]);
});

test('who is rationed is sold nothing, what is kept as well; others are', async () => {
  const shop = deliverDeps(1);
  const kept = order(async () => [1]);
  const empty = order(async () => []);
  const sold = (payer: string): Promise<string> => codeOf(deliver({ ...kept, ip: `ip of ${payer}` }, payer, never, shop));
  expect([await sold('a'), await codeOf(deliver({ ...empty, ip: 'ip of a' }, 'a', never, shop))]).toEqual(['sold', 'empty_result']);
  expect([await sold('a'), await sold('b')]).toEqual(['rate_limited', 'sold']);
});

test('many at once are no way around: what waits for a slot is not executed any more', async () => {
  const shop = { ...deliverDeps(2), slots: new Slots(1, 60_000) };
  let executed = 0;
  const empty: Operation = async () => {
    executed += 1;
    return [];
  };
  const told = await Promise.all(Array.from({ length: 5 }, () => codeOf(deliver(order(empty), 'a', never, shop))));
  expect(told).toEqual(['empty_result', 'empty_result', 'rate_limited', 'rate_limited', 'rate_limited']);
  // A slot is handed on before what ran in it is counted.
  expect(executed).toBeLessThanOrEqual(3);
});

test('nor are those that run beside each other: what is over the ration tells nothing', async () => {
  const shop = deliverDeps(2);
  const empty: Operation = async () => [];
  const told = await Promise.all(Array.from({ length: 5 }, () => codeOf(deliver(order(empty), 'a', never, shop))));
  expect(told).toEqual(['empty_result', 'empty_result', 'rate_limited', 'rate_limited', 'rate_limited']);
});

test.each(['waits for its turn', 'runs'])('who leaves while a question %s takes nothing from others who asked the same', async (place) => {
  const shop = { ...deliverDeps(), queue: new AdmissionQueue(1) };
  let finish: (data: unknown) => void = () => undefined;
  const until = (_variables: unknown, { signal }: { signal?: AbortSignal | undefined }): Promise<unknown> =>
    new Promise((resolve, reject) => {
      finish = resolve;
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const before = place === 'runs' ? null : deliver(order(until), 'other', never, shop);
  const same = order(place === 'runs' ? until : async () => [1]);
  const leaving = new AbortController();
  const left = deliver(same, 'a', leaving.signal, shop);
  const stays = deliver(same, 'b', never, shop);
  await new Promise((resolve) => setImmediate(resolve));
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  finish([1]);
  expect([await codeOf(stays), before === null ? 'sold' : await codeOf(before)]).toEqual(['sold', 'sold']);
});

test('of those who are admitted, no more are executed at once than there are turns; twins share one', async () => {
  const shop = { ...deliverDeps(), queue: new AdmissionQueue(2) };
  let running = 0;
  let executed = 0;
  let most = 0;
  const full: Operation = async () => {
    executed += 1;
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    return [1];
  };
  const asked = Array.from({ length: 6 }, () => order(full)).flatMap((one) => [one, one]);
  const told = await Promise.all(asked.map((one) => codeOf(deliver(one, 'a', never, shop))));
  expect([new Set(told), most, executed]).toEqual([new Set(['sold']), 2, 6]);
});

test('what is too old is not sold, though it was kept; where we fail it is told what to ask instead', async () => {
  const shop = deliverDeps();
  const ordered = (operation: Operation): Order => ({ ...order(operation), endpoint: endpointNamed('markets/opportunities') });
  const errorOf = (one: Order, deps = shop): Promise<unknown> => deliver(one, 'payer', never, deps).catch((error: unknown) => error);
  const kept = ordered(async () => [1]);
  expect(await errorOf(kept)).toMatchObject({ data: [1] });
  const stale = new AppError('stale_data', { reason: 'feed_lag', retry_after_s: 30 });
  const fallback = { path: '/api/v1/markets/high-conviction' };
  expect(await errorOf(kept, { ...shop, stale: () => stale })).toMatchObject({
    code: 'stale_data',
    context: { ...stale.context, fallback },
  });
  const failing = (error: Error): Promise<unknown> => errorOf(ordered(() => Promise.reject(error)));
  const cause = new Error('broken');
  expect(await failing(cause)).toMatchObject({ code: 'internal', context: { fallback, cause } });
  for (const code of ['query_timeout', 'stale_data', 'at_capacity'] as const)
    expect(await failing(new AppError(code))).toMatchObject({ code, context: { fallback } });
  const other = { method: 'GET', path: '/api/v1/markets/search', note: 'its own' };
  expect(await failing(new AppError('at_capacity', { fallback: other }))).toMatchObject({ context: { fallback: other } });
  expect(await failing(new AppError('not_found'))).toMatchObject({ code: 'not_found', context: {} });
});

test('failures of ours are not counted against anybody', async () => {
  const shop = deliverDeps(1);
  const broken: Operation = () => Promise.reject(new Error('broken'));
  for (let time = 0; time < 3; time += 1) expect(await codeOf(deliver(order(broken), 'a', never, shop))).toBe('Error: broken');
  expect(
    await codeOf(
      deliver(
        order(async () => [1]),
        'a',
        never,
        shop,
      ),
    ),
  ).toBe('sold');
});

test('meta tells what was asked, what it cost and whether the answer was kept', async () => {
  const shop = deliverDeps();
  const same = order(async () => [{ question: '?' }]);
  const [first, again] = [await deliver(same, 'payer', never, shop), await deliver(same, 'payer', never, shop)];
  expect(first.meta).toMatchObject({
    endpoint: 'markets/trending',
    as_of: '2026-02-01T00:00:00Z',
    timeframe: '24h',
    limit: 20,
    freshness_s: 0,
    methodology: '/docs/methodology#markets-trending',
    cache: 'miss',
    price_usd: 0.02,
  });
  expect(again.meta).toEqual({ ...first.meta, cache: 'hit' });
  expect(shop.metrics.lastMinute()).toMatchObject({ queries: { count: 1 }, cache: { hits: 1, misses: 1 }, timeouts: 0 });
  // Once the venue is scored anew the question is another one.
  expect((await deliver(same, 'payer', never, { ...shop, edition: () => 'anew' })).meta).toMatchObject({ cache: 'miss' });
  const unlimited = { ...order(async () => ({ wallets: 1 })), endpoint: endpointNamed('platform/stats') };
  expect((await deliver(unlimited, 'payer', never, shop)).meta).toMatchObject({ limit: null });
});

test('meta tells all that a question told of its answer', async () => {
  const [from, to] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-08T00:00:00Z')];
  const of = { count: 1, next_cursor: 'next', score_version: 'v1', warnings: ['odd'], ineffective: { limit: 'all' }, track_record: [] };
  const told = order(
    async (_variables, { meta }) => (Object.assign(meta, { ...of, timeframe: '7d', window: { from, to }, as_of: to }), [1]),
  );
  const { meta } = await deliver(told, 'payer', never, deliverDeps());
  const window = { from: '2026-01-01T00:00:00Z', to: '2026-01-08T00:00:00Z' };
  expect(meta).toMatchObject({ ...of, timeframe: '7d', window, as_of: '2026-01-08T00:00:00Z' });
  // Only signals have a record.
  expect(
    (
      await deliver(
        order(async () => [1]),
        'payer',
        never,
        deliverDeps(),
      )
    ).meta,
  ).not.toHaveProperty('track_record');
});

test('an answer that is given again is as old as it is by then', async () => {
  const began = new Date('2026-02-01T12:00:00.400Z');
  const clock = { now: () => began };
  const shop = { ...deliverDeps(), clock: { now: () => clock.now() }, freshness: () => 7 };
  const same = order(async () => [1]);
  const told = async (later: number): Promise<unknown> => {
    clock.now = () => new Date(began.getTime() + later);
    const { meta } = await deliver(same, 'payer', never, shop);
    return [meta.as_of, meta.cache, meta.freshness_s];
  };
  expect(await told(0)).toEqual(['2026-02-01T12:00:00Z', 'miss', 7]);
  expect(await told(20_000)).toEqual(['2026-02-01T12:00:00Z', 'hit', 27]);
  // A clock that is set back makes nothing fresher than it was.
  expect(await told(-20_000)).toEqual(['2026-02-01T12:00:00Z', 'hit', 7]);
  // Nothing was read yet.
  const unread = { ...shop, freshness: () => null };
  const other = order(async () => [1]);
  for (const later of [0, 20_000]) {
    clock.now = () => new Date(began.getTime() + later);
    expect((await deliver(other, 'payer', never, unread)).meta.freshness_s).toBeNull();
  }
});

test('what was told of a day is not told again of the next one: today is another by then', async () => {
  const clock = { now: () => new Date('2026-12-31T23:59:59.900Z') };
  const shop = { ...deliverDeps(), clock: { now: () => clock.now() } };
  const same = order(async () => [1]);
  const told = async (): Promise<unknown> => {
    const { meta } = await deliver(same, 'payer', never, shop);
    return [meta.as_of, meta.cache];
  };
  expect([await told(), await told()]).toEqual([
    ['2026-12-31T23:59:59Z', 'miss'],
    ['2026-12-31T23:59:59Z', 'hit'],
  ]);
  clock.now = () => new Date('2027-01-01T00:00:00.100Z');
  expect(await told()).toEqual(['2027-01-01T00:00:00Z', 'miss']);
});

test.each([
  [0.03, 'miss'],
  [0, 'miss'],
  [3_600, 'hit'],
])('what is good for %d seconds is kept no longer than that', async (seconds, cache) => {
  const shop = deliverDeps();
  const old = order(async (_variables, { meta }) => ((meta.good_for_s = seconds), [1]));
  const first = await deliver(old, 'payer', never, shop);
  expect(JSON.stringify(first)).not.toContain('good_for_s');
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect((await deliver(old, 'payer', never, shop)).meta.cache).toBe(cache);
});

test('an answer is as of the whole second that its meta tells, so that its window holds what it says', async () => {
  const shop = { ...deliverDeps(), clock: standingClock(new Date('2026-02-01T00:00:07.900Z')) };
  const delivered = await deliver(
    order((_variables, { now }) => Promise.resolve([{ now }])),
    'payer',
    never,
    shop,
  );
  expect([delivered.data, delivered.meta.as_of]).toEqual([[{ now: new Date('2026-02-01T00:00:07Z') }], '2026-02-01T00:00:07Z']);
});

test('a request as of another instant tells the same meta, and reads by loaders of its own', () => {
  const context = makeContext(deliverDeps().db, new Date('2026-02-01T00:00:00Z'));
  const before = context.at(new Date('2026-01-31T00:00:00Z'));
  const made = ({ now }: typeof context): { now: Date } => ({ now });
  expect([before.now.toISOString(), before.meta === context.meta, before.sql === context.sql]).toEqual(['2026-01-31T00:00:00.000Z', true, true]); // prettier-ignore
  expect([context.loaders(made).now, before.loaders(made).now]).toEqual([context.now, before.now]);
  expect([context.loaders(made) === context.loaders(made), context.at(new Date(context.now)) === context]).toEqual([true, true]);
  const noon = new Date('2026-02-01T12:00:00Z');
  expect(context.at(noon).now).toEqual(noon);
  expect([context, before, context.at(context.now, '2026-01-30')].map(({ scored_until }) => scored_until)).toEqual(['2026-02-01', '2026-01-31', '2026-01-30']); // prettier-ignore
});

test('a part of an answer that failed is sold as missing, and the operator is told which and why', async () => {
  const told: unknown[] = [];
  const logger = { error: (...words: unknown[]) => told.push(words) } as unknown as DeliverDeps['logger'];
  const cause = new Error('relation "perp_position" does not exist');
  const partly = order(async (_variables, context) => (context.failed('open_positions', cause), [1]));
  expect(await codeOf(deliver(partly, 'payer', never, { ...deliverDeps(), logger }))).toBe('sold');
  expect(told).toEqual([[{ err: cause, endpoint: 'markets/trending', part: 'open_positions', untold: 0 }, 'a part of an answer failed']]);
});

test('why the database could not answer is told the operator, once for each reason: a replica that cancels questions looks well', async () => {
  const told: unknown[] = [];
  const logger = { error: (...words: unknown[]) => told.push(words) } as unknown as DeliverDeps['logger'];
  const shop = { ...deliverDeps(), logger };
  const failure = (code: string): Error => Object.assign(new Error(code), { code });
  const [cancelled, gone] = [failure('40001'), failure('ECONNREFUSED')];
  for (const cause of [cancelled, gone, cancelled])
    expect(
      await codeOf(
        deliver(
          order(() => Promise.reject(new AppError('maintenance', { cause }))),
          'payer',
          never,
          shop,
        ),
      ),
    ).toBe('maintenance');
  const line = (err: Error): unknown => [{ err, endpoint: 'markets/trending', untold: 0 }, 'the database could not answer'];
  expect(told).toEqual([line(cancelled), line(gone)]);
});

test('parts that fail for the same reason, as while a database is away, are told once each', async () => {
  const parts: unknown[] = [];
  const logger = { error: ({ part }: { part: string }) => parts.push(part) } as unknown as DeliverDeps['logger'];
  const partly = (part: string) => order(async (_variables, context) => (context.failed(part, new AppError('maintenance')), [1]));
  const shop = { ...deliverDeps(), logger };
  for (const part of ['open_positions', 'recent_events', 'open_positions']) {
    await deliver(partly(part), 'payer', never, shop);
    shop.cache = new AnswerCache();
  }
  expect(parts).toEqual(['open_positions', 'recent_events']);
});

test('a kept answer is sold while every slot is taken', async () => {
  const shop = { ...deliverDeps(), slots: new Slots(1, 20) };
  const kept = order(async () => [1]);
  await deliver(kept, 'payer', never, shop);
  let finish: (value: unknown) => void = () => undefined;
  const slow = order(() => new Promise((resolve) => (finish = resolve)));
  const running = deliver(slow, 'payer', never, shop);
  expect(
    await codeOf(
      deliver(
        order(async () => [2]),
        'payer',
        never,
        shop,
      ),
    ),
  ).toBe('at_capacity');
  expect(await codeOf(deliver(kept, 'payer', never, shop))).toBe('sold');
  finish([3]);
  expect(await codeOf(running)).toBe('sold');
});

test.each([
  ['markets/trending', '', { timeframe: '12h' }],
  ['markets/trending', 'timeframe=today', { timeframe: '12h' }],
  ['markets/trending', 'timeframe=90d', { timeframe: '30d' }],
  // Left out, it is everything.
  ['perps/trades/feed', '', { timeframe: '365d' }],
  ['markets/capital-flow-comparison', 'timeframe=30d', { timeframe: '7d' }],
  // Nothing is shorter, the windows are named one by one, or there is none.
  ['markets/trending', 'timeframe=1h', undefined],
  ['markets/capital-flow-comparison', 'timeframes=7d,30d&timeframe=30d', undefined],
  ['markets/capital-flow-comparison', '', undefined],
  ['perps/coins/list', '', undefined],
])('a query of %s?%s that takes too long is a timeout, with the next shorter window to send instead', async (name, query, suggestion) => {
  const hang: Operation = (_variables, { signal }) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
  const asked = readParameters(endpointNamed(name), rawOfQuery(new URLSearchParams(query)));
  const slow = { ...order(hang), endpoint: endpointNamed(name), reading: asked };
  const shop = deliverDeps();
  const late = runWithin({ refuse: null, run: ({ signal, payer }) => deliver(slow, payer, signal, shop) }, 'payer', 20, undefined);
  const error = (await late.catch((thrown: unknown) => thrown)) as AppError;
  expect(shop.metrics.lastMinute()).toMatchObject({ queries: { count: 1 }, timeouts: 1 });
  expect([error.code, error.context.suggestion]).toEqual(['query_timeout', suggestion]);
});
