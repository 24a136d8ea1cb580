import { lpWorld } from '../../src/sandbox/simulator/lp';
import { perpsWorld } from '../../src/sandbox/simulator/perps';
import { predictionWorld } from '../../src/sandbox/simulator/prediction';
import { startPoolsUpstream } from '../../src/sandbox/venues/lp';
import { startPerpsUpstream } from '../../src/sandbox/venues/perps';
import { startPredictionUpstream } from '../../src/sandbox/venues/prediction';
import type { PretendUpstream } from '../../src/sandbox/venues/upstream-server';
import type { Clock } from '../../src/lib/clock';
import type { VenueName } from '../../src/lib/venue-name';
import { listFeeds } from '../../src/workers/feed-store';
import { testDatabase } from '../support/database';
import { differencesOf, dumpOf, keptTables } from '../support/dump';
import { TurnedClock, until, untilRead } from '../support/feeds';
import { loadWorld } from '../support/world';
import { Reader, type ReaderOrders } from './reader';

// Processes that ingest are killed at random points; what is left is what one undisturbed run leaves, to the last digit.

jest.setTimeout(600_000);

const START = new Date('2026-03-01T00:00:00Z');
const day = (days: number): Date => new Date(START.getTime() + days * 86_400_000);

type Store = Awaited<ReturnType<typeof testDatabase>>;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Lets one process after the other read for a random time; the next is started while the last one still works. */
async function killReaders(
  file: string,
  times: number,
  longest_ms: number,
  orders: (last: Reader | null) => ReaderOrders,
): Promise<Reader> {
  let last: Reader | null = null;
  let next = new Reader(file);
  for (let killed = 0; killed < times; killed += 1) {
    const reader = next;
    await reader.heard('ready');
    next = new Reader(file);
    reader.send(orders(last));
    await reader.heard('reading');
    await Promise.all([wait(Math.random() * longest_ms), next.heard('ready')]);
    await reader.kill();
    last = reader;
  }
  next.send(orders(last));
  return next;
}

async function differences(one: Store, other: Store, venue: VenueName): Promise<unknown> {
  const tables = await keptTables(one.pool, venue);
  expect(tables.length).toBeGreaterThan(3);
  return differencesOf(await dumpOf(one.pool, tables), await dumpOf(other.pool, tables));
}

/** The feeds begin at the world's start. */
async function beginFeeds(pool: Store['pool'], venue: VenueName): Promise<void> {
  await pool.query(
    `INSERT INTO source_cursor (source, venue, cursor, watermark) SELECT source, $1, '{}', $2 FROM unnest($3::text[]) AS source`,
    [
      venue,
      START,
      ['prediction.trades', 'prediction.markets', 'prediction.activity', 'perps.fills_by_block'].filter((name) => name.startsWith(venue)),
    ],
  );
}

interface Polled {
  venue: VenueName;
  size: number;
  /** Days loaded as recorded pages beforehand: the feeds go on there. */
  recorded: number;
  days: number;
  /** What depends on when an index was asked is the same only by asking it at that time: one undisturbed process does. */
  clean: 'pages' | 'polled';
  /** The clock shows so much more than what is read: blocks get final, indexes tell late. */
  late_s: number;
  feeds: readonly string[];
  upstream: (world: { seed: number; size: number; start: Date }, since: Date, clock: Clock) => Promise<PretendUpstream>;
}

const POLLED: readonly Polled[] = [
  {
    venue: 'prediction',
    size: 9_000,
    recorded: 0,
    days: 4,
    clean: 'pages',
    late_s: 0,
    feeds: ['prediction.markets', 'prediction.trades', 'prediction.fills', 'prediction.activity'],
    upstream: (world, since, clock) => startPredictionUpstream({ world: predictionWorld(world), since, clock }),
  },
  {
    venue: 'perps',
    size: 12_000,
    recorded: 0,
    days: 3,
    clean: 'polled',
    late_s: 0,
    feeds: ['perps.fills', 'perps.meta'],
    upstream: (world, since, clock) => startPerpsUpstream({ world: perpsWorld(world), since, clock }),
  },
  {
    venue: 'lp',
    size: 18_000,
    recorded: 1,
    days: 2,
    clean: 'polled',
    late_s: 40,
    feeds: ['lp.pools', 'lp.chain', 'lp.volumes', 'lp.positions'],
    upstream: (world, since, clock) => startPoolsUpstream({ world: lpWorld(world), since, clock }),
  },
];

