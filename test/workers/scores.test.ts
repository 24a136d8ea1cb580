import type { Pool } from 'pg';
import { poolUntil } from '../../src/db/pool';
import { type Logger, makeLogger } from '../../src/observability/logger';
import type { Venue } from '../../src/venues/venue';
import { always, catchUpScores, keepScores, lastScored } from '../../src/workers/scores';
import { testDatabase } from '../support/database';

const at = (text: string): Date => new Date(text);

/** A wing that scores three wallets, unless it fails. */
const wing = (name: Venue['name'], fails: () => boolean = () => false): Venue =>
  ({
    name,
    score: () => (fails() ? Promise.reject(new Error('a division by zero')) : Promise.resolve({ wallets: 3, scored: 2 })),
  }) as unknown as Venue;

/** Lets those who come go on once so many have come. */
function meeting(many: number): () => Promise<boolean> {
  let [come, letGo] = [0, (): void => undefined];
  const all = new Promise<boolean>((resolve) => (letGo = () => resolve(true)));
  return () => {
    come += 1;
    if (come === many) letGo();
    return all;
  };
}

describe('the daily scores', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let stop = (): Promise<void> => Promise.resolve();
  beforeEach(async () => {
    db = await testDatabase();
  });
  afterEach(() => db.drop());
  const catchUp = async (venues: Venue[], now: string): Promise<string[]> =>
    (await catchUpScores(db.pool, venues, at(now), makeLogger('silent'))).map(({ venue }) => venue);

  test('are run once a UTC day: at its first instant, after days without any', async () => {
    const venues = [wing('prediction'), wing('perps')];
    expect(await catchUp(venues, '2026-12-31T23:59:59.999Z')).toEqual(['prediction', 'perps']);
    expect(await catchUp(venues, '2026-12-31T23:59:59.999Z')).toEqual([]);
    expect(await catchUp(venues, '2027-01-01T00:00:00Z')).toEqual(['prediction', 'perps']);
    expect(await catchUp(venues, '2028-02-29T12:00:00Z')).toEqual(['prediction', 'perps']);
    expect(await catchUp(venues, '2028-02-29T23:59:59Z')).toEqual([]);
  });

  test('are run once by two processes whose clocks differ by minutes', async () => {
    const [ahead, behind] = [[wing('perps')], [wing('perps')]];
    expect(await catchUp(behind, '2026-03-01T00:00:05Z')).toEqual(['perps']);
    expect(await catchUp(ahead, '2026-03-02T00:00:05Z')).toEqual(['perps']);
    expect(await catchUp(behind, '2026-03-01T23:56:05Z')).toEqual([]);
    expect(await catchUp(ahead, '2026-03-02T00:01:05Z')).toEqual([]);
    expect(await catchUp(behind, '2026-03-02T00:00:05Z')).toEqual([]);
    // A clock that was set back to another day is none that is late.
    expect(await catchUp(behind, '2026-02-20T12:00:00Z')).toEqual(['perps']);
  });

  test('are run by one process: others that begin meanwhile wait for it, and find them done', async () => {
    const meet = meeting(3);
    const runs = [1, 2, 3].map(() => catchUpScores(db.pool, [wing('perps')], at('2026-03-01T00:00:05Z'), makeLogger('silent'), meet));
    expect((await Promise.all(runs)).flat()).toEqual([{ venue: 'perps', wallets: 3, scored: 2 }]);
  });

  test('wait for a venue whose feeds lag behind, and for no other', async () => {
    const venues = [wing('prediction'), wing('perps')];
    const looked = async (lags: boolean): Promise<string[]> =>
      (await catchUpScores(db.pool, venues, at('2026-03-01T00:00:05Z'), makeLogger('silent'), ({ name }) => Promise.resolve(!lags || name !== 'perps'))).map(({ venue }) => venue); // prettier-ignore
    expect(await looked(true)).toEqual(['prediction']);
    expect(await looked(true)).toEqual([]);
    expect(await looked(false)).toEqual(['perps']);
  });

  test('begin with no further venue once they are stopped', async () => {
    let letGo = (): void => undefined;
    const begun = new Promise<void>((begin) => {
      const slow = {
        name: 'prediction',
        score: () => new Promise((resolve) => ((letGo = () => resolve({ wallets: 3, scored: 2 })), begin())),
      };
      const scores = keepScores(db.pool, [slow as unknown as Venue, wing('perps')], { now: () => at('2026-03-01T00:00:05Z') }, makeLogger('silent'), always, 'at once'); // prettier-ignore
      stop = () => scores.stop();
    });
    await begun;
    const stopped = stop();
    letGo();
    await stopped;
    expect(await lastScored(db.pool, [wing('prediction'), wing('perps')])).toEqual({ prediction: at('2026-03-01T00:00:05Z'), perps: null });
  });

  test('end with their connections, and say nothing of it, when there is no time left for them', async () => {
    const over = new AbortController();
    const said: unknown[] = [];
    const logger = {
      info: (...words: unknown[]) => said.push(words),
      error: (...words: unknown[]) => said.push(words),
    } as unknown as Logger;
    await new Promise<void>((begin) => {
      const endless = { name: 'prediction', score: (pool: Pool) => (begin(), pool.query('SELECT pg_sleep(300)')) } as unknown as Venue;
      const clock = { now: () => at('2026-03-01T00:00:05Z') };
      const scores = keepScores(poolUntil(db.pool, over.signal), [endless, wing('perps')], clock, logger, always, 'at once');
      stop = () => scores.stop();
    });
    const stopped = stop();
    over.abort(new Error('No time is left.'));
    await stopped;
    expect(said).toEqual([]);
    expect(await lastScored(db.pool, [wing('prediction'), wing('perps')])).toEqual({ prediction: null, perps: null });
  });

  test('of one venue fail alone, and are tried again', async () => {
    let broken = true;
    const venues = [wing('prediction', () => broken), wing('perps'), wing('lp')];
    expect(await catchUp(venues, '2026-03-01T00:00:05Z')).toEqual(['perps', 'lp']);
    expect(await lastScored(db.pool, venues)).toMatchObject({ prediction: null, perps: at('2026-03-01T00:00:05Z') });
    broken = false;
    expect(await catchUp(venues, '2026-03-01T00:01:05Z')).toEqual(['prediction']);
  });

  test('are asked for every minute while the database is away, which is told at once and every ten minutes', async () => {
    let asked = 0;
    const away = { query: () => ((asked += 1), Promise.reject(new Error('gone'))) } as unknown as Pool;
    const said: unknown[] = [];
    const logger = { error: ({ untold }: Record<string, unknown>) => void said.push(untold) } as unknown as Logger;
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const kept = keepScores(away, [wing('perps')], { now: () => new Date() }, logger, always, 'at once');
      for (let minute = 0; minute < 15; minute += 1) {
        await new Promise(setImmediate);
        jest.advanceTimersByTime(60_000);
      }
      await kept.stop();
    } finally {
      jest.useRealTimers();
    }
    expect(asked).toBe(16);
    expect(said).toEqual([0, 9]);
  });
});
