import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { type PretendPrediction, startPredictionUpstream } from '../../../../src/sandbox/venues/prediction';
import { startUpstreamServer } from '../../../../src/sandbox/venues/upstream-server';
import { predictionFeeds } from '../../../../src/venues/prediction/sources/live';
import { liveActivity } from '../../../../src/venues/prediction/sources/live-activity';
import { liveFills } from '../../../../src/venues/prediction/sources/live-fills';
import { liveMarkets } from '../../../../src/venues/prediction/sources/live-markets';
import { liveTrades } from '../../../../src/venues/prediction/sources/live-trades';
import { listFeeds } from '../../../../src/workers/feed-store';
import type { Runner } from '../../../../src/workers/runner';
import type { FeedCursor, LiveContext, LiveStep } from '../../../../src/workers/source';
import { type Query, type Upstream, UpstreamError, makeUpstream } from '../../../../src/workers/upstream';
import { testDatabase } from '../../../support/database';
import { differencesOf, dumpOf, keptTables } from '../../../support/dump';
import { TurnedClock, runnerOf, untilRead } from '../../../support/feeds';
import { loadWorld } from '../../../support/world';
import { NOW, iso, market, move, now, trade } from '../small-world';
import { loadRecords, wallet } from '../support';

const START = new Date('2026-05-04T00:00:00Z');
const SIZE = 6_000;
const day = (days: number): Date => new Date(START.getTime() + days * 86_400_000);
const TUNING = {
  poll_ms: 50,
  overlap: { quick_s: 20, deep_s: 600, deep_every_s: 120 },
  wallets_a_poll: 100,
  gamma_per_second: 500,
  data_per_second: 500,
  trades_per_second: 500,
};
const FEEDS = ['prediction.markets', 'prediction.trades', 'prediction.fills', 'prediction.activity'];

type Store = Awaited<ReturnType<typeof testDatabase>>;

describe('the prediction market read over HTTP', () => {
  let polled: Store;
  let loaded: Store;
  let upstream: PretendPrediction;
  let runner: Runner;
  const clock = new TurnedClock(day(3));

  beforeAll(async () => {
    [polled, loaded] = await Promise.all([testDatabase(), testDatabase()]);
    await loadWorld(polled.pool, 'prediction', SIZE, START, day(2));
    await loadWorld(loaded.pool, 'prediction', SIZE, START, day(3.5));
    upstream = await startPredictionUpstream({
      world: predictionWorld({ seed: 1, size: SIZE, start: START }),
      since: new Date(day(2).getTime() - 3_600_000),
      clock,
    });
    upstream.faults.busy = 0.02;
    runner = runnerOf(polled.pool, 'prediction', predictionFeeds(upstream.urls, TUNING), clock);
    runner.start();
  });

  afterAll(async () => {
    await runner.stop();
    await upstream.stop();
    await Promise.all([polled.drop(), loaded.drop()]);
  });

  test('agrees with the same world loaded from recorded pages, to the last digit', async () => {
    await untilRead(polled.pool, FEEDS, day(3));
    clock.turnTo(day(3.5));
    await untilRead(polled.pool, FEEDS, day(3.5));
    const tables = await keptTables(polled.pool, 'prediction');
    const [read, told] = await Promise.all([dumpOf(polled.pool, tables), dumpOf(loaded.pool, tables)]);
    expect(differencesOf(read, told)).toEqual({});
    expect(read.pm_trade?.length).toBeGreaterThan(300);
  });

  test('counts what it read, and how long events took', async () => {
    const feeds = await listFeeds(polled.pool);
    expect(feeds.map(({ feed }) => feed).sort()).toEqual([...FEEDS].sort());
    const trades = feeds.find(({ feed }) => feed === 'prediction.trades');
    expect(trades?.totals.inserted).toBeGreaterThan(0);
    expect(trades?.totals.read).toBe(
      (trades?.totals.inserted ?? 0) +
        (trades?.totals.duplicates ?? 0) +
        Object.values(trades?.totals.skipped ?? {}).reduce((sum, n) => sum + n, 0),
    );
    expect(trades?.lag.events).toBeGreaterThan(0);
  });
});

