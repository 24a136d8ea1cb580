import { Hash } from 'ox';
import { TxEnvelopeTempo } from 'ox/tempo';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Account, Actions } from 'viem/tempo';
import { RpcUnavailable } from '../../src/chains/rpc';
import { TempoChain, TempoWrongChain } from '../../src/chains/tempo';
import { type TempoTransaction, type Trace, landTransaction, traceTransaction } from '../../src/chains/tempo-landing';
import { type LocalTempo, startLocalTempo } from '../../src/sandbox/chains/tempo';
import { freePort } from '../../src/lib/net';
import { rpcProxy } from '../payments/rpc-proxy';
import { until } from '../support/feeds';
import { MERCHANT, TOKEN, clientOn, fundedPayer, signed, signedEip1559, transferData } from '../support/tempo-transactions';

type HexText = `0x${string}`;

const soon = (ms = 10_000): AbortSignal => AbortSignal.timeout(ms);
const unix = (): number => Math.floor(Date.now() / 1000);
/** The first of anvil's published development keys: the admin of the local USDC.e. */
const ADMIN = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

let local: LocalTempo;
let chain: TempoChain;
beforeAll(async () => {
  local = await startLocalTempo();
  chain = new TempoChain({ rpc_urls: [local.url], chain_id: local.chain_id });
});
afterAll(() => local.stop());
afterEach(() => local.faults.clear());

const payer = (usdc?: bigint) => fundedPayer(local, usdc);
type Payer = Awaited<ReturnType<typeof payer>>;
const clientOf = (account: { address: HexText }) => clientOn(local, account);

/** A signed payment of 10 000 micro-USDC to the merchant, and what is needed to follow it. */
async function payment(
  by: Payer,
  over: Partial<TxEnvelopeTempo.TxEnvelopeTempo> = {},
): Promise<{ raw: HexText; transaction: TempoTransaction }> {
  const raw = await signed({ chainId: local.chain_id, gas: 2_000_000n, ...over }, by);
  const { nonceKey, nonce, validBefore } = TxEnvelopeTempo.deserialize(raw as TxEnvelopeTempo.Serialized);
  return {
    raw,
    transaction: {
      forgotten_from: null,
      hash: Hash.keccak256(raw),
      sender: by.address,
      nonce_key: nonceKey ?? 0n,
      nonce: nonce ?? 0n,
      valid_before: validBefore ?? null,
    },
  };
}

