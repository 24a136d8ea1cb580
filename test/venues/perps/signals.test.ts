import { setTimeout as delay } from 'node:timers/promises';
import { makeContext } from '../../../src/graph/context';
import { perps } from '../../../src/venues/perps/index';
import type { SignalTracking } from '../../../src/venues/venue';
import { DIRECTED, FULL_WALLETS, STRENGTHS } from '../../../src/venues/perps/queries/smart-wallets-signals';
import { SIGNAL_DEFAULTS, markOf } from '../../../src/venues/perps/signals';
import { backfill, recognise } from '../../../src/workers/ingest';
import { pageOf } from '../../../src/workers/pages';
import { readTrackRecord } from '../../../src/workers/track-record';
import { trackSignals } from '../../../src/workers/track';
import { endpointNamed } from '../../support/catalogue';
import { testDatabase } from '../../support/database';
import { allSignalsInput } from '../../support/subjects';
import { ANN, BOB, MAX, NOW, ago, loadScores, loadSmallWorld } from './small-world';
import { ask, load, match, type TestDatabase, trader } from './support';

const ENDPOINT = 'perps/smart-wallets/signals';
const HORIZONS = ['1h', '24h', '168h'];
const after = (hours: number): Date => ago(-60 * hours);

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await loadSmallWorld(db.pool);
  await loadScores(db.pool, '2026-01-31', { [ANN]: 90, [BOB]: 90, [MAX]: 40 });
  await db.pool.query("INSERT INTO source_cursor (source, venue, cursor) VALUES ('score.perps', 'perps', $1)", [
    JSON.stringify({ day: '2026-01-31', as_of: NOW.toISOString() }),
  ]);
});
afterAll(() => db.drop());

const track = (now: Date): ReturnType<typeof trackSignals> => trackSignals(db.pool, perps, () => makeContext(db, now));
const record = (now: Date): ReturnType<typeof readTrackRecord> => readTrackRecord(makeContext(db, now).sql, ENDPOINT, HORIZONS, now);

test('signals are asked for by the defaults of the endpoint, all of them', () =>
  expect(SIGNAL_DEFAULTS).toEqual(allSignalsInput(endpointNamed(ENDPOINT))));

test('what a direction, a whole signal and its strengths take', () =>
  expect([DIRECTED, FULL_WALLETS, STRENGTHS]).toEqual([0.1, 10, { strong: 65, moderate: 40, weak: 10 }]));

// Ann bought 100,000 and sold 44,000 in 24 hours, Bob sold 105,000: both short of BTC by 49,000 of 249,000. ETH has one smart account only.
test('what the endpoint says is stored: BTC goes down from 105', async () => {
  await expect(track(NOW)).resolves.toEqual({ venue: 'perps', stored: 1, marked: 0 });
  const { rows } = await db.pool.query(
    'SELECT subject, part, direction::int, price::float8 AS price, rank FROM signal WHERE endpoint = $1',
    [ENDPOINT],
  );
  expect(rows).toEqual([{ subject: 'BTC', part: '', direction: -1, price: 105, rank: 1 }]);
});

test('after an hour at 100 it is a hit; the day is not over, and nothing is read beyond it', async () => {
  // A minute after the signal BTC was bought at 100; to say what it costs an hour after, the store has to know something later.
  await expect(track(after(2))).resolves.toMatchObject({ marked: 0 });
  await load(db.pool, [match(after(23), { px: '110', sz: '1', side: 'B', taker: [ANN, '11600.0'], maker: [MAX, '-10610.0'] })]);
  await expect(track(after(2))).resolves.toMatchObject({ marked: 1 });
  const [hour, day] = await record(after(2));
  expect(hour).toMatchObject({ signals: 1, hit_rate: 1, baseline_hit_rate: 0.5, from: '2026-01-31T12:00:00Z' });
  expect(hour?.mean_return_pct).toBeCloseTo(100 * (1 - 100 / 105), 6);
  expect(day).toMatchObject({ signals: 0, hit_rate: null, mean_return_pct: null });
});