describe.each([
  ['takers', liveTrades],
  ['everybody', liveFills],
])('a listing of %s that lags while it answers', (_whose, make) => {
  const begun = day(0).getTime() / 1_000;
  const STALL_S = 1_800;

  /** Polls a listing that has a row every `every_s` seconds and stands still for a while; tells what was never read, and how far behind the feed said it was by then. */
  async function live(every_s: number): Promise<{ lost: number[]; behind_s: number }> {
    let now = begun;
    let indexed = Number.POSITIVE_INFINITY;
    const get = (_path: string, { start, end, limit, offset }: Record<string, number>): Promise<unknown> => {
      const rows: object[] = [];
      for (let at = Math.min(end as number, indexed, now - 3); at >= (start as number); at -= 1)
        if (at % every_s === 0) rows.push({ timestamp: at });
      return Promise.resolve(rows.slice(offset as number, (offset as number) + (limit as number)));
    };
    const feed = make({ get } as unknown as Upstream, 50, TUNING.overlap);
    const db = { query: () => Promise.resolve({ rows: [] }) };
    const context = { signal: new AbortController().signal, db, now: () => new Date(now * 1_000) } as unknown as LiveContext;
    const seen = new Set<number>();
    let [cursor, watermark] = [feed.begin(day(0)), begun];
    const pollFor = async (seconds: number): Promise<void> => {
      for (const end = now + seconds; now < end; now += 10)
        for await (const step of feed.update(cursor, context.now(), context)) {
          for (const { page } of step.pages) for await (const row of page.records) seen.add((row as { timestamp: number }).timestamp);
          cursor = step.cursor;
          watermark = (step.watermark?.getTime() ?? watermark * 1_000) / 1_000;
        }
    };
    await pollFor(600);
    indexed = now;
    await pollFor(STALL_S);
    const behind_s = now - watermark;
    indexed = Number.POSITIVE_INFINITY;
    await pollFor(60);
    expect(now - watermark).toBe(10);
    const lost: number[] = [];
    for (let at = begun; at < now - 30; at += every_s) if (!seen.has(at)) lost.push(at);
    return { lost, behind_s };
  }

  test('is read to the last row once it has caught up, and the feed says that it is behind', async () => {
    const { lost, behind_s } = await live(1);
    expect(lost).toEqual([]);
    expect(behind_s).toBeGreaterThanOrEqual(STALL_S - 620);
  });

  test('of a world where little happens is as quiet as that: nothing is lost, and nothing is behind', async () => {
    expect(await live(60)).toEqual({ lost: [], behind_s: 10 });
  });

  test('is read deep again once our clock, which ran a day ahead, is set right: rows that come late are found', async () => {
    let [now, ahead] = [begun, 0];
    let rows = (at: number): boolean => at % 2 === 0;
    const get = (_path: string, { start, end, limit, offset }: Record<string, number>): Promise<unknown> => {
      const told: object[] = [];
      for (let at = Math.min(end as number, now - 3); at >= (start as number); at -= 1) if (rows(at)) told.push({ timestamp: at });
      return Promise.resolve(told.slice(offset as number, (offset as number) + (limit as number)));
    };
    const feed = make({ get } as unknown as Upstream, 50, TUNING.overlap);
    const db = { query: () => Promise.resolve({ rows: [] }) };
    const context = { signal: new AbortController().signal, db, now: () => new Date((now + ahead) * 1_000) } as unknown as LiveContext;
    const seen = new Set<number>();
    const marks: (Date | null)[] = [];
    let cursor = feed.begin(day(0));
    const pollFor = async (seconds: number): Promise<void> => {
      for (const end = now + seconds; now < end; now += 10)
        for await (const step of feed.update(cursor, context.now(), context)) {
          for (const { page } of step.pages) for await (const row of page.records) seen.add((row as { timestamp: number }).timestamp);
          cursor = step.cursor;
          marks.push(step.watermark);
        }
    };
    await pollFor(600);
    marks.length = 0;
    ahead = 86_400;
    await pollFor(60);
    ahead = 0;
    // No mark in the future tells that the clock was wrong.
    expect([...new Set(marks)]).toEqual([null]);
    const late = now + 1;
    await pollFor(100);
    rows = (at) => at === late || at % 2 === 0;
    await pollFor(200);
    expect(late % 2).toBe(1);
    expect(seen).toContain(late);
  });
});

