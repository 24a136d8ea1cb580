import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { joinSandboxChains, sandboxRuns, startSandboxChains } from '../../src/sandbox/sandbox';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sandbox-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

test('a second sandbox over a folder finds the first while it runs, and pays on its chains', async () => {
  expect(await sandboxRuns(folder)).toBe(false);
  const chains = await startSandboxChains(folder);
  expect(await sandboxRuns(folder)).toBe(true);
  const { solana, tempo } = joinSandboxChains(folder);
  expect([solana, tempo]).toMatchObject([{ rpc_urls: [chains.solana.url] }, { rpc_urls: [chains.tempo?.url] }]);
  await chains.stop();
  expect(await sandboxRuns(folder)).toBe(false);
});

test('a stranger at the address of chains that ended is not taken for them', async () => {
  const elsewhere = path.join(folder, 'elsewhere');
  const chains = await startSandboxChains(elsewhere);
  const wallets = path.join(folder, 'wallets.json');
  const kept = JSON.parse(fs.readFileSync(wallets, 'utf8')) as { solana: object };
  fs.writeFileSync(wallets, JSON.stringify({ ...kept, solana: { ...kept.solana, rpc_url: chains.solana.url } }));
  expect([await sandboxRuns(folder), await sandboxRuns(elsewhere)]).toEqual([false, true]);
  await chains.stop();
});
