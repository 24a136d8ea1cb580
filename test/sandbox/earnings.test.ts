import { freePort } from '../../src/lib/net';
import { merchantBalance } from '../../src/sandbox/earnings';
import type { SandboxWallets } from '../../src/sandbox/wallets';
import { type LocalChains, localChains } from '../support/chains';

const MERCHANT = '35YP4zjMVHm1VsBe1ZVGxonqEaXwzZY5z2Jm132Lkwyf';
const TEMPO_MERCHANT = '0x00000000000000000000000000000000000000aa';

let chains: LocalChains;
beforeAll(async () => {
  chains = await localChains();
});
afterAll(() => chains.stop());

test("the merchant's balance is what each chain says it is", async () => {
  await chains.solana.fund(MERCHANT, { lamports: 10_000_000n, usdc: 123_456n });
  await chains.tempo.fund(TEMPO_MERCHANT, 654_321n);
  const wallets = {
    solana: { rpc_url: chains.solana.url, pay_to: MERCHANT },
    tempo: { rpc_url: chains.tempo.url, pay_to: TEMPO_MERCHANT, usdc: chains.tempo.usdc },
  } as unknown as SandboxWallets;
  expect([await merchantBalance(wallets, 'x402'), await merchantBalance(wallets, 'solana')]).toEqual([123_456n, 123_456n]);
  expect(await merchantBalance(wallets, 'tempo')).toBe(654_321n);
  await expect(merchantBalance({ ...wallets, tempo: null }, 'tempo')).rejects.toThrow('no Tempo chain');
});

test('a sandbox that does not run is told in one sentence', async () => {
  const rpc_url = `http://127.0.0.1:${await freePort()}`;
  const wallets = { tempo: { rpc_url, pay_to: TEMPO_MERCHANT, usdc: chains.tempo.usdc } } as unknown as SandboxWallets;
  await expect(merchantBalance(wallets, 'tempo')).rejects.toMatchObject({
    message: `The sandbox's chain cannot be reached at ${rpc_url}; npm start starts it.`,
  });
});
