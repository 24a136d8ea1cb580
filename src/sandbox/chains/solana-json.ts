import bs58 from 'bs58';
import { type ChainAccount, type Landed, type SolanaBank, type TokenBalance } from './solana-bank';
import { RpcFailure } from './solana-errors';
import { type RawInstruction, parseInstruction } from './solana-instructions';
import { decodeMint, decodeTokenAccount, uiTokenAmount } from './solana-tokens';

const U64_MAX = Number(2n ** 64n - 1n);

export interface AccountEncoding {
  encoding?: string;
  dataSlice?: { offset: number; length: number };
}

function parsedData(bank: SolanaBank, account: ChainAccount): Record<string, unknown> | undefined {
  const program = account.owner.startsWith('Tokenz') ? 'spl-token-2022' : 'spl-token';
  const token = decodeTokenAccount(account.data, account.owner);
  if (token !== undefined) {
    const decimals = bank.mint(token.mint)?.decimals ?? 0;
    const info = {
      isNative: false,
      mint: token.mint,
      owner: token.owner,
      state: token.state,
      tokenAmount: uiTokenAmount(token.amount, decimals),
    };
    return { program, parsed: { type: 'account', info }, space: account.data.length };
  }
  const mint = decodeMint(account.data, account.owner);
  if (mint === undefined) return undefined;
  const info = { decimals: mint.decimals, freezeAuthority: null, isInitialized: true, mintAuthority: null, supply: mint.supply.toString() };
  return { program, parsed: { type: 'mint', info }, space: account.data.length };
}

/** An account as getAccountInfo writes it: base64 (also for jsonParsed without a parser), base58, or jsonParsed. */
export function accountJson(bank: SolanaBank, account: ChainAccount | undefined, options: AccountEncoding): Record<string, unknown> | null {
  if (account === undefined) return null;
  const encoding = options.encoding ?? 'binary';
  const slice = options.dataSlice;
  const bytes = Buffer.from(slice === undefined ? account.data : account.data.slice(slice.offset, slice.offset + slice.length));
  const rest = {
    executable: account.executable,
    lamports: Number(account.lamports),
    owner: account.owner,
    rentEpoch: U64_MAX,
    space: account.data.length,
  };
  if (encoding === 'binary') return { data: bs58.encode(bytes), ...rest };
  if (encoding === 'base58') return { data: [bs58.encode(bytes), 'base58'], ...rest };
  if (encoding === 'base64') return { data: [bytes.toString('base64'), 'base64'], ...rest };
  if (encoding === 'jsonParsed') return { data: parsedData(bank, account) ?? [bytes.toString('base64'), 'base64'], ...rest };
  throw new RpcFailure(-32602, `Invalid params: the local chain does not know the encoding "${encoding}".`);
}

const tokenBalanceJson = (balance: TokenBalance): Record<string, unknown> => ({
  accountIndex: balance.account_index,
  mint: balance.mint,
  owner: balance.owner,
  programId: balance.program,
  uiTokenAmount: uiTokenAmount(balance.amount, balance.decimals),
});

type Instructions = (list: RawInstruction[]) => unknown[];

function compiled(list: RawInstruction[]): unknown[] {
  return list.map(({ program_index, accounts, data, depth }) => ({
    programIdIndex: program_index,
    accounts,
    data: bs58.encode(data),
    stackHeight: depth,
  }));
}

function innerInstructions(meta: Landed['meta'], write: Instructions): unknown[] {
  const perInstruction = meta?.innerInstructions() ?? [];
  return perInstruction.flatMap((list, index) => {
    const raw = list.map((inner) => {
      const instruction = inner.instruction();
      return {
        program_index: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: instruction.data(),
        depth: inner.stackHeight(),
      };
    });
    return raw.length === 0 ? [] : [{ index, instructions: write(raw) }];
  });
}

/** What programs called, parsed, as simulateTransaction writes it. */
export function innerInstructionsJson(meta: Landed['meta'], keys: string[]): unknown[] {
  return innerInstructions(meta, (list) => list.map((one) => parseInstruction(one, keys)));
}

function metaJson(landed: Landed, write: Instructions): Record<string, unknown> {
  return {
    err: landed.err,
    status: landed.err === null ? { Ok: null } : { Err: landed.err },
    fee: Number(landed.fee),
    preBalances: landed.before.lamports.map(Number),
    postBalances: landed.after.lamports.map(Number),
    preTokenBalances: landed.before.tokens.map(tokenBalanceJson),
    postTokenBalances: landed.after.tokens.map(tokenBalanceJson),
    innerInstructions: innerInstructions(landed.meta, write),
    logMessages: landed.logs,
    loadedAddresses: landed.loaded,
    rewards: [],
    computeUnitsConsumed: landed.units,
  };
}

function parsedKeys({ transaction, keys }: Landed): unknown[] {
  const { message } = transaction;
  return keys.map((pubkey, index) => ({
    pubkey,
    signer: message.isAccountSigner(index),
    writable: message.isAccountWritable(index),
    source: index < message.staticAccountKeys.length ? 'transaction' : 'lookupTable',
  }));
}

function messageJson(landed: Landed, parsed: boolean, write: Instructions): Record<string, unknown> {
  const { message } = landed.transaction;
  const raw = message.compiledInstructions.map((one): RawInstruction => ({
    program_index: one.programIdIndex,
    accounts: one.accountKeyIndexes,
    data: one.data,
    depth: 1,
  }));
  const lookups = message.addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
    accountKey: accountKey.toBase58(),
    writableIndexes,
    readonlyIndexes,
  }));
  return {
    ...(parsed ? {} : { header: message.header }),
    accountKeys: parsed ? parsedKeys(landed) : landed.keys.slice(0, message.staticAccountKeys.length),
    recentBlockhash: message.recentBlockhash,
    instructions: write(raw),
    ...(landed.transaction.version === 0 ? { addressTableLookups: lookups } : {}),
  };
}

/** A landed transaction as getTransaction writes it, in any of its four encodings. */
export function transactionJson(landed: Landed, encoding: string): Record<string, unknown> {
  const parsed = encoding === 'jsonParsed';
  const write: Instructions = parsed ? (list) => list.map((one) => parseInstruction(one, landed.keys)) : compiled;
  const bytes = Buffer.from(landed.wire);
  // Base58 takes time by the square of the length: only for those who want it.
  const binary: Record<string, () => unknown> = {
    base64: () => [bytes.toString('base64'), 'base64'],
    base58: () => [bs58.encode(bytes), 'base58'],
  };
  const signatures = landed.transaction.signatures.map((signature) => bs58.encode(signature));
  return {
    slot: landed.slot,
    blockTime: landed.block_time,
    version: landed.transaction.version,
    meta: metaJson(landed, write),
    transaction: binary[encoding]?.() ?? { signatures, message: messageJson(landed, parsed, write) },
  };
}
