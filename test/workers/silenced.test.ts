import { setTimeout as pause } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { runCancellable } from '../../src/db/cancel';
import { type Database, openDatabase } from '../../src/db/client';
import { poolUntil } from '../../src/db/pool';
import { inTransaction } from '../../src/db/transaction';
import type { Venue } from '../../src/venues/venue';
import { listFeeds } from '../../src/workers/feed-store';
import { watchFreshness } from '../../src/workers/freshness';
import type { LiveSource, LiveStep } from '../../src/workers/source';
import { type TestDatabase, testDatabase } from '../support/database';
import { runnerOf, until } from '../support/feeds';
import { type SilentProxy, startSilentProxy } from '../support/silent-proxy';

// Connections that are lost without a word, while the database can be reached: work goes on over new ones.

/** Less than the tests wait, more than a busy machine takes for a statement. */
const SILENCE_MS = 3_000;

describe('connections that fall silent', () => {
  let db: TestDatabase;
  let proxy: SilentProxy;
  let over: Database;
  beforeEach(async () => {
    db = await testDatabase();
    proxy = await startSilentProxy(db.url);
    over = await openDatabase(proxy.url, { max: 4, statement_timeout_ms: 0 });
  });
  afterEach(async () => {
    await over.close();
    await proxy.stop();
    await db.drop();
  });

  const clock = { now: () => new Date() };
  const feed = (update: LiveSource['update']): LiveSource => ({
    name: 'perps.quiet',
    continues: null,
    gates: true,
    poll_ms: 20,
    begin: () => ({}),
    head: ({ now }) => Promise.resolve(now()),
    update,
  });
  const moved = async (since: Date): Promise<void> =>
    until(async () => ((await listFeeds(db.pool))[0]?.watermark ?? 0) > since, 'the feed is read on');

  test('end a turn at a feed and the step that was under way; it is read on in the next, and can be stopped', async () => {
    async function* steps(_cursor: unknown, to: Date): AsyncGenerator<LiveStep> {
      await Promise.resolve();
      yield { pages: [], cursor: {}, watermark: to };
    }
    const runner = runnerOf(over.pool, 'perps', [feed(steps)], clock, undefined, SILENCE_MS);
    runner.start();
    await moved(new Date());
    expect(proxy.silence()).toBeGreaterThan(0);
    await moved(new Date());
    expect(proxy.silence()).toBeGreaterThan(0);
    await runner.stop();
  });

  test('do not keep what a feed reads beside its steps', async () => {
    let polls = 0;
    async function* steps(_cursor: unknown, to: Date, { db: reads }: Parameters<LiveSource['update']>[2]): AsyncGenerator<LiveStep> {
      polls += 1;
      // The pool has four connections: it would soon be full of silent ones.
      if (polls < 8) proxy.silence();
      await Promise.all([1, 2].map(() => reads.query('SELECT 1')));
      yield { pages: [], cursor: {}, watermark: to };
    }
    const runner = runnerOf(over.pool, 'perps', [feed(steps)], clock, undefined, 600);
    runner.start();
    await moved(new Date());
    await runner.stop();
    expect(polls).toBeGreaterThanOrEqual(8);
  });

  test('do not blind the watch over where the data stands', async () => {
    let last = new Date(0);
    const venue = {
      name: 'perps',
      freshness: async (pool: Database['pool']) => {
        await pool.query('SELECT 1');
        return { last_event_at: last, watermark: last };
      },
    } as unknown as Venue;
    const watch = await watchFreshness(over.pool, [venue], {}, () => undefined, 50, SILENCE_MS);
    expect(proxy.silence()).toBeGreaterThan(0);
    last = new Date(1_000);
    await until(() => Promise.resolve(watch.of('perps').watermark?.getTime() === 1_000), 'seen');
    proxy.silence();
    await watch.stop();
  });

  test('are given up by who asks with a deadline, and by a pool whose server may not say nothing for so long', async () => {
    const pool = (await openDatabase(proxy.url, { max: 2, silence_ms: SILENCE_MS })).pool;
    await Promise.all([1, 2].map(() => pool.query('SELECT 1 FROM pg_sleep(0.1)')));
    const [asking, deadline] = [new AbortController(), new AbortController()];
    const late = new Error('late');
    const asked = [
      runCancellable(pool, asking.signal, (client) => client.query('SELECT 1 FROM pg_sleep(60)')),
      inTransaction(pool, (client) => client.query('SELECT 1 FROM pg_sleep(60)')),
    ];
    const outcomes = Promise.allSettled(asked);
    await until(async () => (await db.pool.query("SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND datname = current_database() AND pid <> pg_backend_pid()")).rowCount === 2, 'asked'); // prettier-ignore
    proxy.silence();
    // No connection is free: a deadline is kept all the same.
    const waiting = runCancellable(pool, deadline.signal, (client) => client.query('SELECT 1'));
    deadline.abort(late);
    await expect(waiting).rejects.toBe(late);
    asking.abort(late);
    expect(await outcomes).toMatchObject([{ reason: late }, { reason: { message: 'Query read timeout' } }]);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  test('are closed by a pool that lends them for so long since they were asked something; what is given back in time is used again', async () => {
    const { pool, close } = await openDatabase(db.url, { max: 1, statement_timeout_ms: 0, lease_ms: 2_000 });
    const backend = async (): Promise<unknown> => (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0];
    const first = await backend();
    await pause(2_500);
    expect(await backend()).toEqual(first);
    const often = async (client: PoolClient): Promise<void> => {
      for (let times = 0; times < 4; times += 1) await client.query('SELECT 1 FROM pg_sleep(0.6)');
    };
    await inTransaction(pool, often);
    expect(await backend()).toEqual(first);
    await expect(inTransaction(pool, (client) => client.query('SELECT 1 FROM pg_sleep(60)'))).rejects.toThrow('Connection terminated');
    expect(await backend()).not.toEqual(first);
    await close();
  });

  test('are closed by a pool that is used until something happens', async () => {
    const end = new AbortController();
    const pool = poolUntil(over.pool, end.signal);
    const work = inTransaction(pool, (client) => client.query('SELECT 1 FROM pg_sleep(60)'));
    await until(async () => (await db.pool.query("SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT 1 FROM pg_sleep(60)' AND datname = current_database()")).rowCount === 1, 'asked'); // prettier-ignore
    end.abort(new Error('over'));
    await expect(work).rejects.toThrow('Connection terminated');
    await expect(pool.query('SELECT 1')).rejects.toThrow('over');
    expect((await over.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});