describe('questions', () => {
  it('head, balance, nonces', async () => {
    const account = await payer(1_234_567n);
    const head = await chain.head(soon());
    expect(head.number).toBeGreaterThan(0n);
    expect(Math.abs(head.time - unix())).toBeLessThan(30);
    expect(head.base_fee).toBeGreaterThan(0n);
    expect(await chain.balance(TOKEN, account.address, soon())).toBe(1_234_567n);
    expect(await chain.nonce(account.address, 0n, soon())).toBe(0n);
    expect(await chain.nonce(account.address, 7n, soon())).toBe(0n);
    for (const [key, nonce] of [
      [0n, 0n],
      [7n, 0n],
      [7n, 1n],
    ] as const) {
      const { raw, transaction } = await payment(account, { nonceKey: key, nonce });
      expect((await landTransaction(chain, transaction, raw, true, soon())).status).toBe('mined');
    }
    expect(await chain.nonce(account.address, 0n, soon())).toBe(1n);
    expect(await chain.nonce(account.address, 7n, soon())).toBe(2n);
  });

  it('a call that would go through, and why others would not', async () => {
    const { address } = await payer(20_000n);
    const call = (data: HexText, gas = 2_000_000n) => chain.simulate({ from: address, to: TOKEN, data, gas }, soon());
    expect(await call(transferData(20_000n))).toBeNull();
    expect(await call(transferData(20_001n))).toBe('InsufficientBalance');
    expect(await call(transferData(1n, `0x${'00'.repeat(20)}`))).toBe('InvalidRecipient');
    expect(await call(transferData(1n), 21_100n)).toMatch(/gas/i);
    // Enough to begin with, not enough to end.
    expect(await call(transferData(1n), 300_000n)).toMatch(/OOG/);
    expect(await chain.balance(TOKEN, address, soon())).toBe(20_000n);
  });

  it('how things stand after the newest block, not after what may be mined next', async () => {
    const asked: unknown[] = [];
    const post = async (_url: string, body: string): Promise<string> => {
      const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] };
      if (method === 'eth_chainId') return JSON.stringify({ jsonrpc: '2.0', id, result: '0x7' });
      asked.push([method, ...params]);
      throw new Error('nobody is there');
    };
    const own = new TempoChain({ rpc_urls: [local.url], chain_id: 7, post });
    const owner = MERCHANT as HexText;
    for (const ask of [() => own.head(soon()), () => own.nonce(owner, 0n, soon()), () => own.balance(TOKEN, owner, soon())])
      await expect(ask()).rejects.toThrow(RpcUnavailable);
    expect(asked).toEqual([
      ['eth_getBlockByNumber', 'latest', false],
      ['eth_getTransactionCount', owner, 'latest'],
      ['eth_call', expect.anything(), 'latest'],
    ]);
  });

  it('the fee token an account chose', async () => {
    const account = await payer();
    expect(await chain.feeToken(account.address, soon())).toBeNull();
    await Actions.fee.setUserTokenSync(clientOf(account), { token: '0x20c0000000000000000000000000000000000000', gas: 2_000_000n });
    expect(await chain.feeToken(account.address, soon())).toBe('0x20c0000000000000000000000000000000000000');
  });

  it('access keys: unknown, authorised with limits and scopes, expired, revoked', async () => {
    const account = await payer();
    const client = clientOf(account);
    const key = Account.fromSecp256k1(generatePrivateKey(), { access: account });
    const ask = (now = unix()) => chain.accessKey(account.address, key.accessKeyAddress, TOKEN, now, soon());
    expect((await ask()).authorized).toBe(false);
    const expiry = unix() + 3_600;
    await Actions.accessKey.authorizeSync(client, {
      accessKey: key,
      expiry,
      limits: [{ token: TOKEN, limit: 15_000n }],
      scopes: [{ address: TOKEN, selector: 'transfer(address,uint256)', recipients: [MERCHANT] }],
      gas: 5_000_000n,
    });
    expect(await ask()).toMatchObject({ authorized: true, limit: 15_000n });
    const [scope] = (await ask()).scopes ?? [];
    expect(scope?.target.toLowerCase()).toBe(TOKEN);
    expect(scope?.selectorRules.map(({ selector, recipients }) => [selector, recipients.map((address) => address.toLowerCase())])).toEqual([
      ['0xa9059cbb', [MERCHANT]],
    ]);
    expect((await ask(expiry)).authorized).toBe(false);
    await Actions.accessKey.revokeSync(client, { accessKey: key.accessKeyAddress, gas: 5_000_000n });
    expect((await ask()).authorized).toBe(false);
  });

  it('whether the merchant can receive', async () => {
    expect(await chain.canReceive(TOKEN, MERCHANT, soon())).toBeNull();
    expect(await chain.canReceive(MERCHANT, MERCHANT, soon())).toBe('not a token of 6 decimals');
    for (const nobody of [TOKEN, `0x${'00'.repeat(20)}`] as const) {
      expect(await chain.canReceive(TOKEN, nobody, soon())).toMatch(/tokens pay neither/);
      expect(await chain.simulate({ from: MERCHANT, to: TOKEN, data: transferData(0n, nobody), gas: 2_000_000n }, soon())).toBe(
        'InvalidRecipient',
      );
    }
    const admin = clientOf(privateKeyToAccount(ADMIN));
    const gas = 5_000_000n;
    const { token } = await Actions.token.createSync(admin, { name: 'Test', symbol: 'TST', currency: 'USD', admin: admin.account, gas });
    await Actions.token.grantRolesSync(admin, { token, to: admin.account.address, roles: ['pause'], gas });
    expect(await chain.canReceive(token, MERCHANT, soon())).toBeNull();
    await Actions.token.pauseSync(admin, { token, gas });
    expect(await chain.canReceive(token, MERCHANT, soon())).toBe('the token is paused');
    const forbidden = await Actions.token.createSync(admin, { name: 'Two', symbol: 'TWO', currency: 'USD', admin: admin.account, gas });
    const { policyId } = await Actions.policy.createSync(admin, { type: 'blacklist', addresses: [MERCHANT], gas });
    await Actions.token.changeTransferPolicySync(admin, { token: forbidden.token, policyId, gas });
    expect(await chain.canReceive(forbidden.token, MERCHANT, soon())).toBe('its transfer policy forbids the recipient');
  });
});

