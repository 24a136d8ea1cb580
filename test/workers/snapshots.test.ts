import { setTimeout as sleep } from 'node:timers/promises';
import { makeContext } from '../../src/graph/context';
import { type Logger, makeLogger } from '../../src/observability/logger';
import type { GraphContext, Snapshot, Venue } from '../../src/venues/venue';
import { readSnapshot } from '../../src/workers/snapshot';
import { buildSnapshots, dropSnapshots, listKept, makeDue, watchSnapshots } from '../../src/workers/snapshots';
import { testDatabase } from '../support/database';

const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);

interface Body { part: string; built: number; when: Date } // prettier-ignore

describe('snapshots of a wing', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let built: number;
  let broken: boolean;
  let refreshed: Date[];
  let kind: unknown;
  const snapshot: Snapshot<Body> = {
    name: 'coins/best',
    every_s: 600,
    parts: ['a', 'b'],
    refresh: async (_pool, now) => void refreshed.push(now),
    build: async ({ now }, part, once_refreshed) => {
      kind = once_refreshed;
      if (broken) throw new Error('no');
      return { part, built: (built += 1), when: now };
    },
  };
  const venue: Venue = { name: 'perps', resolvers: {}, sources: [], freshness: async () => ({ last_event_at: null, watermark: null }), factTables: [], snapshots: [snapshot as Snapshot] }; // prettier-ignore
  const context = (now: Date): GraphContext => makeContext(db, now);
  const read = async (now: Date, part = 'a') => {
    const asked = context(now);
    return { ...(await readSnapshot(asked, snapshot, part)), meta: asked.meta };
  };

  beforeEach(async () => {
    db = await testDatabase();
    [built, broken, refreshed] = [0, false, []];
  });
  afterEach(() => db.drop());

  test('what was never kept is made when asked; it is the same data as is kept', async () => {
    const live = await read(at('12:00:00'));
    expect(live).toMatchObject({
      body: { part: 'a', built: 1, when: '2026-03-01T12:00:00.000Z' },
      as_of: at('12:00:00'),
      meta: { as_of: null },
    });
    expect(kind).toBe(false);
    built = 0;
    await buildSnapshots(db.pool, venue, () => context(at('12:00:00')));
    expect((await read(at('12:00:00'))).body).toEqual(live.body);
    expect([refreshed, kind]).toEqual([[at('12:00:00')], true]);
  });

  test('the last good copy: as of then, told when it is late, refused after half an hour', async () => {
    await buildSnapshots(db.pool, venue, () => context(at('12:00:00')));
    broken = true;
    const fresh = await read(at('12:15:00'), 'b');
    expect(fresh).toMatchObject({ body: { part: 'b', built: 2 }, as_of: at('12:00:00'), meta: { as_of: at('12:00:00'), warnings: [] } });
    expect((await read(at('12:29:59'))).meta.warnings).toEqual(['This answer is 29 minutes old: its next copy is late.']);
    expect((await read(at('12:30:00'))).body.built).toBe(1);
    await expect(read(at('12:30:01'))).rejects.toMatchObject({ code: 'stale_data', status: 503, context: { reason: 'snapshot_age', retry_after_s: 60 } }); // prettier-ignore
  });

  test('an answer is not given again when its copy needs a warning, or is too old by then', async () => {
    await buildSnapshots(db.pool, venue, () => context(at('12:00:00')));
    const keepable = async (time: string): Promise<unknown> => (await read(at(time))).meta.good_for_s;
    expect([await keepable('12:00:00'), await keepable('12:14:00'), await keepable('12:15:00')]).toEqual([900, 60, 0]);
    // Late ones tell their age in minutes.
    expect([await keepable('12:15:10'), await keepable('12:29:50'), await keepable('12:30:00')]).toEqual([50, 10, 0]);
    await dropSnapshots(db.pool, venue);
    expect(await keepable('12:31:00')).toBeNull();
  });

  test('a copy of later tells nothing of before; dropped copies are made again', async () => {
    await buildSnapshots(db.pool, venue, () => context(at('12:00:00')));
    expect((await read(at('11:00:00'))).body).toMatchObject({ built: 3, when: '2026-03-01T11:00:00.000Z' });
    await dropSnapshots(db.pool, { ...venue, name: 'lp' });
    expect((await read(at('12:00:00'))).body).toMatchObject({ built: 1 });
    await dropSnapshots(db.pool, venue);
    expect((await read(at('12:00:00'))).body).toMatchObject({ built: 4 });
  });

  test('all parts are shown together: a build that fails half-way changes nothing', async () => {
    await buildSnapshots(db.pool, venue, () => context(at('12:00:00')));
    const half: Snapshot<Body> = { ...snapshot, build: async (now, part) => (part === 'b' ? Promise.reject(new Error('no')) : snapshot.build(now, part)) }; // prettier-ignore
    await expect(buildSnapshots(db.pool, { ...venue, snapshots: [half as Snapshot] }, () => context(at('12:10:00')))).rejects.toThrow('no');
    expect((await read(at('12:10:00'))).as_of).toEqual(at('12:00:00'));
  });

  test('a build that was held up does not take the place of a later copy; one by a clock that was set back does', async () => {
    const late: Snapshot<Body> = {
      ...snapshot,
      build: async (now, part) => {
        if (part === 'b') await buildSnapshots(db.pool, venue, () => context(at('12:05:00')));
        return snapshot.build(now, part);
      },
    };
    const clock = [at('12:00:00'), at('12:06:00')];
    await buildSnapshots(db.pool, { ...venue, snapshots: [late as Snapshot] }, () => context(clock.shift() as Date));
    expect((await read(at('12:06:00'))).as_of).toEqual(at('12:05:00'));
    await buildSnapshots(db.pool, venue, () => context(at('12:01:00')));
    expect((await read(at('12:06:00'))).as_of).toEqual(at('12:01:00'));
  });

  test('a copy is sent by the database once; nobody can change it; the next one takes its place', async () => {
    await buildSnapshots(db.pool, venue, () => context(at('12:00:00')));
    const { body } = await read(at('12:00:00'));
    await db.pool.query(`UPDATE snapshot SET body = '{"part": "other"}'`);
    expect((await read(at('12:00:00'))).body).toBe(body);
    expect(() => Object.assign(body, { part: 'changed' })).toThrow(TypeError);
    await buildSnapshots(db.pool, venue, () => context(at('12:10:00')));
    expect(await read(at('12:10:00'))).toMatchObject({ body: { part: 'a', built: 3 }, as_of: at('12:10:00') });
  });

  test('is told how old it is by its oldest part, and that it is served no more', async () => {
    await buildSnapshots(db.pool, venue, () => context(at('12:00:00')));
    await db.pool.query('UPDATE snapshot SET as_of = $1 WHERE part = $2', [at('11:50:00'), 'a']);
    expect(await listKept(db.pool, [venue], at('12:20:00'))).toEqual({ [snapshot.name]: { as_of: at('11:50:00'), served: true } });
    expect(await listKept(db.pool, [venue], at('12:20:01'))).toEqual({ [snapshot.name]: { as_of: at('11:50:00'), served: false } });
    expect(await listKept(db.pool, [], at('12:20:01'))).toEqual({});
    // Nor does a part tell of it that another version had.
    await db.pool.query("UPDATE snapshot SET part = 'c' WHERE part = 'a'");
    expect(await listKept(db.pool, [venue], at('12:20:01'))).toEqual({ [snapshot.name]: { as_of: at('12:00:00'), served: true } });
  });

  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const kept = async (): Promise<number> => (await db.pool.query('SELECT FROM snapshot')).rowCount ?? 0;

  test('the watch builds what is missing or due, survives failures, drops what is too old or of later at its start', async () => {
    await buildSnapshots(db.pool, venue, () => context(at('10:00:00')));
    // By a clock that was set back since.
    await db.pool.query('UPDATE snapshot SET as_of = $1 WHERE part = $2', [at('12:00:01'), 'b']);
    broken = true;
    const said: unknown[] = [];
    const logger = { error: ({ snapshot: name }: Record<string, unknown>, words: string) => said.push([name, words]) };
    const watch = watchSnapshots(db.pool, [venue], () => context(at('12:00:00')), logger as unknown as Logger, 5);
    await until(async () => (await kept()) === 0);
    await until(async () => said.length > 0);
    expect(said).toEqual([['coins/best', 'a snapshot could not be built']]);
    expect((await read(at('09:00:00')).catch((error: Error) => error.message)) as unknown).toBe('no');
    broken = false;
    await until(async () => (await kept()) === 2);
    const { built: first } = (await read(at('12:00:00'))).body;
    // Fresh: left alone. Then its time is over.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await read(at('12:00:00'))).body.built).toBe(first);
    await db.pool.query("UPDATE snapshot SET built_at = built_at - interval '601 seconds'");
    await until(async () => (await read(at('12:00:00'))).body.built > first);
    // The database's clock was ahead, and is set right.
    const { built: second } = (await read(at('12:00:00'))).body;
    await db.pool.query("UPDATE snapshot SET built_at = built_at + interval '1 hour'");
    await until(async () => (await read(at('12:00:00'))).body.built > second);
    // Whoever changed what it is built from says so; the copy is served meanwhile.
    const { built: third } = (await read(at('12:00:00'))).body;
    const client = await db.pool.connect();
    await client.query('BEGIN');
    await makeDue(client, { ...venue, name: 'lp' });
    await makeDue(client, venue);
    expect((await read(at('12:00:00'))).body.built).toBe(third);
    await client.query('COMMIT');
    client.release();
    await until(async () => (await read(at('12:00:00'))).body.built > third);
    // A part that another version has not.
    await db.pool.query("DELETE FROM snapshot WHERE part = 'b'");
    await until(async () => (await kept()) === 2);
    // What cannot be built any more keeps its last copy, too old as it is: an answer says so, and is not made by each who asks.
    broken = true;
    await db.pool.query("UPDATE snapshot SET as_of = as_of - interval '1 hour', built_at = built_at - interval '1 hour'");
    await sleep(50);
    expect(await kept()).toBe(2);
    await watch.stop();
  });

  test('one that waits for ever keeps no other from being built', async () => {
    let end: (error: Error) => void = () => undefined;
    const stuck: Snapshot<Body> = { ...snapshot, name: 'coins/stuck', build: () => new Promise((_, reject) => (end = reject)) };
    const both: Venue = { ...venue, snapshots: [stuck as Snapshot, snapshot as Snapshot] };
    const watch = watchSnapshots(db.pool, [both], () => context(at('12:00:00')), makeLogger('silent'), 3_600_000, 200);
    await until(async () => (await kept()) === 2);
    await watch.stop();
    end(new Error('given up'));
  });

  test('a watch that is stopped ends what it builds, and begins with no other', async () => {
    let [begin, letGo] = [(): void => undefined, (): void => undefined];
    const [begun, held] = [new Promise<void>((resolve) => (begin = resolve)), new Promise<void>((resolve) => (letGo = resolve))];
    const slowly = async (...asked: Parameters<typeof snapshot.build>): Promise<Body> => (begin(), await held, snapshot.build(...asked));
    const both: Venue = { ...venue, snapshots: [{ ...snapshot, name: 'coins/slow', build: slowly } as Snapshot, snapshot as Snapshot] };
    const watch = watchSnapshots(db.pool, [both], () => context(at('12:00:00')), makeLogger('silent'), 5);
    await begun;
    const stopped = watch.stop();
    letGo();
    await stopped;
    expect(Object.keys(await listKept(db.pool, [both], at('12:00:00')))).toEqual(['coins/slow']);
  });

  test('one process builds what is due, however many watch', async () => {
    const slowly = async (...asked: Parameters<typeof snapshot.build>): Promise<Body> => {
      await sleep(100);
      return snapshot.build(...asked);
    };
    const slow: Venue = { ...venue, snapshots: [{ ...snapshot, build: slowly } as Snapshot] };
    const watches = [1, 2, 3].map(() => watchSnapshots(db.pool, [slow], () => context(at('12:00:00')), makeLogger('silent'), 5));
    await until(async () => (await kept()) === 2);
    await Promise.all(watches.map((watch) => watch.stop()));
    expect(built).toBe(2);
  });
});
