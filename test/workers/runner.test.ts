import { setTimeout as pause } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { Connection } from '../../src/db/pool';
import { inTransaction, writersTurn } from '../../src/db/transaction';
import type { Logger } from '../../src/observability/logger';
import { type FeedRow, NO_LAG, Overtaken, beginFeed, holdFeed, listFeeds, moveFeed, readUntil } from '../../src/workers/feed-store';
import { emptyReport } from '../../src/workers/ingest';
import { pageOf } from '../../src/workers/pages';
import { leaveOrDo } from '../../src/workers/remainder';
import type { LiveSource, LiveStep, RecordedPage, RecordedSource, Span } from '../../src/workers/source';
import { UpstreamError } from '../../src/workers/upstream';
import { testDatabase } from '../support/database';
import { TurnedClock, noFigures, runnerOf, until } from '../support/feeds';

/** Turns at venues' feeds that are held in this database. */
const HELD_TURNS =
  "FROM pg_locks WHERE locktype = 'advisory' AND classid = 731554 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/** The lock by which a transaction keeps migrations waiting, where it has it. */
const MIGRATIONS_WAIT =
  "SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND mode = 'ShareLock' AND objid = 72707369";

/** Somebody else takes a step of the feed. */
const STEP_OF_ANOTHER =
  "UPDATE source_cursor SET cursor = cursor || jsonb_build_object('version', (cursor->>'version')::int + 1) WHERE source = 'live.perps.numbers'";

// A feed of numbers: each is a fact at that second, kept in a table of this test's own.

const second = (n: number): Date => new Date(Date.UTC(2026, 0, 1) + n * 1_000);

/** Counts what pages leave to the end of their step. */
const count = async (client: PoolClient, parts: readonly number[]): Promise<void> =>
  void (await client.query('UPDATE number_total SET total = total + $1', [parts.length]));

/** Appends numbers, each once. */
const numbers: RecordedSource = {
  name: 'perps.numbers',
  recognises: () => true,
  async load(page: RecordedPage, client: PoolClient, { appended, remainder }) {
    const report = { read: 0, inserted: 0, duplicates: 0, skipped: {} };
    for await (const number of page.records) {
      report.read += 1;
      const { rowCount } = await client.query('INSERT INTO number_fact VALUES ($1) ON CONFLICT DO NOTHING', [number]);
      if (rowCount === 1) {
        appended?.([second(number as number)]);
        await leaveOrDo(remainder, client, count, number as number);
      }
      report[rowCount === 1 ? 'inserted' : 'duplicates'] += 1;
    }
    return report;
  },
};

/** An upstream that counts seconds, and who asked. */
class Counting {
  asked: string[] = [];
  failing: Error | null = null;
  retracts: Span | null = null;
  constructor(readonly clock: TurnedClock) {}

  feedFor(reader: string): LiveSource {
    return {
      name: 'perps.numbers',
      continues: null,
      gates: true,
      poll_ms: 20,
      begin: () => ({ next: 0 }),
      head: ({ now }) => Promise.resolve(now()),
      update: (cursor, to) => this.steps(reader, (cursor as { next: number }).next, to),
      invalidate: async (client, { from, to }) =>
        (await client.query('DELETE FROM number_fact WHERE number >= $1 AND number < $2', [secondOf(from), secondOf(to)])).rowCount ?? 0,
    };
  }

  private async *steps(reader: string, next: number, to: Date): AsyncGenerator<LiveStep> {
    await Promise.resolve();
    this.asked.push(reader);
    const [invalidates, failing] = [this.retracts ?? undefined, this.failing];
    this.retracts = null;
    if (failing !== null) throw failing;
    for (let n = next; n <= secondOf(to); n += 1)
      yield { pages: [{ source: numbers, page: pageOf(String(n), 'json', [n]) }], cursor: { next: n + 1 }, watermark: second(n) };
    yield { pages: [], cursor: { next: secondOf(to) + 1 }, watermark: to, skipped: { odd: 1 }, ...(invalidates && { invalidates }) };
  }
}

const secondOf = (at: Date): number => Math.floor((at.getTime() - second(0).getTime()) / 1_000);

