import { type AccountMeta, Connection, Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { type LocalSolana, startLocalSolana } from '../../../src/sandbox/chains/solana';
import { ASSOCIATED_TOKEN_PROGRAM } from '../../../src/chains/solana';
import { TOKEN_PROGRAM } from '../../../src/chains/solana-replies';
import { SOLANA_USDC } from '../../../src/sandbox/chains/solana-tokens';
import { type RpcAnswer, postRpc } from './rpc';
import { type Transfer, memoInstruction, signedTransfer } from './transfer';

const SOL = 1_000_000_000n;
let chain: LocalSolana;
let connection: Connection;
let payer: Keypair;
let merchant: string;

const address = (keypair: Keypair): string => keypair.publicKey.toBase58();
const blockhash = async (): Promise<string> => (await connection.getLatestBlockhash()).blockhash;
const status = async (signature: string, search = false) =>
  (await connection.getSignatureStatuses([signature], { searchTransactionHistory: search })).value[0];

async function transfer(change: Partial<Transfer> = {}): Promise<VersionedTransaction> {
  return signedTransfer({ payer, to: merchant, amount: 10_000n, blockhash: change.blockhash ?? (await blockhash()), ...change });
}

const send = (transaction: VersionedTransaction, skipPreflight = false): Promise<string> =>
  connection.sendRawTransaction(transaction.serialize(), { skipPreflight });

const rpc = (body: unknown): Promise<RpcAnswer> => postRpc(chain.url, body);

beforeAll(async () => {
  chain = await startLocalSolana();
  connection = new Connection(chain.url, { commitment: 'confirmed', disableRetryOnRateLimit: true });
});
afterAll(() => chain.stop());

beforeEach(async () => {
  chain.faults.clear();
  payer = Keypair.generate();
  merchant = address(Keypair.generate());
  await chain.fund(address(payer), { lamports: SOL, usdc: 5_000_000n });
  await chain.fund(merchant, { usdc: 0n });
});

test('the USDC mint stands at its mainnet address and its supply is what was handed out', async () => {
  expect(chain.mint).toBe('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
  const info = await connection.getParsedAccountInfo(new PublicKey(SOLANA_USDC));
  expect(info.value?.data).toMatchObject({ program: 'spl-token', parsed: { type: 'mint', info: { decimals: 6 } } });
  const before = BigInt((await connection.getTokenSupply(new PublicKey(SOLANA_USDC))).value.amount);
  await chain.fund(merchant, { usdc: 7n });
  await chain.setUsdc(merchant, { amount: 2n });
  expect(BigInt((await connection.getTokenSupply(new PublicKey(SOLANA_USDC))).value.amount)).toBe(before + 2n);
});

test('a transfer moves micro-dollars and lamports exactly', async () => {
  const transaction = await transfer();
  const quoted = await connection.getFeeForMessage(transaction.message);
  const signature = await send(transaction);
  expect(await chain.usdcBalance(address(payer))).toBe(4_990_000n);
  expect(await chain.usdcBalance(merchant)).toBe(10_000n);
  expect(await chain.lamports(address(payer))).toBe(SOL - 5_001n);
  expect(quoted.value).toBe(5_001);
  expect(await status(signature)).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
  chain.advanceSlots(32);
  expect(await status(signature)).toMatchObject({ err: null, confirmations: null, confirmationStatus: 'finalized' });
});

test('getTransaction tells the fee, the token balances before and after, and the parsed transfer and memo', async () => {
  const signature = await send(await transfer({ before: [memoInstruction('q1.abc')] }));
  expect(await connection.getParsedTransaction(signature, { commitment: 'finalized', maxSupportedTransactionVersion: 0 })).toBeNull();
  const found = await connection.getParsedTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 });
  expect(found?.meta).toMatchObject({ err: null, fee: 5_001 });
  const amounts = (list: unknown): Record<string, string> =>
    Object.fromEntries(
      (list as { owner: string; uiTokenAmount: { amount: string } }[]).map((one) => [one.owner, one.uiTokenAmount.amount]),
    );
  expect(amounts(found?.meta?.preTokenBalances)).toEqual({ [address(payer)]: '5000000', [merchant]: '0' });
  expect(amounts(found?.meta?.postTokenBalances)).toEqual({ [address(payer)]: '4990000', [merchant]: '10000' });
  expect(found?.transaction.message.instructions).toMatchObject([
    { programId: expect.anything(), data: expect.any(String) },
    { programId: expect.anything(), data: expect.any(String) },
    { program: 'spl-memo', parsed: 'q1.abc' },
    {
      program: 'spl-token',
      parsed: {
        type: 'transferChecked',
        info: {
          mint: SOLANA_USDC,
          authority: address(payer),
          source: chain.tokenAccount(address(payer)),
          destination: chain.tokenAccount(merchant),
          tokenAmount: { amount: '10000', decimals: 6, uiAmountString: '0.01' },
        },
      },
    },
  ]);
  const keys = found?.transaction.message.accountKeys.filter((one) => one.signer).map((one) => one.pubkey.toBase58());
  expect(keys).toEqual([address(payer)]);
});

