import { predictionWorld } from '../../src/sandbox/simulator/prediction';
import { startPredictionUpstream } from '../../src/sandbox/venues/prediction';
import type { VenueName } from '../../src/venues/venue';
import { listFeeds } from '../../src/workers/feed-store';
import { testDatabase } from '../support/database';
import { differencesOf, dumpOf, keptTables } from '../support/dump';
import { TurnedClock, untilRead } from '../support/feeds';
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

describe('killed while it ingests', () => {
  let [killed, clean]: Store[] = [];
  beforeEach(async () => {
    [killed, clean] = await Promise.all([testDatabase(), testDatabase()]);
  });
  afterEach(() => Promise.all([killed?.drop(), clean?.drop()]));

  test('prediction over HTTP, 20 times', async () => {
    const [to, size] = [day(8), 9_000];
    const upstream = await startPredictionUpstream({
      world: predictionWorld({ seed: 1, size, start: START }),
      since: START,
      clock: new TurnedClock(to),
    });
    upstream.faults.busy = 0.01;
    const store = killed as Store;
    // The feeds begin at the world's start.
    await store.pool.query(
      `INSERT INTO source_cursor (source, venue, cursor, watermark) SELECT source, 'prediction', '{}', $1 FROM unnest(ARRAY['prediction.trades', 'prediction.markets', 'prediction.activity']) AS source`,
      [START],
    );
    const orders: ReaderOrders = { database_url: store.url, venue: 'prediction', now: to.toISOString(), urls: upstream.urls };
    const steps: number[] = [];
    const reader = await killReaders('reader-process.ts', 20, 700, () => orders);
    await untilRead(store.pool, ['prediction.markets', 'prediction.trades', 'prediction.fills', 'prediction.activity'], to);
    await reader.kill();
    await upstream.stop();
    steps.push(...(await listFeeds(store.pool)).map(({ version }) => version));
    expect(Math.min(...steps)).toBeGreaterThan(0);
    await loadWorld((clean as Store).pool, 'prediction', size, START, to);
    expect(await differences(store, clean as Store, 'prediction')).toEqual({});
  });

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
