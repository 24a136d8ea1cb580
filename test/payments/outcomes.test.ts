import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { type App, startApp } from '../../src/app';
import { makeConfig } from '../../src/config';
import { freePort } from '../../src/lib/net';
import { makeLogger } from '../../src/observability/logger';
import type { BuyerProtocol } from '../../src/sandbox/buyer';
import { type SandboxChains, startSandboxChains } from '../../src/sandbox/sandbox';
import { readSandboxWallets } from '../../src/sandbox/wallets';
import { type Proof, type Sign, signProofs, signWith } from '../bench/payments/buyers';
import { ROOT } from '../support/root';
import { testDatabase } from '../support/database';
import { loadWorld } from '../support/world';
import { holdQueries } from './held-query';
import { until } from './till';

// How a paid request can end, over HTTP, by every protocol: the chain hears of the payment only when there is an answer.

const START = new Date('2026-02-01T00:00:00Z');
const NOW = '2026-02-02T00:00:00Z';
const DEADLINE_MS = 4_000;
const SENDS = ['sendTransaction', 'eth_sendRawTransactionSync', 'eth_sendRawTransaction'];
const STATS = '/api/v1/perps/platform/stats';
const FEED = '/api/v1/perps/trades/feed?coin=BTC';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'outcomes-'));
let chains: SandboxChains;
let database: Awaited<ReturnType<typeof testDatabase>>;
let app: App;
let release: (() => Promise<void>) | undefined;

beforeAll(async () => {
  [chains, database] = await Promise.all([startSandboxChains(folder), testDatabase()]);
  await loadWorld(database.pool, 'perps', 1_000, START, new Date(NOW));
  const environment = { WORLD: 'none', UNPAID_PER_MINUTE: '0', EMPTY_PER_MINUTE: '0', CLOCK: NOW };
  const config = { ...makeConfig(environment, ROOT), port: await freePort(), internalPort: await freePort() };
  const payments = { realm: 'localhost', ...chains.payments, deadline_ms: DEADLINE_MS };
  app = await startApp({ config, root: ROOT, version: '0.0.0-test', databaseUrl: database.url, payments, logger: makeLogger('silent') });
});
afterAll(async () => {
  await app.stop();
  await Promise.all([chains.stop(), database.drop()]);
  fs.rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  await release?.();
  release = undefined;
  chains.solana.faults.clear();
  chains.tempo?.faults.clear();
});

interface Reply {
  status: number;
  code: string | undefined;
  replayed: boolean | undefined;
  receipt: boolean;
}

/** A request under way: its reply (null: we hung up before it came), and how to hang up. */
function send(target: string, proof: Proof): { reply: Promise<Reply | null>; hangUp(): void } {
  const request = http.get(`${app.publicUrl}${target}`, { headers: proof, agent: false });
  const reply = new Promise<Reply | null>((resolve, reject) => {
    request.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => {
        const { code, meta } = JSON.parse(body) as { code?: string; meta?: { replayed: boolean } };
        const receipt = response.headers['payment-response'] ?? response.headers['payment-receipt'];
        resolve({ status: response.statusCode ?? 0, code, replayed: meta?.replayed, receipt: receipt !== undefined });
      });
    });
    request.once('error', (error) => (request.destroyed ? resolve(null) : reject(error)));
  });
  return { reply, hangUp: () => void request.destroy() };
}

const broadcasts = (): number =>
  [chains.solana.faults, chains.tempo?.faults].reduce(
    (sum, faults) => sum + SENDS.reduce((calls, method) => calls + (faults?.calls(method) ?? 0), 0),
    0,
  );

/** Micro-USDC of the merchant on both chains. */
async function earned(): Promise<bigint> {
  const { solana, tempo } = readSandboxWallets(folder);
  return (await chains.solana.usdcBalance(solana.pay_to)) + ((await chains.tempo?.usdcBalance(tempo?.pay_to as string)) ?? 0n);
}