test('getTransaction needs to be told that v0 is understood, and knows the other encodings', async () => {
  const transaction = await transfer();
  const signature = await send(transaction);
  const get = (config: object): Promise<RpcAnswer> =>
    rpc({ jsonrpc: '2.0', id: 1, method: 'getTransaction', params: [signature, { commitment: 'confirmed', ...config }] });
  expect((await get({})).error.code).toBe(-32015);
  const base64 = await get({ encoding: 'base64', maxSupportedTransactionVersion: 0 });
  expect(base64.result?.transaction).toEqual([Buffer.from(transaction.serialize()).toString('base64'), 'base64']);
  const json = await connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 });
  expect(json?.transaction.message.compiledInstructions).toHaveLength(3);
  expect((await rpc({ jsonrpc: '2.0', id: 1, method: 'getTransaction', params: ['unknown'] })).result).toBeNull();
});

test('a replay is refused by preflight, and without preflight moves nothing', async () => {
  const transaction = await transfer();
  const signature = await send(transaction);
  await expect(send(transaction)).rejects.toThrow(/already been processed/);
  expect(await send(transaction, true)).toBe(signature);
  expect(await chain.usdcBalance(merchant)).toBe(10_000n);
  expect(await chain.lamports(address(payer))).toBe(SOL - 5_001n);
  const simulated = await connection.simulateTransaction(transaction, { sigVerify: true });
  expect(simulated.value.err).toBe('AlreadyProcessed');
});

test.each(['signature', 'message'])(
  'a tampered %s is refused by preflight and by a verifying simulation, and never lands',
  async (part) => {
    const transaction = await transfer();
    const wire = Buffer.from(transaction.serialize());
    const at = part === 'signature' ? 10 : wire.length - 5;
    wire[at] = (wire[at] as number) ^ 1;
    const reply = await rpc({
      jsonrpc: '2.0',
      id: 1,
      method: 'sendTransaction',
      params: [wire.toString('base64'), { encoding: 'base64' }],
    });
    expect(reply.error.code).toBe(-32003);
    const simulated = await rpc({
      jsonrpc: '2.0',
      id: 1,
      method: 'simulateTransaction',
      params: [wire.toString('base64'), { encoding: 'base64', sigVerify: true }],
    });
    expect(simulated.error.code).toBe(-32003);
    const signature = await connection.sendRawTransaction(wire, { skipPreflight: true });
    expect(await status(signature, true)).toBeNull();
    expect(await chain.usdcBalance(merchant)).toBe(0n);
  },
);

test('a blockhash lives 150 slots and no longer', async () => {
  const latest = await connection.getLatestBlockhash();
  const transaction = await transfer({ blockhash: latest.blockhash });
  chain.advanceSlots(140);
  expect((await connection.isBlockhashValid(latest.blockhash)).value).toBe(true);
  expect((await connection.simulateTransaction(transaction)).value.err).toBeNull();
  chain.advanceSlots(11);
  expect(await connection.getBlockHeight()).toBeGreaterThan(latest.lastValidBlockHeight);
  expect((await connection.isBlockhashValid(latest.blockhash)).value).toBe(false);
  expect((await connection.simulateTransaction(transaction)).value.err).toBe('BlockhashNotFound');
  await expect(send(transaction)).rejects.toThrow(/Blockhash not found/);
  expect(await status(await send(transaction, true), true)).toBeNull();
  expect(await chain.usdcBalance(merchant)).toBe(0n);
  const replaced = await connection.simulateTransaction(transaction, { replaceRecentBlockhash: true });
  expect(replaced.value.err).toBeNull();
});

