import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '../../src/db/client';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded';
import { migrate } from '../../src/db/migrate';
import { ROOT } from '../support/root';
import { loadWorld } from '../support/world';
import { type Figure, printTable } from './measure';
import { pay, type Proof, signProofs, signWith } from './payments/buyers';
import type { BenchChains, BenchWallets, ChainSettings, Received } from './payments/chains';
import { type Child, startChild } from './child';
import { type Course, duel } from './payments/duel';

const START = new Date('2026-02-01T00:00:00Z');
const NOW = '2026-02-02T00:00:00Z';
const PATH = '/api/v1/perps/platform/stats';
const BUYERS = 16;
/**
 * Buyers at once; requests of one server in a round: few enough that the last proof is sent in time (on Tempo they live 25 s); rounds that
 * are not counted: V8 compiles what runs often, and no server is judged by its first three hundred payments; and rounds that are: a stall of
 * the disk or the machine is a third of a second of one server's time.
 */
const COURSES = {
  x402: [
    [16, 64, 5, 6],
    [1, 24, 2, 12],
  ],
  tempo: [
    [16, 16, 20, 12],
    [1, 16, 2, 12],
  ],
} as const;

let folder: string;
let database: EmbeddedPostgres;
let chains: Child<BenchChains>;
let ours: Child<{ url: string }>;

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-payments-'));
  // As the product runs it: what is committed is on disk. (The tests' server takes its ease there.)
  database = await startEmbedded(path.join(folder, 'pg'));
  await migrate(database.url, path.join(ROOT, 'prisma/migrations'));
  const db = await openDatabase(database.url);
  await loadWorld(db.pool, 'perps', 1_000, START, new Date(NOW));
  await db.close();
  chains = await startChild<BenchChains>('payments/chains.ts', { folder, buyers: BUYERS } satisfies ChainSettings);
  // The later look whether payments became final would fall into the other server's turns as well.
  const payments = { realm: 'localhost', ...chains.ready.payments, reconcile_ms: 3_600_000 };
  ours = await startChild('payments/ours.ts', { databaseUrl: database.url, clock: NOW, payments });
}, 120_000);

afterAll(async () => {
  await Promise.all([ours?.stop(), chains?.stop()]);
  await database?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** The price of a request, and the answer it brings: what the stock servers sell, too. */
async function sample(): Promise<{ amount: string; answer: unknown }> {
  const { accepts } = (await (await fetch(oursUrl())).json()) as { accepts: [{ amount: string }] };
  const [proof] = await signProofs(oursUrl(), 1, [await signWith('x402', chains.ready.buyers[0] as BenchWallets)]);
  return { amount: accepts[0].amount, answer: JSON.parse(await pay(oursUrl(), proof as Proof, new http.Agent())) };
}

const oursUrl = (): string => `${ours.ready.url}${PATH}`;

/** As the README of @x402/express has it, a service of its own settles for the server. */
const STOCK = {
  'x402, facilitator a service': {
    protocol: 'x402',
    file: 'payments/stock-x402.ts',
    name: '@x402/express and its facilitator, two processes',
  },
  'x402, facilitator in process': {
    protocol: 'x402',
    file: 'payments/stock-x402.ts',
    name: '@x402/express with its facilitator in process',
  },
  tempo: { protocol: 'tempo', file: 'payments/stock-mppx.ts', name: 'mppx/express' },
} as const;

test.each(Object.keys(STOCK) as (keyof typeof STOCK)[])('the paid path of %s, beside the stock server', async (stock) => {
  const { protocol, file, name } = STOCK[stock];
  const sold = await sample();
  const before = await chains.ask<Received>('received');
  const chain = chains.ready.payments[protocol === 'x402' ? 'solana' : 'tempo'];
  const facilitator =
    stock === 'x402, facilitator a service' ? await startChild<{ url: string }>('payments/stock-facilitator.ts', chain) : null;
  const theirs = await startChild<{ url: string }>(file, { path: PATH, chain, facilitator: facilitator?.ready.url ?? null, ...sold });
  try {
    const signs = await Promise.all(chains.ready.buyers.map((wallets) => signWith(protocol, wallets)));
    const rows: Figure[] = [];
    let bought = 0;
    for (const [concurrent, batch, warm_ups, rounds] of COURSES[protocol]) {
      const course: Course = { chains, signs, batch, warm_ups, rounds, concurrent };
      const contenders = [
        { name: 'ours', url: oursUrl(), servers: [ours] },
        { name, url: `${theirs.ready.url}${PATH}`, servers: facilitator === null ? [theirs] : [theirs, facilitator] },
      ] as const;
      rows.push(...(await duel(`${concurrent} at once`, ...contenders, course)));
      bought += 2 * batch * (rounds + warm_ups);
    }
    const after = await chains.ask<Received>('received');
    // Every 200 was paid for, on both sides.
    expect(after[protocol] - before[protocol]).toBe(BigInt(bought) * BigInt(sold.amount));
    printTable(`The paid request of ${stock}, proof signed beforehand: validate, claim, answer, settle on the local chain`, rows);
  } finally {
    await Promise.all([theirs.stop(), facilitator?.stop()]);
  }
});