/** A reader is frozen at its first steps, which is long before its second day. */
const FROZEN_DAYS = 2;

async function readUndisturbed({ pool, url }: Store, orders: ReaderOrders, feeds: readonly string[], to: Date): Promise<void> {
  const reader = new Reader('reader-process.ts');
  await reader.heard('ready');
  reader.send({ ...orders, database_url: url });
  await untilRead(pool, feeds, to);
  await reader.kill();
}

describe('killed while it ingests', () => {
  let [killed, clean]: Store[] = [];
  beforeEach(async () => {
    [killed, clean] = await Promise.all([testDatabase(), testDatabase()]);
  });
  afterEach(() => Promise.all([killed?.drop(), clean?.drop()]));

  test.each(POLLED)('$venue over HTTP, 20 times', async ({ venue, size, recorded, days, clean: by, late_s, feeds, upstream: begin }) => {
    const [store, other] = [killed, clean] as [Store, Store];
    const [from, to] = [day(recorded), day(days)];
    const now = new Date(to.getTime() + late_s * 1_000);
    const upstream = await begin({ seed: 1, size, start: START }, from, new TurnedClock(now));
    upstream.faults.busy = 0.01;
    for (const { pool } of recorded > 0 ? [store, other] : []) await loadWorld(pool, venue, size, START, from);
    if (recorded === 0) for (const { pool } of [store, other]) await beginFeeds(pool, venue);
    const orders: ReaderOrders = { database_url: store.url, venue, now: now.toISOString(), urls: upstream.urls };
    const reader = await killReaders('reader-process.ts', 20, 700, () => orders);
    await untilRead(store.pool, feeds, to);
    await reader.kill();
    if (by === 'pages') await loadWorld(other.pool, venue, size, START, to);
    else await readUndisturbed(other, orders, feeds, to);
    await upstream.stop();
    expect((await listFeeds(store.pool)).reduce((sum, { totals }) => sum + totals.inserted, 0)).toBeGreaterThan(400);
    expect(await differences(store, other, venue)).toEqual({});
  });

  test.each(POLLED.filter(({ venue }) => venue !== 'lp'))(
    '$venue: a reader that is frozen loses its turn, and does no harm when it comes back',
    async ({ venue, size, clean: by, feeds, upstream: begin }) => {
      const [store, other] = [killed, clean] as [Store, Store];
      const end = day(FROZEN_DAYS);
      const upstream = await begin({ seed: 1, size, start: START }, START, new TurnedClock(end));
      for (const { pool } of [store, other]) await beginFeeds(pool, venue);
      const orders: ReaderOrders = { database_url: store.url, venue, now: end.toISOString(), urls: upstream.urls, silence_ms: 2_000 };
      const [frozen, next] = [new Reader('reader-process.ts'), new Reader('reader-process.ts')];
      await Promise.all([frozen.heard('ready'), next.heard('ready')]);
      frozen.send(orders);
      await until(async () => (await listFeeds(store.pool)).some(({ version }) => version > 1), 'some steps');
      frozen.freeze();
      next.send(orders);
      await untilRead(store.pool, feeds, end);
      frozen.thaw();
      await wait(1_000);
      await Promise.all([frozen.kill(), next.kill()]);
      if (by === 'pages') await loadWorld(other.pool, venue, size, START, end);
      else await readUndisturbed(other, { ...orders, database_url: other.url }, feeds, end);
      await upstream.stop();
      expect(await differences(store, other, venue)).toEqual({});
    },
  );

  test.each([
    ['prediction', 3],
    ['perps', 2],
    ['lp', 2],
  ] as const)('%s from pages, 5 times', async (venue, days) => {
    const store = killed as Store;
    const options = { seed: 1, size: 9_000, start: START.toISOString() };
    const reader = await killReaders('page-process.ts', 5, 700, (last) => ({
      database_url: store.url,
      venue,
      now: day(days).toISOString(),
      // The page that was cut off is loaded again, and the one before it.
      world: { ...options, from_page: Math.max(0, (last?.lastPage() ?? -1) - 1) },
    }));
    await reader.heard('done');
    await reader.kill();
    await loadWorld((clean as Store).pool, venue, options.size, START, day(days));
    expect(await differences(store, clean as Store, venue)).toEqual({});
  });
});