test('slots go on where the clock is set back: what was signed before lands', async () => {
  const before = await connection.getSlot();
  const transaction = await transfer();
  const real = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => real() - 90_000);
  try {
    expect(await connection.getSlot()).toBeGreaterThanOrEqual(before);
    expect((await connection.simulateTransaction(transaction, { minContextSlot: before })).value.err).toBeNull();
    await send(transaction);
    expect(await chain.usdcBalance(merchant)).toBe(10_000n);
  } finally {
    clock.mockRestore();
  }
});

test('a blockhash of another chain is unknown here', async () => {
  const other = await startLocalSolana();
  try {
    expect(other.genesis_hash).not.toBe(chain.genesis_hash);
    const foreign = (await new Connection(other.url).getLatestBlockhash()).blockhash;
    await expect(send(await transfer({ blockhash: foreign }))).rejects.toThrow(/Blockhash not found/);
  } finally {
    await other.stop();
  }
});

test.each([
  ['insufficient tokens', { amount: 5_000_001n }, { InstructionError: [2, { Custom: 1 }] }],
  ['wrong decimals', { decimals: 5 }, { InstructionError: [2, { Custom: 18 }] }],
  ['too few compute units', { units: 50 }, { InstructionError: [0, 'ComputationalBudgetExceeded'] }],
] as const)('%s fails in simulation, and lands as failed without preflight', async (_name, change, err) => {
  const transaction = await transfer(change as Partial<Transfer>);
  expect((await connection.simulateTransaction(transaction)).value.err).toEqual(err);
  await expect(send(transaction)).rejects.toThrow(/Transaction simulation failed: Error processing Instruction/);
  const signature = await send(transaction, true);
  expect((await status(signature))?.err).toEqual(err);
  expect(await chain.usdcBalance(merchant)).toBe(0n);
  expect(await chain.usdcBalance(address(payer))).toBe(5_000_000n);
  const fee = (await connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }))?.meta?.fee;
  expect(await chain.lamports(address(payer))).toBe(SOL - BigInt(fee as number));
  expect(fee).toBe(5_001);
});

test('a wrong authority, a missing token account, a frozen account and an empty fee payer are refused', async () => {
  const thief = Keypair.generate();
  expect((await connection.simulateTransaction(await transfer({ authority: thief }))).value.err).toEqual({
    InstructionError: [2, { Custom: 4 }],
  });
  const homeless = await transfer({ to: address(Keypair.generate()) });
  expect((await connection.simulateTransaction(homeless)).value.err).toEqual({ InstructionError: [2, 'InvalidAccountData'] });
  await chain.setUsdc(address(payer), { frozen: true });
  expect((await connection.simulateTransaction(await transfer())).value.err).toEqual({ InstructionError: [2, { Custom: 17 }] });
  const broke = Keypair.generate();
  await chain.fund(address(broke), { usdc: 1_000_000n });
  const unpaid = await transfer({ payer: broke });
  expect((await connection.simulateTransaction(unpaid)).value.err).toBe('AccountNotFound');
  expect(await status(await send(unpaid, true), true)).toBeNull();
});