test('a wallet that cannot be told of stops no other, and is asked for all of it in the next lap', async () => {
  const now = day(1).getTime() / 1_000;
  const wallets = ['0xa', '0xb', '0xc'];
  const query = (text: string, [after]: [string]): Promise<unknown> => {
    // Nobody is likely to act now.
    if (text.includes(' AS place ')) return Promise.resolve({ rows: [] });
    return Promise.resolve({
      rows: text.includes('pm_wallet')
        ? wallets.filter((wallet) => wallet > after).map((wallet) => ({ wallet, is_new: false }))
        : [{ begun: 2, until: day(1) }],
    });
  };
  const asked: [string, number][] = [];
  let broken = true;
  const get = (_path: string, { user, start }: { user: string; start: number }): Promise<unknown> => {
    asked.push([user, start]);
    return broken && user === '0xb' ? Promise.reject(new UpstreamError('data answered 500', 500)) : Promise.resolve([]);
  };
  const feed = liveActivity({ get } as unknown as Upstream, 50, 9);
  const context = { signal: new AbortController().signal, db: { query }, now: () => day(1) } as unknown as LiveContext;
  const read = async (cursor: FeedCursor): Promise<LiveStep> => {
    for await (const step of feed.update(cursor, day(1), context)) return step;
    throw new Error('no step');
  };
  const first = await read(feed.begin(day(0)));
  expect(first).toMatchObject({ skipped: { wallet_not_told: 1 }, watermark: day(1) });
  broken = false;
  asked.length = 0;
  expect(await read(first.cursor)).toMatchObject({ skipped: {}, cursor: { owed: {} } });
  const since = Date.UTC(2020, 0) / 1_000;
  expect(asked).toEqual([
    ['0xa', now - 600],
    ['0xb', since - 600],
    ['0xc', now - 600],
  ]);
});

test('neighbours that cannot be told of stop the others for five polls, and are asked for all of it in the next lap', async () => {
  const wallets = ['0xa', '0xb', '0xc', '0xd'];
  const query = (text: string, [after]: [string]): Promise<unknown> => {
    if (text.includes(' AS place ')) return Promise.resolve({ rows: [] });
    const next = wallets.filter((wallet) => wallet > after).map((wallet) => ({ wallet, is_new: false }));
    return Promise.resolve({ rows: text.includes('pm_wallet') ? next : [{ begun: 2, until: day(1) }] });
  };
  const get = (_path: string, { user }: { user: string }): Promise<unknown> =>
    user < '0xd' ? Promise.reject(new UpstreamError('data answered 500', 500)) : Promise.resolve([]);
  const feed = liveActivity({ get } as unknown as Upstream, 50, 9);
  const context = { signal: new AbortController().signal, db: { query }, now: () => day(1) } as unknown as LiveContext;
  let last = { cursor: feed.begin(day(0)) } as LiveStep;
  const poll = async (): Promise<void> => {
    for await (const step of feed.update(last.cursor, day(1), context)) last = step;
  };
  for (let polls = 0; polls < 5; polls += 1) await expect(poll()).rejects.toThrow('data answered 500');
  await poll();
  const from = Date.UTC(2020, 0) / 1_000 - 600;
  expect(last).toMatchObject({
    skipped: { wallet_not_told: 3 },
    watermark: day(1),
    cursor: { after: '', owed: { '0xa': from, '0xb': from, '0xc': from } },
  });
  expect(last.cursor).not.toHaveProperty('failing');
});