const newestState = async (): Promise<string | undefined> =>
  (await database.pool.query<{ state: string }>('SELECT state FROM payment ORDER BY id DESC LIMIT 1')).rows[0]?.state;

/** Renames the venue's tables away, and returns what brings them back. */
async function breakQueries(): Promise<() => Promise<void>> {
  const rename = (from: string, to: string): Promise<unknown> =>
    database.pool.query(`DO $$ DECLARE t text; BEGIN
      FOR t IN SELECT relname FROM pg_class WHERE starts_with(relname, '${from}') AND relkind IN ('r', 'p') AND NOT relispartition
      LOOP EXECUTE format('ALTER TABLE %I RENAME TO %I', t, '${to}' || substr(t, ${from.length + 1})); END LOOP; END $$`);
  await rename('perp_', 'away_');
  return async () => void (await rename('away_', 'perp_'));
}

describe.each(['x402', 'tempo', 'solana'] as const)('%s', (protocol: BuyerProtocol) => {
  let sign: Sign;
  beforeAll(async () => {
    sign = await signWith(protocol, readSandboxWallets(folder) as never);
  });

  const proofFor = async (target: string): Promise<Proof> => (await signProofs(`${app.publicUrl}${target}`, 1, [sign]))[0] as Proof;

  /** What moves on the chain while `what` happens. */
  async function moved<T>(what: () => Promise<T>): Promise<{ result: T; broadcasts: number; earned: bigint }> {
    const [calls, before] = [broadcasts(), await earned()];
    const result = await what();
    return { result, broadcasts: broadcasts() - calls, earned: (await earned()) - before };
  }

  test('an answer: one broadcast, exactly the price', async () => {
    const proof = await proofFor(STATS);
    expect(await moved(() => send(STATS, proof).reply)).toEqual({
      result: { status: 200, code: undefined, replayed: false, receipt: true },
      broadcasts: 1,
      earned: 10_000n,
    });
  });

  const NOTHING = [
    ['nothing found', '/api/v1/perps/trades/whales?min_usd=1000000000', 404, 'empty_result', undefined],
    ['a bad parameter', `${FEED}&limit=9999`, 400, 'invalid_parameter', undefined],
    ['a query that breaks', `${FEED}&limit=5`, 500, 'internal', breakQueries],
    ['a query that hangs past the deadline', `${FEED}&limit=4`, 504, 'query_timeout', () => holdQueries(database.pool, 'perp_')],
  ] as const;

  test.each(NOTHING)('%s: no broadcast', async (_, target, status, code, spoil) => {
    const proof = await proofFor(target);
    release = await spoil?.();
    expect(await moved(() => send(target, proof).reply)).toEqual({
      result: { status, code, replayed: undefined, receipt: false },
      broadcasts: 0,
      earned: 0n,
    });
    // Refused before it was claimed, or released: nothing of it is left running.
    await until(async () => /DELIVERED|RELEASED/.test((await newestState()) ?? ''));
  });

  test('the buyer hangs up while the query runs: no broadcast, and the same proof still buys', async () => {
    // Of its own: an answer that the other protocols left in the cache would be there at once.
    const target = `${FEED}&limit=${{ x402: 6, tempo: 7, solana: 8 }[protocol]}`;
    const proof = await proofFor(target);
    release = await holdQueries(database.pool, 'perp_');
    const gone = await moved(async () => {
      const { reply, hangUp } = send(target, proof);
      await until(async () => /RESERVED|EXECUTING/.test((await newestState()) ?? ''));
      hangUp();
      await until(async () => (await newestState()) === 'RELEASED');
      return reply;
    });
    expect(gone).toEqual({ result: null, broadcasts: 0, earned: 0n });
    await release();
    release = undefined;
    expect(await moved(() => send(target, proof).reply)).toMatchObject({
      result: { status: 200, replayed: false },
      broadcasts: 1,
      earned: 10_000n,
    });
  });

  test('the buyer hangs up once the broadcast has begun: it is settled, and collected with the same proof', async () => {
    const target = STATS;
    const proof = await proofFor(target);
    for (const method of SENDS)
      for (const faults of [chains.solana.faults, chains.tempo?.faults]) faults?.inject(method, { kind: 'delay', ms: 700 });
    const before = broadcasts();
    const gone = await moved(async () => {
      const { reply, hangUp } = send(target, proof);
      await until(() => broadcasts() > before);
      hangUp();
      await until(async () => (await newestState()) === 'CONFIRMED');
      return reply;
    });
    expect(gone).toEqual({ result: null, broadcasts: 1, earned: 10_000n });
    expect(await moved(() => send(target, proof).reply)).toEqual({
      result: { status: 200, code: undefined, replayed: true, receipt: true },
      broadcasts: 0,
      earned: 0n,
    });
    await until(async () => (await newestState()) === 'DELIVERED');
  });
});

