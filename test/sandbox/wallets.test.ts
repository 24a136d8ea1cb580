import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { privateKeyToAccount } from 'viem/accounts';
import { prepareSandboxWallets, readSandboxMerchant, readSandboxWallets } from '../../src/sandbox/wallets';
import { localChains } from '../support/chains';

let folder: string;
beforeEach(() => {
  folder = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'wallets-test-')), '.sandbox');
});
afterEach(() => fs.rmSync(path.dirname(folder), { recursive: true }));

test('wallets are made, funded with exactly 1,000 USDC, and kept over a restart on new chains', async () => {
  const first = await localChains();
  const made = await prepareSandboxWallets(folder, first.solana, first.tempo);
  const merchant = readSandboxMerchant(folder);
  expect(JSON.parse(fs.readFileSync(path.join(folder, 'wallets.json'), 'utf8'))).toEqual(made);
  expect(made).toMatchObject({
    solana: { rpc_url: first.solana.url, pay_to: merchant.solana.address },
    tempo: { rpc_url: first.tempo.url, chain_id: 1337, usdc: '0x20C000000000000000000000b9537d11c60E8b50', pay_to: merchant.tempo.address },
  });
  expect(Keypair.fromSecretKey(bs58.decode(made.solana.secret_key)).publicKey.toBase58()).toBe(made.solana.address);
  expect(privateKeyToAccount(made.tempo?.private_key as `0x${string}`).address).toBe(made.tempo?.address);
  await first.stop();

  const second = await localChains();
  const kept = await prepareSandboxWallets(folder, second.solana, second.tempo);
  expect(kept).toEqual({ solana: { ...made.solana, rpc_url: second.solana.url }, tempo: { ...made.tempo, rpc_url: second.tempo.url } });
  expect(readSandboxWallets(folder)).toEqual(kept);
  expect(readSandboxMerchant(folder)).toEqual(merchant);
  expect(await second.solana.usdcBalance(kept.solana.address)).toBe(1_000_000_000n);
  expect(await second.tempo.usdcBalance(kept.tempo?.address as string)).toBe(1_000_000_000n);
  expect(await second.solana.lamports(kept.solana.address)).toBeGreaterThan(0n);
  expect(await second.solana.lamports(merchant.sponsor.address)).toBeGreaterThan(0n);
  const held = await fetch(second.solana.url, {
    method: 'POST',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'getTokenAccountBalance',
      params: [second.solana.tokenAccount(merchant.solana.address)],
    }),
  });
  expect(await held.json()).toMatchObject({ result: { value: { amount: '0' } } });
  await prepareSandboxWallets(folder, second.solana, second.tempo);
  expect(await second.solana.usdcBalance(kept.solana.address)).toBe(1_000_000_000n);
  expect(await second.tempo.usdcBalance(kept.tempo?.address as string)).toBe(1_000_000_000n);
  await second.stop();
});

test('keys are for their owner alone, and a system without Tempo has Solana wallets all the same', async () => {
  const chains = await localChains();
  const wallets = await prepareSandboxWallets(folder, chains.solana, null);
  await chains.stop();
  expect(wallets.tempo).toBeNull();
  expect(new PublicKey(wallets.solana.pay_to).toBase58()).toBe(wallets.solana.pay_to);
  const modes = fs.readdirSync(folder).map((name) => [name, fs.statSync(path.join(folder, name)).mode & 0o777]);
  expect(modes).toEqual([
    ['merchant.json', 0o600],
    ['wallets.json', 0o600],
  ]);
});

test('missing and broken files are told in one sentence', async () => {
  expect(() => readSandboxWallets(folder)).toThrow(/no sandbox wallets at .*wallets\.json; "npm start"/);
  expect(() => readSandboxMerchant(folder)).toThrow(/no sandbox merchant at .*merchant\.json/);
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'wallets.json'), '{"solana"');
  expect(() => readSandboxWallets(folder)).toThrow(/is not JSON\. Remove it/);
});