test('who traded just now, or may redeem what was just resolved, is asked before their turn, and counted once', async () => {
  const store = await testDatabase();
  try {
    const won = { closed: true, outcomePrices: '["1", "0"]', closedTime: iso(NOW - 3_600), endDate: iso(NOW - 3_600) };
    await loadRecords(store.pool, 'markets.json', [market(1), market(2, won)]);
    await loadRecords(store.pool, 'trades.json', [
      // All hold something: the lap would come to the last ones in its third poll.
      ...Array.from({ length: 12 }, (_, n) => trade(n, 1, 0, n + 1, 'BUY', 10, 0.5, 90_000)),
      trade(20, 2, 0, 8, 'BUY', 10, 0.5, 80_000),
      trade(21, 2, 0, 9, 'BUY', 10, 0.5, 80_000),
      trade(22, 2, 1, 10, 'BUY', 10, 0.5, 80_000),
      trade(23, 1, 1, 1, 'BUY', 10, 0.5, 30),
      trade(24, 1, 1, 12, 'BUY', 10, 0.5, 40),
    ]);
    await loadRecords(store.pool, 'activity.json', [move(30, 2, 9, 'REDEEM', 10, 10, 3_000)]);
    const asked: string[] = [];
    const get = (_path: string, { user }: { user: string }): Promise<unknown> => {
      asked.push(user);
      return Promise.resolve(user === wallet(1) ? [move(31, 1, 1, 'MERGE', 4, 4, 10)] : []);
    };
    const feed = liveActivity({ get } as unknown as Upstream, 50, 8);
    const context = { signal: new AbortController().signal, db: store.pool, now: () => now } as unknown as LiveContext;
    const polls: number[][] = [];
    let cursor = feed.begin(new Date(now.getTime() - 86_400_000));
    let rows = 0;
    for (let poll = 0; poll < 3; poll += 1) {
      asked.length = 0;
      for await (const step of feed.update(cursor, now, context)) {
        cursor = step.cursor;
        for (const { page } of step.pages) for await (const _row of page.records) rows += 1;
      }
      polls.push(asked.map(Number));
    }
    // Wallet 12 traded, 8 has winnings left, 9 has redeemed its own, 10 lost; 1 traded, and has its turn besides.
    expect(polls).toEqual([
      [12, 8, 1, 2, 3, 4, 5],
      [1, 12, 6, 7, 8, 9, 10],
      [1, 8, 11, 12],
    ]);
    expect(rows).toBe(3);
  } finally {
    await store.drop();
  }
});

test('who was known before is asked of all it ever did by the first lap, and who was passed over since of all since its last known row', async () => {
  const store = await testDatabase();
  try {
    await loadRecords(store.pool, 'trades.json', [
      // Both have nothing left; the first was last seen in a lap that is over, and trades again now.
      trade(1, 1, 0, 1, 'BUY', 10, 0.5, 90_000),
      trade(2, 1, 0, 1, 'SELL', 10, 0.5, 80_000),
      trade(3, 1, 0, 2, 'BUY', 10, 0.5, 90_000),
      trade(4, 1, 0, 2, 'SELL', 10, 0.5, 80_000),
      trade(5, 1, 1, 1, 'SELL', 10, 0.5, 400),
    ]);
    const split = move(6, 1, 1, 'SPLIT', 10, 10, 20_000);
    const asked: [number, number][] = [];
    const get = (_path: string, { user, start }: { user: string; start: number }): Promise<unknown> => {
      asked.push([Number(user), start]);
      return Promise.resolve(user === wallet(1) && start <= (split.timestamp as number) ? [split] : []);
    };
    const feed = liveActivity({ get } as unknown as Upstream, 50, 8);
    const context = { signal: new AbortController().signal, db: store.pool, now: () => now } as unknown as LiveContext;
    const poll = async (cursor: FeedCursor): Promise<[number, number][]> => {
      asked.length = 0;
      for await (const _ of feed.update(cursor, now, context));
      return [...asked];
    };
    const beginning = Date.UTC(2020, 0) / 1_000;
    expect(await poll(feed.begin(new Date(now.getTime() - 1_000)))).toEqual([
      [1, beginning],
      [2, beginning],
    ]);
    expect(await poll({ after: '', since: NOW - 1_000, lap: NOW - 1_000, owed: {}, eager: [] })).toEqual([[1, NOW - 80_600]]);
  } finally {
    await store.drop();
  }
});