test('after a day at 110 it is none, and after a week at 105 neither; every answer tells it', async () => {
  // At its horizon to the millisecond a signal is due; what is paid then comes after it.
  await load(db.pool, [match(after(24), { px: '999', sz: '1', side: 'B', taker: [trader('5'), '0.0'], maker: [trader('6'), '0.0'] })]);
  await expect(track(after(24))).resolves.toMatchObject({ marked: 1 });
  const week = match(after(169), { px: '105', sz: '1', side: 'B', taker: [BOB, '0.0'], maker: [ANN, '0.0'] });
  await load(db.pool, [match(after(167), { px: '105', sz: '1', side: 'B', taker: [BOB, '0.0'], maker: [ANN, '0.0'] }), week]);
  await expect(track(after(169.5))).resolves.toMatchObject({ marked: 1 });
  const [hour, day, last] = await record(after(169.5));
  expect(hour).toMatchObject({ signals: 1, hit_rate: 1 });
  expect(day).toMatchObject({ signals: 1, hit_rate: 0 });
  expect(day?.mean_return_pct).toBeCloseTo(100 * (1 - 110 / 105), 6);
  expect(last).toMatchObject({ signals: 1, hit_rate: 0, mean_return_pct: 0 });
  const { meta } = await ask(db, ENDPOINT, { min_wallets: 1 }, after(169.5));
  expect(meta.track_record).toEqual([hour, day, last]);
  // As of then, only what was known then.
  expect(await record(after(2))).toMatchObject([{ signals: 1 }, { signals: 0 }, { signals: 0 }]);
});

test('a fill that comes late tells what a coin cost then: what was marked by an older price is marked anew', async () => {
  const now = after(169.5);
  const [, ...later] = await record(now);
  const sides = { taker: [trader('7'), '0.0'], maker: [trader('8'), '0.0'] } as const satisfies Pick<Parameters<typeof match>[1], 'taker' | 'maker'>; // prettier-ignore
  // Of another coin it tells nothing.
  await load(db.pool, [match(after(0.5), { coin: 'ETH', px: '120', sz: '1', side: 'B', ...sides })]);
  await expect(track(now)).resolves.toMatchObject({ marked: 0 });
  await load(db.pool, [match(after(0.5), { px: '120', sz: '1', side: 'B', ...sides })]);
  await track(now);
  const [hour, ...rest] = await record(now);
  expect(hour).toMatchObject({ signals: 1, hit_rate: 0 });
  expect(hour?.mean_return_pct).toBeCloseTo(100 * (1 - 120 / 105), 6);
  expect(rest).toEqual(later);
  // Be it that rollups come later.
  await backfill(db.pool, perps, async (loadOne) => {
    const { source, page } = await recognise(
      perps,
      pageOf('late', 'ndjson', [match(after(0.6), { px: '130', sz: '1', side: 'B', ...sides })]),
    );
    if (source !== null) await loadOne(source, page, { progress: () => undefined });
  });
  await track(now);
  const [again, ...last] = await record(now);
  expect(again?.mean_return_pct).toBeCloseTo(100 * (1 - 130 / 105), 6);
  expect(last).toEqual(later);
});

test('a fill that comes late while signals are marked by an older price takes that mark back too', async () => {
  const now = after(169.5);
  const late = (hours: number, px: string) =>
    load(db.pool, [match(after(hours), { px, sz: '1', side: 'B', taker: [trader('7'), '0.0'], maker: [trader('8'), '0.0'] })]);
  await late(0.7, '140');
  const tracking = perps.signals as SignalTracking;
  let coming: Promise<unknown> | undefined;
  const mark: SignalTracking['mark'] = async (...asked) => {
    const marks = await tracking.mark(...asked);
    coming = late(0.8, '150');
    await Promise.race([coming, delay(500)]);
    return marks;
  };
  await trackSignals(db.pool, { ...perps, signals: { ...tracking, mark } }, () => makeContext(db, now));
  await coming;
  await track(now);
  expect((await record(now))[0]?.mean_return_pct).toBeCloseTo(100 * (1 - 150 / 105), 6);
});

test('a long gains by the rise, a short by the fall', () => {
  const signal = { endpoint: ENDPOINT, subject: 'BTC', part: '', price: 200, day: '2026-01-31', rank: 1, taken_at: NOW, horizon: '1h' };
  expect(markOf({ ...signal, direction: 1 }, NOW, 210)).toMatchObject({ hit: true, return_pct: 5, baseline: 0.5 });
  expect(markOf({ ...signal, direction: -1 }, NOW, 210)).toMatchObject({ hit: false, return_pct: -5 });
});
