import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type PerpsWorld, perpsWorld } from '../../../src/sandbox/simulator/perps';
import { startPerpsUpstream } from '../../../src/sandbox/venues/perps';
import type { PretendUpstream } from '../../../src/sandbox/venues/upstream-server';
import { filesAt } from '../../../src/venues/perps/sources/hour-files';
import { perpsFeeds } from '../../../src/venues/perps/sources/live';
import { liveBlocks, pathOf } from '../../../src/venues/perps/sources/live-blocks';
import { perps } from '../../../src/venues/perps/index';
import { listFeeds } from '../../../src/workers/feed-store';
import type { LiveContext, LiveStep } from '../../../src/workers/source';
import type { Runner } from '../../../src/workers/runner';
import { testDatabase } from '../../support/database';
import { differencesOf, dumpOf } from '../../support/dump';
import { TurnedClock, runnerOf, until, untilRead } from '../../support/feeds';
import { loadAtOnce } from '../../support/world';
import { type TestDatabase } from './support';

const START = new Date('2026-03-01T00:00:00Z');
const hours = (count: number): Date => new Date(START.getTime() + count * 3_600_000);
const TABLES = ['perp_fill', 'perp_match', 'perp_coin', 'perp_trader_hour', 'perp_trader_day', 'perp_trader_life', 'perp_trader_sum', 'perp_trader_drawdown', 'perp_trader_coin_drawdown', 'perp_coin_hour', 'perp_coin_day', 'perp_coin_month', 'perp_coin_quarter', 'perp_coin_bar', 'perp_volume_hour', 'perp_trader', 'perp_round_trip', 'perp_position']; // prettier-ignore
const TUNING = { fills_ms: 50, meta_ms: 50, roles_ms: 50, roles_a_poll: 60, info_per_second: 1_000 };

const worldOf = (): PerpsWorld => perpsWorld({ seed: 4, size: 5_000, start: START });

describe('the venue read over HTTP', () => {
  const clock = new TurnedClock(hours(70.5));
  let polled: TestDatabase;
  let loaded: TestDatabase;
  let upstream: PretendUpstream;
  let runner: Runner;

  beforeAll(async () => {
    [polled, loaded] = await Promise.all([testDatabase(), testDatabase()]);
    await loadAtOnce(polled.pool, 'perps', [...worldOf().pages(START, hours(66.2))]);
    await perps.score?.(polled.pool, hours(66.2), () => undefined);
    await loadAtOnce(loaded.pool, 'perps', [...worldOf().pages(START, hours(90.3))]);
    upstream = await startPerpsUpstream({ world: worldOf(), since: hours(60), clock });
    upstream.faults.busy = 0.02;
    runner = runnerOf(polled.pool, 'perps', perpsFeeds(upstream.urls, TUNING), clock);
    runner.start();
  });

  afterAll(async () => {
    await runner.stop();
    await upstream.stop();
    await Promise.all([polled.drop(), loaded.drop()]);
  });

  test('goes on where the recording ended, hour after hour, and agrees with recorded pages to the last digit', async () => {
    await untilRead(polled.pool, ['perps.fills'], hours(70.5));
    clock.turnTo(hours(90.3));
    await untilRead(polled.pool, ['perps.fills', 'perps.meta'], hours(90.3));
    // Bounds that scores tell: only one of the two was scored.
    await polled.pool.query('DELETE FROM perp_standing; UPDATE perp_trader SET most_pnl_7d = NULL, most_pnl_30d = NULL');
    const [read, told] = await Promise.all([dumpOf(polled.pool, TABLES), dumpOf(loaded.pool, TABLES)]);
    expect(differencesOf(read, told)).toEqual({});
    expect(read.perp_fill?.length).toBeGreaterThan(400);
  });

  test('tell how long fills took to be visible', async () => {
    const fills = (await listFeeds(polled.pool)).find(({ feed }) => feed === 'perps.fills');
    expect(fills?.last_event_at).toEqual((await perps.freshness(polled.pool)).last_event_at);
    expect(fills?.lag.events).toBeGreaterThan(50);
  });

  test('asks what accounts are: the vault is told, and tagged by the next run', async () => {
    const vault = worldOf()
      .truth(hours(90))
      .find(({ role }) => role === 'vault');
    await polled.pool.query('DELETE FROM perp_role');
    await until(async () => {
      const { rows } = await polled.pool.query('SELECT 1 FROM perp_role WHERE role = $1 AND trader = $2', ['vault', vault?.trader]);
      return rows.length === 1;
    }, 'the role of the vault');
    await perps.score?.(polled.pool, hours(90.3), () => undefined);
    const { rows } = await polled.pool.query<{ trader: string }>("SELECT DISTINCT trader FROM perp_score WHERE 'vault' = ANY (tags)");
    expect(rows).toEqual([{ trader: vault?.trader }]);
  });
});

