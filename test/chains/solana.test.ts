import { Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { associatedTokenAddress, SolanaChain } from '../../src/chains/solana';
import { RPC_DEFAULTS, RpcUnavailable } from '../../src/chains/rpc';
import { TOKEN_PROGRAM, tokenAccountOf } from '../../src/chains/solana-replies';
import { type LocalSolana, startLocalSolana } from '../../src/sandbox/chains/solana';
import { signTransfer } from '../payments/solana-signing';

const UNSEEN = bs58.encode(Buffer.alloc(64, 1));

describe('SolanaChain', () => {
  let solana: LocalSolana;
  let chain: SolanaChain;
  const buyer = Keypair.generate();
  const merchant = Keypair.generate().publicKey.toBase58();
  const address = buyer.publicKey.toBase58();

  beforeAll(async () => {
    solana = await startLocalSolana();
    chain = new SolanaChain([solana.url]);
    await solana.fund(address, { lamports: 10_000_000n, usdc: 100_000n });
    await solana.fund(merchant, { usdc: 0n });
  });
  afterAll(() => solana.stop());
  beforeEach(() => solana.faults.clear());

  const signed = async (amount = 1_000n): Promise<{ wire: string; id: string }> => {
    const { blockhash } = await chain.sampleBlockhash();
    const wire = signTransfer({ buyer, mint: solana.mint, pay_to: merchant, amount, blockhash, memo: `m${Math.random()}` });
    const { signatures } = VersionedTransaction.deserialize(Buffer.from(wire, 'base64'));
    return { wire, id: bs58.encode(signatures[0] as Uint8Array) };
  };

  it('derives the associated token account', () => {
    // Checked against the derivation of the local chain, which is its own.
    expect(associatedTokenAddress(address, solana.mint)).toBe(solana.tokenAccount(address));
  });

  it('reads token accounts, frozen ones and none', async () => {
    expect(await chain.findTokenAccount(solana.tokenAccount(address))).toEqual({
      mint: solana.mint,
      owner: address,
      amount: 100_000n,
      frozen: false,
    });
    const other = Keypair.generate().publicKey.toBase58();
    expect(await chain.findTokenAccount(solana.tokenAccount(other))).toBeUndefined();
    await solana.setUsdc(other, { amount: 5n, frozen: true });
    expect(await chain.findTokenAccount(solana.tokenAccount(other))).toMatchObject({ amount: 5n, frozen: true });
    // A wallet is an account too, but not one of the Token program.
    expect(await chain.findTokenAccount(address)).toBeUndefined();
    expect(await chain.getLamports(address)).toBe(10_000_000);
    expect(await chain.listGenesisHashes()).toEqual([solana.genesis_hash]);
  });

  it('simulates without landing, sends, and tells what landed', async () => {
    const { wire, id } = await signed();
    const watch = solana.tokenAccount(address);
    const before = await chain.findTokenAccount(watch);
    expect(await chain.simulate(wire, { verify_signatures: true, watch })).toEqual({
      err: null,
      after: { ...before, amount: (before?.amount ?? 0n) - 1_000n },
    });
    expect((await chain.simulate(wire, { verify_signatures: true, watch: address })).after).toBeUndefined();
    expect((await chain.listSignatureViews(id)).map(({ status }) => status)).toEqual([null]);
    expect(await chain.findTokenChange(id, solana.tokenAccount(merchant))).toBeUndefined();
    expect(await chain.broadcast(wire)).toBe(1);
    expect(await chain.listSignatureViews(id)).toEqual([
      { slot: expect.any(Number), status: { level: expect.stringMatching(/confirmed|processed/), err: null } },
    ]);
    expect(await chain.findTokenChange(id, solana.tokenAccount(merchant))).toEqual({ err: null, change: 1_000n });
    expect(await chain.findTokenChange(id, solana.tokenAccount(address))).toEqual({ err: null, change: -1_000n });
  });

  it('tells a simulation’s verdict, and a forged signature as one', async () => {
    const { wire } = await signed(1_000_000_000n);
    expect((await chain.simulate(wire, { verify_signatures: true, watch: address })).err).toEqual({
      InstructionError: [2, { Custom: 1 }],
    });
    const forged = Buffer.from(wire, 'base64').fill(1, 1, 65).toString('base64');
    expect((await chain.simulate(forged, { verify_signatures: true, watch: address })).err).toEqual(expect.stringMatching(/signature/i));
  });

  it('passes a node over that has not read far enough', async () => {
    const { wire } = await signed();
    await expect(chain.simulate(wire, { verify_signatures: true, watch: address, min_context_slot: 10 ** 12 })).rejects.toThrow(
      RpcUnavailable,
    );
  });

  it('knows how long the blockhashes live that it has seen, and forgets what is too old to offer', async () => {
    const own = new SolanaChain([solana.url]);
    expect(own.freshBlockhash(5_000)).toBeUndefined();
    expect(own.estimateBlockHeight()).toBeUndefined();
    const sample = await own.sampleBlockhash();
    expect(own.findBlockhash(sample.blockhash)).toEqual(sample);
    expect(own.freshBlockhash(5_000)).toEqual(sample);
    expect(own.freshBlockhash(-1)).toBeUndefined();
    const height = await own.getBlockHeight();
    expect(Math.abs((own.estimateBlockHeight() as number) - height)).toBeLessThan(5);
    expect(sample.last_valid_block_height - height).toBeGreaterThan(140);
    expect(await own.findValidSlot(sample.blockhash)).toBeGreaterThanOrEqual(sample.slot);
    solana.advanceSlots(200);
    expect(await own.findValidSlot(sample.blockhash)).toBeUndefined();
  });

  it('hears a lost connection as one', async () => {
    solana.faults.inject('getEpochInfo', { kind: 'refuse' }, Infinity);
    await expect(chain.getBlockHeight()).rejects.toThrow(RpcUnavailable);
    expect(await chain.listDatedViews(UNSEEN, null)).toEqual([expect.objectContaining({ height: null, status: null })]);
  });

  it('forgets blockhashes whose life is long over', async () => {
    const own = new SolanaChain([solana.url]);
    const { blockhash } = await own.sampleBlockhash();
    const started = performance.now();
    const clock = jest.spyOn(performance, 'now');
    const knownAfter = async (ms: number): Promise<boolean> => {
      clock.mockReturnValue(started + ms);
      const value = { blockhash: String(ms).padStart(44, '1'), lastValidBlockHeight: 1_000 };
      solana.faults.inject('getLatestBlockhash', { kind: 'answer', result: { context: { slot: 9 }, value } });
      await own.sampleBlockhash();
      return own.findBlockhash(blockhash) !== undefined;
    };
    try {
      expect([await knownAfter(170_000), await knownAfter(190_000)]).toEqual([true, false]);
    } finally {
      clock.mockRestore();
    }
  });

  it.each([3_600_000, -90_000])('a blockhash is as old as it is where our clock jumps by %d ms', async (jump) => {
    const own = new SolanaChain([solana.url]);
    const sample = await own.sampleBlockhash();
    const height = own.estimateBlockHeight() as number;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + jump);
    try {
      expect(own.freshBlockhash(5_000)).toBe(sample);
      expect((own.estimateBlockHeight() as number) - height).toBeLessThan(10);
      expect((own.estimateBlockHeight() as number) - height).toBeGreaterThanOrEqual(0);
    } finally {
      clock.mockRestore();
    }
  });

  it('takes for a token account what the Token program holds and has initialised, nothing that looks like one', () => {
    const data = Buffer.alloc(165);
    data.writeBigUInt64LE(5n, 64);
    data[108] = 1;
    const accountOf = (owner: string, bytes: Buffer) => tokenAccountOf({ owner, data: [bytes.toString('base64'), 'base64'] });
    expect(accountOf(TOKEN_PROGRAM, data)).toMatchObject({ amount: 5n, frozen: false });
    const fresh = Buffer.from(data).fill(0, 108, 109);
    expect([accountOf('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', data), accountOf(TOKEN_PROGRAM, fresh)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(accountOf(TOKEN_PROGRAM, Buffer.concat([data, Buffer.alloc(1)]))).toBeUndefined();
  });

  it('a wrong blockhash height does not stay: after a while the others count again', async () => {
    const own = new SolanaChain([solana.url]);
    const wrong = { context: { slot: 9 }, value: { blockhash: '9'.repeat(44), lastValidBlockHeight: 10 ** 9 } };
    solana.faults.inject('getLatestBlockhash', { kind: 'answer', result: wrong });
    await own.sampleBlockhash();
    const { last_valid_block_height } = await own.sampleBlockhash();
    // A moment later it may be the other that lags.
    expect(own.freshBlockhash(60_000)).toMatchObject({ last_valid_block_height: 10 ** 9 });
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_500);
    try {
      await own.sampleBlockhash();
      expect(own.freshBlockhash(60_000)?.last_valid_block_height).toBeLessThan(last_valid_block_height + 1_000);
      expect(own.estimateBlockHeight()).toBeLessThan(last_valid_block_height);
    } finally {
      clock.mockRestore();
    }
  });

  it('takes the height of a server that lags for one of as many blocks before', async () => {
    solana.faults.inject('getEpochInfo', { kind: 'answer', result: { absoluteSlot: 1_000, blockHeight: 900 } }, 3);
    expect([await chain.getBlockHeight(), await chain.getBlockHeight(1_000), await chain.getBlockHeight(1_060)]).toEqual([900, 900, 960]);
  });

  it('takes no height of one server for how far another has read', async () => {
    expect(await chain.listDatedViews(UNSEEN, null)).toEqual([{ slot: expect.any(Number), status: null, height: expect.any(Number) }]);
    solana.faults.inject('getSignatureStatuses', { kind: 'answer', result: { context: { slot: 1 }, value: [null] } });
    expect(await chain.listDatedViews(UNSEEN, null)).toEqual([{ slot: 1, status: null, height: null }]);
  });

  it('takes no node for a witness of what was before its oldest block', async () => {
    const hour = 3_600;
    const now = Math.floor(Date.now() / 1_000);
    solana.faults.inject('getFirstAvailableBlock', { kind: 'answer', result: 7 }, 2);
    solana.faults.inject('getBlockTime', { kind: 'answer', result: now - hour }, 2);
    const heightSince = async (seconds: number): Promise<unknown> =>
      (await chain.listDatedViews(UNSEEN, new Date((now - seconds) * 1_000))).map(({ height }) => height);
    expect(await heightSince(hour + 1)).toEqual([null]);
    expect(await heightSince(hour)).toEqual([expect.any(Number)]);
    solana.faults.inject('getFirstAvailableBlock', { kind: 'error', code: -32601, message: 'Method not found' });
    expect(await heightSince(0)).toEqual([null]);
  });

  it('asks for what is confirmed, and for the fate of a transaction of whatever age', async () => {
    const asked: Record<string, unknown> = {};
    const post = async (_url: string, body: string): Promise<string> => {
      const { method, params } = JSON.parse(body) as { method: string; params: unknown[] };
      asked[method] = params.at(-1);
      throw new Error('nobody is there');
    };
    const own = new SolanaChain([solana.url], { ...RPC_DEFAULTS, post });
    await Promise.allSettled([
      ...[own.listSignatureViews(UNSEEN), own.getBlockHeight(), own.findValidSlot(UNSEEN), own.getLamports(address)],
      ...[own.findTokenAccount(address), own.findTokenChange(UNSEEN, address), own.sampleBlockhash()],
      own.simulate('', { verify_signatures: true, watch: address }),
      own.broadcast(''),
    ]);
    const { getSignatureStatuses, sendTransaction, ...others } = asked;
    expect(getSignatureStatuses).toEqual({ searchTransactionHistory: true });
    // Whoever sends again and again wants no node to do so as well.
    expect(sendTransaction).toEqual({ encoding: 'base64', skipPreflight: true, maxRetries: 0 });
    expect(others.getTransaction).toMatchObject({ maxSupportedTransactionVersion: 0 });
    expect(Object.values(others)).toEqual(Array(7).fill(expect.objectContaining({ commitment: 'confirmed' })));
  });

  it('takes for processed alone what a node without a word for it says is not rooted', async () => {
    const levels: unknown[] = [];
    for (const confirmations of [3, null]) {
      const result = { context: { slot: 9 }, value: [{ slot: 5, confirmations, err: null }] };
      solana.faults.inject('getSignatureStatuses', { kind: 'answer', result });
      levels.push(...(await chain.listSignatureViews(UNSEEN)).map(({ status }) => status?.level));
    }
    expect(levels).toEqual(['processed', 'finalized']);
  });

  it('opens no websocket', async () => {
    await expect(chain.getBlockHeight()).resolves.toEqual(expect.any(Number));
    // web3.js would subscribe on the next port; polling alone keeps the process free to end.
    expect(solana.faults.callsByMethod()).not.toHaveProperty('signatureSubscribe');
  });
});
