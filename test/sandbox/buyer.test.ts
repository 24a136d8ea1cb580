import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Connection, Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { type BuyerProtocol, type Purchased, buy, inTurn } from '../../src/sandbox/buyer';
import { type SandboxMerchant, type SandboxWallets, prepareSandboxWallets, readSandboxMerchant } from '../../src/sandbox/wallets';
import { type LocalChains, localChains } from '../support/chains';
import { type Shop, openShop } from './chains/shop';

let chains: LocalChains;
let wallets: SandboxWallets;
let merchant: SandboxMerchant;
let shop: Shop;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'buyer-test-'));

const get = (protocol: BuyerProtocol, headers: Record<string, string> = {}) =>
  buy({ method: 'GET', url: `${shop.url}/thing`, protocol, headers }, wallets);
const tempoAddress = (): string => wallets.tempo?.address as string;

/** Everybody's money, to compare to the micro-dollar and the lamport. */
async function balances() {
  const { solana, tempo } = chains;
  return {
    buyer: await solana.usdcBalance(wallets.solana.address),
    merchant: await solana.usdcBalance(merchant.solana.address),
    buyer_lamports: await solana.lamports(wallets.solana.address),
    sponsor_lamports: await solana.lamports(merchant.sponsor.address),
    tempo_buyer: await tempo.usdcBalance(tempoAddress()),
    tempo_merchant: await tempo.usdcBalance(merchant.tempo.address),
  };
}

/** What changed while `act` ran. */
async function change(act: () => Promise<unknown>): Promise<Partial<Record<string, bigint>>> {
  const before = await balances();
  await act();
  const after = await balances();
  const moved = Object.entries(after).map(([name, value]): [string, bigint] => [name, value - before[name as keyof typeof before]]);
  return Object.fromEntries(moved.filter(([, value]) => value !== 0n));
}

beforeAll(async () => {
  chains = await localChains();
  wallets = await prepareSandboxWallets(folder, chains.solana, chains.tempo);
  merchant = readSandboxMerchant(folder);
  const pay_to = { solana: wallets.solana.pay_to, tempo: wallets.tempo?.pay_to as string };
  shop = await openShop({ ...chains, pay_to, sponsor: Keypair.fromSecretKey(bs58.decode(merchant.sponsor.secret_key)) });
});
afterAll(async () => {
  await shop.stop();
  await chains.stop();
  fs.rmSync(folder, { recursive: true });
});

test.each<[string, http.RequestListener]>([
  ['that never answers', () => undefined],
  ['that stops in the middle of its answer', (_, response) => void response.writeHead(200).write('{"data":')],
])('a shop %s is left after two minutes, with a sentence', async (_, listener) => {
  const silent = http.createServer(listener);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const real = setTimeout;
  const wait = jest.spyOn(global, 'setTimeout');
  const impatient = (ms: number | undefined): number | undefined => (ms === 120_000 ? 50 : ms);
  wait.mockImplementation(((act: () => void, ms?: number, ...given: unknown[]) => real(act, impatient(ms), ...given)) as typeof setTimeout);
  try {
    await expect(buy({ method: 'GET', url, protocol: 'solana' }, wallets)).rejects.toThrow(`No answer from ${url} within 120 s`);
  } finally {
    wait.mockRestore();
    silent.closeAllConnections();
    silent.close();
  }
});

beforeEach(() => {
  shop.sold.length = 0;
  shop.price = 10_000;
  shop.sulking = false;
});

test.each<[BuyerProtocol]>([['x402'], ['tempo']])(
  'a chain that has gone is told as such, whatever the %s client says of it',
  async (protocol) => {
    const nowhere = 'http://127.0.0.1:9';
    const stranded = structuredClone(wallets);
    stranded.solana.rpc_url = nowhere;
    if (stranded.tempo) stranded.tempo.rpc_url = nowhere;
    await expect(buy({ method: 'GET', url: `${shop.url}/thing`, protocol }, stranded)).rejects.toThrow(
      `The wallet's chain cannot be reached at ${nowhere}; nothing was paid.`,
    );
    expect(shop.sold).toEqual([]);
  },
);

