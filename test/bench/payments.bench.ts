import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openDatabase } from '../../src/db/client';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded';
import { migrate } from '../../src/db/migrate';
import type { BuyerProtocol } from '../../src/sandbox/buyer';
import { ROOT } from '../support/catalogue';
import { loadWorld } from '../support/world';
import { type Figure, printTable } from './measure';
import { pay, type Sign, signProofs, signWith } from './payments/buyers';
import type { BenchChains } from './payments/chains';
import { type Child, startChild } from './payments/child';
import { type Contender, duel } from './payments/duel';

const START = new Date('2026-02-01T00:00:00Z');
const NOW = '2026-02-02T00:00:00Z';
const PATH = '/api/v1/perps/platform/stats';
const BUYERS = 16;

let folder: string;
let database: EmbeddedPostgres;
let chains: Child<BenchChains>;
let ours: Child<{ url: string }>;
let answer: unknown;
let paid = { x402: 0n, tempo: 0n };

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-payments-'));
  // As the product runs it: what is committed is on disk. (The tests' server takes its ease there.)
  database = await startEmbedded(path.join(folder, 'pg'));
  await migrate(database.url, path.join(ROOT, 'prisma/migrations'));
  const db = await openDatabase(database.url);
  await loadWorld(db.pool, 'perps', 1_000, START, new Date(NOW));
  await db.close();
  chains = await startChild<BenchChains>('chains.ts', { buyers: BUYERS });
  const payments = { realm: 'localhost', ...chains.ready.payments };
  ours = await startChild('ours.ts', { databaseUrl: database.url, clock: NOW, payments });
}, 120_000);

afterAll(async () => {
  await Promise.all([ours?.stop(), chains?.stop()]);
  await database?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** The price of a request and the answer it gets, bought from ours: what the stock server sells, too. */
async function firstPurchase(url: string, signs: readonly Sign[]): Promise<{ amount: string; answer: unknown }> {
  const [proof] = await signProofs(url, 1, signs);
}
