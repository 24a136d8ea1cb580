import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { type PretendPrediction, startPredictionUpstream } from '../../../../src/sandbox/venues/prediction';
import { predictionFeeds } from '../../../../src/venues/prediction/sources/live';
import { listFeeds } from '../../../../src/workers/feed-store';
import type { Runner } from '../../../../src/workers/runner';
import { testDatabase } from '../../../support/database';
import { differencesOf, dumpOf, keptTables } from '../../../support/dump';
import { TurnedClock, runnerOf, untilRead } from '../../../support/feeds';
import { loadWorld } from '../../../support/world';

jest.setTimeout(180_000);

const START = new Date('2026-05-04T00:00:00Z');
const SIZE = 6_000;
const day = (days: number): Date => new Date(START.getTime() + days * 86_400_000);
const TUNING = {
  poll_ms: 50,
  overlap: { quick_s: 20, deep_s: 600, deep_every_s: 120 },
  wallets_a_poll: 100,
  gamma_per_second: 500,
  data_per_second: 500,
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
