import { lpWorld } from '../../../../src/sandbox/simulator/lp';
import { type PretendPools, startPoolsUpstream } from '../../../../src/sandbox/venues/lp';
import { startUpstreamServer } from '../../../../src/sandbox/venues/upstream-server';
import { DLMM_PROGRAM } from '../../../../src/venues/lp/chain-addresses';
import { rebuild } from '../../../../src/venues/lp/rollups/rebuild';
import { lpFeeds } from '../../../../src/venues/lp/sources/live';
import { liveChain } from '../../../../src/venues/lp/sources/live-chain';
import { livePools } from '../../../../src/venues/lp/sources/live-pools';
import { livePositions } from '../../../../src/venues/lp/sources/live-positions';
import { type ChainReader, chainReader, type Listed } from '../../../../src/venues/lp/sources/live-rpc';
import { listFeeds } from '../../../../src/workers/feed-store';
import { liveVolumes } from '../../../../src/venues/lp/sources/live-volumes';
import type { Runner } from '../../../../src/workers/runner';
import type { FeedCursor, LiveContext, LiveSource, LiveStep } from '../../../../src/workers/source';
import { type Query, type Upstream, UpstreamError } from '../../../../src/workers/upstream';
import { testDatabase } from '../../../support/database';
import { differencesOf, dumpOf } from '../../../support/dump';
import { LP_TUNING, runnerOf, TurnedClock, untilRead } from '../../../support/feeds';
import { loadWorld } from '../../../support/world';
import { dlmmPoolsPage } from '../pages';

const START = new Date('2026-05-04T00:00:00Z');
const SIZE = 6_000;
const day = (days: number, seconds = 0): Date => new Date(START.getTime() + days * 86_400_000 + seconds * 1_000);
const FEEDS = ['lp.pools', 'lp.chain', 'lp.volumes', 'lp.positions'];
/** A block is final after 13 s, and histories are asked for 30 s after their events: the clock shows more than what is read. */
const LATE_S = 40;

/** Facts that do not depend on when the catalogue was asked: prices of its pages value what nothing better does. */
const FACTS = [
  '(SELECT pool_address, "timestamp", tx_id, position_address, kind, n, pool_type, owner, raw_x, raw_y, amount_x, amount_y, stated_usd_x, stated_usd_y, usd_stated, bin_id, rebalance, fee_payer, programs FROM lp_event)',
  '(SELECT pool_address, "timestamp", tx_id, outer_ix, inner_ix, trader, x_to_y, raw_in, raw_out, raw_fee, amount_in, amount_out FROM lp_swap)',
  'lp_position_event',
  'lp_reward',
  'dca_event',
  'dca_order',
  `(SELECT * FROM lp_volume_hour WHERE hour < '${day(3.5, -3_600).toISOString()}')`,
  '(SELECT pool_address, pool_type, mint_x, mint_y, bin_step, created_at, catalogued FROM lp_pool)',
  'lp_position',
] as const;
const ROLLUPS = [
  'lp_owner_hour',
  'lp_pool_hour',
  'lp_flow_day',
  'lp_pool_day',
  'lp_owner_day',
  'lp_owner_pool',
  'lp_owner_life',
  'lp_pool_last',
  'lp_position_sum',
];

type Store = Awaited<ReturnType<typeof testDatabase>>;