test('a wallet that did very much is read poll by poll, and then the others behind it', async () => {
  const now = day(1).getTime() / 1_000;
  const wallets = ['0xa', '0xb'];
  const query = (text: string, [after]: [string]): Promise<unknown> => {
    const next = wallets.filter((wallet) => wallet > after).map((wallet) => ({ wallet, is_new: true, seen: null }));
    return Promise.resolve({ rows: text.includes(' AS place ') ? [] : text.includes('pm_wallet') ? next : [{ begun: 2, until: day(1) }] });
  };
  // A row every second of the last hours, and one of the other's.
  const did: Record<string, number> = { '0xa': 12_000, '0xb': 1 };
  const get = (
    _path: string,
    { user, start, end, limit, offset }: { user: string; start: number; end: number; limit: number; offset: number },
  ): Promise<unknown> => {
    const [from, to] = [Math.max(start, now - (did[user] ?? 0)), Math.min(end, now - 1)];
    const rows = Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => ({ proxyWallet: user, timestamp: to - n }));
    return Promise.resolve(rows.slice(offset, offset + limit));
  };
  const feed = liveActivity({ get } as unknown as Upstream, 50, 9);
  const context = { signal: new AbortController().signal, db: { query }, now: () => day(1) } as unknown as LiveContext;
  const seen: Record<string, Set<number>> = { '0xa': new Set(), '0xb': new Set() };
  let cursor = feed.begin(day(0));
  for (let polls = 1; ; polls += 1) {
    let rows = 0;
    let whole = false;
    for await (const step of feed.update(cursor, day(1), context)) {
      for (const { page } of step.pages)
        for await (const { proxyWallet, timestamp } of page.records as AsyncIterable<{ proxyWallet: string; timestamp: number }>) {
          seen[proxyWallet]?.add(timestamp);
          rows += 1;
        }
      cursor = step.cursor;
      whole = step.watermark !== null;
    }
    expect(rows).toBeLessThan(6_000);
    expect(polls).toBeLessThan(6);
    if (whole) break;
  }
  expect(Object.entries(seen).map(([wallet, times]) => [wallet, times.size])).toEqual(Object.entries(did));
  expect(cursor).toMatchObject({ after: '', owed: {} });
});

