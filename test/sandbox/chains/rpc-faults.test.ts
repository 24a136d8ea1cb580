import { type Connection, Keypair, type VersionedTransaction } from '@solana/web3.js';
import { type LocalChains, localChains, solanaConnection } from '../../support/chains';
import { postRpc } from './rpc';
import { memoInstruction, signedTransfer } from './transfer';

let chains: LocalChains;
let payer: Keypair;
let made = 0;
const merchant = Keypair.generate().publicKey.toBase58();

beforeAll(async () => {
  chains = await localChains();
});
afterAll(() => chains.stop());

beforeEach(async () => {
  chains.solana.faults.clear();
  chains.solana.faults.forgetCalls();
  payer = Keypair.generate();
  await chains.solana.fund(payer.publicKey.toBase58(), { lamports: 1_000_000_000n, usdc: 1_000_000n });
  await chains.solana.setUsdc(merchant, { amount: 0n });
});

const connection = (): Connection => solanaConnection(chains.solana.url);

/** No two alike, though they may share a blockhash. */
async function payment(): Promise<VersionedTransaction> {
  made += 1;
  const { blockhash } = await connection().getLatestBlockhash();
  return signedTransfer({ payer, to: merchant, amount: 10_000n, blockhash, before: [memoInstruction(`payment ${made}`)] });
}

const send = (transaction: VersionedTransaction): Promise<string> => connection().sendRawTransaction(transaction.serialize());
const received = (): Promise<bigint> => chains.solana.usdcBalance(merchant);

const call = (method: string, ...params: unknown[]): object => ({ jsonrpc: '2.0', id: 1, method, params });

test('calls are counted by method, spoiled ones too', async () => {
  const { faults } = chains.solana;
  faults.inject('getHealth', { kind: 'error', code: -32005, message: 'Node is behind' });
  await postRpc(chains.solana.url, call('getHealth'));
  await postRpc(chains.solana.url, [call('getHealth'), call('getSlot')]);
  expect([faults.calls('getHealth'), faults.calls('getSlot'), faults.calls('getBalance'), faults.calls()]).toEqual([2, 1, 0, 3]);
});

test('drop: the money moves, the caller hears nothing', async () => {
  const transaction = await payment();
  chains.solana.faults.inject('sendTransaction', { kind: 'drop' });
  await expect(send(transaction)).rejects.toThrow('fetch failed');
  expect(await received()).toBe(10_000n);
  await expect(send(transaction)).rejects.toThrow('already been processed');
});

test('refuse and error: nothing is executed, and the next call is sound', async () => {
  const transaction = await payment();
  chains.solana.faults.inject('sendTransaction', { kind: 'refuse' });
  chains.solana.faults.inject('sendTransaction', { kind: 'error', code: -32005, message: 'Node is behind', data: { numSlotsBehind: 42 } });
  await expect(send(transaction)).rejects.toThrow('fetch failed');
  await expect(send(transaction)).rejects.toThrow('Node is behind');
  expect(await received()).toBe(0n);
  await send(transaction);
  expect(await received()).toBe(10_000n);
});

test('already processed: the chain claims to have seen what it only now executes', async () => {
  chains.solana.faults.inject('sendTransaction', { kind: 'already_processed' });
  await expect(send(await payment())).rejects.toThrow('This transaction has already been processed');
  expect(await received()).toBe(10_000n);
});

test('delay: after the call by default, before it when asked', async () => {
  const { faults } = chains.solana;
  for (const before of [false, true]) {
    const transaction = await payment();
    faults.inject('sendTransaction', { kind: 'delay', ms: 1_500, before });
    const started = Date.now();
    const reply = send(transaction);
    for (let tries = 0; tries < (before ? 1 : 10) && (await received()) === 0n; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await received()).toBe(before ? 0n : 10_000n);
    await reply;
    expect(Date.now() - started).toBeGreaterThanOrEqual(1_490);
    expect(await received()).toBe(10_000n);
    await chains.solana.setUsdc(merchant, { amount: 0n });
  }
});

test('stale: the former answer to the same question, until cleared', async () => {
  const { faults } = chains.solana;
  const address = payer.publicKey.toBase58();
  const balance = async (): Promise<unknown> => (await postRpc(chains.solana.url, call('getBalance', address))).result?.value;
  expect(await balance()).toBe(1_000_000_000);
  faults.inject('getBalance', { kind: 'stale' }, Infinity);
  await chains.solana.fund(address, { lamports: 5n });
  expect([await balance(), await balance()]).toEqual([1_000_000_000, 1_000_000_000]);
  const other = Keypair.generate().publicKey.toBase58();
  expect((await postRpc(chains.solana.url, call('getBalance', other))).result?.value).toBe(0);
  await chains.solana.fund(other, { lamports: 5n });
  expect((await postRpc(chains.solana.url, call('getBalance', other))).result?.value).toBe(0);
  faults.clear('getBalance');
  expect(await balance()).toBe(1_000_000_005);
});

test('answer: what the test says, and only so often', async () => {
  chains.solana.faults.inject('getSignatureStatuses', { kind: 'answer', result: { context: { slot: 1 }, value: [null] } }, 2);
  const signature = await send(await payment());
  const status = async () => (await connection().getSignatureStatuses([signature])).value[0];
  expect([await status(), await status()]).toEqual([null, null]);
  expect(await status()).toMatchObject({ confirmationStatus: 'confirmed' });
});

test('one dropped call of a batch takes the whole batch along', async () => {
  chains.solana.faults.inject('getSlot', { kind: 'refuse' });
  await expect(postRpc(chains.solana.url, [call('getHealth'), call('getSlot')])).rejects.toThrow('fetch failed');
});

test.each(['solana', 'tempo'] as const)('%s: down refuses connections, up brings the same chain back at the same place', async (name) => {
  const { url, faults } = chains[name];
  const probe = name === 'solana' ? call('getGenesisHash') : call('eth_chainId');
  const before = await postRpc(url, probe);
  await faults.down();
  const cause = await postRpc(url, probe).catch((error: Error) => error.cause as { code: string });
  expect((cause as { code: string }).code).toBe('ECONNREFUSED');
  await faults.up();
  expect(await postRpc(url, probe)).toEqual(before);
});

test('tempo: a dropped reply and an already known transaction, over the proxy', async () => {
  const { faults, url } = chains.tempo;
  const block = async (): Promise<number> => Number((await postRpc(url, call('eth_blockNumber'))).result);
  const height = await block();
  faults.inject('evm_mine', { kind: 'drop' });
  await expect(postRpc(url, call('evm_mine'))).rejects.toThrow('fetch failed');
  faults.inject('evm_mine', { kind: 'already_processed' });
  expect((await postRpc(url, call('evm_mine'))).error.message).toBe('transaction already imported');
  expect(await block()).toBe(height + 2);
});