describe('pools read from a node and the index', () => {
  let polled: Store;
  let loaded: Store;
  let upstream: PretendPools;
  let runner: Runner;
  const clock = new TurnedClock(day(3, LATE_S));

  beforeAll(async () => {
    [polled, loaded] = await Promise.all([testDatabase(), testDatabase()]);
    await loadWorld(polled.pool, 'lp', SIZE, START, day(2));
    await loadWorld(loaded.pool, 'lp', SIZE, START, day(3.5));
    upstream = await startPoolsUpstream({ world: lpWorld({ seed: 1, size: SIZE, start: START }), since: day(2, -3_600), clock });
    upstream.faults.busy = 0.02;
    runner = runnerOf(polled.pool, 'lp', lpFeeds(upstream.urls, {}, LP_TUNING), clock);
    runner.start();
  });

  afterAll(async () => {
    await runner.stop();
    await upstream.stop();
    await Promise.all([polled.drop(), loaded.drop()]);
  });

  test('agree with the same world loaded from recorded pages, to the last digit', async () => {
    await untilRead(polled.pool, ['lp.chain', 'lp.positions'], day(3));
    clock.turnTo(day(3.5, LATE_S));
    await untilRead(polled.pool, FEEDS, day(3.5));
    const [read, told] = await Promise.all([dumpOf(polled.pool, FACTS), dumpOf(loaded.pool, FACTS)]);
    expect(differencesOf(read, told)).toEqual({});
    expect(read[FACTS[0]]?.length).toBeGreaterThan(100);
    expect(read[FACTS[1]]?.length).toBeGreaterThan(100);
  });

  test('count what they read; what failed on the chain is told as left out', async () => {
    const feeds = await listFeeds(polled.pool);
    expect(feeds.map(({ feed }) => feed).sort()).toEqual([...FEEDS].sort());
    const chain = feeds.find(({ feed }) => feed === 'lp.chain');
    expect(chain?.totals.inserted).toBeGreaterThan(200);
    for (const { totals } of feeds)
      expect(totals.read).toBe(totals.inserted + totals.duplicates + Object.values(totals.skipped).reduce((sum, n) => sum + n, 0));
    expect(chain?.totals.skipped.failed_transaction).toBeGreaterThan(0);
    expect(chain?.lag.events).toBeGreaterThan(0);
  });

  test('keep their rollups as a rebuild from facts gives them', async () => {
    const kept = await dumpOf(polled.pool, ROLLUPS);
    const client = await polled.pool.connect();
    try {
      await client.query('BEGIN');
      await rebuild(client);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    expect(differencesOf(kept, await dumpOf(polled.pool, ROLLUPS))).toEqual({});
  });

  test('wait for a transaction that the node does not have yet, and leave it out when it never comes', async () => {
    const events = async (): Promise<number> =>
      (await polled.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM lp_swap')).rows[0]?.n ?? 0;
    const before = await events();
    const lost = new Set<string>();
    upstream.lose((signature) => (lost.size === 0 && lost.add(signature), lost.has(signature)));
    clock.turnTo(day(3.7, LATE_S));
    await untilRead(polled.pool, ['lp.chain'], day(3.7));
    const chain = (await listFeeds(polled.pool)).find(({ feed }) => feed === 'lp.chain');
    expect(chain?.totals.skipped.transaction_gone).toBe(1);
    expect(await events()).toBeGreaterThan(before);
    const { rows } = await polled.pool.query(
      'SELECT FROM lp_swap WHERE tx_id = ANY($1) UNION ALL SELECT FROM lp_event WHERE tx_id = ANY($1)',
      [[...lost]],
    );
    expect(rows).toEqual([]);
  });
});

describe('an upstream that never comes to an end', () => {
  const context = {
    signal: new AbortController().signal,
    db: { query: () => Promise.resolve({ rows: [] }) },
    now: () => day(1),
  } as unknown as LiveContext;
  const read = async (source: LiveSource): Promise<number> => {
    let steps = 0;
    for await (const step of source.update(source.begin(day(0)), day(1), context)) steps += step.pages.length;
    return steps;
  };

  test('a node that answers the same page again and again is at fault', async () => {
    const page = Array.from({ length: 1_000 }, (_, n) => ({
      signature: `signature${n}`,
      failed: false,
      at: day(0.5).getTime() / 1_000,
      slot: null,
    }));
    const node: ChainReader = {
      head: () => Promise.resolve(day(1)),
      list: () => Promise.resolve(page),
      transactions: () => Promise.resolve([]),
    };
    await expect(read(liveChain(node, 50))).rejects.toThrow('the same page again');
  });

  test('an index that answers the same page again and again is at fault', async () => {
    const index = { get: () => Promise.resolve({ ...dlmmPoolsPage, pages: 1e9 }) } as unknown as Upstream;
    await expect(read(livePools({ dlmm: index, damm_v2: index }, 50))).rejects.toThrow('the same page again');
  });

  test('an index that does not say how many pages it has is read until one is empty', async () => {
    const [pool] = dlmmPoolsPage.data;
    const get = (_path: string, { page }: Query): Promise<unknown> =>
      Promise.resolve({ data: (page as number) <= 3 ? [{ ...pool, address: `pool${String(page)}` }] : [] });
    const index = { get } as unknown as Upstream;
    expect(await read(livePools({ dlmm: index, damm_v2: index }, 50))).toBe(6);
  });

  test('an index without rows has no further pages, whatever it says', async () => {
    const [pool] = dlmmPoolsPage.data;
    let asked = 0;
    const get = (_path: string, { page }: Query): Promise<unknown> => {
      asked += 1;
      return Promise.resolve({ pages: 1e9, data: page === 1 ? [pool] : [] });
    };
    const index = { get } as unknown as Upstream;
    expect(await read(livePools({ dlmm: index, damm_v2: index }, 50))).toBe(2);
    expect(asked).toBe(4);
  });
});

describe('a list of pools of which nearly all hold next to nothing', () => {
  const [pool] = dlmmPoolsPage.data;
  const pools = [
    { ...pool, address: 'idle', tvl: 999 },
    { ...pool, address: 'busy', tvl: 250_000 },
  ];
  const at = (minutes: number): Date => day(1, minutes * 60);
  interface Told {
    minute: number;
    asked: string[];
    pools: string[];
  }

  /** Polls an index every 30 s, `minutes` from `cursor` on: what was asked, but for the newest, and which pools were told. */
  async function poll(index: (query: Query) => unknown, minutes: number, cursor?: FeedCursor): Promise<Told[]> {
    let asked: string[] = [];
    const get = (_path: string, query: Query): Promise<unknown> => {
      if (query.sort_by === 'pool_created_at:desc') return Promise.resolve({ data: [] });
      expect(query).toMatchObject({ page: 1, page_size: 1_000, sort_by: 'pool_created_at:asc' });
      asked.push(String(query.filter_by ?? 'all'));
      return Promise.resolve(index(query));
    };
    // That of the other type says nothing of its own.
    const other = { get: () => Promise.resolve({ data: [] }) } as unknown as Upstream;
    const feed = livePools({ dlmm: { get } as unknown as Upstream, damm_v2: other }, 50);
    const context = { signal: new AbortController().signal, db: { query: () => Promise.resolve({ rows: [] }) } } as unknown as LiveContext;
    const told: Told[] = [];
    let stands = cursor ?? feed.begin(at(0));
    for (let minute = 0; minute <= minutes; minute += 0.5) {
      const addresses: string[] = [];
      asked = [];
      for await (const step of feed.update(stands, at(minute), context)) {
        stands = JSON.parse(JSON.stringify(step.cursor)) as FeedCursor;
        for (const { page } of step.pages)
          for await (const record of page.records)
            addresses.push(...(record as { data: { address: string }[] }).data.map(({ address }) => address));
      }
      if (asked.length > 0) told.push({ minute, asked, pools: addresses });
    }
    return told;
  }
  const choosing = ({ filter_by }: Query): unknown => ({
    pages: 1,
    data: filter_by === undefined ? pools : pools.filter(({ tvl }) => tvl > 1_000),
  });
  const whole = (minute: number): Told => ({ minute, asked: ['all'], pools: ['idle', 'busy'] });
  const held = (minute: number): Told => ({ minute, asked: ['tvl>1000'], pools: ['busy'] });

  test('is read every fifty minutes, and every ten those that hold something', async () => {
    const hour = [whole(0), ...[10, 20, 30, 40].map(held), whole(50), ...[60, 70, 80, 90].map(held)];
    expect(await poll(choosing, 90)).toEqual(hour);
  });

  test('is read every ten minutes where the index refuses to choose, and as it answers where it does not heed it', async () => {
    for (const status of [400, 422]) {
      const refusing = ({ filter_by }: Query): unknown =>
        filter_by === undefined ? choosing({}) : Promise.reject(new UpstreamError('no', status));
      const refused = (minute: number): Told => ({ ...whole(minute), asked: ['tvl>1000', 'all'] });
      expect(await poll(refusing, 50)).toEqual([whole(0), ...[10, 20, 30, 40].map(refused), whole(50)]);
    }
    const heedless = (minute: number): Told => ({ ...whole(minute), asked: ['tvl>1000'] });
    expect(await poll(() => choosing({}), 20)).toEqual([whole(0), ...[10, 20].map(heedless)]);
    await expect(
      poll(({ filter_by }) => (filter_by === undefined ? choosing({}) : Promise.reject(new UpstreamError('down', 503))), 10),
    ).rejects.toThrow('down');
  });

  test('goes on from a cursor that knows of the whole list only', async () => {
    const cursor = { whole_at: at(-5).toISOString(), bare_after: '' };
    expect(await poll(choosing, 45, cursor)).toEqual([...[5, 15, 25, 35].map(held), whole(45)]);
  });

  test('is chosen from by the pretended index as by the real one', async () => {
    const clock = new TurnedClock(day(1));
    const upstream = await startPoolsUpstream({ world: lpWorld({ seed: 1, size: SIZE, start: START }), since: day(1), clock });
    const list = async (filter_by?: string): Promise<{ total: number; data: { tvl: number }[] }> => {
      const query = new URLSearchParams({ page_size: '1000', ...(filter_by !== undefined && { filter_by }) });
      const response = await fetch(`${upstream.urls.dlmm ?? ''}/pools?${query.toString()}`);
      if (!response.ok) throw new UpstreamError('refused', response.status);
      return (await response.json()) as never;
    };
    try {
      const tvls = (await list()).data.map(({ tvl }) => tvl).sort((a, b) => a - b);
      const bound = tvls[Math.floor(tvls.length / 2)] as number;
      const richer = await list(`tvl>${bound} && is_blacklisted=false`);
      expect(richer.total).toBe(richer.data.length);
      expect(richer.data.map(({ tvl }) => tvl).sort((a, b) => a - b)).toEqual(tvls.filter((tvl) => tvl > bound));
      expect(richer.total).toBeGreaterThan(0);
      expect((await list('is_blacklisted=true')).data).toEqual([]);
      await expect(list('tvl about 5')).rejects.toMatchObject({ status: 400 });
    } finally {
      await upstream.stop();
    }
  });
});

describe('an index that cannot tell of one', () => {
  const contextOf = (rows: readonly object[]): LiveContext =>
    ({ signal: new AbortController().signal, db: { query: () => Promise.resolve({ rows }) }, now: () => day(1) }) as unknown as LiveContext;
  /** Of `broken` it answers 500, else an empty page. */
  const indexes = (...broken: string[]): Record<'dlmm' | 'damm_v2', Upstream> => {
    const get = (path: string): Promise<unknown> =>
      broken.some((address) => path.includes(address))
        ? Promise.reject(new UpstreamError('index answered 500', 500))
        : Promise.resolve({ page_size: 1, data: [], events: [] });
    const index = { get } as unknown as Upstream;
    return { dlmm: index, damm_v2: index };
  };
  const pools = ['a', 'b', 'c', 'd'].map((pool_address) => ({ pool_address, pool_type: 'dlmm' }));
  async function read(source: LiveSource): Promise<LiveStep | undefined> {
    let last: LiveStep | undefined;
    for await (const step of source.update(source.begin(day(0)), day(1), contextOf(pools))) last = step;
    return last;
  }

  test('of a pool is passed over, and that is counted; of several in a row it is down', async () => {
    const index = indexes('/pools/b');
    expect(await read(livePools(index, 50))).toMatchObject({ skipped: { pool_not_told: 1 }, watermark: day(1) });
    expect(await read(liveVolumes(index, 50, 4))).toMatchObject({ skipped: { pool_not_told: 1 }, cursor: { done: 4 } });
    await expect(read(livePools(indexes('/pools/b', '/pools/c', '/pools/d'), 50))).rejects.toThrow('500');
  });

  test('what it does not list, or refuses as no question, is counted', async () => {
    const refusing = (status: number): Upstream =>
      ({
        get: (path: string) => (path === '/pools' ? Promise.resolve({ data: [] }) : Promise.reject(new UpstreamError('no', status))),
      }) as unknown as Upstream;
    const index = { dlmm: refusing(404), damm_v2: refusing(404) };
    expect(await read(livePools(index, 50))).toMatchObject({ skipped: { pool_not_listed: 4 } });
    for (const [status, reason] of [
      [404, 'position_not_listed'],
      [422, 'position_not_told'],
    ] as const) {
      const context = contextOf([{ position_address: 'p', at: day(0.5) }]);
      const source = livePositions(refusing(status), 50, 9);
      for await (const step of source.update(source.begin(day(0)), day(1), context))
        expect(step).toMatchObject({ pages: [], skipped: { [reason]: 1 } });
    }
  });
});

describe('an index that fails at some positions', () => {
  const touched = ['a', 'b', 'c'].map((position_address, at) => ({ position_address, at: day(0.1 * (at + 1)) }));
  const broken = new Set<string>();
  const get = (path: string): Promise<unknown> => {
    const [, , address = ''] = path.split('/');
    return broken.has(address) ? Promise.reject(new UpstreamError('index answered 500', 500)) : Promise.resolve({ events: [] });
  };
  const source = livePositions({ get } as unknown as Upstream, 50, 9);
  const query = (_text: string, [until, to]: [string, Date]) =>
    Promise.resolve({ rows: touched.filter(({ at }) => at > new Date(until) && at <= to) });
  const context = { signal: new AbortController().signal, db: { query }, now: () => day(1) } as unknown as LiveContext;
  let cursor: FeedCursor;
  beforeEach(() => {
    cursor = source.begin(day(0));
    broken.clear();
  });
  /** One poll, which keeps its cursor whether it fails at its end or not: the pages it told, and what it left out. */
  async function poll(): Promise<[pages: number, skipped: LiveStep['skipped']] | 'failed'> {
    let told: Awaited<ReturnType<typeof poll>> = 'failed';
    try {
      for await (const step of source.update(cursor, day(1), context)) {
        cursor = step.cursor;
        told = [step.pages.length, step.skipped];
      }
    } catch (error) {
      expect(error).toMatchObject({ message: 'index answered 500' });
      return 'failed';
    }
    return told;
  }

  test('is waited for by five polls, then told of all others', async () => {
    broken.add('b');
    for (let polls = 0; polls < 5; polls += 1) expect(await poll()).toBe('failed');
    expect(await poll()).toEqual([2, { position_not_told: 1 }]);
    expect(cursor).toMatchObject({ until: day(1).toISOString() });
  });

  test('is waited for as long while it tells of those that are asked for once more', async () => {
    cursor = { until: day(0.15).toISOString(), again: day(0).toISOString() };
    broken.add('b');
    for (let polls = 0; polls < 5; polls += 1) expect(await poll()).toBe('failed');
    expect(await poll()).toEqual([1, { position_not_told: 1 }]);
  });

  test('loses none by a time when it is down, however long', async () => {
    for (const { position_address } of touched) broken.add(position_address);
    for (let polls = 0; polls < 20; polls += 1) expect(await poll()).toBe('failed');
    broken.clear();
    expect(await poll()).toEqual([3, {}]);
  });
});

test('a position of which the index tells late is asked for once more after ten minutes, and one that it has told is not', async () => {
  const minutes = (count: number): Date => day(0, count * 60);
  const asked: string[] = [];
  const get = (path: string): Promise<unknown> => Promise.resolve((asked.push(path.split('/')[2] as string), { events: [] }));
  const source = livePositions({ get } as unknown as Upstream, 50, 9);
  let stated: string[] = [];
  const events = [
    { position_address: 'told', at: minutes(0.5) },
    { position_address: 'late', at: minutes(0.5) },
  ];
  const query = (_text: string, [after, to]: [string, Date]) => {
    const touched = events.filter(({ position_address, at }) => !stated.includes(position_address) && at > new Date(after) && at <= to);
    return Promise.resolve({ rows: touched });
  };
  const context = { signal: new AbortController().signal, db: { query } } as unknown as LiveContext;
  let cursor = source.begin(minutes(0));
  for (let minute = 1; minute <= 30; minute += 1) {
    for await (const step of source.update(cursor, minutes(minute), context))
      cursor = JSON.parse(JSON.stringify(step.cursor)) as FeedCursor;
    stated = ['told'];
    asked.push(`${minute}`);
  }
  expect(asked.filter((one) => Number.isNaN(Number(one)))).toEqual(['told', 'late', 'late']);
  expect(asked.slice(asked.lastIndexOf('late'))).toEqual(['late', ...Array.from({ length: 20 }, (_, n) => `${n + 11}`)]);
});

describe('a node that tells odd things', () => {
  const context = { signal: new AbortController().signal, now: () => day(1) } as unknown as LiveContext;
  const at = (days: number): number => day(days).getTime() / 1_000;
  const refuse = (): Promise<never> => Promise.reject(new Error('nothing is got from a node'));
  /** A node that lists these transactions of the bin program, newest first, so many a page; it answers what `tells` says of each. */
  const nodeOf = (
    rows: readonly { signature?: string; blockTime: number | null; slot?: number }[],
    page = 1_000,
    tells: (signature: string) => object = () => ({ result: {} }),
  ) =>
    chainReader({
      get: refuse,
      post: (_path, body) => {
        if (Array.isArray(body))
          return Promise.resolve((body as { id: number; params: [string] }[]).map(({ id, params }) => ({ id, ...tells(params[0]) })));
        const { method, params } = body as { method: string; params: [string, { before?: string; until?: string }?] };
        const from = rows.findIndex(({ signature }) => signature === (params[1]?.before ?? '')) + 1;
        const known = rows.findIndex(({ signature }) => signature === (params[1]?.until ?? ''));
        const listed = params[0] === DLMM_PROGRAM ? rows.slice(from, known < 0 ? undefined : known).slice(0, page) : [];
        return Promise.resolve({ result: method === 'getSlot' ? 1 : method === 'getBlockTime' ? at(1) : listed });
      },
    });
  async function read(source: LiveSource, cursor = source.begin(day(0))): Promise<{ cursor: FeedCursor; pages: number; skipped: object }> {
    const told = { cursor, pages: 0, skipped: {} };
    for await (const step of source.update(cursor, day(1), context)) {
      for (const { page } of step.pages) for await (const _ of page.records) told.pages += 1;
      Object.assign(told, { cursor: step.cursor, skipped: { ...told.skipped, ...step.skipped } });
    }
    return told;
  }

  test('is read to the end of its listing, however short its pages, and with rows that name nothing', async () => {
    const rows = Array.from({ length: 2_500 }, (_, n) => ({ signature: `s${2_500 - n}`, blockTime: at(0.9) - n }));
    expect((await read(liveChain(nodeOf(rows, 700), 50))).pages).toBe(2_500);
    const nameless = rows.map((row, n) => (n === 500 ? { blockTime: row.blockTime } : row));
    expect((await read(liveChain(nodeOf(nameless), 50))).pages).toBe(2_499);
  });

  test('a transaction from the future hides none that come after it', async () => {
    const rows = [
      { signature: 'future', blockTime: Date.UTC(2099, 0) / 1_000 },
      { signature: 'first', blockTime: at(0.5) },
    ];
    const { cursor } = await read(liveChain(nodeOf(rows), 50));
    expect((await read(liveChain(nodeOf([{ signature: 'next', blockTime: at(1) }, ...rows]), 50), cursor)).pages).toBe(1);
  });

  test('a single time that is too old hides none that are listed below it', async () => {
    const rows = Array.from({ length: 2_500 }, (_, n) => ({ signature: `s${2_500 - n}`, blockTime: at(0.9) - n }));
    for (const place of [500, 999]) {
      const odd = rows.map((row, n) => (n === place ? { ...row, blockTime: Date.UTC(2020, 0) / 1_000 } : row));
      const { pages, cursor } = await read(liveChain(nodeOf(odd), 50));
      expect(pages).toBe(2_500);
      expect(cursor).toMatchObject({ dlmm: { signature: 's2500', at: at(0.9) } });
    }
  });

  test('one that no longer knows the newest transaction that is in, or a mark, and says so, is read on by times', async () => {
    const [newest, oldest] = [3_500, 1_001];
    const listed = Array.from({ length: newest - oldest + 1 }, (_, n) => ({ signature: `s${newest - n}`, blockTime: at(0.9) - n }));
    const known = new Set(listed.map(({ signature }) => signature));
    const node = nodeOf(listed);
    const pruned: ChainReader = {
      ...node,
      list: async (address, before, until, signal) => {
        const gone = [before, until].some((signature) => signature !== null && !known.has(signature));
        const asking = gone ? chainReader({ get: refuse, post: () => Promise.resolve({ error: { code: -32_020 } }) }) : node;
        return asking.list(address, before, until, signal);
      },
    };
    const feed = liveChain(pruned, 50, 1_000);
    const { dlmm } = feed.begin(day(0)) as { dlmm: object };
    for (const marks of [[], ['s900'], ['s3000', 's900', 's800']]) {
      const cursor = { ...feed.begin(day(0)), dlmm: { ...dlmm, signature: 's700', marks } };
      const told = await read(feed, cursor);
      expect(told.pages).toBe(listed.length);
      expect(told.cursor).toMatchObject({ dlmm: { signature: 's3500', marks: [] } });
    }
  });

  test('one that does not know what it has just listed is at fault', async () => {
    const page = Array.from({ length: 1_000 }, (_, n) => ({ signature: `s${n}`, err: null, blockTime: at(0.5) }));
    const post = (_path: string, body: unknown): Promise<unknown> => {
      const [, options] = (body as { params: [string, { before?: string }] }).params;
      return Promise.resolve(options.before === undefined ? { result: page } : { error: { code: -32_020 } });
    };
    await expect(read(liveChain(chainReader({ get: refuse, post }), 50))).rejects.toThrow('getSignaturesForAddress was refused (-32020)');
  });

  test('an empty page below a full one, of one that does not yet know where it ends, is no end of the listing', async () => {
    const rows = Array.from({ length: 2_500 }, (_, n) => ({ signature: `s${2_500 - n}`, blockTime: at(0.9) - n, slot: 2_500 - n }));
    const node = nodeOf(rows);
    for (const [signature, marks] of [
      ['s100', []],
      [null, []],
      ['s100', ['s2400', 's1200']],
    ] as const) {
      const missed = new Set<string | null>();
      const balanced: ChainReader = {
        ...node,
        list: (address, before, ...rest) => {
          if (address !== DLMM_PROGRAM || before === null || missed.has(before)) return node.list(address, before, ...rest);
          missed.add(before);
          return Promise.resolve([]);
        },
      };
      const feed = liveChain(balanced, 50);
      const begun = feed.begin(day(0)) as { dlmm: object };
      const told = await read(feed, { ...begun, dlmm: { ...begun.dlmm, signature, marks } });
      expect(told).toMatchObject({ pages: signature === null ? 2_500 : 2_400, cursor: { dlmm: { signature: 's2500' } } });
      expect(missed.size).toBeGreaterThan(1);
    }
  });

  test('one that has not come as far as a full page it goes on from is asked again at the next poll', async () => {
    const rows = Array.from({ length: 1_500 }, (_, n) => ({ signature: `s${1_500 - n}`, blockTime: at(0.9) - n, slot: 1_500 - n }));
    let finalised = 500;
    // RpcCustomError::MinContextSlotNotReached: the page's oldest is of slot 501.
    const post = (_path: string, body: unknown): Promise<unknown> => {
      if (Array.isArray(body)) return Promise.resolve((body as { id: number }[]).map(({ id }) => ({ id, result: {} })));
      const [address, { before, minContextSlot = 0 }] = (body as { params: [string, { before?: string; minContextSlot?: number }] }).params;
      if (minContextSlot > finalised) return Promise.resolve({ error: { code: -32_016 } });
      const from = rows.findIndex(({ signature }) => signature === before) + 1;
      return Promise.resolve({ result: address === DLMM_PROGRAM ? rows.slice(from, from + 1_000) : [] });
    };
    const feed = liveChain(chainReader({ get: refuse, post }), 50);
    await expect(read(feed)).rejects.toThrow('getSignaturesForAddress was refused (-32016)');
    finalised = 501;
    expect((await read(feed)).pages).toBe(1_500);
    // What a poll finds is a short page: a node that lags a little must not make it fail.
    rows.splice(999);
    finalised = 0;
    expect((await read(feed)).pages).toBe(999);
  });

  test('a transaction that one lists and does not have is waited for by five polls, and until a minute has become final after it', async () => {
    // Unknown, or beyond the newest block's, its time is that of the newest that is in: ten seconds before.
    for (const [blockTime, waited] of [
      [at(0.5), 60],
      [null, 50],
      [Date.UTC(2099, 0) / 1_000, 50],
    ] as const) {
      const rows = [
        { signature: 'late', blockTime },
        { signature: 'early', blockTime: at(0.5) - 10 },
      ];
      const source = liveChain(
        nodeOf(rows, 1_000, (signature) => ({ result: signature === 'late' ? null : {} })),
        50,
      );
      let cursor = source.begin(day(0));
      for (let seconds = 0, gone = 0; seconds <= waited; seconds += 2) {
        for await (const step of source.update(cursor, day(0.5, seconds), context)) {
          gone += step.skipped?.transaction_gone ?? 0;
          cursor = step.cursor;
        }
        expect([seconds, gone]).toEqual([seconds, seconds < waited ? 0 : 1]);
      }
    }
  });

  test('a transaction that is refused while others are answered is left out after some polls; a node that refuses all is at fault', async () => {
    const rows = [
      { signature: 'good', blockTime: at(0.6) },
      { signature: 'odd', blockTime: at(0.5) },
    ];
    const refused = { error: { code: -32_015, message: 'Transaction version (1) is not supported' } };
    const source = liveChain(
      nodeOf(rows, 1_000, (signature) => (signature === 'odd' ? refused : { result: {} })),
      50,
    );
    let told = await read(source);
    for (let polls = 0; polls < 5; polls += 1) told = await read(source, told.cursor);
    expect(told).toMatchObject({ pages: 1, skipped: { transaction_gone: 1 } });
    await expect(
      read(
        liveChain(
          nodeOf(rows, 1_000, () => refused),
          50,
        ),
      ),
    ).rejects.toThrow('getTransaction was refused (-32015)');
  });
});

describe('a node whose chain is far ahead', () => {
  const TRANSACTIONS = 30_000;
  const HELD = 5_000;
  const begun = day(0).getTime() / 1_000;
  const atOf = (n: number): number => begun + n;
  const now = new Date(atOf(TRANSACTIONS) * 1_000);
  const context = { signal: new AbortController().signal, now: () => now } as unknown as LiveContext;

  /** Lists as many transactions of the bin program, one a second, by their numbers; counts how often it is asked to. */
  class FarNode implements ChainReader {
    listings = 0;
    head = (): Promise<Date> => Promise.resolve(now);
    list(program: string, before: string | null, until: string | null): Promise<Listed[]> {
      if (program !== DLMM_PROGRAM) return Promise.resolve([]);
      this.listings += 1;
      const newest = before === null ? TRANSACTIONS - 1 : Number(before) - 1;
      const count = Math.max(0, Math.min(1_000, newest - Number(until ?? -1)));
      return Promise.resolve(
        Array.from({ length: count }, (_, n) => ({ signature: `${newest - n}`, failed: false, at: atOf(newest - n), slot: null })),
      );
    }
    transactions = (signatures: readonly string[]): Promise<{ n: number }[]> => Promise.resolve(signatures.map((n) => ({ n: Number(n) })));
  }

  test('is read once, oldest first, with listings in proportion; the watermark follows', async () => {
    const node = new FarNode();
    const feed = liveChain(node, 50, HELD);
    const read: number[] = [];
    const marks: number[] = [];
    for await (const { pages, watermark } of feed.update(feed.begin(day(0)), now, context)) {
      for (const { page } of pages) for await (const { n } of page.records as AsyncIterable<{ n: number }>) read.push(n);
      marks.push(watermark?.getTime() ?? 0);
      // Nothing up to the watermark is still to be read.
      expect(atOf(read.length)).toBeGreaterThanOrEqual((marks.at(-1) as number) / 1_000);
    }
    expect(read).toEqual(Array.from({ length: TRANSACTIONS }, (_, n) => n));
    // Walked down once to find the oldest, and once more, window by window, to read.
    expect(node.listings).toBeLessThanOrEqual((2.2 * TRANSACTIONS) / 1_000);
    expect(marks).toEqual([...marks].sort((a, b) => a - b));
    expect(new Set(marks).size).toBeGreaterThan(TRANSACTIONS / 500);
    expect(marks.at(-1)).toBe(now.getTime());
  });

  test('is read on from where a process died, on its way down as well', async () => {
    const node = new FarNode();
    const feed = liveChain(node, 50, HELD);
    const read: number[] = [];
    let cursor = feed.begin(day(0));
    for (let whole = false, deaths = 0; !whole; deaths += 1) {
      whole = true;
      let steps = 0;
      for await (const step of feed.update(cursor, now, context)) {
        for (const { page } of step.pages) for await (const { n } of page.records as AsyncIterable<{ n: number }>) read.push(n);
        cursor = JSON.parse(JSON.stringify(step.cursor)) as FeedCursor;
        steps += 1;
        if (steps === 3 + deaths) {
          whole = false;
          break;
        }
      }
    }
    expect(read).toEqual(Array.from({ length: TRANSACTIONS }, (_, n) => n));
  });

  test('is asked for several batches at once', async () => {
    let [open, most] = [0, 0];
    const post = async (_path: string, body: unknown): Promise<unknown> => {
      most = Math.max(most, (open += 1));
      await new Promise(setImmediate);
      open -= 1;
      return (body as { id: number; params: [string] }[]).map(({ id, params }) => ({ id, result: { signature: params[0] } }));
    };
    const signatures = Array.from({ length: 120 }, (_, n) => `s${n}`);
    const answers = await chainReader({ post } as unknown as Upstream).transactions(signatures, context.signal);
    expect(answers).toEqual(signatures.map((signature) => ({ signature })));
    expect(most).toBe(3);
  });
});

test('the node is asked as often as the operator says that it bears', async () => {
  let asked = 0;
  const server = await startUpstreamServer(({ body }) => {
    asked += 1;
    const { method } = body as { method: string };
    return Promise.resolve({ status: 200, body: { result: method === 'getSignaturesForAddress' ? [] : 1_780_000_000 } });
  });
  try {
    const urls = { rpc: server.url, dlmm: server.url, damm: server.url };
    const chain = lpFeeds(urls, { rpc: 10 }).find(({ name }) => name === 'lp.chain') as LiveSource;
    const context = { signal: new AbortController().signal, now: () => day(1) } as unknown as LiveContext;
    const began = performance.now();
    await chain.head(context);
    for await (const _ of chain.update(chain.begin(day(0)), day(1), context));
    expect(asked).toBe(5);
    // The first goes at once.
    expect(performance.now() - began).toBeGreaterThanOrEqual(395);
  } finally {
    await server.stop();
  }
});

test('half of the upstreams are of no use', () => {
  expect(lpFeeds({})).toEqual([]);
  expect(() => lpFeeds({ rpc: 'http://localhost:1' })).toThrow('LP_RPC_URL, LP_DLMM_URL and LP_DAMM_URL must be set together.');
});