describe('several RPCs', () => {
  it('goes on with the next when one is dead, and stays with it', async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const pair = new TempoChain({ rpc_urls: [dead, local.url], chain_id: local.chain_id });
    await pair.check(soon());
    expect(await pair.balance(TOKEN, MERCHANT, soon())).toBe(await local.usdcBalance(MERCHANT));
  });

  it('goes on when one answers with an error, or not in time', async () => {
    const pair = new TempoChain({ rpc_urls: [local.url, local.url], chain_id: local.chain_id, try_ms: 300 });
    await pair.check(soon());
    local.faults.inject('eth_getBlockByNumber', { kind: 'error', code: -32005, message: 'rate limited' });
    expect((await pair.head(soon())).number).toBeGreaterThan(0n);
    local.faults.inject('eth_getBlockByNumber', { kind: 'delay', ms: 2_000 });
    expect((await pair.head(soon())).number).toBeGreaterThan(0n);
  });

  it('throws RpcUnavailable when nobody answers, the reason when it is aborted', async () => {
    const dead = new TempoChain({ rpc_urls: [`http://127.0.0.1:${await freePort()}`], chain_id: local.chain_id });
    await expect(dead.check(soon())).rejects.toThrow(RpcUnavailable);
    await expect(dead.head(soon())).rejects.toThrow(RpcUnavailable);
    local.faults.inject('eth_getBlockByNumber', { kind: 'delay', ms: 3_000 });
    await expect(chain.head(soon(50))).rejects.toThrow(/abort|timeout/i);
  });

  it('does not take a simulation for refused when the RPC is in trouble', async () => {
    local.faults.inject('eth_call', { kind: 'error', code: -32603, message: 'Internal error' });
    await expect(chain.simulate({ from: MERCHANT, to: TOKEN, data: transferData(), gas: 1_000_000n }, soon())).rejects.toThrow(
      RpcUnavailable,
    );
  });

  it('never believes one of another chain', async () => {
    const other = await startLocalTempo({ chain_id: 31_318 });
    try {
      const mixed = new TempoChain({ rpc_urls: [other.url, local.url], chain_id: local.chain_id });
      await expect(mixed.check(soon())).rejects.toThrow(TempoWrongChain);
      const { address } = await payer(77n);
      expect(await mixed.balance(TOKEN, address, soon())).toBe(77n);
      const alone = new TempoChain({ rpc_urls: [other.url], chain_id: local.chain_id });
      await expect(alone.check(soon())).rejects.toThrow(TempoWrongChain);
      await expect(alone.head(soon())).rejects.toThrow(RpcUnavailable);
    } finally {
      await other.stop();
    }
  });

  it('needs at least one', () => {
    expect(() => new TempoChain({ rpc_urls: [], chain_id: 1 })).toThrow();
  });
});