describe('hourly files', () => {
  let stopping: (() => Promise<void>) | undefined;
  afterEach(() => stopping?.());

  const block = (at: Date, number: number): string =>
    JSON.stringify({ local_time: '', block_time: at.toISOString().slice(0, -1), block_number: number, events: [] });
  const context: LiveContext = { signal: new AbortController().signal, db: undefined as never, now: () => hours(5) };

  async function read(files: Record<string, string | Buffer>, cursor: Record<string, unknown>, to = hours(5)): Promise<LiveStep[]> {
    const source = liveBlocks(
      {
        read: (path, offset, most) => {
          const file = files[path];
          return Promise.resolve(file === undefined ? null : Buffer.from(file as string).subarray(offset, offset + most));
        },
      },
      50,
    );
    const steps: LiveStep[] = [];
    for await (const step of source.update(cursor, to, context)) steps.push(step);
    return steps;
  }

  const path = (hour: number): string => `/node_fills_by_block/hourly/20260301/${hour}`;
  const begin = { hour: START.getTime(), offset: 0 };

  test('a line that is still being written is left for the next poll', async () => {
    const whole = `${block(hours(0.1), 1)}\n`;
    const [step, ...others] = await read({ [path(0)]: `${whole}{"block_ti` }, begin);
    expect(others).toEqual([]);
    expect(step).toMatchObject({ cursor: { hour: START.getTime(), offset: whole.length }, watermark: hours(0.1) });
    expect(await read({ [path(0)]: `${whole}{"block_ti` }, { ...step?.cursor })).toEqual([]);
  });

  test('the last block of an hour that is over is read, though nothing ends its line', async () => {
    const [first, last] = [`${block(hours(0.1), 1)}\n`, block(hours(0.9), 2)];
    const files = { [path(0)]: first + last, [path(1)]: `${block(hours(1.5), 3)}\n` };
    const numbers: unknown[] = [];
    const steps = await read(files, begin);
    for (const { pages } of steps)
      for (const { page } of pages)
        for await (const record of page.records) numbers.push((record as { block_number: number }).block_number);
    expect(numbers).toEqual([1, 2, 3]);
    // Who stops between its block and the next hour reads it again.
    expect(steps[1]?.cursor).toEqual({ hour: START.getTime(), offset: first.length, newest: hours(0.9).getTime() });
  });

  test('what a node that lags had not told of an hour when the next one began is read minutes later', async () => {
    const lines = [0.1, 0.8, 0.9].map((at, index) => `${block(hours(at), index)}\n`);
    const next = [1.01, 1.2].map((at, index) => `${block(hours(at), 3 + index)}\n`);
    const polls: [lagging: string, next: string, to: number][] = [
      [lines.slice(0, 1).join(''), next[0] as string, 1.02],
      [lines.join(''), next[0] as string, 1.03],
      [lines.join(''), next.join(''), 1.25],
      [lines.join(''), next.join(''), 1.26],
    ];
    let cursor: LiveStep['cursor'] = begin;
    const told: Date[][] = [];
    for (const [lagging, newer, to] of polls) {
      const steps = await read({ [path(0)]: lagging, [path(1)]: newer }, cursor, hours(to));
      told.push(steps.flatMap(({ watermark }) => watermark ?? []));
      cursor = { ...(steps.at(-1)?.cursor ?? cursor) };
    }
    expect(told).toEqual([[hours(0.1), hours(1.01)], [], [hours(0.9), hours(1.2)], []]);
    expect(cursor).toEqual({ hour: hours(1).getTime(), offset: next.join('').length, newest: hours(1.2).getTime() });
  });

  test('a node that lags is waited for: its file, which holds less than was read, is not read from its beginning', async () => {
    const lines = [0.1, 0.2, 0.25].map((at, index) => `${block(hours(at), index)}\n`);
    const [first, ...others] = await read({ [path(0)]: lines.slice(0, 2).join('') }, begin, hours(0.21));
    expect(others).toEqual([]);
    const cursor = { ...first?.cursor };
    expect(await read({ [path(0)]: lines[0] as string }, cursor, hours(0.22))).toEqual([]);
    const later = await read({ [path(0)]: lines.join('') }, cursor, hours(0.26));
    expect(later.map(({ watermark }) => watermark)).toEqual([hours(0.25)]);
    // One that comes no further was written anew.
    expect((await read({ [path(0)]: lines[0] as string }, cursor, hours(0.3))).map(({ watermark }) => watermark)).toEqual([hours(0.1)]);
  });

  test('what was written anew at the end of an hour is read though the next one has begun', async () => {
    const lines = [0.95, 0.97, 0.98].map((at, index) => `${block(hours(at), index)}\n`);
    const [step] = await read({ [path(0)]: lines.slice(0, 2).join('') }, begin, hours(0.99));
    const anew = { [path(0)]: lines[2] as string, [path(1)]: `${block(hours(1.01), 3)}\n` };
    const next = await read(anew, { ...step?.cursor }, hours(1.02));
    const later = await read(anew, { ...next.at(-1)?.cursor }, hours(1.1));
    expect(later.flatMap(({ watermark }) => watermark ?? [])).toEqual([hours(0.98)]);
  });

  test('an hour without a file is passed once a later one is there; one that is not over is not', async () => {
    const files = { [path(0)]: `${block(hours(0.1), 1)}\n`, [path(3)]: `${block(hours(3.5), 2)}\n` };
    const steps = await read(files, begin);
    expect(steps.map(({ cursor }) => cursor.hour)).toEqual([hours(0), hours(3), hours(3)].map((at) => at.getTime()));
    expect(steps.at(-1)).toMatchObject({ watermark: hours(3.5) });
    expect(await read({}, begin)).toEqual([]);
  });

  test.each(['', '{"error":"maintenance"}', 'Service unavailable\n'])(
    '%j in place of files, as though all were well: no hour is passed',
    async (words) => {
      const first = `${block(hours(0.1), 1)}\n`;
      const away = Object.fromEntries([0, 1, 2, 3, 4, 5].map((hour) => [path(hour), words]));
      const steps = await read(away, { ...begin, offset: first.length });
      expect(steps.filter(({ cursor }) => cursor.hour !== START.getTime())).toEqual([]);
      // What was written is read when it is told again.
      const files = { ...away, [path(0)]: first + `${block(hours(0.2), 2)}\n`, [path(1)]: `${block(hours(1.1), 3)}\n` };
      const later = await read(files, { ...(steps.at(-1)?.cursor ?? { ...begin, offset: first.length }) });
      expect(later.flatMap(({ watermark }) => watermark ?? [])).toEqual([hours(0.2), hours(1.1)]);
    },
  );

  test('hours that a node was off for days are passed, though the last file before them is still there', async () => {
    const file = (hour: number): [string, string] => [pathOf(hours(hour).getTime()), `${block(hours(hour + 0.5), hour)}\n`];
    const files = Object.fromEntries([file(0), file(71)]);
    const cursor = { hour: START.getTime(), offset: file(0)[1].length };
    // While it is off it may still write what it has missed.
    expect(await read(Object.fromEntries([file(0)]), cursor, hours(72))).toEqual([]);
    expect(await read({}, cursor, hours(72))).toEqual([]);
    for (const there of [files, Object.fromEntries([file(71)])])
      expect((await read(there, cursor, hours(72))).at(-1)).toMatchObject({
        cursor: { hour: hours(71).getTime() },
        watermark: hours(71.5),
      });
  });

  test.each([
    ['is shorter than what was read of it', (lines: string[]) => lines.slice(0, 1)],
    ['has other lines', ([first = '', ...others]: string[]) => [`${first}   `, ...others]],
  ])('a file that was written anew, and %s, is read from its beginning', async (_, anew) => {
    const lines = [0.1, 0.2, 0.3].map((at, index) => block(hours(at), index));
    const whole = lines.map((line) => `${line}\n`).join('');
    const cursor = { hour: START.getTime(), offset: whole.length };
    expect(await read({ [path(0)]: whole }, cursor)).toEqual([]);
    const other = [...anew(lines), block(hours(0.4), 3)].map((line) => `${line}\n`).join('');
    const [step, ...others] = await read({ [path(0)]: other }, cursor);
    expect(others).toEqual([]);
    expect(step).toMatchObject({ cursor: { offset: other.length }, watermark: hours(0.4) });
    expect(step?.unread).toEqual({});
  });

  test('a poll of a file that grows with every look ends', async () => {
    const growing: Record<string, string> = { [path(5)]: '' };
    let looks = 0;
    const source = liveBlocks(
      {
        read: (file, offset, most) => {
          if (file !== path(5)) return Promise.resolve(null);
          growing[file] += `${block(hours(5), (looks += 1))}\n`;
          return Promise.resolve(Buffer.from(growing[file] ?? '').subarray(offset, offset + most));
        },
      },
      50,
    );
    const steps: LiveStep[] = [];
    for await (const step of source.update({ hour: hours(5).getTime(), offset: 0 }, hours(5.5), context)) steps.push(step);
    expect(steps).toHaveLength(1);
  });

  test('a line that is no JSON is skipped and counted; the others are read', async () => {
    const [step] = await read({ [path(0)]: `nonsense\n${block(hours(0.2), 1)}\n` }, begin);
    expect(step).toMatchObject({ unread: { unreadable: 1 }, watermark: hours(0.2) });
    expect(step?.pages).toHaveLength(1);
  });

  test('bytes that are no text are counted as the bytes they are: what follows them is read whole', async () => {
    const file = Buffer.concat([Buffer.from([0x22, 0xff, 0xfe, 0xf0, 0x22, 0x0a]), Buffer.from(`${block(hours(0.2), 1)}\n`)]);
    const steps = await read({ [path(0)]: file }, begin);
    expect(steps.at(-1)).toMatchObject({ cursor: { offset: file.length }, watermark: hours(0.2) });
  });

  test('a block longer than a piece is read in one longer piece; what never ends is told', async () => {
    const long = JSON.stringify({ ...(JSON.parse(block(hours(0.2), 1)) as object), note: 'x'.repeat(5_000_000) });
    const steps = await read({ [path(0)]: `${long}\n${block(hours(0.3), 2)}\n` }, begin);
    expect(steps.at(-1)).toMatchObject({ watermark: hours(0.3) });
    await expect(read({ [path(0)]: Buffer.alloc(70_000_000, 'x') }, begin)).rejects.toThrow('has a line longer than');
  });

  test('a line longer than a piece that nothing ends yet is left for the next poll, and read once its hour is over', async () => {
    const [first, long] = [
      `${block(hours(0.1), 1)}\n`,
      JSON.stringify({ ...(JSON.parse(block(hours(0.9), 2)) as object), note: 'x'.repeat(5_000_000) }),
    ];
    const open = await read({ [path(0)]: first + long }, begin);
    expect(open.at(-1)).toMatchObject({ cursor: { offset: first.length }, watermark: hours(0.1) });
    expect(await read({ [path(0)]: first + long }, { ...open.at(-1)?.cursor })).toEqual([]);
    const steps = await read({ [path(0)]: first + long, [path(1)]: `${block(hours(1.5), 3)}\n` }, begin);
    expect(steps.flatMap(({ watermark }) => watermark ?? [])).toEqual([hours(0.1), hours(0.9), hours(1.5)]);
  });

  test('a pretended node that was started again has the same bytes, whenever it was asked', async () => {
    const clock = new TurnedClock(hours(29.1));
    const path = pathOf(hours(29).getTime());
    const written = async (since: Date, asked: readonly number[]): Promise<string> => {
      const upstream = await startPerpsUpstream({ world: worldOf(), since, clock });
      let whole: Buffer | null = null;
      for (const hour of asked) {
        clock.turnTo(hours(hour));
        whole = await filesAt(upstream.urls.archive ?? '').read(path, 0, 1e7, context.signal);
      }
      await upstream.stop();
      return whole?.toString('utf8') ?? '';
    };
    const first = await written(hours(28), [28.9, 29.1, 29.1003, 29.37, 29.8]);
    const second = await written(hours(29.5), [29.9]);
    expect(first.length).toBeGreaterThan(10_000);
    expect(second.slice(0, first.length)).toBe(first);
  });

  test('a web page in place of a file is no file: nothing is read, nor passed over', async () => {
    const server = http.createServer((_request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8').end('<html>\nBack soon\n</html>\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stopping = () => new Promise((resolve) => void server.close(() => resolve()));
    const files = filesAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const steps = liveBlocks(files, 50).update(begin, hours(5), context)[Symbol.asyncIterator]();
    await expect(steps.next()).rejects.toThrow(`${path(0)} answered a web page`);
  });

  test('a server that asks to be left alone for a second is', async () => {
    const asked: number[] = [];
    const server = http.createServer((_request, response) => {
      asked.push(performance.now());
      if (asked.length === 1) response.writeHead(429, { 'retry-after': '1' }).end();
      else response.writeHead(206).end('a line\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stopping = () => new Promise((resolve) => void server.close(() => resolve()));
    const files = filesAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(String(await files.read('/hour', 0, 50, context.signal))).toBe('a line\n');
    expect(asked).toHaveLength(2);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test('a server that knows no ranges, has no file, or fails', async () => {
    const upstream = await startPerpsUpstream({ world: worldOf(), since: START, clock: new TurnedClock(hours(30.5)) });
    stopping = () => upstream.stop();
    const [full, none] = [pathOf(hours(29).getTime()), pathOf(hours(31).getTime())];
    const { archive = '' } = upstream.urls;
    const files = filesAt(archive);
    const first = await files.read(full, 0, 100, context.signal);
    expect(first).toHaveLength(100);
    expect(await files.read(full, 100, 50, context.signal)).toEqual((await files.read(full, 0, 150, context.signal))?.subarray(100));
    expect(await files.read(full, 1e9, 50, context.signal)).toEqual(Buffer.alloc(0));
    expect(await files.read(none, 0, 50, context.signal)).toBeNull();
    upstream.faults.down = true;
    await expect(files.read(full, 0, 50, context.signal)).rejects.toMatchObject({ name: 'UpstreamError', status: 503 });
    await upstream.stop();
    await expect(files.read(full, 0, 50, context.signal)).rejects.toMatchObject({ name: 'UpstreamError', status: null });
  });
});

test('accounts whose role nobody knows are passed over: those after them are asked', async () => {
  const api = http.createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      const { user } = JSON.parse(text) as { user: string };
      if (user === accounts[0]) response.writeHead(422).end();
      else response.end(JSON.stringify({ role: user === accounts[1] ? 'somethingNew' : 'user' }));
    });
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const accounts = [1, 2, 3, 4].map((n) => `0x${String(n).padStart(40, '0')}`);
  const asked = async (...[, [limit, offset]]: [string, [number, number]]): Promise<unknown> => ({
    rows: await Promise.resolve(accounts.slice(offset, offset + limit).map((trader) => ({ trader }))),
  });
  const info = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const tuning = { fills_ms: 50, meta_ms: 50, roles_ms: 50, roles_a_poll: 2, info_per_second: 1_000 };
  const roles = perpsFeeds({ archive: 'http://127.0.0.1:1', info }, tuning)[2];
  const context = { signal: new AbortController().signal, db: { query: asked }, now: () => hours(5) } as unknown as LiveContext;
  const steps: LiveStep[] = [];
  for (let cursor = roles?.begin(START) ?? {}; steps.length < 3; cursor = steps.at(-1)?.cursor ?? {})
    for await (const step of roles?.update(cursor, hours(5), context) ?? []) steps.push(step);
  expect(steps.map(({ cursor, skipped }) => [cursor.passed, skipped])).toEqual([
    [2, { role_not_told: 1 }],
    [2, {}],
    [2, {}],
  ]);
  await new Promise((resolve) => void api.close(resolve));
});

test('a builder whose coins the venue cannot tell of stops no other', async () => {
  const api = http.createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      const { type, dex } = JSON.parse(text) as { type: string; dex?: string };
      if (dex === 'gone') response.writeHead(422).end();
      else
        response.end(
          JSON.stringify(
            type === 'perpDexs' ? [null, { name: 'gone' }, { name: 'xyz' }] : { universe: [{ name: dex ? `${dex}:CL` : 'BTC' }] },
          ),
        );
    });
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const info = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const [, catalogue] = perpsFeeds({ archive: 'http://127.0.0.1:1', info }, TUNING);
  const context = { signal: new AbortController().signal } as unknown as LiveContext;
  const steps: LiveStep[] = [];
  for await (const step of catalogue?.update({}, hours(5), context) ?? []) steps.push(step);
  const told: unknown[] = [];
  for (const { page } of steps[0]?.pages ?? []) for await (const answer of page.records) told.push(answer);
  expect(told).toEqual([{ universe: [{ name: 'BTC' }] }, { universe: [{ name: 'xyz:CL' }] }]);
  expect(steps[0]).toMatchObject({ skipped: { dex_not_told: 1 }, watermark: hours(5) });
  await new Promise((resolve) => void api.close(resolve));
});

test('feeds are off without upstreams, and the fills of all accounts are needed', () => {
  expect(perpsFeeds({})).toEqual([]);
  expect(perpsFeeds({ archive: 'http://localhost:1' }).map(({ name }) => name)).toEqual(['perps.fills']);
  expect(() => perpsFeeds({ info: 'http://localhost:1' })).toThrow('PERPS_ARCHIVE_URL');
});
