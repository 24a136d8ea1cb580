import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import zlib from 'node:zlib';
import { listen } from '../../src/gateway/server';
import { buy } from '../../src/sandbox/buyer';
import { until } from '../support/feeds';
import { type Product, startProduct } from '../support/product';

// Whatever is sent, the answer is a 4xx that names what was wrong; never a 5xx, never a charge.

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product.close());

const at = (path: string, init?: RequestInit): Promise<Response> => fetch(`${product.publicUrl}${path}`, init);
const postRaw = (body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Response> =>
  at('/api/v1/wallets/profile', { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: body as never });

describe('bodies', () => {
  test.each([
    ['cut JSON', '{"wallet":', 400, 'invalid_body'],
    ['no JSON at all', 'wallet=0x12', 400, 'invalid_body'],
    ['a list', '[1,2]', 400, 'invalid_body'],
    ['a number', '7', 400, 'invalid_body'],
    ['a text', '"wallet"', 400, 'invalid_body'],
    ['null', 'null', 400, 'invalid_body'],
    ['1 MB', `{"wallet":"${'x'.repeat(1_000_000)}"}`, 413, 'body_too_large'],
    ['as long as it may be', '{}'.padEnd(16_384), 402, 'payment_required'],
    ['a byte longer', '{}'.padEnd(16_385), 413, 'body_too_large'],
    ['deep nesting', `{"wallet":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 402, 'payment_required'],
  ])('%s', async (_, body, status, code) => {
    const response = await postRaw(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code, charged: false });
  });

  test.each([
    ['sent in pieces', {}, Array(20).fill(Buffer.alloc(1_024, ' '))],
    ['large once it is unpacked', { 'Content-Encoding': 'gzip' }, [zlib.gzipSync(' '.repeat(1_000_000))]],
  ])('a body that is %s is read no further than one that says how large it is', async (_, headers, pieces) => {
    const init = {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: Readable.toWeb(Readable.from(pieces)),
      duplex: 'half',
    };
    const response = await at('/api/v1/wallets/profile', init as unknown as RequestInit);
    expect([response.status, await response.json()]).toMatchObject([413, { code: 'body_too_large', charged: false }]);
  });

  test('a body that is announced as too large is refused before it is sent', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = net.connect(Number(new URL(product.publicUrl).port), '127.0.0.1', () =>
        socket.write('POST /api/v1/wallets/profile HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16385\r\n\r\n'),
      );
      socket.setTimeout(30_000, () => socket.destroy(new Error('no answer before the body')));
      socket.once('data', (chunk) => (socket.destroy(), resolve(chunk.toString()))).once('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*"code":"body_too_large"[^]*"allowed":\{"max":16384\},"got":16385/);
  });

  test.each([
    ['one that is read', '/api/v1/wallets/profile', 2, { told: true, status: 402, connection: 'keep-alive' }],
    ['one that is too large', '/api/v1/wallets/profile', 16_385, { told: false, status: 413, connection: 'close' }],
    ['one that nobody wants', '/api/v1/nothing', 2, { told: false, status: 404, connection: 'close' }],
  ])('who asks before it sends a body is told to go on where it is read: %s', async (_, path, length, expected) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': length, Expect: '100-continue' };
    const answer = await new Promise((resolve, reject) => {
      let told = false;
      const request = http.request(`${product.publicUrl}${path}`, { method: 'POST', headers }, (response) => {
        resolve({ told, status: response.statusCode, connection: response.headers.connection });
        response.resume();
      });
      request.once('error', reject).once('continue', () => {
        told = true;
        request.end('{}');
      });
      request.flushHeaders();
    });
    expect(answer).toEqual(expected);
  });

  test('a body in another charset or packing is told what is read, not that it is no JSON', async () => {
    const ODD: [header: string, value: string][] = [
      ['Content-Type', 'application/json; charset=iso-8859-1'],
      ['Content-Encoding', 'compress'],
    ];
    for (const [header, value] of ODD) {
      const response = await postRaw('{}', { [header]: value });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { code: 'invalid_body', error: expect.stringContaining('UTF-8') },
      ]);
    }
  });

  test('odd encodings and charsets', async () => {
    expect((await postRaw('{}', { 'Content-Encoding': 'gzip' })).status).toBe(400);
    expect((await postRaw('{}', { 'Content-Encoding': 'rot13' })).status).toBe(400);
    expect((await postRaw('{}', { 'Content-Type': 'application/json; charset=klingon' })).status).toBe(400);
    expect((await postRaw(new Uint8Array([0xff, 0xfe, 0x00]))).status).toBe(400);
  });

  test('an empty body is an empty request: 402 that names what is missing', async () => {
    const body = (await (await postRaw('')).json()) as { validation: { errors: unknown[] } };
    expect(body.validation.errors).toEqual([expect.objectContaining({ param: 'wallet', issue: 'is required' })]);
  });

  test('a body on GET is ignored, and said so', async () => {
    const ignoredOf = (body: string, length: Record<string, string | number> = { 'Content-Length': body.length }): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const headers = { 'Content-Type': 'application/json', ...length };
        http
          .request(`${product.publicUrl}/api/v1/trades/whales?limit=5`, { headers }, (response) => {
            let text = '';
            response.on('data', (part) => (text += String(part)));
            response.on('end', () => resolve((JSON.parse(text) as { validation: { ignored_params: unknown } }).validation.ignored_params));
          })
          .on('error', reject)
          .end(body);
      });
    expect([await ignoredOf('{"limit":7}'), await ignoredOf('')]).toEqual([['body'], []]);
    expect(await ignoredOf('{"limit":7}', { 'Transfer-Encoding': 'chunked' })).toEqual(['body']);
  });

  test('a query on POST is ignored, and said so', async () => {
    const query = `wallet=0x1&wallet=0x2&${'x'.repeat(200)}=1`;
    const response = await at(`/api/v1/wallets/profile?${query}`, { method: 'POST', body: '{}' });
    expect(await response.json()).toMatchObject({
      validation: { ignored_params: ['wallet', 'x'.repeat(100)] },
      resource: { url: `${product.publicUrl}/api/v1/wallets/profile` },
    });
  });
});

describe('parameters', () => {
  test.each([
    ['/api/v1/trades/whales?limit=1e9', 'limit'],
    ["/api/v1/trades/whales?condition_id=0x' OR 1=1--", 'condition_id'],
    ['/api/v1/trades/whales?timeframe=2h', 'timeframe'],
    ['/api/v1/trades/whales?min_usdc=NaN', 'min_usdc'],
    ['/api/v1/trades/whales?min_usdc=-1', 'min_usdc'],
    ['/api/v1/markets/search?query=%00', 'query'],
    ['/api/v1/perps/trades/feed?coin=BTC%27', 'coin'],
    ['/api/v1/lp/pools/events?pool_address=0OIl', 'pool_address'],
    ['/api/v1/lp/pools/events?pool_address=11111111111111111111111111111111&cursor=', 'cursor'],
    ['/api/v1/trades/whales?limit=%ZZ', 'limit'],
  ])('%s names the parameter before anybody pays', async (path, param) => {
    const response = await at(path);
    const body = (await response.json()) as { validation: { valid: boolean; errors: { param: string; allowed: unknown }[] } };
    expect(response.status).toBe(402);
    expect(body.validation.valid).toBe(false);
    expect(body.validation.errors.map((error) => error.param)).toContain(param);
  });

  test('unknown parameters are listed', async () => {
    const body = (await (await at('/api/v1/trades/whales?colour=red&limit=5')).json()) as {
      validation: { valid: boolean; ignored_params: string[] };
    };
    expect(body.validation).toMatchObject({ valid: true, ignored_params: ['colour'] });
  });

  test('ten thousand parameters end quickly', async () => {
    const query = Array.from({ length: 2_500 }, (_, index) => `p${index}=1`).join('&');
    expect((await at(`/api/v1/trades/whales?${query}`)).status).toBe(402);
  });
});

describe('proofs', () => {
  test.each([
    ['PAYMENT-SIGNATURE', '%%%', 400, 'malformed_payment'],
    ['X-PAYMENT', '', 400, 'malformed_payment'],
    ['PAYMENT-SIGNATURE', Buffer.from('{}').toString('base64'), 400, 'malformed_payment'],
    ['X-PAYMENT', Buffer.from('[]').toString('base64'), 400, 'malformed_payment'],
    ['Authorization', 'Payment not-base64!', 402, 'malformed_credential'],
    ['Authorization', `Payment ${Buffer.from('{"challenge":{}}').toString('base64url')}`, 402, 'malformed_credential'],
    ['Authorization', 'Bearer something', 402, 'payment_required'],
  ])('%s: %s', async (header, value, status, code) => {
    const response = await at('/api/v1/trades/whales', { headers: { [header]: value } });
    expect(response.status).toBe(status);
    const told = code.startsWith('malformed') ? { details: [{ param: header }] } : {};
    expect(await response.json()).toMatchObject({ code, charged: false, ...told });
  });

  test('why a proof is refused is told, though the request would be as well', async () => {
    const told = async (path: string): Promise<Record<string, unknown>> =>
      (await (await at(path, { headers: { Authorization: 'Payment not-base64!' } })).json()) as Record<string, unknown>;
    const [refused, unsound] = [await told('/api/v1/trades/whales'), await told('/api/v1/trades/whales?limit=0')];
    expect([unsound.code, unsound.error]).toEqual(['malformed_credential', refused.error]);
    expect(unsound.validation).toMatchObject({ valid: false });
  });

  test('who pays under a key that is none is refused as for any other parameter, before anything is asked', async () => {
    const url = `${product.publicUrl}/api/v1/trades/whales`;
    const { status, body } = await buy(
      { method: 'GET', url, protocol: 'x402', headers: { 'Idempotency-Key': 'two words' } },
      product.wallets,
    );
    expect([status, JSON.parse(body)]).toMatchObject([
      400,
      { code: 'invalid_parameter', charged: false, details: [{ param: 'Idempotency-Key' }] },
    ]);
  });

  test('two proofs at once are ambiguous', async () => {
    const proof = Buffer.from(JSON.stringify({ x402Version: 2, accepted: {}, payload: { transaction: 'AA==' } })).toString('base64');
    const response = await at('/api/v1/trades/whales', {
      headers: { 'PAYMENT-SIGNATURE': proof, Authorization: `Payment ${Buffer.from('{}').toString('base64url')}` },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'ambiguous_payment', type: 'https://paymentauth.org/problems/bad-request' });
  });

  test('a payment that was sent already is refused with the problem type that MPP clients know', async () => {
    const challenge = { id: 'a', realm: 'localhost', method: 'tempo', intent: 'charge', request: 'e30' };
    const credential = Buffer.from(JSON.stringify({ challenge, payload: { type: 'hash', hash: '0x1' } })).toString('base64url');
    const response = await at('/api/v1/trades/whales', { headers: { Authorization: `Payment ${credential}` } });
    expect(await response.json()).toMatchObject({
      code: 'method_unsupported',
      type: 'https://paymentauth.org/problems/method-unsupported',
      title: 'Method Unsupported',
      status: 400,
    });
  });
});

test('a whole URL as the target of a request, as proxies send it, names the same resource', async () => {
  const { port, host } = new URL(product.publicUrl);
  const body = await new Promise<string>((resolve, reject) =>
    http
      .get(
        { host: '127.0.0.1', port, path: 'http://elsewhere.example/api/v1/trades/whales?limit=5', headers: { Host: host } },
        (response) => response.setEncoding('utf8').on('data', resolve),
      )
      .on('error', reject),
  );
  expect(JSON.parse(body)).toMatchObject({ resource: { url: `${product.publicUrl}/api/v1/trades/whales?limit=5` } });
});

test.each([
  ['a', 2_000],
  ['\\', 1_999],
  ['"', 1_999],
  ['%22', 2_000],
])('the headers of a 402 stay below 11 KB, however long a query of %s: of it they repeat what takes %d bytes', async (char, repeated) => {
  const url = new URL(product.publicUrl);
  const target = `/api/v1/markets/trending?x=${char.repeat(3_000)}`;
  const head = await new Promise<string>((resolve) => {
    const socket = net.connect(Number(url.port), url.hostname, () => socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      socket.destroy();
      resolve(text.slice(0, text.indexOf('\r\n\r\n')));
    });
  });
  expect(head).toMatch(/^HTTP\/1.1 402 /);
  expect(head.length).toBeLessThan(11 * 1024);
  const offer = Buffer.from(/^PAYMENT-REQUIRED: (.*)/im.exec(head)?.[1] ?? '', 'base64').toString();
  const { url: told } = (JSON.parse(offer) as { resource: { url: string } }).resource;
  expect(`${product.publicUrl}${target}`.startsWith(told)).toBe(true);
  expect(JSON.stringify(told.slice(told.indexOf('?'))).length - '""'.length).toBe(repeated);
});

test('30 KB of headers are read, for proofs may be long; 40 KB are refused by the parser, and the server lives on', async () => {
  const ask = (filler: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(product.publicUrl);
      http
        .get({ host: '127.0.0.1', port, path: '/api/v1/trades/whales', headers: { 'X-Filler': 'x'.repeat(filler) } }, (response) =>
          resolve(response.statusCode ?? 0),
        )
        .on('error', reject);
    });
  expect([await ask(30_000), await ask(40_000)]).toEqual([402, 431]);
  expect((await at('/api/v1/trades/whales')).status).toBe(402);
});

test('who does not read an answer does not keep its connection and the answer for ever', async () => {
  const answer = Buffer.alloc(64 * 1024 * 1024);
  let closed = (): void => undefined;
  const end = new Promise<void>((resolve) => (closed = resolve));
  const server = await listen((_request, response) => void response.once('close', closed).end(answer), 0, '127.0.0.1', 100);
  const client = net.connect(server.port, '127.0.0.1', () => client.pause().write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'));
  client.on('error', () => undefined);
  try {
    await end;
    expect(client.bytesRead).toBeLessThan(answer.length);
  } finally {
    client.destroy();
    await server.stop(0);
  }
});

test('a server keeps nothing of answers that are over', async () => {
  const answers: WeakRef<http.ServerResponse>[] = [];
  const server = await listen((_request, response) => void (answers.push(new WeakRef(response)), response.end()), 0, '127.0.0.1');
  const { end } = await converse(server.port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await end;
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  await until(async () => (collectGarbage(), answers.every((answer) => answer.deref() === undefined)), 'an answer is forgotten');
  await server.stop(0);
});

test('a server that stops answers what it was asked, closes that connection, and is gone as soon as all are', async () => {
  const served: string[] = [];
  let begun = (): void => undefined;
  const isBegun = new Promise<void>((resolve) => (begun = resolve));
  let finish = (): void => undefined;
  const handler: http.RequestListener = ({ url = '' }, response) => {
    served.push(url);
    if (url === '/first') return void response.end();
    finish = () => void response.end('answer');
    begun();
  };
  const server = await listen(handler, 0, '127.0.0.1');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (path: string, header = 'connection'): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const request = http.get({ port: server.port, path, agent }, (response) => response.resume().once('end', () => resolve(response.headers[header])));
      request.once('error', reject);
    }); // prettier-ignore
  // Longer than load balancers keep theirs.
  expect([await ask('/first'), await ask('/first', 'keep-alive')]).toEqual(['keep-alive', 'timeout=65']);
  const asked = ask('/asked');
  await isBegun;
  // Long beyond what a test may take.
  const stopped = server.stop(3_600_000);
  finish();
  expect(await asked).toBe('close');
  await expect(ask('/later')).rejects.toThrow('ECONNREFUSED');
  await stopped;
  expect(served).toEqual(['/first', '/first', '/asked']);
  agent.destroy();
});

/** A connection to a server of its own that is asked `sent`, and all that it answers until `end`. */
async function converse(
  port: number,
  sent: string,
): Promise<{ send(text: string): void; heard(what: string): Promise<void>; end: Promise<string> }> {
  const socket = net.connect(port, '127.0.0.1');
  let text = '';
  const end = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  socket.on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', () => undefined);
  socket.write(sent);
  const heard = (what: string): Promise<void> => until(() => Promise.resolve(text.includes(what)), what);
  return { send: (more) => void socket.write(more), heard, end };
}

test('a server that stops tells whoever was about to ask that this is the last answer', async () => {
  const server = await listen(({ url }, response) => void response.end(`answer to ${url}`), 0, '127.0.0.1');
  const { send, heard, end } = await converse(server.port, 'GET /first HTTP/1.1\r\nHost: x\r\n\r\nGET /second HTTP/1.1\r\n');
  await heard('answer to /first');
  const stopped = server.stop(3_600_000);
  send('Host: x\r\n\r\n');
  await stopped;
  const [first, second] = (await end).split('answer to /first');
  expect([first, second]).toEqual([expect.stringContaining('Connection: keep-alive'), expect.stringContaining('Connection: close')]);
});

test('a server that stops takes nothing more on a connection whose answer had begun before, and was to stay', async () => {
  const served: string[] = [];
  let finish = (): void => undefined;
  const handler: http.RequestListener = ({ url = '' }, response) => {
    served.push(url);
    response.write('beginning');
    finish = () => void response.end('end');
  };
  const server = await listen(handler, 0, '127.0.0.1');
  const { send, heard, end } = await converse(server.port, 'GET /first HTTP/1.1\r\nHost: x\r\n\r\n');
  await heard('beginning');
  const stopped = server.stop(3_600_000);
  finish();
  await heard('end');
  send('GET /second HTTP/1.1\r\nHost: x\r\n\r\n');
  finish();
  await stopped;
  expect([await end, served]).toEqual([expect.stringContaining('Connection: keep-alive'), ['/first']]);
});

test('a server that stops waits for nobody longer than it was told to', async () => {
  let begun = (): void => undefined;
  const isBegun = new Promise<void>((resolve) => (begun = resolve));
  const server = await listen(() => begun(), 0, '127.0.0.1');
  const asked = fetch(`http://127.0.0.1:${server.port}/`);
  asked.catch(() => undefined);
  await isBegun;
  await server.stop(50);
  await expect(asked).rejects.toThrow('fetch failed');
});

test('the internal port answers only on loopback, to local names', async () => {
  const { port } = new URL(product.internalUrl);
  const [elsewhere = { address: '127.0.0.2' }] = Object.values(os.networkInterfaces()).flatMap((all) => all ?? []).filter(({ internal, family }) => !internal && family === 'IPv4'); // prettier-ignore
  await expect(fetch(`http://${elsewhere.address}:${port}/metrics`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  const ask = (host: string): Promise<number> =>
    new Promise((resolve, reject) =>
      http
        .get({ host: '127.0.0.1', port, path: '/metrics', headers: { Host: host } }, (response) => resolve(response.statusCode ?? 0))
        .on('error', reject),
    );
  for (const host of [`localhost:${port}`, `[::1]:${port}`]) expect([host, await ask(host)]).toEqual([host, 200]);
  for (const host of ['evil.example', 'localhost.evil.example', 'evil.example:80', 'evil-localhost', '127x0x0x1'])
    expect([host, await ask(host)]).toEqual([host, 403]);
});

test('what collects figures is told in which form they are', async () => {
  const { headers } = await fetch(`${product.internalUrl}/metrics`);
  expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
});

test('pages from elsewhere are not let in to the internal port by the browser', async () => {
  const url = `${product.internalUrl}/graphql`;
  const origin = { Origin: 'https://evil.example' };
  const preflight = await fetch(url, { method: 'OPTIONS', headers: { ...origin, 'Access-Control-Request-Method': 'POST' } });
  const question = { method: 'POST', headers: { ...origin, 'Content-Type': 'application/json' }, body: '{"query":"{__typename}"}' };
  // A form is sent without asking the server first.
  const form = { method: 'POST', headers: origin, body: new URLSearchParams({ query: '{__typename}' }) };
  for (const { status, headers } of [preflight, await fetch(url, question), await fetch(url, form)]) {
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(status).toBe(403);
  }
  expect((await fetch(url, { ...form, headers: { Origin: product.internalUrl } })).status).toBe(200);
});

test('a page from elsewhere cannot have the browser ask by an image or a script, which name no origin', async () => {
  const question = `${product.internalUrl}/graphql?query=%7B__typename%7D`;
  const ask = (site: string, mode: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { Accept: mode === 'navigate' ? 'text/html' : '*/*', 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': mode };
      http.get(question, { headers }, (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
    });
  expect(await ask('cross-site', 'no-cors')).toBe(403);
  expect([await ask('same-origin', 'cors'), await ask('none', 'navigate')]).toEqual([200, 200]);
  // A link to GraphiQL may stand anywhere.
  expect(await ask('cross-site', 'navigate')).toBe(200);
});

test('floods of unpaid requests are told to wait', async () => {
  const small = await startProduct({ unpaidPerMinute: 3 });
  try {
    const statuses: number[] = [];
    for (let index = 0; index < 5; index += 1) statuses.push((await fetch(`${small.publicUrl}/api/v1/trades/whales`)).status);
    expect(statuses).toEqual([402, 402, 402, 429, 429]);
    const refused = await fetch(`${small.publicUrl}/api/v1/trades/whales`);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const forged: number[] = [];
    for (let index = 0; index < 5; index += 1)
      forged.push((await fetch(`${small.publicUrl}/api/v1/trades/whales`, { headers: { 'X-PAYMENT': 'e30=' } })).status);
    // Whoever has asked too often may still pay; whoever shows proofs that are none may not go on for ever.
    expect(forged).toEqual([400, 400, 400, 429, 429]);
    // Free documents are not rationed.
    expect((await fetch(`${small.publicUrl}/api/v1/pricing`)).status).toBe(200);
    // Nor does anybody become another one by saying so.
    expect((await fetch(`${small.publicUrl}/api/v1/trades/whales`, { headers: { 'X-Forwarded-For': '198.51.100.1' } })).status).toBe(429);
  } finally {
    await small.close();
  }
});

test('behind a proxy each is counted by the address that the proxy saw, whatever it says itself; so is what is empty', async () => {
  const behind = await startProduct({ unpaidPerMinute: 2, emptyPerMinute: 1, trustedProxies: 1 });
  try {
    const url = `${behind.publicUrl}/api/v1/trades/whales`;
    const statuses: number[] = [];
    for (const seen of ['198.51.100.1', '198.51.100.1', '198.51.100.1', '198.51.100.2', '198.51.100.3, 198.51.100.1'])
      statuses.push((await fetch(url, { headers: { 'X-Forwarded-For': seen } })).status);
    expect(statuses).toEqual([402, 402, 429, 402, 429]);
    const purchase = async (): Promise<number> => (await buy({ method: 'GET', url, protocol: 'x402' }, behind.wallets)).status;
    expect([await purchase(), await purchase()]).toEqual([404, 429]);
  } finally {
    await behind.close();
  }
});