test('after more changes than the listing reaches, every market that is not settled is asked for by its id, in a whole lap', async () => {
  const store = await testDatabase();
  try {
    for (const [id, is_stub, settled] of [
      ['a', true, false],
      ['b', false, false],
      ['c', false, true],
      ['d', false, false],
    ] as const)
      // prettier-ignore
      await store.pool.query(
        `INSERT INTO pm_market (condition_id, category, tags, outcomes, is_stub, resolved_at) VALUES ($1, 'Other', '{}', '{}', $2, $3)`,
        [id, is_stub, settled ? day(0) : null],
      );
    let changes = Number.POSITIVE_INFINITY;
    let asked: string[] = [];
    const get = (path: string, { condition_ids, closed, offset }: Record<string, number & string[]>): Promise<unknown> => {
      if (path === '/markets/keyset') return Promise.reject(new UpstreamError('gamma answered 404', 404));
      if (condition_ids !== undefined) asked = condition_ids;
      const count = condition_ids !== undefined || !closed ? 0 : Math.min(100, changes - (offset as number));
      return Promise.resolve(Array.from({ length: Math.max(0, count) }, () => ({ updatedAt: day(1).toISOString() })));
    };
    const feed = liveMarkets({ get } as unknown as Upstream, 50);
    const context = { signal: new AbortController().signal, db: store.pool, now: () => day(1) } as unknown as LiveContext;
    let cursor = feed.begin(day(0));
    const poll = async (): Promise<[asked: string[], skipped: unknown]> => {
      const skipped = {};
      asked = [];
      for await (const step of feed.update(cursor, day(1), context)) {
        Object.assign(skipped, step.skipped);
        cursor = step.cursor;
      }
      return [asked, skipped];
    };
    expect(await poll()).toEqual([['a', 'b', 'd'], { beyond_offset_cap: 1 }]);
    changes = 3;
    // Where a lap was under way, what it had passed is asked for by the next.
    expect(await poll()).toEqual([['a', 'b', 'd'], {}]);
    expect(await poll()).toEqual([['a'], {}]);
  } finally {
    await store.drop();
  }
});

test('both feeds of trades together ask no oftener than they may, and leave the wallets their part', async () => {
  const asked: [string, number][] = [];
  const server = await startUpstreamServer(({ path }) => {
    asked.push([path, performance.now()]);
    return Promise.resolve({ status: 200, body: [] });
  });
  try {
    const feeds = predictionFeeds({ gamma: server.url, data: server.url }, { ...TUNING, data_per_second: 200, trades_per_second: 40 });
    const db = {
      // Each wallet is known, none is eager; a lap asks for as many as a poll may.
      query: (text: string) =>
        Promise.resolve({
          rows: text.includes('FROM pm_wallet') ? Array.from({ length: 40 }, (_, n) => ({ wallet: `${n}`, is_new: false })) : [],
        }),
    };
    const context = { signal: new AbortController().signal, db, now: () => day(5) } as unknown as LiveContext;
    const began = performance.now();
    const drain = async ({ begin, update }: (typeof feeds)[number]): Promise<void> => {
      for await (const _ of update(begin(day(0)), day(5), context));
    };
    await Promise.all(feeds.filter(({ name }) => name !== 'prediction.markets').map(drain));
    const trades = asked.filter(([path]) => path === '/trades').map(([, at]) => at);
    // Five days in windows of six hours, twice.
    expect(trades.length).toBeGreaterThanOrEqual(40);
    // A timer may come a millisecond early.
    expect(trades.length - 1).toBeLessThanOrEqual(((Math.max(...trades) - began + 1) / 1_000) * 40);
    expect(asked.filter(([path]) => path === '/activity')).toHaveLength(40);
  } finally {
    await server.stop();
  }
});

test('several wallets are asked at once, and written in their order', async () => {
  const wallets = Array.from({ length: 20 }, (_, n) => `0x${String(n).padStart(2, '0')}`);
  let [open, most] = [0, 0];
  const get = async (_path: string, { user }: Query): Promise<unknown> => {
    most = Math.max(most, (open += 1));
    // Later ones answer sooner.
    for (let turns = 20 - wallets.indexOf(user as string); turns > 0; turns -= 1) await new Promise(setImmediate);
    open -= 1;
    if (user === wallets[7]) throw new UpstreamError('data answered 500', 500);
    return [{ proxyWallet: user, timestamp: day(1).getTime() / 1_000 - 60 }];
  };
  const query = (text: string): Promise<unknown> =>
    Promise.resolve({ rows: text.includes('FROM pm_wallet') ? wallets.map((wallet) => ({ wallet, is_new: false })) : [] });
  const feed = liveActivity({ get } as unknown as Upstream, 50, 20);
  const context = { signal: new AbortController().signal, db: { query }, now: () => day(1) } as unknown as LiveContext;
  for await (const { pages, skipped, cursor } of feed.update(feed.begin(day(0)), day(1), context)) {
    const told: unknown[] = [];
    for (const { page } of pages) for await (const row of page.records) told.push((row as { proxyWallet: string }).proxyWallet);
    expect(told).toEqual(wallets.filter((_, n) => n !== 7));
    expect({ skipped, cursor }).toMatchObject({
      skipped: { wallet_not_told: 1 },
      cursor: { after: wallets[19], owed: { [wallets[7] as string]: expect.any(Number) as number } },
    });
  }
  expect(most).toBe(8);
});

