import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { UpstreamError, backOff, makeUpstream, restAfter, retryAfterMs } from '../../src/workers/upstream';

type Handler = (request: http.IncomingMessage, response: http.ServerResponse, count: number) => void;

describe('an upstream', () => {
  const servers: http.Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** A server that answers the n-th request by `handler`, and what it was asked. */
  async function serve(handler: Handler): Promise<{ url: string; asked: string[] }> {
    const asked: string[] = [];
    const server = http.createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      handler(request, response, asked.length);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
  }

  const never = new AbortController().signal;
  const json = (response: http.ServerResponse, status: number, body: unknown, headers = {}): void =>
    void response.writeHead(status, headers).end(JSON.stringify(body));
  const failed = (asking: Promise<unknown>): Promise<UpstreamError> => asking.then(() => Promise.reject(new Error('answered')), (error) => error as UpstreamError); // prettier-ignore

  test('repeats lists in the query and leaves out what is undefined', async () => {
    const { url, asked } = await serve((_, response) => json(response, 200, [1]));
    const upstream = makeUpstream({ url: `${url}/base/`, per_second: 1_000 });
    expect(await upstream.get('/markets', { ids: ['a', 'b'], closed: false, side: undefined }, never)).toEqual([1]);
    await upstream.post('/info', { type: 'meta' }, never);
    expect(asked).toEqual(['GET /base/markets?ids=a&ids=b&closed=false', 'POST /base/info']);
  });

  test('asks again after 429 and 503, not before Retry-After, and not after 400', async () => {
    const times: number[] = [];
    const { url, asked } = await serve((_, response, count) => {
      times.push(performance.now());
      if (count === 1) json(response, 429, {}, { 'retry-after': '1' });
      else if (count === 2) json(response, 503, {});
      else if (count === 3) json(response, 200, 'told');
      else json(response, 400, { error: 'bad' });
    });
    const upstream = makeUpstream({ url, per_second: 1_000 });
    expect(await upstream.get('/x', {}, never)).toBe('told');
    expect((times[1] as number) - (times[0] as number)).toBeGreaterThanOrEqual(990);
    expect(await failed(upstream.get('/x', { key: 'secret' }, never))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^127\.0\.0\.1:\d+\/x answered 400$/) as string,
    });
    expect(asked).toHaveLength(4);
  });

  test('is left alone as long as it asked, by all that share it', async () => {
    const { url, asked } = await serve((_, response, count) =>
      count === 1 ? json(response, 429, {}, { 'retry-after': '120' }) : json(response, 200, 'told'),
    );
    const upstream = makeUpstream({ url, per_second: 1_000 });
    await failed(upstream.get('/x', {}, never));
    const now = performance.now.bind(performance);
    const askedAfter = async (seconds: number): Promise<unknown> => {
      const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 1_000 * seconds);
      const soon = new AbortController();
      const answer = upstream.get('/y', {}, soon.signal).catch(() => 'not asked');
      clock.mockRestore();
      setTimeout(() => soon.abort(), 200);
      return answer;
    };
    expect(await askedAfter(45)).toBe('not asked');
    expect(await askedAfter(115)).toBe('not asked');
    expect(asked).toHaveLength(1);
  });

  test('is left alone for a quarter of an hour at most', () => {
    const asking = (ms: number | null) => restAfter(new UpstreamError('host/path answered 429', 429, ms));
    expect([asking(null), asking(120_000), asking(86_400_000), restAfter(new Error('else'))]).toEqual([0, 120_000, 900_000, 0]);
  });

  test('gives up after its attempts, and tells how long it was asked to wait', async () => {
    const { url, asked } = await serve((_, response) => json(response, 503, {}));
    expect(await failed(makeUpstream({ url, per_second: 1_000, attempts: 2 }).get('/x', {}, never))).toMatchObject({ status: 503 });
    expect(asked).toHaveLength(2);
    const patient = await serve((_, response) => json(response, 429, {}, { 'retry-after': '120' }));
    expect(await failed(makeUpstream({ url: patient.url, per_second: 1_000 }).get('/x', {}, never))).toMatchObject({
      status: 429,
      retry_after_ms: 120_000,
    });
    expect(patient.asked).toHaveLength(1);
  });

  test.each([
    ['too much', { max_bytes: 10 }, (response: http.ServerResponse) => json(response, 200, 'x'.repeat(100)), /more than 10 bytes/],
    ['no JSON', { attempts: 1 }, (response: http.ServerResponse) => void response.end('<html>'), /not JSON/],
    ['nothing in time', { attempts: 1, timeout_ms: 50 }, () => undefined, /did not answer in time/],
    ['a broken connection', { attempts: 1 }, (response: http.ServerResponse) => void response.destroy(), /could not be reached/],
  ])('refuses %s', async (_, options, answer, words) => {
    const { url } = await serve((_request, response) => answer(response));
    const error = await failed(makeUpstream({ url, per_second: 1_000, ...options }).get('/x', { key: 'secret' }, never));
    expect(error).toBeInstanceOf(UpstreamError);
    expect(error.message).toMatch(words);
    expect(error.message).not.toMatch(/secret/);
  });

  test('stops at once when told to, while it asks and while it waits', async () => {
    const { url } = await serve(() => undefined);
    const stop = new AbortController();
    const asking = makeUpstream({ url, per_second: 1_000 }).get('/x', {}, stop.signal);
    const slow = makeUpstream({ url, per_second: 0.001 });
    void slow.get('/x', {}, stop.signal).catch(() => undefined);
    const waiting = slow.get('/x', {}, stop.signal);
    setTimeout(() => stop.abort(new Error('stopped')), 20);
    await expect(asking).rejects.toThrow('stopped');
    await expect(waiting).rejects.toThrow('stopped');
  });

  test('spaces requests of all who share it', async () => {
    const times: number[] = [];
    const { url } = await serve((_, response) => {
      times.push(performance.now());
      json(response, 200, 1);
    });
    const upstream = makeUpstream({ url, per_second: 20 });
    const asked = performance.now();
    await Promise.all(Array.from({ length: 5 }, () => upstream.get('/x', {}, never)));
    // From when they were asked, which no delay of the first arrival can shorten: the fifth waits four spaces. Timers may be a millisecond early.
    expect((times.at(-1) as number) - asked).toBeGreaterThanOrEqual(4 * 50 - 4);
  });
});

test('Retry-After is seconds or a date', () => {
  const now = Date.UTC(2026, 0, 1);
  expect(retryAfterMs('7', now)).toBe(7_000);
  expect(retryAfterMs(new Date(now + 90_000).toUTCString(), now)).toBe(90_000);
  expect(retryAfterMs(new Date(now - 90_000).toUTCString(), now)).toBe(0);
  expect([retryAfterMs(null), retryAfterMs('soon')]).toEqual([null, null]);
});

test('back-off grows to its bound and is never the same for all', () => {
  const waits = Array.from({ length: 200 }, () => backOff(3, 100, 30_000));
  expect(Math.max(...waits)).toBeLessThanOrEqual(800);
  expect(new Set(waits).size).toBeGreaterThan(100);
  expect(Math.max(...Array.from({ length: 200 }, () => backOff(30, 100, 5_000)))).toBeLessThanOrEqual(5_000);
});