describe('landing a transaction', () => {
  const moved = async (run: () => Promise<unknown>): Promise<bigint> => {
    const before = await local.usdcBalance(MERCHANT);
    await run();
    return (await local.usdcBalance(MERCHANT)) - before;
  };
  const land = async (raw: HexText | null, transaction: TempoTransaction, fresh = true, ms = 8_000) =>
    landTransaction(chain, transaction, raw, fresh, soon(ms));

  it('returns the receipt of the synchronous call, and asks for nothing else', async () => {
    const { raw, transaction } = await payment(await payer());
    local.faults.forgetCalls();
    expect(
      await moved(async () => {
        const landing = await land(raw, transaction);
        expect(landing).toMatchObject({ status: 'mined', receipt: { succeeded: true } });
        const logs = landing.status === 'mined' ? landing.receipt.logs : [];
        expect(logs.some((log) => log.address.toLowerCase() === TOKEN && BigInt(log.data) === 10_000n)).toBe(true);
        expect(local.faults.callsByMethod()).toEqual({ eth_sendRawTransactionSync: 1 });
      }),
    ).toBe(10_000n);
  });

  it('finds the receipt when the reply is dropped, late, or says "already imported"', async () => {
    for (const fault of [{ kind: 'drop' }, { kind: 'delay', ms: 5_000 }, { kind: 'already_processed' }] as const) {
      const { raw, transaction } = await payment(await payer());
      local.faults.inject('eth_sendRawTransactionSync', fault);
      expect(await moved(async () => expect((await land(raw, transaction)).status).toBe('mined'))).toBe(10_000n);
    }
  });

  it('moves the money once, however often it is sent', async () => {
    const { raw, transaction } = await payment(await payer());
    expect(
      await moved(async () => {
        for (let i = 0; i < 3; i += 1) expect((await land(raw, transaction, i === 0)).status).toBe('mined');
      }),
    ).toBe(10_000n);
  });

  it('sends plainly where the synchronous call is unknown', async () => {
    const { raw, transaction } = await payment(await payer());
    local.faults.inject('eth_sendRawTransactionSync', { kind: 'error', code: -32601, message: 'the method does not exist' }, 10);
    expect((await land(raw, transaction)).status).toBe('mined');
    expect(local.faults.calls('eth_sendRawTransaction')).toBeGreaterThan(0);
  });

  it('sends again what never arrived', async () => {
    const { raw, transaction } = await payment(await payer());
    local.faults.inject('eth_sendRawTransactionSync', { kind: 'refuse' });
    expect(await moved(async () => expect((await land(raw, transaction)).status).toBe('mined'))).toBe(10_000n);
  });

  it('does not take trouble of the RPC for a refusal of the transaction', async () => {
    const { raw, transaction } = await payment(await payer());
    for (const [code, message] of [
      [-32005, 'rate limited'],
      [-32603, 'Internal error'],
      [-32000, 'header not found'],
    ] as const)
      local.faults.inject('eth_sendRawTransactionSync', { kind: 'error', code, message });
    local.faults.inject('eth_sendRawTransaction', { kind: 'refuse' }, Infinity);
    for (let i = 0; i < 3; i += 1) expect((await land(raw, transaction, true, 500)).status).toBe('open');
  });

  it('does not take for refused what a node has already, whatever else its words say', async () => {
    const { raw, transaction } = await payment(await payer());
    const had = { kind: 'error', code: -32000, message: 'replacement transaction underpriced' } as const;
    local.faults.inject('eth_sendRawTransactionSync', had);
    local.faults.inject('eth_sendRawTransaction', { kind: 'refuse' }, Infinity);
    expect((await land(raw, transaction, true, 500)).status).toBe('open');
  });

  it('finds it mined where every RPC refuses it, its buyer having spent its balance on sending it', async () => {
    const { raw, transaction } = await payment(await payer());
    expect((await land(raw, transaction)).status).toBe('mined');
    local.faults.inject('eth_sendRawTransactionSync', { kind: 'error', code: -32003, message: 'insufficient funds for gas' });
    expect((await land(raw, transaction)).status).toBe('mined');
  });

  it('is patient while receipts do not show, and open when its time is over', async () => {
    const { raw, transaction } = await payment(await payer());
    local.faults.inject('eth_sendRawTransactionSync', { kind: 'drop' });
    local.faults.inject('eth_getTransactionReceipt', { kind: 'answer', result: null }, 3);
    expect((await land(raw, transaction)).status).toBe('mined');
    const second = await payment(await payer());
    local.faults.inject('eth_sendRawTransactionSync', { kind: 'drop' });
    local.faults.inject('eth_getTransactionReceipt', { kind: 'answer', result: null }, Infinity);
    expect(await land(second.raw, second.transaction, true, 1_000)).toEqual({ status: 'open' });
    local.faults.clear();
    expect((await traceTransaction(chain, second.transaction, soon())).status).toBe('mined');
  });

  it('waits for a block that comes late', async () => {
    const { raw, transaction } = await payment(await payer());
    await local.setAutomine(false);
    try {
      const landing = land(raw, transaction);
      setTimeout(() => void local.mine(), 2_500);
      expect((await landing).status).toBe('mined');
    } finally {
      await local.setAutomine(true);
    }
  });

  it('reports a transaction that was mined and failed', async () => {
    const account = await payer(5_000_000n);
    const [first, second] = [
      await payment(account, { calls: [{ to: TOKEN, data: transferData(4_000_000n) }] }),
      await payment(account, { validAfter: 2, calls: [{ to: TOKEN, data: transferData(4_000_000n) }] }),
    ];
    expect(await land(first.raw, first.transaction)).toMatchObject({ status: 'mined', receipt: { succeeded: true } });
    expect(await land(second.raw, second.transaction)).toMatchObject({ status: 'mined', receipt: { succeeded: false } });
  });

  it('is told when every RPC refuses bytes never sent before', async () => {
    const { raw, transaction } = await payment(await payer(), { validBefore: unix() + 1 });
    expect(await land(raw, transaction)).toEqual({ status: 'refused', reason: expect.stringMatching(/valid_before/) as unknown });
  });

  it('does not take the refusal of one RPC for that of all', async () => {
    const { raw, transaction } = await payment(await payer());
    local.faults.inject('eth_sendRawTransactionSync', { kind: 'error', code: -32003, message: 'insufficient fee token balance' });
    const silent = await rpcProxy(local.url, ({ method }) => (method === 'eth_sendRawTransactionSync' ? null : undefined));
    const two = new TempoChain({ rpc_urls: [local.url, silent.url], chain_id: local.chain_id });
    expect((await landTransaction(two, transaction, raw, true, soon())).status).toBe('mined');
    await silent.close();
  });

  it('does not believe the refusal of bytes that may have been sent before', async () => {
    const { raw, transaction } = await payment(await payer(), { validBefore: unix() + 1 });
    expect(await land(raw, transaction, false, 700)).toEqual({ status: 'open' });
  });

  it('without the bytes only looks', async () => {
    const { raw, transaction } = await payment(await payer());
    expect(await land(null, transaction, true, 700)).toEqual({ status: 'open' });
    expect((await land(raw, transaction)).status).toBe('mined');
    expect((await land(null, transaction)).status).toBe('mined');
  });

  it('survives an RPC that is down, and its return', async () => {
    const { raw, transaction } = await payment(await payer());
    await local.faults.down();
    const landing = land(raw, transaction);
    setTimeout(() => void local.faults.up(), 1_500);
    expect((await landing).status).toBe('mined');
  });
});