test('the fee of a sponsored transfer comes from the sponsor alone', async () => {
  const sponsor = Keypair.generate();
  await chain.fund(address(sponsor), { lamports: SOL });
  const self = signedTransfer({ payer, to: merchant, amount: 10_000n, blockhash: await blockhash() });
  const instructions = TransactionMessage.decompile(self.message).instructions;
  const message = new TransactionMessage({
    payerKey: sponsor.publicKey,
    recentBlockhash: self.message.recentBlockhash,
    instructions,
  }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  transaction.sign([payer]);
  expect((await connection.simulateTransaction(transaction)).value.err).toBeNull();
  await expect(connection.simulateTransaction(transaction, { sigVerify: true })).rejects.toThrow(/signature verification/i);
  transaction.sign([sponsor]);
  await send(transaction);
  expect([await chain.lamports(address(sponsor)), await chain.lamports(address(payer))]).toEqual([SOL - 10_001n, SOL]);
  expect(await chain.usdcBalance(merchant)).toBe(10_000n);
});

test('two transfers in one transaction move together or not at all', async () => {
  const second = (await transfer({ amount: 4_999_999n })).message;
  const instruction = TransactionMessage.decompile(second).instructions[2];
  const signature = await send(await transfer({ before: instruction === undefined ? [] : [instruction] }), true);
  expect((await status(signature))?.err).toEqual({ InstructionError: [3, { Custom: 1 }] });
  expect(await chain.usdcBalance(merchant)).toBe(0n);
});

test('a token account is created by the associated token program, and the calls it makes are told', async () => {
  const owner = Keypair.generate();
  const key = (pubkey: string, isWritable = false): AccountMeta => ({ pubkey: new PublicKey(pubkey), isSigner: false, isWritable });
  const create = {
    programId: new PublicKey(ASSOCIATED_TOKEN_PROGRAM),
    keys: [
      { pubkey: payer.publicKey, isSigner: true, isWritable: true },
      key(chain.tokenAccount(address(owner)), true),
      key(address(owner)),
      key(SOLANA_USDC),
      key(SystemProgram.programId.toBase58()),
      key(TOKEN_PROGRAM),
    ],
    data: Buffer.from([1]),
  };
  const transaction = await transfer({ to: address(owner), before: [create], units: 60_000 });
  const simulated = await connection.simulateTransaction(transaction, { innerInstructions: true });
  expect(simulated.value.err).toBeNull();
  expect(simulated.value.innerInstructions?.map((one) => one.index)).toEqual([2]);
  const signature = await send(transaction);
  expect(await chain.usdcBalance(address(owner))).toBe(10_000n);
  const found = await connection.getParsedTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 });
  expect(found?.transaction.message.instructions[2]).toMatchObject({
    program: 'spl-associated-token-account',
    parsed: { type: 'createIdempotent', info: { account: chain.tokenAccount(address(owner)), wallet: address(owner) } },
  });
  expect(found?.meta?.innerInstructions).toHaveLength(1);
  expect(found?.meta?.preTokenBalances?.map((one) => one.owner)).toEqual([address(payer)]);
  expect(await chain.lamports(address(payer))).toBe(SOL - 2_039_280n - BigInt(found?.meta?.fee as number));
});

test('SOL moves and legacy transactions too', async () => {
  const to = Keypair.generate();
  const instructions = [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to.publicKey, lamports: 2_000_000 })];
  const transaction = new VersionedTransaction(
    new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: await blockhash(), instructions }).compileToLegacyMessage(),
  );
  transaction.sign([payer]);
  const signature = await send(transaction);
  expect(await connection.getBalance(to.publicKey)).toBe(2_000_000);
  const found = await connection.getParsedTransaction(signature, { commitment: 'confirmed' });
  expect(found?.version).toBe('legacy');
  expect(found?.transaction.message.instructions[0]).toMatchObject({
    program: 'system',
    parsed: { type: 'transfer', info: { lamports: 2_000_000 } },
  });
});

test('statuses are forgotten after 300 blocks unless history is asked for', async () => {
  const signature = await send(await transfer());
  chain.advanceSlots(301);
  expect(await status(signature)).toBeNull();
  expect((await status(signature, true))?.confirmationStatus).toBe('finalized');
  const listed = await connection.getSignaturesForAddress(new PublicKey(chain.tokenAccount(merchant)));
  expect(listed.map((one) => one.signature)).toEqual([signature]);
});

