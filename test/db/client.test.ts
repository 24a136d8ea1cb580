import { getMaxListeners, setMaxListeners } from 'node:events';
import net, { type Socket } from 'node:net';
import os from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { buildSchema, parse } from 'graphql';
import { DatabaseError, type Pool } from 'pg';
import { runUntil } from '../../src/db/cancel';
import { openDatabase } from '../../src/db/client';
import { copyRows } from '../../src/db/copy';
import { migrate, migrationsOf } from '../../src/db/migrate';
import { makeMonthsAhead } from '../../src/db/months-ahead';
import { makePool, openPool, poolUntil } from '../../src/db/pool';
import { isAnswer } from '../../src/db/reach';
import { sqlOver } from '../../src/db/sql';
import { LONG_WORK, inTransaction } from '../../src/db/transaction';
import { AppError } from '../../src/errors';
import { compile } from '../../src/graph/execute';
import type { GraphContext } from '../../src/venues/venue';
import { testDatabase } from '../support/database';
import { until } from '../support/feeds';
import { ROOT } from '../support/root';

/** What PgBouncer does in its session mode: refuses settings at the start of a connection, and names a process that is not the server's. */
async function startPooler(url: string): Promise<{ url: string; stop(): Promise<unknown> }> {
  const { hostname, port } = new URL(url);
  const server = net.createServer((client) => {
    client.once('data', (start) => {
      if (/options|statement_timeout/.test(start.toString())) return void client.destroy();
      const upstream = net.connect(Number(port), hostname);
      upstream.on('data', (told) => {
        const key = told.indexOf(Buffer.from('K\0\0\0'));
        if (key >= 0) told.writeUInt32BE(4_000_000, key + 5);
        client.write(told);
      });
      upstream.on('close', () => client.destroy()).write(start);
      client.on('data', (asked) => upstream.write(asked)).on('close', () => upstream.destroy());
    });
    client.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = new URL(url);
  address.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  return { url: address.href, stop: () => new Promise((resolve) => server.close(resolve)) };
}

describe('the database client', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.drop());

  /** The statements that sleep in this database: others of the server belong to test files that run beside this one. */
  const asleep = async (): Promise<string[]> => {
    const { rows } = await db.keyed.query<{ query: string }>(
      "SELECT query FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active' AND datname = current_database()",
    );
    return rows.map(({ query }) => query);
  };
  /** Those that go on sleeping though their end is waited for, not as long as any of them would sleep. */
  const stillAsleep = async (): Promise<string[]> => {
    for (let tries = 0; tries < 100 && (await asleep()).length > 0; tries += 1) await pause(100);
    return asleep();
  };

  test.each([
    [true, 'lesser'],
    [false, 'usual'],
  ])('what yields (%s) is worked for with the %s claim to the processor', async (yields) => {
    const own = await openDatabase(db.url, { max: 2, yields });
    const priorityOf = async (pool: Pool): Promise<number> => {
      const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid, pg_sleep(0.05)');
      return os.getPriority(rows[0]?.pid);
    };
    const usual = await priorityOf(db.pool);
    const priorities = await Promise.all([own.pool, own.pool, own.keyed].map(priorityOf));
    await own.close();
    // Whoever runs the tests may do so with a lesser claim already (`nice npm test`).
    expect(priorities).toEqual(Array(3).fill(yields ? Math.max(10, usual) : usual));
  });

  test('who waits for a connection when its pool ends is told so; who has one keeps it until it is given back', async () => {
    const pool = await openPool(db.url, { max: 1 });
    const held = await pool.connect();
    const waiting = [pool.query('SELECT 1'), pool.connect()];
    const ended = pool.end();
    for (const one of waiting) await expect(one).rejects.toThrow('The pool of connections ended');
    expect((await held.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    held.release();
    await ended;
    await expect(pool.query('SELECT 1')).rejects.toThrow('after calling end');
    // One that is being made is closed as soon as it is there.
    const making = makePool(db.url, { max: 1 });
    const asked = making.connect();
    const over = making.end();
    await expect(asked).rejects.toThrow('The pool of connections ended');
    await over;
  });

  test('instants are read as they were written, to the millisecond', async () => {
    const written = [
      '2026-02-28T23:59:59.7Z',
      '2026-03-01T00:00:00Z',
      '1969-12-31T23:59:59.123999Z',
      '1999-12-31T23:59:59Z',
      '2026-02-01T13:27:08.12Z',
      '2026-02-01T13:27:08.057Z',
      '2026-02-01T13:27:08.999Z',
      '2028-02-29T01:02:03Z',
      '0999-10-20T21:43:54Z',
      '0044-03-15T12:00:00Z',
      '12026-01-01T00:00:00Z',
    ];
    const { rows } = await db.pool.query<{ at: Date; back: string }>(
      `SELECT t.at, (extract(epoch FROM date_trunc('milliseconds', t.at)) * 1000)::bigint AS back FROM unnest($1::timestamptz[]) AS t(at)`,
      [written],
    );
    expect(rows).toHaveLength(written.length);
    for (const { at, back } of rows) expect(at.getTime()).toBe(Number(back));
    const {
      rows: [end],
    } = await db.pool.query<{ at: number }>(`SELECT timestamptz 'infinity' AS at`);
    expect(end?.at).toBe(Infinity);
  });

  test('rows that are copied in come out as they were, each once, whatever their texts hold and however long they are', async () => {
    await db.pool.query('CREATE TABLE copied (id int, said text, at timestamptz, even boolean)');
    const texts = ['\\N', '\\', 'x'.repeat(70_000), 'a\tb', 'a\nb', 'a\rb', '\\t', '', 'é', null];
    const rows = texts.map((said, id) => ({ id, said, at: new Date(Date.UTC(2026, 1, 28, 23, 59, 59, id)), even: id % 2 === 0 }));
    const columns = ['id', 'said', 'at', 'even'];
    const cells = rows.map(({ id, said, at, even }) => [id, said, at, even]);
    await inTransaction(db.pool, (client) => copyRows(client, 'copied', columns, cells));
    expect((await db.pool.query('SELECT * FROM copied ORDER BY id')).rows).toEqual(rows);
  });

  test('Prisma and SQL share one pool', async () => {
    await db.prisma.source_cursor.create({ data: { source: 'prediction.trades', venue: 'prediction', cursor: {} } });
    const rows = await sqlOver(db).query({ name: 'cursors', text: 'SELECT source FROM source_cursor' }, []);
    expect(rows).toEqual([{ source: 'prediction.trades' }]);
  });

  test('times are UTC where the server believes itself elsewhere', async () => {
    const name = new URL(db.url).pathname.slice(1);
    await db.pool.query(`ALTER DATABASE ${name} SET timezone = 'America/New_York'; ALTER DATABASE ${name} SET datestyle = 'German'`);
    // An address with options of its own has those alone.
    const address = new URL(db.url);
    address.searchParams.set('options', '-c work_mem=5MB');
    const elsewhere = await openDatabase(address.href);
    const at = new Date('2026-01-01T02:00:00Z');
    try {
      await elsewhere.prisma.source_cursor.create({ data: { source: 'perps.fills', venue: 'perps', cursor: {}, watermark: at } });
      expect(await elsewhere.prisma.source_cursor.findUnique({ where: { source: 'perps.fills' } })).toMatchObject({ watermark: at });
      for (const pool of [elsewhere.pool, elsewhere.keyed])
        expect((await pool.query('SELECT $1::timestamptz::date::text AS day', [at])).rows).toEqual([{ day: '2026-01-01' }]);
    } finally {
      await elsewhere.close();
    }
  });

  test('sessions are the same, whatever their role sets by itself', async () => {
    const [role, url] = [`odd_${process.pid}`, new URL(db.url)];
    const odd = {
      idle_session_timeout: "'1s'",
      idle_in_transaction_session_timeout: "'1s'",
      lock_timeout: "'1s'",
      statement_timeout: "'1s'",
      default_transaction_isolation: 'serializable',
      extra_float_digits: '-15',
      standard_conforming_strings: 'off',
    };
    await db.pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'its'`);
    for (const [name, value] of Object.entries(odd)) await db.pool.query(`ALTER ROLE ${role} SET ${name} = ${value}`);
    [url.username, url.password] = [role, 'its'];
    const own = await openPool(url.href, { max: 1 });
    try {
      const { rows } = await own.query('SELECT current_setting(name) AS value FROM unnest($1::text[]) AS name', [Object.keys(odd)]);
      expect(rows.map(({ value }) => value)).toEqual(['0', '0', '0', '65s', 'read committed', '1', 'on']);
    } finally {
      await own.end();
      await db.pool.query(`DROP ROLE ${role}`);
    }
  });

  test('tables may stand in any schema that the search path leads to', async () => {
    const own = await testDatabase('template0');
    await own.pool.query('CREATE SCHEMA app');
    await own.pool.query(`ALTER DATABASE ${new URL(own.url).pathname.slice(1)} SET search_path = app, public`);
    await migrate(own.url, migrationsOf(ROOT));
    const there = await openDatabase(own.url);
    try {
      expect(await there.prisma.source_cursor.findMany()).toEqual([]);
      await there.pool.query("SELECT ensure_month_partitions('perp_fill', '2034-12-01', '2034-12-01')");
      expect(await makeMonthsAhead(there.pool, new Date('2035-01-01T00:00:00Z'))).toBeGreaterThan(0);
    } finally {
      await there.close();
      await own.drop();
    }
  });

  test('the server asks whether a silent client is still there, half a minute after it last said something; the client asks after ten seconds', async () => {
    const { rows } = await db.pool.query("SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp_keepalives%' ORDER BY 1");
    expect(rows.map(({ setting }) => setting)).toEqual(['3', '30', '10']);
    const keepAlive = jest.spyOn(net.Socket.prototype, 'setKeepAlive');
    await (await openPool(db.url, { max: 1 })).end();
    expect(keepAlive).toHaveBeenCalledWith(true, 10_000);
  });

  test.each([
    ['65s', {}],
    ['0', { statement_timeout_ms: 0 }],
    ['7s', { statement_timeout_ms: 7_000 }],
  ])(
    'a statement may run for %s with %j; those found by key are planned once, never to scan a table, all others each time',
    async (longest, options) => {
      const own = await openDatabase(db.url, options);
      const names = ['statement_timeout', 'plan_cache_mode', 'enable_seqscan', 'work_mem'];
      const settingsOf = async (pool: Pool): Promise<unknown> =>
        (await pool.query('SELECT array_agg(current_setting(name)) AS settings FROM unnest($1::text[]) AS name', [names])).rows[0].settings;
      const settings = [await settingsOf(own.pool), await settingsOf(own.keyed)];
      await own.close();
      expect(settings).toEqual([
        [longest, 'force_custom_plan', 'on', '32MB'],
        [longest, 'force_generic_plan', 'off', '32MB'],
      ]);
    },
  );

  test.each([
    ['says nothing', ''],
    ['lets one in and then says nothing', 'R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I'],
  ])('a server that %s is not waited for for ever', async (_, greeting) => {
    const mute = net.createServer((client) => client.on('error', () => undefined).once('data', () => client.write(greeting)));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const asked = jest.fn();
    mute.on('connection', (client) => client.on('data', asked));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const opening = openPool(`postgresql://app@127.0.0.1:${(mute.address() as net.AddressInfo).port}/postgres`, {});
      opening.catch(() => undefined);
      while (asked.mock.calls.length < (greeting === '' ? 1 : 2)) await new Promise((resolve) => setImmediate(resolve));
      jest.advanceTimersByTime(10_000);
      await expect(opening).rejects.toThrow(/cannot be reached: .*timeout/);
    } finally {
      jest.useRealTimers();
      await new Promise((resolve) => mute.close(resolve));
    }
  });

  test('what a process asked for ends soon after it was killed', async () => {
    const client = await db.pool.connect();
    client.query('SELECT pg_sleep(300)').catch(() => undefined);
    const running = async (): Promise<boolean> => (await asleep()).length === 1;
    while (!(await running())) await pause(10);
    (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
    while (await running()) await pause(100);
    client.release(true);
  });

  test('a pooler that keeps sessions may stand between', async () => {
    const pooler = await startPooler(db.url);
    const behind = await openDatabase(pooler.url, { statement_timeout_ms: 0 });
    try {
      const { rows } = await behind.pool.query("SELECT current_setting('timezone') AS zone, current_setting('plan_cache_mode') AS plans");
      expect(rows).toEqual([{ zone: 'UTC', plans: 'force_custom_plan' }]);
      const abort = new AbortController();
      const slow = sqlOver(behind, abort.signal).query({ name: 'slow', text: 'SELECT pg_sleep(20)' }, []);
      setTimeout(() => abort.abort(new Error('deadline')), 100);
      await expect(slow).rejects.toThrow('deadline');
    } finally {
      await behind.close();
      await pooler.stop();
    }
  });

  test.each([
    ['23505', 'FEHLER', true],
    ['57014', 'ERREUR', true],
    ['57P01', 'FATAL', false],
    ['53300', 'KATASTROFALNY', false],
    ['53100', 'ERROR', false],
    ['58030', 'ERROR', false],
    ['25006', 'ERROR', false],
    ['40001', 'ERROR', false],
    ['40P01', 'ERROR', false],
    ['XX000', 'ERROR', true],
  ])('error %s is an answer in any language the server speaks: %s', (code, severity, answer) => {
    expect(isAnswer(Object.assign(new DatabaseError('…', 1, 'error'), { code, severity }))).toBe(answer);
  });

  test('a server that refuses connections is away, whatever it calls the reason', async () => {
    const fields = ['SFATAL', 'CXX000', 'Mcould not write init file'].map((field) => `${field}\0`).join('');
    const full = net.createServer((client) => {
      const refusal = Buffer.from(`E....${fields}\0`);
      refusal.writeInt32BE(refusal.length - 1, 1);
      client.on('error', () => undefined).once('data', () => client.end(refusal));
    });
    await new Promise<void>((resolve) => full.listen(0, '127.0.0.1', resolve));
    const pool = makePool(`postgresql://app@127.0.0.1:${(full.address() as net.AddressInfo).port}/postgres`, {});
    const ask = () => sqlOver({ pool, keyed: pool }).query({ name: 'one', text: 'SELECT 1' }, []);
    await expect(ask()).rejects.toMatchObject({ code: 'maintenance', context: { cause: { message: 'could not write init file' } } });
    await pool.end();
    await new Promise((resolve) => full.close(resolve));
  });

  test('questions whose statement it fails by going away, and those that come then, are told to come back: over SQL and over Prisma', async () => {
    const schema = buildSchema('type Query { sql: Int, prisma: Int }');
    const { sql, prisma } = schema.getQueryType()!.getFields();
    sql!.resolve = () => sqlOver(db).query({ name: 'slow', text: 'SELECT pg_sleep(20)' }, []);
    prisma!.resolve = () => db.prisma.$queryRaw`SELECT pg_sleep(20)::text`;
    const ask = (name: string): Promise<unknown> =>
      compile(schema, parse(`{ data: ${name} }`))({}, {} as GraphContext).catch((error: unknown) => error);
    const early = Promise.all([ask('sql'), ask('prisma')]);
    while ((await asleep()).length !== 2) await pause(10);
    const reopen = await db.shut();
    const late = await Promise.all([ask('sql'), ask('prisma')]);
    await reopen();
    for (const told of [...(await early), ...late]) {
      expect(told).toBeInstanceOf(AppError);
      expect(told).toMatchObject({ code: 'maintenance', status: 503, context: { retry_after_s: 5 } });
    }
  });

  test('a kept statement to whose columns a migration has added is asked anew, and answered', async () => {
    await db.pool.query('CREATE TABLE grown AS SELECT 1 AS a');
    const ask = () => sqlOver(db).query({ name: 'grown', text: 'SELECT * FROM grown', keyed: true }, []);
    expect(await Promise.all([ask(), ask()])).toEqual([[{ a: 1 }], [{ a: 1 }]]);
    await db.pool.query('ALTER TABLE grown ADD COLUMN b int');
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(Array(3).fill([{ a: 1, b: null }]));
  });

  test('a connection that the server ends in the middle of a transaction fails its next statement, and nothing else', async () => {
    const client = await db.pool.connect();
    await client.query('BEGIN');
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const cut = new Promise((resolve) => client.once('end', resolve));
    await db.keyed.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await cut;
    await expect(client.query('SELECT 1')).rejects.toThrow();
    client.release();
    expect((await db.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  test('a connection that takes no writes is not used again: the next one may', async () => {
    const pool = await openPool(db.url, { max: 1 });
    const ending = poolUntil(pool, new AbortController().signal);
    const text = "INSERT INTO source_cursor (source, venue, cursor) VALUES ('no', 'lp', '{}')";
    for (const write of [() => inTransaction(pool, (client) => client.query(text)), () => ending.query(text)]) {
      await pool.query('SET default_transaction_read_only = on');
      await expect(write()).rejects.toMatchObject({ code: '25006' });
      await write();
      await pool.query("DELETE FROM source_cursor WHERE source = 'no'");
    }
    await pool.end();
  });

  test('who works until a signal has nothing closed that was given back before, and cancels nothing that was answered', async () => {
    const own = await openPool(db.url, { max: 1 });
    const over = new AbortController();
    await poolUntil(own, over.signal).query('SELECT 1');
    await sqlOver({ pool: own, keyed: own }, over.signal).query({ name: 'one', text: 'SELECT 1' }, []);
    const others = own.query('SELECT pg_sleep(0.5), 1 AS one');
    over.abort(new Error('over'));
    expect((await others).rows).toMatchObject([{ one: 1 }]);
    await own.end();
  });

  test('long work has no deadline, and days are those of UTC, until it ends', async () => {
    const own = await openPool(db.url, { max: 1, settings: { timezone: 'Asia/Tokyo' } });
    const settings = "SELECT current_setting('statement_timeout') AS longest, current_setting('timezone') AS zone";
    const { rows } = await inTransaction(own, (client) => client.query(settings), LONG_WORK);
    expect([...rows, ...(await own.query(settings)).rows]).toEqual([
      { longest: '0', zone: 'UTC' },
      { longest: '65s', zone: 'Asia/Tokyo' },
    ]);
    await own.end();
  });

  test('what Prisma asks with few parameters is planned once a connection, by key; with many it is not kept', async () => {
    const own = await openDatabase(db.url, { max: 1 });
    for (const sources of [['a'], ['a', 'b', 'c', 'd', 'e']])
      await own.prisma.source_cursor.findMany({ where: { source: { in: sources } } });
    const keptBy = async (pool: Pool): Promise<number | null> =>
      (await pool.query("SELECT FROM pg_prepared_statements WHERE name LIKE 'prisma_%'")).rowCount;
    const kept = [await keptBy(own.keyed), await keptBy(own.pool)];
    await own.close();
    expect(kept).toEqual([1, 0]);
    expect([own.pool, own.keyed].map(({ options, ended }) => [options.max, ended])).toEqual([[1, true], [1, true]]); // prettier-ignore
  });

  test('however many wait on a pool that ends with a signal, Node does not take them for a leak', () => {
    const { signal } = new AbortController();
    // As Node 20 has it from the start, and warns of the eleventh.
    setMaxListeners(10, signal);
    poolUntil(db.pool, signal);
    expect(getMaxListeners(signal)).toBe(Infinity);
  });

  test("an error's stack leads to who asked", async () => {
    const asking = async (): Promise<unknown> => sqlOver(db).query({ name: 'nowhere', text: 'SELECT FROM nowhere' }, []);
    const error: Error = await asking().then(
      () => new Error('answered'),
      (thrown: Error) => thrown,
    );
    expect(error.message).toBe('relation "nowhere" does not exist');
    expect(error.stack).toContain('client.test.ts');
  });

  test('an aborted query is cancelled in PostgreSQL too', async () => {
    const abort = new AbortController();
    const slow = sqlOver(db, abort.signal).query({ name: 'slow', text: 'SELECT pg_sleep(20)' }, []);
    setTimeout(() => abort.abort(new Error('deadline')), 100);
    await expect(slow).rejects.toThrow('deadline');
    expect(await stillAsleep()).toEqual([]);
    // Nor is the connection left by which it was cancelled.
    const cancels = "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_cancel_backend%' AND datname = current_database()";
    await until(async () => (await db.keyed.query(cancels)).rowCount === 0, 'it is gone', 20_000);
  });

  test('a connection whose statement was cancelled is not used again: the cancel may come late, and meet what the next one asks', async () => {
    const own = await openPool(db.url, { max: 1 });
    const backend = async (signal?: AbortSignal, sleep = 0): Promise<unknown> =>
      (await sqlOver({ pool: own, keyed: own }, signal).query({ name: 'backend', text: 'SELECT pg_backend_pid() AS pid FROM pg_sleep($1)' }, [sleep]))[0]; // prettier-ignore
    const first = await backend();
    expect(await backend()).toEqual(first);
    await expect(backend(AbortSignal.timeout(100), 20)).rejects.toThrow();
    expect(await backend()).not.toEqual(first);
    await own.end();
  });

  test("more late statements than the pool has connections are cancelled too, Prisma's as well", async () => {
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    const sql = sqlOver(db, abort.signal);
    const slow = Array.from({ length: 2 * (db.pool.options.max ?? 0) }, async (_, index) =>
      index % 2 === 0
        ? sql.query({ name: 'slower', text: 'SELECT pg_sleep(21)' }, [])
        : runUntil(abort.signal, async () => db.prisma.$queryRaw`SELECT pg_sleep(22)::text`),
    );
    setTimeout(() => abort.abort(new Error('deadline')), 300);
    for (const outcome of await Promise.allSettled(slow))
      expect(outcome).toMatchObject({ status: 'rejected', reason: new Error('deadline') });
    expect(await stillAsleep()).toEqual([]);
  });

  test("a signal of one client leaves another's statements alone", async () => {
    const abort = new AbortController();
    const late = runUntil(abort.signal, async () => db.prisma.$queryRaw`SELECT pg_sleep(20)::text`).then(
      () => 'answered',
      (error: Error) => error.message,
    );
    const others = runUntil(new AbortController().signal, async () => db.prisma.$queryRaw`SELECT pg_sleep(0.6)::text, 1 AS one`);
    const plain = db.prisma.$queryRaw`SELECT pg_sleep(0.6)::text, 2 AS two`;
    setTimeout(() => abort.abort(new Error('deadline')), 200);
    expect([await late, await others, await plain]).toMatchObject(['deadline', [{ one: 1 }], [{ two: 2 }]]);
    await expect(runUntil(abort.signal, async () => db.prisma.$queryRaw`SELECT 1`)).rejects.toThrow('deadline');
  });
});