test('the stock x402 client pays, the sponsor pays its fee', async () => {
  let answer: Awaited<ReturnType<typeof buy>> | undefined;
  expect(await change(async () => (answer = await get('x402')))).toEqual({
    buyer: -10_000n,
    merchant: 10_000n,
    sponsor_lamports: -10_001n,
  });
  expect(answer).toMatchObject({
    status: 200,
    body: '{"bought":"/thing"}',
    receipt: { success: true, transaction: shop.sold[0]?.transaction },
  });
  const found = await new Connection(chains.solana.url).getParsedTransaction(shop.sold[0]?.transaction as string, {
    commitment: 'confirmed',
    maxSupportedTransactionVersion: 0,
  });
  expect(found?.transaction.message.instructions).toMatchObject([
    {},
    {},
    { parsed: { type: 'transferChecked', info: { tokenAmount: { amount: '10000' } } } },
    { parsed: expect.stringMatching(/^q1\./) },
  ]);
});

test('the stock x402 client pays its own fee when the offer names it as fee payer', async () => {
  expect(await change(() => get('x402', { 'X-Payer': wallets.solana.address }))).toEqual({
    buyer: -10_000n,
    merchant: 10_000n,
    buyer_lamports: -5_001n,
  });
});

test('the stock MPP solana client pays, fee included', async () => {
  let answer: Awaited<ReturnType<typeof buy>> | undefined;
  expect(await change(async () => (answer = await get('solana')))).toEqual({ buyer: -10_000n, merchant: 10_000n, buyer_lamports: -5_001n });
  expect(answer).toMatchObject({ status: 200, receipt: { method: 'solana', status: 'success', reference: shop.sold[0]?.transaction } });
});

test('the stock MPP tempo client pays, its fee in USDC.e', async () => {
  let answer: Awaited<ReturnType<typeof buy>> | undefined;
  const { tempo_buyer = 0n, ...rest } = await change(async () => (answer = await get('tempo')));
  expect(rest).toEqual({ tempo_merchant: 10_000n });
  expect(tempo_buyer).toBeLessThan(-10_000n);
  expect(tempo_buyer).toBeGreaterThan(-20_000n);
  expect(answer).toMatchObject({ status: 200, receipt: { method: 'tempo', status: 'success', reference: shop.sold[0]?.transaction } });
});

test.each(['x402', 'solana', 'tempo'] as const)('%s: a body travels with the proof', async (protocol) => {
  const answer = await buy({ method: 'POST', url: `${shop.url}/thing`, body: { wallet: 'abc', limit: 3 }, protocol }, wallets);
  expect(answer.status).toBe(200);
  expect(shop.sold).toMatchObject([{ method: 'POST', body: '{"wallet":"abc","limit":3}', protocol }]);
});

test.each(['x402', 'solana', 'tempo'] as const)('%s: ten purchases at once are ten payments', async (protocol) => {
  const moved = await change(async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(protocol)));
    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(200));
  });
  expect(moved[protocol === 'tempo' ? 'tempo_merchant' : 'merchant']).toBe(100_000n);
  expect(new Set(shop.sold.map((sale) => sale.transaction)).size).toBe(10);
});

test('what is free is not paid for, and has no receipt', async () => {
  const moved = await change(async () => {
    const answer = await buy({ method: 'GET', url: `${shop.url}/free`, protocol: 'tempo' }, wallets);
    expect(answer).toMatchObject({ status: 200, body: 'gift', receipt: null });
  });
  expect(moved).toEqual({});
});

test('a last 402 is returned, and nothing has moved', async () => {
  shop.sulking = true;
  const moved = await change(async () => {
    for (const protocol of ['x402', 'solana', 'tempo'] as const) expect((await get(protocol)).status).toBe(402);
  });
  expect(moved).toEqual({});
});

test('the stock x402 client refuses to pay more than a dollar', async () => {
  shop.price = 1_000_001;
  await expect(get('x402')).rejects.toThrow(/payment/i);
});

test('without a Tempo chain the buyer says so', async () => {
  await expect(buy({ method: 'GET', url: shop.url, protocol: 'tempo' }, { ...wallets, tempo: null })).rejects.toThrow(
    'runs no Tempo chain',
  );
});

test('who asked too often goes on when it may; whatever else is refused is told at once', async () => {
  const answer = (status: number, retryAfter?: string): Purchased => ({
    status,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    body: '{}',
    receipt: null,
  });
  const waits: number[] = [];
  const asked = async (...answers: Purchased[]): Promise<number> => {
    const one = await inTurn(
      () => Promise.resolve(answers.shift() as Purchased),
      () => undefined,
      (ms) => Promise.resolve(void waits.push(ms)),
    );
    return one.status;
  };
  expect(await asked(answer(429, '25'), answer(429, '1'), answer(200))).toBe(200);
  expect(waits).toEqual([25_000, 1_000]);
  expect(await asked(answer(503, '5'), answer(200))).toBe(503);
  expect(await asked(answer(429), answer(200))).toBe(429);
});
