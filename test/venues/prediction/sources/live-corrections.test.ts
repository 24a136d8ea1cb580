import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { type PretendPrediction, startPredictionUpstream } from '../../../../src/sandbox/venues/prediction';
import { prediction } from '../../../../src/venues/prediction/index';
import { predictionFeeds } from '../../../../src/venues/prediction/sources/live';
import { recognise } from '../../../../src/workers/ingest';
import { pageOf } from '../../../../src/workers/pages';
import type { Runner } from '../../../../src/workers/runner';
import { loadPage } from '../../../support/load-page';
import { testDatabase } from '../../../support/database';
import { differencesOf, dumpOf, keptTables } from '../../../support/dump';
import { TurnedClock, runnerOf, untilRead } from '../../../support/feeds';

// What the upstream tells late, and what it no longer tells: the store becomes what it would be had it been told so from the start.

const START = new Date('2026-05-04T00:00:00Z');
const SIZE = 9_000;
const NOW = new Date('2026-05-06T00:00:00Z');
const after = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);
const DEEP_S = 6 * 3_600;
const TUNING = {
  poll_ms: 30,
  overlap: { quick_s: 20, deep_s: DEEP_S, deep_every_s: 120 },
  wallets_a_poll: 100,
  gamma_per_second: 500,
  data_per_second: 500,
  trades_per_second: 500,
};
const FEEDS = ['prediction.markets', 'prediction.trades', 'prediction.fills', 'prediction.activity'];

type Row = Readonly<Record<string, unknown>>;

/** About half of the fills of the last hours. */
const some = (row: Row): boolean =>
  (row.side === 'BUY' || row.side === 'SELL') &&
  (row.timestamp as number) >= NOW.getTime() / 1_000 - DEEP_S + 1_800 &&
  (row.timestamp as number) < NOW.getTime() / 1_000 - 600 &&
  parseInt(String(row.transactionHash).slice(2, 4), 16) < 128;

type Store = Awaited<ReturnType<typeof testDatabase>>;

/** Loads [START, to) from pages that never held the hidden rows; tells how many were. */
async function loadWithout(store: Store, to: Date, hides: (row: Row) => boolean): Promise<number> {
  let hidden = 0;
  for (const { name, format, records } of predictionWorld({ seed: 1, size: SIZE, start: START }).pages(START, to)) {
    const told = records.filter((record) => !hides(record as Row));
    hidden += records.length - told.length;
    const { source, page } = await recognise(prediction, pageOf(name, format, told));
    if (source !== null) await loadPage(store.pool, prediction.name, source, page, { progress: () => undefined });
  }
  return hidden;
}

async function differences(one: Store, other: Store): Promise<unknown> {
  const tables = await keptTables(one.pool, 'prediction');
  return differencesOf(await dumpOf(one.pool, tables), await dumpOf(other.pool, tables));
}

describe('an upstream that changes its mind', () => {
  let read: Store;
  let told: Store;
  let upstream: PretendPrediction;
  let runner: Runner;
  let clock: TurnedClock;

  beforeEach(async () => {
    [read, told] = await Promise.all([testDatabase(), testDatabase()]);
    clock = new TurnedClock(NOW);
    upstream = await startPredictionUpstream({ world: predictionWorld({ seed: 1, size: SIZE, start: START }), since: START, clock });
    await read.pool.query(
      `INSERT INTO source_cursor (source, venue, cursor, watermark) SELECT source, 'prediction', '{}', $1 FROM unnest(ARRAY['prediction.trades', 'prediction.markets', 'prediction.activity']) AS source`,
      [START],
    );
    runner = runnerOf(read.pool, 'prediction', predictionFeeds(upstream.urls, TUNING), clock);
    runner.start();
  });
  afterEach(async () => {
    await runner.stop();
    await upstream.stop();
    await Promise.all([read.drop(), told.drop()]);
  });

  const turnTo = async (at: Date): Promise<void> => {
    clock.turnTo(at);
    await untilRead(read.pool, FEEDS, at);
  };

  test('late rows come in, and what they change with them', async () => {
    upstream.hide(some);
    await turnTo(NOW);
    expect(await loadWithout(told, NOW, some)).toBeGreaterThan(10);
    expect(await differences(read, told)).toEqual({});
    upstream.hide(() => false);
    await turnTo(after(130));
    await loadWithout(told, after(130), () => false);
    expect(await differences(read, told)).toEqual({});
  });

  test('rows that are no longer told are taken back once two deep polls agree', async () => {
    await turnTo(NOW);
    await loadWithout(told, NOW, () => false);
    upstream.hide(some);
    await turnTo(after(130));
    // Doubted, not yet believed.
    expect(await differences(read, told)).toEqual({});
    // What a listing that lags does not tell stays where it is.
    const lagging = after(-1_800);
    const behind = async (): Promise<unknown> =>
      (await read.pool.query('SELECT count(*)::int AS fills FROM pm_trade WHERE "timestamp" > $1', [lagging])).rows[0];
    const before = await behind();
    upstream.hide((row) => some(row) || (row.timestamp as number) * 1_000 > lagging.getTime());
    await turnTo(after(260));
    expect(await behind()).toEqual(before);
    upstream.hide(some);
    await turnTo(after(390));
    await turnTo(after(520));
    await told.drop();
    told = await testDatabase();
    expect(await loadWithout(told, after(520), some)).toBeGreaterThan(10);
    expect(await differences(read, told)).toEqual({});
  });

  test('a listing that tells less for a moment takes nothing back, nor one that lags or tells nothing for however long', async () => {
    const kept = async (): Promise<unknown> => (await read.pool.query('SELECT count(*)::int AS fills FROM pm_trade')).rows[0];
    await turnTo(NOW);
    upstream.hide(some);
    await turnTo(after(130));
    upstream.hide(() => false);
    await turnTo(after(260));
    const before = await kept();
    upstream.hide(({ timestamp }) => (timestamp as number) > NOW.getTime() / 1_000 - 7_200);
    await turnTo(after(390));
    await turnTo(after(520));
    expect(await kept()).toEqual(before);
    upstream.hide(() => true);
    await turnTo(after(650));
    await turnTo(after(780));
    expect(await kept()).toEqual(before);
    upstream.hide(() => false);
    await turnTo(after(910));
    await loadWithout(told, after(910), () => false);
    expect(await differences(read, told)).toEqual({});
  });
});