describe('the runner', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let upstream: Counting;
  let started: ReturnType<typeof runnerOf>[];
  beforeEach(async () => {
    started = [];
    // Nobody waits long for the next attempt at an upstream that fails.
    jest.spyOn(Math, 'random').mockReturnValue(0.05);
    db = await testDatabase();
    await db.pool.query('CREATE TABLE number_fact (number int PRIMARY KEY); CREATE TABLE number_total AS SELECT 0 AS total');
    upstream = new Counting(new TurnedClock(second(3)));
  });
  afterEach(async () => {
    await Promise.all(started.map((each) => each.stop()));
    jest.restoreAllMocks();
    await db.drop();
  });

  const kept = async (): Promise<number[]> =>
    (await db.pool.query<{ number: number }>('SELECT number FROM number_fact ORDER BY 1')).rows.map(({ number }) => number);
  const feed = async () => (await listFeeds(db.pool))[0];
  const readTo = (n: number): Promise<void> => until(async () => ((await feed())?.watermark ?? 0) >= second(n), `read to ${n}`);
  const runner = (name: string, figures = undefined as Parameters<typeof runnerOf>[4]) => {
    const made = runnerOf(db.pool, 'perps', [upstream.feedFor(name)], upstream.clock, figures);
    started.push(made);
    return made;
  };

  /** Waits until no turn is held: PostgreSQL hears a moment later that a connection has been left. */
  const letGo = (): Promise<void> => until(async () => (await db.pool.query(`SELECT ${HELD_TURNS}`)).rowCount === 0, 'let go of');

  test('reads on from its cursor, counts, and moves the mark of a quiet feed', async () => {
    const seen: number[] = [];
    const one = runner('one', { loaded: () => undefined, failed: () => undefined, visible: (_, seconds) => void seen.push(seconds) });
    one.start();
    await readTo(3);
    upstream.clock.turnTo(second(5));
    await readTo(5);
    await one.stop();
    await letGo();
    expect(await kept()).toEqual([0, 1, 2, 3, 4, 5]);
    const row = await feed();
    expect(row).toMatchObject({ feed: 'perps.numbers', at: { next: 6 }, totals: { inserted: 6, duplicates: 0 }, failure: null });
    expect(row?.totals.read).toBe(6 + (row?.totals.skipped.odd ?? 0));
    expect(seen).toHaveLength(6);
    expect((await db.pool.query('SELECT total FROM number_total')).rows).toEqual([{ total: 6 }]);
    expect(row?.lag).toMatchObject({ events: 6 });

    const polls = upstream.asked.length;
    const two = runner('two');
    two.start();
    await until(async () => upstream.asked.length > polls + 2, 'polled again');
    await two.stop();
    expect(await kept()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await feed()).toMatchObject({ last_event_at: second(5), totals: { inserted: 6 } });
  });

  test('two of them never read one venue at once; the second takes over when the first is gone', async () => {
    const [one, two] = [runner('one'), runner('two')];
    one.start();
    await readTo(3);
    two.start();
    await until(async () => upstream.asked.length > 5, 'a few polls');
    expect(new Set(upstream.asked)).toEqual(new Set(['one']));
    await one.stop();
    upstream.clock.turnTo(second(6));
    await readTo(6);
    await two.stop();
    expect(upstream.asked.at(-1)).toBe('two');
    expect(await kept()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('once a newer version has migrated the database, nothing is read by an older one; who reads may be as old as the database', async () => {
    const said: unknown[] = [];
    const logger = { warn: (about: object, words: string) => void said.push([words, about]) } as unknown as Logger;
    const one = runnerOf(db.pool, 'perps', [upstream.feedFor('one')], upstream.clock, undefined, undefined, logger);
    started.push(one);
    one.start();
    await readTo(3);
    await db.pool.query(
      "INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES (gen_random_uuid(), '', '9_newer', now())",
    );
    upstream.clock.turnTo(second(6));
    await letGo();
    expect(await kept()).toEqual([0, 1, 2, 3]);
    expect((await feed())?.failure).toBeNull();
    expect(said).toEqual([
      ['live feeds are left to newer processes', expect.objectContaining({ venue: 'perps', migrations: ['9_newer'] })],
    ]);
    await db.pool.query("DELETE FROM _prisma_migrations WHERE migration_name = '9_newer'");
    runner('two').start();
    await readTo(6);
    expect(upstream.asked.at(-1)).toBe('two');
  });

  test('a lock that is lost with its connection ends the turn; the feed is read on in the next', async () => {
    const one = runner('one');
    one.start();
    await readTo(3);
    await db.pool.query(`SELECT pg_terminate_backend(pid) ${HELD_TURNS}`);
    upstream.clock.turnTo(second(8));
    await readTo(8);
    await one.stop();
    expect(await kept()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('a step keeps migrations and other writers waiting; one that stands still is taken back, and holds nobody up', async () => {
    const real = upstream.feedFor('one');
    let [steps, kept_waiting, alone] = [0, 0, 0];
    /** Whether another writer of the venue's could have its turn now. */
    const isFree = async (): Promise<unknown> =>
      Object.values((await db.pool.query<object>(writersTurn('perps').replace('pg_advisory', 'pg_try_advisory'))).rows[0] ?? {})[0];
    let goOn = (): void => undefined;
    const stands = new Promise<void>((resolve) => (goOn = resolve));
    const standing: RecordedSource = {
      ...numbers,
      load: async (page, client, options) => {
        const report = await numbers.load(page, client, options);
        kept_waiting += (await client.query(MIGRATIONS_WAIT)).rowCount ?? 0;
        alone += (await isFree()) === false ? 1 : 0;
        if ((steps += 1) === 2) await stands;
        return report;
      },
    };
    async function* slow(cursor: unknown, to: Date): AsyncGenerator<LiveStep> {
      for await (const step of real.update(cursor as never, to, {} as never))
        yield { ...step, pages: step.pages.map(({ page }) => ({ source: standing, page })) };
    }
    const one = runnerOf(db.pool, 'perps', [{ ...real, update: slow }], upstream.clock, undefined, 500);
    started.push(one);
    one.start();
    await until(() => Promise.resolve(steps === 2), 'a step that stands still');
    // It stands still until here: whoever writes for the venue has its turn all the same.
    await db.pool.query(writersTurn('perps'));
    expect(await kept()).toEqual([0]);
    goOn();
    await readTo(3);
    expect(await kept()).toEqual([0, 1, 2, 3]);
    expect([kept_waiting, alone]).toEqual([steps, steps]);
    await one.stop();
    // Nor does anything go on asking that kept the turn.
    const asked = jest.spyOn(Connection.prototype, 'query');
    await pause(150);
    expect(asked).not.toHaveBeenCalled();
    asked.mockRestore();
  });

  test('who does not know the last step writes nothing', async () => {
    const one = runner('one');
    one.start();
    await readTo(3);
    await one.stop();
    const two = runner('two');
    const real = upstream.feedFor('two');
    const behind = runnerOf(
      db.pool,
      'perps',
      [{ ...real, update: (cursor, to) => overtaken(real.update(cursor, to, {} as never)) }],
      upstream.clock,
    );
    /** Between asking and writing somebody else takes a step. */
    async function* overtaken(steps: AsyncIterable<LiveStep>): AsyncGenerator<LiveStep> {
      await db.pool.query(STEP_OF_ANOTHER);
      yield* steps;
    }
    upstream.clock.turnTo(second(9));
    behind.start();
    await until(async () => upstream.asked.filter((name) => name === 'two').length > 1, 'tried twice');
    await behind.stop();
    expect(await kept()).toEqual([0, 1, 2, 3]);
    // The feed itself can be read: it is another's.
    expect((await feed())?.failure).toBeNull();
    two.start();
    await readTo(9);
    await two.stop();
    expect(await kept()).toHaveLength(10);
  });

  test('who is overtaken at one feed leaves off reading the others too, before its next turn', async () => {
    const real = upstream.feedFor('one');
    let [tries, turns, reading, most] = [0, 0, 0, 0];
    const other: LiveSource = {
      ...real,
      name: 'perps.others',
      async *update(_cursor, _head, { signal }) {
        turns += 1;
        most = Math.max(most, (reading += 1));
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        reading -= 1;
        yield* [];
      },
    };
    async function* overtaken(cursor: unknown, to: Date): AsyncGenerator<LiveStep> {
      await until(async () => turns > 0, 'the other one is read');
      if ((tries += 1) === 1) await db.pool.query(STEP_OF_ANOTHER);
      yield* real.update(cursor as never, to, {} as never);
    }
    const one = runnerOf(db.pool, 'perps', [{ ...real, update: overtaken }, other], upstream.clock);
    started.push(one);
    one.start();
    await readTo(3);
    await one.stop();
    expect([turns, most]).toEqual([2, 1]);
    expect((await listFeeds(db.pool)).map(({ feed, failure }) => [feed, failure])).toEqual([
      ['perps.numbers', null],
      ['perps.others', null],
    ]);
  });

  test('a failure is told in our own words, without what may be secret, and forgotten at the next success', async () => {
    const long = ' and so on'.repeat(50);
    upstream.failing = Object.assign(new Error(`connect to http://user:secret@host:1/path?key=secret refused${long}`), {
      code: 'ECONNREFUSED',
    });
    const words = `Error ECONNREFUSED: ${`connect to <url> refused${long}`.slice(0, 300)}`;
    const said: unknown[] = [];
    const warn = ({ reason, untold }: Record<string, unknown>): void => void said.push([reason, untold]);
    let failures = 0;
    const figures = { ...noFigures, failed: () => void (failures += 1) };
    const one = runnerOf(db.pool, 'perps', [upstream.feedFor('one')], upstream.clock, figures, undefined, { warn } as unknown as Logger);
    started.push(one);
    one.start();
    await until(async () => (await feed())?.failure?.words !== undefined, 'a failure');
    expect((await feed())?.failure?.words).toBe(words);
    expect((await feed())?.totals.inserted).toBe(0);
    const since = (await feed())?.failure?.since;
    upstream.clock.turnTo(second(4));
    upstream.failing = new UpstreamError('host/path answered 500', 500);
    await until(async () => (await feed())?.failure?.words === 'host/path answered 500', 'the next failure');
    expect((await feed())?.failure).toMatchObject({ at: second(4).toISOString(), since });
    expect(since).toBe(second(3).toISOString());
    const before = failures;
    upstream.failing = new UpstreamError('host/other answered 500', 500);
    await until(async () => failures >= before + 2, 'two more of them, of whatever is asked for');
    // Whoever watches is told of one that goes on once in ten minutes: /health and the figures tell of each.
    expect(said).toEqual([
      [words, 0],
      ['host/path answered 500', 0],
    ]);
    upstream.failing = null;
    await readTo(4);
    await until(async () => (await feed())?.failure === null, 'no failure');
    await one.stop();
    expect(await kept()).toEqual([0, 1, 2, 3, 4]);
  });

  test('an upstream that fails is left alone as long as it asks, else for longer each time until a poll succeeds', async () => {
    const failing = [new UpstreamError('host/path answered 429', 429, 600), new UpstreamError('host/path answered 500', 500), null, new UpstreamError('host/path answered 502', 502)]; // prettier-ignore
    const [said, times]: [unknown[], number[]] = [[], []];
    const real = upstream.feedFor('one');
    async function* steps(): AsyncGenerator<LiveStep> {
      await Promise.resolve();
      const failure = failing[times.length];
      times.push(performance.now());
      if (failure) throw failure;
      yield* [];
    }
    const logger = { warn: ({ failures, reason }: Record<string, unknown>) => void said.push([failures, reason]) } as unknown as Logger;
    // A tenth of two seconds, of four …
    jest.spyOn(Math, 'random').mockReturnValue(0.1);
    const one = runnerOf(db.pool, 'perps', [{ ...real, update: steps }], upstream.clock, undefined, undefined, logger);
    started.push(one);
    one.start();
    await until(() => Promise.resolve(said.length === 3), 'three failures');
    await one.stop();
    expect(said).toEqual([[1, 'host/path answered 429'], [2, 'host/path answered 500'], [1, 'host/path answered 502']]); // prettier-ignore
    const waited = times.slice(1).map((time, index) => time - (times[index] as number));
    expect([(waited[0] as number) >= 595, (waited[1] as number) >= 395]).toEqual([true, true]);
  });

  test('of two who take a step of a feed one waits for the other, and writes nothing; whoever began it first did', async () => {
    for (const next of [0, 9]) await beginFeed(db.pool, 'perps', 'perps.numbers', { next }, second(next));
    const row = (await feed()) as FeedRow;
    const step = { at: { next: 1 }, watermark: second(-1), report: emptyReport(), lag: NO_LAG, last_event_at: null };
    let late = Promise.resolve();
    await inTransaction(db.pool, async (client) => {
      await holdFeed(client, row);
      late = inTransaction(db.pool, async (other) => {
        await holdFeed(other, row);
        await moveFeed(other, row, { ...step, at: { next: 7 } });
      });
      late.catch(() => undefined);
      await pause(100);
      await moveFeed(client, row, step);
    });
    await expect(late).rejects.toThrow(Overtaken);
    // Nor does a step turn the mark back.
    expect([row.at, await feed()]).toMatchObject([{ next: 0 }, { at: { next: 1 }, version: 1, watermark: second(0) }]);
    const readBoth = (): Promise<Date | null> => readUntil(db.pool, ['perps.numbers', 'perps.others']);
    expect([await readUntil(db.pool, ['perps.numbers']), await readBoth()]).toEqual([second(0), null]);
    // Both have been read as far as the one that is behind.
    await beginFeed(db.pool, 'perps', 'perps.others', { next: 0 }, second(-5));
    expect(await readBoth()).toEqual(second(-5));
  });

  test('a feed of which nothing can be read any more stands still and says so; what it told meanwhile is read once it can be', async () => {
    let [renamed, polls] = [true, 0];
    const many = Array.from({ length: 30 }, (_, n) => n);
    /** Of 30 records 10 are of no interest, and the others are read unless a field has another name. */
    const changing: RecordedSource = {
      ...numbers,
      harmless: ['spot'],
      async load(page, client, options) {
        const spot = renamed || page.name === 'quiet' ? 10 : 0;
        if (!renamed && spot === 0) return numbers.load(page, client, options);
        return {
          read: 30,
          inserted: 0,
          duplicates: 0,
          skipped: page.name === 'quiet' ? { spot: 30 } : { spot, bad_size: 5, malformed: 15 },
        };
      },
    };
    async function* steps(cursor: unknown, to: Date): AsyncGenerator<LiveStep> {
      await Promise.resolve();
      polls += 1;
      const next = (cursor as { next: number }).next;
      if (next === 0) yield { pages: [{ source: changing, page: pageOf('quiet', 'json', many) }], cursor: { next: 1 }, watermark: null };
      if (next <= 1) yield { pages: [{ source: changing, page: pageOf('loud', 'json', many) }], cursor: { next: 2 }, watermark: to };
    }
    const one = runnerOf(db.pool, 'perps', [{ ...upstream.feedFor('one'), update: steps }], upstream.clock);
    started.push(one);
    one.start();
    await until(async () => polls > 1 && (await feed())?.failure?.words !== undefined, 'a failure');
    expect((await feed())?.failure?.words).toBe('perps.numbers tells nothing that can be read: of 20 records none (malformed)');
    expect(await feed()).toMatchObject({ at: { next: 1 }, totals: { read: 30, skipped: { spot: 30 } } });
    renamed = false;
    // A moment after the step itself: when its poll has ended.
    await until(async () => (await feed())?.failure === null, 'read on');
    expect([await kept(), (await feed())?.at.next]).toEqual([many, 2]);
  });

  test('nor is a feed read on whose records are in no form that can be read, a few in each step: most that were lost are read later', async () => {
    let [garbled, polls] = [true, 0];
    const real = upstream.feedFor('one');
    async function* steps(cursor: unknown, to: Date): AsyncGenerator<LiveStep> {
      await Promise.resolve();
      polls += 1;
      const { next } = cursor as { next: number };
      const records = Array.from({ length: 8 }, (_, n) => 8 * next + n);
      if (garbled) yield { pages: [], unread: { unreadable: 8 }, cursor: { next: next + 1 }, watermark: null };
      else yield { pages: [{ source: numbers, page: pageOf(String(next), 'json', records) }], cursor: { next: next + 1 }, watermark: to };
    }
    const one = runnerOf(db.pool, 'perps', [{ ...real, update: steps }], upstream.clock);
    started.push(one);
    one.start();
    await until(async () => (await feed())?.failure?.words !== undefined, 'a failure');
    const seen = polls;
    await until(async () => polls > seen, 'another poll');
    expect((await feed())?.failure?.words).toBe('perps.numbers tells nothing that can be read: of 24 records none (unreadable)');
    expect(await feed()).toMatchObject({ at: { next: 2 }, totals: { read: 16, skipped: { unreadable: 16 } } });
    garbled = false;
    await until(async () => ((await feed())?.at.next as number) > 2 && (await feed())?.failure === null, 'read on');
    expect((await kept()).slice(0, 2)).toEqual([16, 17]);
  });

  test('a step before a poll fails forgets no failure, nor since when', async () => {
    let [polls, broken] = [0, true];
    const real = upstream.feedFor('one');
    async function* steps(): AsyncGenerator<LiveStep> {
      await Promise.resolve();
      polls += 1;
      yield { pages: [], cursor: { next: polls }, watermark: null };
      if (broken) throw new UpstreamError('host/path answered 500', 500);
    }
    const one = runnerOf(db.pool, 'perps', [{ ...real, update: steps }], upstream.clock);
    started.push(one);
    one.start();
    await until(async () => (await feed())?.failure?.words !== undefined, 'a failure');
    upstream.clock.turnTo(second(9));
    await until(async () => (await feed())?.failure?.at === second(9).toISOString(), 'the next failure');
    expect((await feed())?.failure?.since).toBe(second(3).toISOString());
    broken = false;
    await until(async () => (await feed())?.failure === null, 'no failure');
    // Nor does a step that tells no mark move the one from which a feed begins that continues no recording: a day before.
    expect((await feed())?.watermark).toEqual(second(3 - 86_400));
  });

  test('a success that brings nothing forgets the failure before it, too', async () => {
    const real = upstream.feedFor('one');
    let polls = 0;
    async function* quiet(): AsyncGenerator<LiveStep> {
      await Promise.resolve();
      polls += 1;
      if (polls === 1) throw new UpstreamError('host/path answered 500', 500);
      yield* [];
    }
    const one = runnerOf(db.pool, 'perps', [{ ...real, update: quiet }], upstream.clock);
    started.push(one);
    one.start();
    await until(async () => polls > 2, 'polled again');
    expect((await feed())?.failure).toBeNull();
  });

  test('who is stopped takes no further step, and what it was about is no failure', async () => {
    const real = upstream.feedFor('one');
    let asking = false;
    async function* steps(cursor: unknown, _to: Date, { signal }: Parameters<LiveSource['update']>[2]): AsyncGenerator<LiveStep> {
      if ((cursor as { next: number }).next === 0)
        for (let next = 1; next <= 500; next += 1) yield { pages: [], cursor: { next }, watermark: null };
      asking = true;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal.throwIfAborted();
    }
    const run = async (begun: () => Promise<boolean>): Promise<void> => {
      const one = runnerOf(db.pool, 'perps', [{ ...real, update: steps }], upstream.clock);
      one.start();
      await until(begun, 'begun');
      await one.stop();
    };
    await run(async () => ((await feed())?.version ?? 0) > 0);
    expect([asking, (await feed())?.version === 500]).toEqual([false, false]);
    await run(() => Promise.resolve(asking));
    expect((await feed())?.failure).toBeNull();
  });

  test('a mark that is ahead by no more than clocks differ stays where it is', async () => {
    await beginFeed(db.pool, 'perps', 'perps.numbers', { next: 7 }, second(63));
    const cursors: unknown[] = [];
    async function* steps(cursor: unknown): AsyncGenerator<LiveStep> {
      await Promise.resolve();
      cursors.push(cursor);
      yield* [];
    }
    const one = runnerOf(db.pool, 'perps', [{ ...upstream.feedFor('one'), update: steps }], upstream.clock);
    started.push(one);
    one.start();
    await until(() => Promise.resolve(cursors.length > 0), 'a poll');
    upstream.clock.turnTo(new Date(second(3).getTime() - 1));
    await until(() => Promise.resolve(JSON.stringify(cursors.at(-1)) === '{"next":0}'), 'begun anew', 10_000);
    expect(cursors[0]).toEqual({ next: 7 });
  });

  test('events of the future move no mark beyond now; nor does a feed begin there', async () => {
    await db.pool.query(
      "INSERT INTO source_cursor (source, venue, cursor, watermark) VALUES ('perps.recorded', 'perps', '{}', '2099-01-01T00:00:00Z')",
    );
    const begun: Date[] = [];
    const real = upstream.feedFor('one');
    async function* ahead(): AsyncGenerator<LiveStep> {
      await Promise.resolve();
      const pages = [{ source: numbers, page: pageOf('8', 'json', [8]) }];
      yield { pages, cursor: { next: 9 }, watermark: new Date('2099-01-01T00:00:00Z') };
    }
    const begin = (from: Date) => (begun.push(from), { next: 0 });
    const took: number[] = [];
    const figures = { ...noFigures, visible: (_: string, seconds: number) => void took.push(seconds) };
    const one = runnerOf(db.pool, 'perps', [{ ...real, continues: 'perps.recorded', begin, update: ahead }], upstream.clock, figures);
    started.push(one);
    one.start();
    await until(async () => (await feed())?.at.next === 9, 'a step');
    expect(begun).toEqual([second(3)]);
    expect((await feed())?.watermark).toEqual(second(3));
    await one.stop();
    // Nor did anything take less than no time to be seen.
    expect(took).toEqual([0]);
    // Begun anew, for its mark is ahead, it goes on from now, though its newest event is ahead as well.
    await db.pool.query("UPDATE source_cursor SET watermark = '2099-01-01T00:00:00Z' WHERE source = 'live.perps.numbers'");
    const again = runnerOf(db.pool, 'perps', [{ ...real, begin, update: ahead }], upstream.clock);
    started.push(again);
    again.start();
    await until(async () => begun.length === 2, 'begun anew');
    expect(begun.at(-1)).toEqual(second(3));
  });

  test('a clock that ran ahead and is set right leaves no gap, and no mark beyond what was read', async () => {
    let happened = 3;
    async function* truly(cursor: unknown, to: Date): AsyncGenerator<LiveStep> {
      await Promise.resolve();
      const news = Array.from({ length: 11 }, (_, n) => n).filter((n) => n >= (cursor as { next: number }).next && n <= happened);
      const pages = news.length === 0 ? [] : [{ source: numbers, page: pageOf(String(news[0]), 'json', news) }];
      yield { pages, cursor: { next: secondOf(to) + 1 }, watermark: to };
    }
    const begun: Date[] = [];
    const begin = (from: Date) => (begun.push(from), { next: secondOf(from) });
    const one = runnerOf(db.pool, 'perps', [{ ...upstream.feedFor('one'), begin, update: truly }], upstream.clock);
    started.push(one);
    upstream.clock.turnTo(second(3_600));
    one.start();
    await readTo(3_600);
    happened = 10;
    upstream.clock.turnTo(second(10));
    await until(async () => (await kept()).length === 11, 'what came meanwhile is in', 30_000);
    await until(async () => (await feed())?.watermark?.getTime() === second(10).getTime(), 'the mark is now', 30_000);
    // A day back where nothing was recorded, then from the newest that is in.
    expect(begun).toEqual([second(3_600 - 86_400), second(3)]);
  });

  test('what the upstream takes back goes in the step that says so', async () => {
    const one = runner('one');
    one.start();
    await readTo(3);
    upstream.retracts = { from: second(1), to: second(3) };
    await until(async () => (await kept()).length === 2, 'two taken back');
    await one.stop();
    expect(await kept()).toEqual([0, 3]);
    upstream.retracts = { from: second(0), to: second(1) };
    const { invalidate: _, ...unable } = upstream.feedFor('two');
    const two = runnerOf(db.pool, 'perps', [unable], upstream.clock);
    started.push(two);
    two.start();
    await until(async () => (await feed())?.failure?.words === 'Error: perps.numbers cannot take anything back.', 'a failure');
  });
});