describe('the end of a transaction that was never mined', () => {
  /** What is told once it is no longer open: a busy node serves a receipt a moment before the nonce it has used. */
  async function endOf(transaction: TempoTransaction): Promise<Trace> {
    let trace: Trace = { status: 'open' };
    await until(async () => (trace = await traceTransaction(chain, transaction, soon())).status !== 'open', 'the end of a transaction');
    return trace;
  }

  it('by time: only when the chain itself is past it', async () => {
    const { transaction } = await payment(await payer());
    expect(await traceTransaction(chain, transaction, soon())).toEqual({ status: 'open' });
    const past = { ...transaction, valid_before: Number(await local.time()) - 1 };
    expect(await traceTransaction(chain, past, soon())).toEqual({ status: 'open' });
    const margin = { ...transaction, valid_before: Number(await local.time()) - 5 };
    expect(await traceTransaction(chain, margin, soon())).toEqual({ status: 'open' });
    expect(await traceTransaction(chain, { ...transaction, valid_before: Number(await local.time()) - 6 }, soon())).toEqual({
      status: 'dead',
      reason: 'expired',
    });
  });

  it('by nonce: when another one took its place', async () => {
    const account = await payer();
    const lost = await payment(account, { nonceKey: 9n, nonce: 0n, validBefore: undefined, validAfter: undefined });
    const won = await payment(account, { nonceKey: 9n, nonce: 0n, validBefore: undefined, validAfter: 1 });
    expect(await traceTransaction(chain, lost.transaction, soon())).toEqual({ status: 'open' });
    expect((await landTransaction(chain, won.transaction, won.raw, true, soon())).status).toBe('mined');
    expect(await endOf(lost.transaction)).toEqual({ status: 'dead', reason: 'superseded' });
    expect((await traceTransaction(chain, won.transaction, soon())).status).toBe('mined');
  });

  it('by nonce: not when the receipt is behind a server that is a moment late', async () => {
    const { raw, transaction } = await payment(await payer(), { nonceKey: 9n, nonce: 0n, validBefore: undefined, validAfter: undefined });
    expect((await landTransaction(chain, transaction, raw, true, soon())).status).toBe('mined');
    let asked = 0;
    let since = Infinity;
    const late = await rpcProxy(local.url, ({ method }) => {
      if (method !== 'eth_getTransactionReceipt') return undefined;
      asked += 1;
      since = Math.min(since, Date.now());
      return Date.now() - since < 500 ? null : undefined;
    });
    const behind = new TempoChain({ rpc_urls: [late.url], chain_id: local.chain_id });
    expect([(await traceTransaction(behind, transaction, soon())).status, asked]).toEqual(['mined', 2]);
    await late.close();
  });

  it('by nonce, for a plain transaction of the account', async () => {
    const account = await payer();
    const raw = signedEip1559({ chainId: local.chain_id, nonce: 0n, gas: 2_000_000n }, account.privateKey);
    const transaction = {
      hash: Hash.keccak256(raw),
      sender: account.address,
      nonce_key: 0n,
      nonce: 0n,
      valid_before: null,
      forgotten_from: null,
    };
    expect(await traceTransaction(chain, transaction, soon())).toEqual({ status: 'open' });
    expect(await landTransaction(chain, transaction, raw, true, soon())).toMatchObject({ status: 'mined', receipt: { succeeded: true } });
    expect(await endOf({ ...transaction, hash: `0x${'ab'.repeat(32)}` })).toEqual({ status: 'dead', reason: 'superseded' });
  });

  it('of long ago: only a node that knows others since is a witness', async () => {
    const account = await payer();
    const before = (await chain.head(soon())).number;
    const from = { forgotten_from: before, valid_before: Number(await local.time()) - 60 };
    const { raw, transaction } = await payment(account, { nonceKey: 9n, nonce: 0n, validBefore: undefined, validAfter: undefined });
    expect((await landTransaction(chain, transaction, raw, true, soon())).status).toBe('mined');
    const forgetful = await rpcProxy(local.url, ({ method }) => (method === 'eth_getTransactionReceipt' ? null : undefined));
    const pruned = new TempoChain({ rpc_urls: [forgetful.url], chain_id: local.chain_id });
    const unseen = { ...transaction, hash: `0x${'cd'.repeat(32)}` };
    for (const one of [transaction, { ...transaction, ...from }, unseen])
      expect(await traceTransaction(pruned, { ...one, forgotten_from: before }, soon())).toEqual({ status: 'open' });
    expect(await traceTransaction(chain, { ...unseen, forgotten_from: before }, soon())).toEqual({ status: 'dead', reason: 'superseded' });
    expect(await traceTransaction(chain, { ...unseen, ...from }, soon())).toEqual({ status: 'dead', reason: 'expired' });
    // Nothing was mined since; blocks without a transaction, as which a node may tell those it has forgotten; and a block that nobody has made yet.
    for (let empty = 0; empty < 16; empty += 1) await local.mine();
    const { number } = await chain.head(soon());
    expect((await traceTransaction(chain, { ...unseen, forgotten_from: number - 1n }, soon())).status).toBe('dead');
    for (const one of [chain, pruned])
      expect((await traceTransaction(one, { ...unseen, forgotten_from: number - 15n }, soon())).status).toBe('open');
    expect((await traceTransaction(pruned, { ...unseen, forgotten_from: number + 5n }, soon())).status).toBe('open');
    await forgetful.close();
  });

  it('by a receipt that says it failed: not where another has it as good', async () => {
    const { raw, transaction } = await payment(await payer());
    expect((await landTransaction(chain, transaction, raw, true, soon())).status).toBe('mined');
    const failed = { status: '0x0', blockNumber: '0x1', logs: [] };
    const lying = await rpcProxy(local.url, ({ method }) => (method === 'eth_getTransactionReceipt' ? failed : undefined));
    const seenBy = async (...rpc_urls: string[]): Promise<unknown> =>
      traceTransaction(new TempoChain({ rpc_urls, chain_id: local.chain_id }), transaction, soon());
    local.faults.inject('eth_getTransactionReceipt', { kind: 'delay', ms: 300 });
    expect(await seenBy(lying.url, local.url)).toMatchObject({ status: 'mined', receipt: { succeeded: true } });
    expect(await seenBy(lying.url)).toMatchObject({ status: 'mined', receipt: { succeeded: false } });
    await lying.close();
  });

  it('needs two witnesses where there are two RPCs', async () => {
    const { transaction } = await payment(await payer());
    const past = { ...transaction, valid_before: Number(await local.time()) - 60 };
    const dead = `http://127.0.0.1:${await freePort()}`;
    const halfDead = new TempoChain({ rpc_urls: [local.url, dead], chain_id: local.chain_id });
    expect(await traceTransaction(halfDead, past, soon())).toEqual({ status: 'open' });
    const both = new TempoChain({ rpc_urls: [local.url, local.url], chain_id: local.chain_id });
    expect(await traceTransaction(both, past, soon())).toEqual({ status: 'dead', reason: 'expired' });
  });

  it('is open while one of two RPCs has not read so far', async () => {
    const { transaction } = await payment(await payer());
    const past = { ...transaction, valid_before: Number(await local.time()) - 60 };
    const behind = await rpcProxy(local.url, ({ method }) =>
      method === 'eth_getBlockByNumber' ? { number: '0x1', timestamp: `0x${past.valid_before.toString(16)}` } : undefined,
    );
    for (const rpc_urls of [
      [local.url, behind.url],
      [behind.url, local.url],
    ])
      expect(await traceTransaction(new TempoChain({ rpc_urls, chain_id: local.chain_id }), past, soon())).toEqual({ status: 'open' });
    await behind.close();
  });

  it('is open when nobody answers', async () => {
    const { transaction } = await payment(await payer());
    await local.faults.down();
    try {
      expect(await traceTransaction(chain, transaction, soon())).toEqual({ status: 'open' });
    } finally {
      await local.faults.up();
    }
  });
});