test('a chain forgets its oldest transactions, and says from where on it remembers: not what could still be sent again', async () => {
  const small = await startLocalSolana({ remembered: 2 });
  try {
    const node = new Connection(small.url, { commitment: 'confirmed' });
    await small.fund(address(payer), { lamports: SOL, usdc: 5_000_000n });
    await small.fund(merchant, { usdc: 0n });
    const pay = async (amount: bigint): Promise<[string, Buffer]> => {
      const { blockhash } = await node.getLatestBlockhash();
      const wire = Buffer.from(signedTransfer({ payer, to: merchant, amount, blockhash }).serialize());
      return [await node.sendRawTransaction(wire), wire];
    };
    const known = async (signatures: string[]): Promise<boolean[]> =>
      (await node.getSignatureStatuses(signatures, { searchTransactionHistory: true })).value.map((one) => one !== null);
    const paid = [await pay(1n), await pay(2n), await pay(3n)] as const;
    const signatures = paid.map(([signature]) => signature);
    expect([await known(signatures), await node.getFirstAvailableBlock()]).toEqual([[true, true, true], 0]);
    await node.sendRawTransaction(paid[0][1], { skipPreflight: true });
    expect(await small.usdcBalance(merchant)).toBe(6n);
    small.advanceSlots(151);
    const [newest] = await pay(4n);
    expect(await known([...signatures, newest])).toEqual([false, false, true, true]);
    expect(await node.getFirstAvailableBlock()).toBeGreaterThan(0);
    expect(await node.getTransactionCount()).toBe(4);
    await node.sendRawTransaction(paid[0][1], { skipPreflight: true });
    expect(await small.usdcBalance(merchant)).toBe(10n);
  } finally {
    await small.stop();
  }
});

test('accounts are read in every encoding, one by one and many at once', async () => {
  const held = new PublicKey(chain.tokenAccount(address(payer)));
  expect((await connection.getTokenAccountBalance(held)).value).toEqual({
    amount: '5000000',
    decimals: 6,
    uiAmount: 5,
    uiAmountString: '5',
  });
  const owned = await connection.getParsedTokenAccountsByOwner(payer.publicKey, { mint: new PublicKey(SOLANA_USDC) });
  expect(owned.value.map((one) => [one.pubkey.toBase58(), one.account.data.parsed.info.tokenAmount.amount])).toEqual([
    [held.toBase58(), '5000000'],
  ]);
  const many = await connection.getMultipleAccountsInfo([held, Keypair.generate().publicKey, payer.publicKey]);
  expect(many.map((one) => one?.data.length ?? null)).toEqual([165, null, 0]);
  expect(await connection.getMinimumBalanceForRentExemption(165)).toBe(2_039_280);
  expect(await connection.getGenesisHash()).toBe(chain.genesis_hash);
  expect(await connection.getSlot()).toBeGreaterThan(await connection.getBlockHeight());
});

test('JSON-RPC manners: batches, notifications, and an error for each kind of nonsense', async () => {
  const call = (method: string, params: unknown = []): object => ({ jsonrpc: '2.0', id: method, method, params });
  const batch = await rpc([call('getHealth'), call('noSuchMethod'), 17]);
  expect(batch).toEqual([
    { jsonrpc: '2.0', id: 'getHealth', result: 'ok' },
    { jsonrpc: '2.0', id: 'noSuchMethod', error: { code: -32601, message: 'Method not found' } },
    { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid Request' } },
  ]);
  expect((await rpc('{nonsense')).error.code).toBe(-32700);
  expect((await rpc([])).error.code).toBe(-32600);
  expect((await rpc(call('toString'))).error.code).toBe(-32601);
  expect((await rpc(call('getBalance', ['not an address']))).error.code).toBe(-32602);
  expect((await rpc(call('sendTransaction', ['AAAA', { encoding: 'base64' }]))).error.code).toBe(-32602);
  const padded = Buffer.concat([(await transfer()).serialize(), Buffer.from([0])]).toString('base64');
  expect((await rpc(call('sendTransaction', [padded, { encoding: 'base64' }]))).error.code).toBe(-32602);
  expect((await rpc(call('getBalance', [merchant, { minContextSlot: 1e9 }]))).error.code).toBe(-32016);
  const silent = await fetch(chain.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', method: 'getHealth' }) });
  expect(await silent.text()).toBe('');
});

test('200 payments at once all land, each exactly once', async () => {
  const hash = await blockhash();
  const transactions = Array.from({ length: 200 }, (_, index) =>
    signedTransfer({ payer, to: merchant, amount: BigInt(index + 1), blockhash: hash }),
  );
  const signatures = await Promise.all(transactions.map((transaction) => send(transaction)));
  expect(new Set(signatures).size).toBe(200);
  expect(await chain.usdcBalance(merchant)).toBe(20_100n);
  expect(await chain.usdcBalance(address(payer))).toBe(5_000_000n - 20_100n);
});