describe('the catalogue', () => {
  let upstream: PretendPrediction;
  const context = {
    signal: new AbortController().signal,
    db: { query: () => Promise.resolve({ rows: [{ condition_id: 'stub' }] }) },
    now: () => day(3),
  } as unknown as LiveContext;

  beforeAll(async () => {
    const world = predictionWorld({ seed: 1, size: 60_000, start: START });
    upstream = await startPredictionUpstream({ world, since: START, clock: new TurnedClock(day(3)) });
  });
  afterAll(() => upstream.stop());

  /** Ids of the markets that one poll finds, and the paths it asked, where `answers` may answer in place of the upstream. */
  async function poll(
    answers: (path: string, query: Query) => Promise<unknown> | undefined,
  ): Promise<{ ids: string[]; asked: string[]; skipped: object }> {
    const asked: string[] = [];
    const gamma = makeUpstream({ url: upstream.urls.gamma as string, per_second: 1_000 });
    const get: Upstream['get'] = (path, query, signal) => {
      asked.push(path);
      return answers(path, query) ?? gamma.get(path, query, signal);
    };
    const feed = liveMarkets({ ...gamma, get }, 50);
    const ids: string[] = [];
    const skipped = {};
    for await (const step of feed.update(feed.begin(START), day(3), context)) {
      for (const { page } of step.pages)
        for await (const { conditionId } of page.records as AsyncIterable<{ conditionId: string }>) ids.push(conditionId);
      Object.assign(skipped, step.skipped);
    }
    return { ids, asked, skipped };
  }
  const gone =
    (missing: string) =>
    (path: string): Promise<unknown> | undefined =>
      path === missing ? Promise.reject(new UpstreamError('gamma answered 404', 404)) : undefined;

  test('is the same by cursors, where the listing by offsets has ended, as by offsets where cursors are not served', async () => {
    const [byCursor, byOffset] = [await poll(gone('/markets')), await poll(gone('/markets/keyset'))];
    expect(byCursor.ids.length).toBeGreaterThan(100);
    expect(byCursor.ids).toEqual(byOffset.ids);
    expect(new Set(byCursor.asked)).toEqual(new Set(['/markets/keyset']));
    // Once it is known that they are not served they are not asked for again.
    expect(byOffset.asked.filter((path) => path === '/markets/keyset')).toHaveLength(1);
  });

  test('by cursors that are out of order is asked for by offsets', async () => {
    const markets = [{ id: 1, updatedAt: day(1).toISOString() }, { id: 2, updatedAt: day(2).toISOString() }]; // prettier-ignore
    const { ids, asked } = await poll((path) => (path === '/markets/keyset' ? Promise.resolve({ markets }) : undefined));
    expect(ids).toEqual((await poll(gone('/markets/keyset'))).ids);
    expect(asked).toContain('/markets');
  });

  test('of which the cursor has no effect is told as far as it goes, and what is not settled is asked for by its id', async () => {
    const markets = [{ id: 1, conditionId: 'one', updatedAt: day(2).toISOString() }];
    const told = await poll((path) => (path === '/markets/keyset' ? Promise.resolve({ markets, next_cursor: 'next' }) : undefined));
    expect(told.skipped).toEqual({ same_page_again: 1 });
    expect(told.asked).toHaveLength(6);
  });
});