describe('what operators are told of all these', () => {
  /** Values of a metric by the labels it is asked for. */
  async function told(metric: string, ...labels: string[]): Promise<Record<string, number>> {
    const lines = (await (await fetch(`${app.internalUrl}/metrics`)).text()).split('\n').filter((line) => line.startsWith(`${metric}{`));
    const labelOf = (line: string, label: string): string => new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1] as string;
    return Object.fromEntries(lines.map((line) => [labels.map((label) => labelOf(line, label)).join(' '), Number(line.split('} ')[1])]));
  }

  test('payments by protocol and outcome, and what they brought, are those of the ledger', async () => {
    const { rows } = await database.pool.query<{ what: string; payments: number; usdc: number }>(
      `SELECT protocol || ' ' || CASE state WHEN 'DELIVERED' THEN 'settled' ELSE lower(state) END AS what, count(*)::int AS payments, sum(amount)::float8 / 1e6 AS usdc
       FROM payment GROUP BY 1`,
    );
    expect(rows).toHaveLength(6);
    expect(await told('payments_total', 'protocol', 'outcome')).toMatchObject(
      Object.fromEntries(rows.map(({ what, payments }) => [what, payments])),
    );
    const settled = rows.filter(({ what }) => what.endsWith(' settled'));
    expect(await told('payments_usdc_total', 'protocol')).toEqual(
      Object.fromEntries(settled.map(({ what, usdc }) => [what.split(' ')[0], expect.closeTo(usdc, 9) as number])),
    );
  });

  test('who left before the answer is counted by endpoint', async () => {
    expect(await told('http_requests_total', 'endpoint', 'status')).toMatchObject({
      [`${STATS} 499`]: 3,
      [`${FEED.split('?')[0]} 499`]: 3,
    });
  });
});

test('the buyer hangs up while its body is unpacked: nothing is broadcast', async () => {
  const sign = await signWith('x402', readSandboxWallets(folder) as never);
  const { rows } = await database.pool.query<{ trader: string; newest: string }>(
    'SELECT trader, (SELECT max(id) FROM payment) AS newest FROM perp_fill LIMIT 1',
  );
  const [path, body, before] = ['/api/v1/perps/traders/profile', JSON.stringify({ trader: rows[0]?.trader }), broadcasts()];
  const proof = await sign(await fetch(`${app.publicUrl}${path}`, { method: 'POST', body }));
  const packed = zlib.gzipSync(body);
  const headers = { Host: 'localhost', ...proof, 'Content-Encoding': 'gzip', 'Content-Length': packed.length };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = net.connect(Number(new URL(app.publicUrl).port), '127.0.0.1', () => {
    socket.write(Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n`), packed]));
    socket.destroy();
    // The gateway is busy meanwhile, and hears of both at once.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  });
  const stateSince = async (): Promise<string | undefined> =>
    (await database.pool.query<{ state: string }>('SELECT state FROM payment WHERE id > $1', [rows[0]?.newest])).rows[0]?.state;
  await until(async () => /DELIVERED|CONFIRMED|RELEASED/.test((await stateSince()) ?? ''));
  expect([await stateSince(), broadcasts() - before]).toEqual(['RELEASED', 0]);
});
