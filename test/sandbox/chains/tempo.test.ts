import { type Hex, createClient, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { getTransactionReceipt, prepareTransactionRequest } from 'viem/actions';
import { tempoLocalnet } from 'viem/tempo/chains';
import { Actions, Transaction } from 'viem/tempo';
import { type LocalTempo, startLocalTempo } from '../../../src/sandbox/chains/tempo';
import { type RpcAnswer, postRpc } from './rpc';

const EXPIRING = 2n ** 256n - 1n;
let chain: LocalTempo;
let client: ReturnType<typeof connect>;
let account: ReturnType<typeof privateKeyToAccount>;
let merchant: `0x${string}`;

const connect = (url: string) => createClient({ chain: { ...tempoLocalnet, id: 1337 }, transport: http(url, { retryCount: 0 }) });
const now = (): number => Math.floor(Date.now() / 1000);
const usdc = (): `0x${string}` => chain.usdc as `0x${string}`;
const pay = (amount: bigint) => {
  const { to, data } = Actions.token.transfer.call(client, { token: usdc(), to: merchant, amount });
  return { to, data };
};

interface Change {
  calls?: { to: `0x${string}`; data: Hex }[];
  validBefore?: number;
  validAfter?: number;
  nonceKey?: bigint;
  nonce?: number;
  chainId?: number;
}

/** A signed 0x76 transaction; by default valid for 20 s, expiring nonce, 0.01 USDC.e to the merchant. */
async function signed(change: Change = {}): Promise<Hex> {
  const fields = { calls: [pay(10_000n)], nonceKey: EXPIRING, nonce: 0, validBefore: now() + 20, chainId: 1337, ...change };
  const transaction = { ...fields, gas: 2_000_000n, maxFeePerGas: 40_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n, type: 'tempo' };
  return account.signTransaction(transaction as never, { serializer: tempoLocalnet.serializers.transaction as never }) as Promise<Hex>;
}

const send = (raw: Hex): Promise<Hex> => client.request({ method: 'eth_sendRawTransaction', params: [raw] }) as Promise<Hex>;

/** Undefined when it was not mined in time. */
async function mined(hash: Hex, patience_ms = 30_000): Promise<'success' | 'reverted' | undefined> {
  for (const end = Date.now() + patience_ms; Date.now() < end;) {
    const receipt = await getTransactionReceipt(client, { hash }).catch(() => undefined);
    if (receipt !== undefined) return receipt.status;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return undefined;
}

beforeAll(async () => {
  chain = await startLocalTempo();
  client = connect(chain.url);
});
afterAll(() => chain.stop());

beforeEach(async () => {
  chain.faults.clear();
  account = privateKeyToAccount(generatePrivateKey());
  merchant = privateKeyToAccount(generatePrivateKey()).address;
  await chain.fund(account.address, 5_000_000n);
});

test('USDC.e stands at its mainnet address and funding is exact', async () => {
  expect(chain.usdc).toBe('0x20C000000000000000000000b9537d11c60E8b50');
  expect(await Actions.token.getMetadata(client, { token: usdc() })).toMatchObject({ symbol: 'USDC.e', decimals: 6, currency: 'USD' });
  await Promise.all([chain.fund(account.address, 3n), chain.fund(merchant, 7n)]);
  expect([await chain.usdcBalance(account.address), await chain.usdcBalance(merchant)]).toEqual([5_000_003n, 7n]);
  expect(await chain.pathUsdBalance(merchant)).toBe(1_000_000n);
});

test('a valid transfer is mined and moves exactly once; sent again it moves nothing', async () => {
  const raw = await signed();
  expect(Transaction.deserialize(raw as never)).toMatchObject({ from: account.address.toLowerCase(), chainId: 1337, nonceKey: EXPIRING });
  const hash = await send(raw);
  expect(await mined(hash)).toBe('success');
  const left = await chain.usdcBalance(account.address);
  expect(left).toBeLessThan(4_990_000n);
  expect(await send(raw)).toBe(hash);
  await chain.mine();
  expect([await chain.usdcBalance(merchant), await chain.usdcBalance(account.address)]).toEqual([10_000n, left]);
  expect(await mined(await send(await signed({ validAfter: now() - 60 })))).toBe('success');
  expect(await chain.usdcBalance(merchant)).toBe(20_000n);
});

test.each(['amount', 'signature'])('a tampered %s belongs to nobody and is refused', async (part) => {
  const raw = await signed();
  const at = part === 'signature' ? raw.length - 40 : raw.indexOf('2710'.padStart(64, '0')) + 63;
  const digit = raw[at] === '1' ? '2' : '1';
  const tampered = `${raw.slice(0, at)}${digit}${raw.slice(at + 1)}` as Hex;
  expect(tampered).not.toBe(raw);
  await expect(send(tampered)).rejects.toThrow('insufficient fee token balance: have 0');
  expect(await chain.usdcBalance(merchant)).toBe(0n);
});

test.each([
  ['already over', () => ({ validBefore: now() - 1 })],
  ['over in 2 s', () => ({ validBefore: now() + 2 })],
])('an authorisation that is %s is refused', async (_name, change) => {
  await expect(send(await signed(change()))).rejects.toThrow('valid_before');
});

test.each([
  ['longer than the 30 s an expiring nonce may live', () => ({ validBefore: now() + 3_600 })],
  ['not yet valid', () => ({ nonceKey: 0n, validBefore: undefined, validAfter: now() + 600 })],
  ['behind a nonce gap', () => ({ nonceKey: 0n, nonce: 5, validBefore: undefined })],
])('a transaction %s gets a hash but is never mined', async (_name, change) => {
  const hash = await send(await signed(change()));
  expect(await mined(hash, 1_000)).toBeUndefined();
  expect(await chain.usdcBalance(merchant)).toBe(0n);
});

test('a payment is known, and not paid again, many blocks later', async () => {
  const raw = await signed();
  const hash = await send(raw);
  for (let blocks = 0; blocks < 150; blocks += 1) await chain.mine();
  expect(await mined(hash)).toBe('success');
  await send(raw).catch(() => undefined);
  await chain.mine();
  expect(await chain.usdcBalance(merchant)).toBe(10_000n);
});

test('a signature for another chain is refused', async () => {
  await expect(send(await signed({ chainId: 4217 }))).rejects.toThrow('invalid chain id');
});

test('a payment without the money is mined as failed; two calls are all or nothing', async () => {
  expect(await mined(await send(await signed({ calls: [pay(9_000_000n)] })))).toBe('reverted');
  expect(await mined(await send(await signed({ calls: [pay(10_000n), pay(9_000_000n)] })))).toBe('reverted');
  expect(await chain.usdcBalance(merchant)).toBe(0n);
});

test('the chain clock can overtake an authorisation', async () => {
  const own = await startLocalTempo();
  try {
    await own.fund(account.address, 1_000_000n);
    const raw = await signed();
    await own.advanceTime(60);
    expect(await own.time()).toBeGreaterThan(BigInt(now() + 50));
    await expect(connect(own.url).request({ method: 'eth_sendRawTransaction', params: [raw] })).rejects.toThrow('valid_before');
  } finally {
    await own.stop();
  }
});

test('with automine off a payment waits in the pool until a block is mined', async () => {
  await chain.setAutomine(false);
  const hash = await send(await signed());
  expect(await mined(hash, 1_000)).toBeUndefined();
  await chain.mine();
  await chain.setAutomine(true);
  expect(await mined(hash)).toBe('success');
});

test('another chain id is what signatures are checked against', async () => {
  const own = await startLocalTempo({ chain_id: 4217 });
  try {
    await own.fund(account.address, 1_000_000n);
    await expect(connect(own.url).request({ method: 'eth_sendRawTransaction', params: [await signed()] })).rejects.toThrow(
      'invalid chain id',
    );
    await connect(own.url).request({ method: 'eth_sendRawTransactionSync', params: [await signed({ chainId: 4217 })] } as never);
    expect(await own.usdcBalance(merchant)).toBe(10_000n);
  } finally {
    await own.stop();
  }
});

test('the proxy passes batches and errors on as they are, and counts', async () => {
  chain.faults.forgetCalls();
  const call = (id: number, method: string, params: unknown[] = []): object => ({ jsonrpc: '2.0', id, method, params });
  const batch = [call(1, 'eth_chainId'), call(2, 'eth_nonsense'), call(3, 'eth_sendRawTransaction', ['0x76'])];
  const replies = await postRpc<RpcAnswer[]>(chain.url, batch);
  expect(replies[0]).toEqual({ jsonrpc: '2.0', id: 1, result: '0x539' });
  expect(replies[1]?.error.code).toBe(-32601);
  expect(replies[2]?.error.message).toEqual(expect.any(String));
  expect(chain.faults.callsByMethod()).toEqual({ eth_chainId: 1, eth_nonsense: 1, eth_sendRawTransaction: 1 });
});

test('what the stock client asks to be filled is filled: gas, fees', async () => {
  const prepared = await prepareTransactionRequest(client, {
    account,
    calls: [pay(10_000n)],
    nonceKey: 'expiring',
    validBefore: now() + 20,
  } as never);
  expect((prepared as unknown as { gas: bigint }).gas).toBeGreaterThan(100_000n);
});
