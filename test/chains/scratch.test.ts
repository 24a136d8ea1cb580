import { generatePrivateKey } from 'viem/accounts';
import { Account } from 'viem/tempo';
import { startLocalTempo } from '../../src/sandbox/chains/tempo';
import { signed } from '../support/tempo-transactions';
test('x', async () => {
  const t = await startLocalTempo();
  const rpc = async (method: string, params: unknown[]) => (await (await fetch(t.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })).json()) as unknown;
  try {
    const key = generatePrivateKey();
    for (const a of [Account.fromP256(key), Account.fromHeadlessWebAuthn(key, { rpId: 'example.com', origin: 'https://example.com' })]) {
      await t.fund(a.address, 1_000_000n);
      for (const over of [{}, { gas: 5_000_000n }, { nonceKey: 0n, nonce: 0n, validBefore: undefined, validAfter: undefined }]) {
        const raw = await signed({ chainId: t.chain_id, gas: 2_000_000n, ...over }, a);
        const r = JSON.stringify(await Promise.race([rpc('eth_sendRawTransactionSync', [raw]), new Promise((s) => setTimeout(() => s('timeout'), 2500))]));
        console.log(a.address, Object.keys(over), r.slice(0, 300));
      }
    }
  } finally { await t.stop(); }
}, 60000);
