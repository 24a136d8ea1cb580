import { randomBytes } from 'node:crypto';
import { AddressLookupTableAccount, PublicKey, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { FailedTransactionMetadata, LiteSVM, TransactionMetadata } from 'litesvm';
import { type TransactionError, RpcFailure, decodeError } from './solana-errors';
import { SlotClock } from './solana-slots';
import { type Mint, type TokenAccount, decodeMint, decodeTokenAccount } from './solana-tokens';

type Address = Parameters<LiteSVM['getAccount']>[0];
type WireTransaction = Parameters<LiteSVM['sendTransaction']>[0];
type EncodedAccount = Parameters<LiteSVM['setAccount']>[0];

export interface ChainAccount {
  address: string;
  owner: string;
  lamports: bigint;
  data: Uint8Array;
  executable: boolean;
}

export interface TokenBalance extends TokenAccount {
  account_index: number;
  decimals: number;
  program: string;
}

interface Snapshot {
  lamports: bigint[];
  tokens: TokenBalance[];
}

export interface DecodedTransaction {
  wire: Uint8Array;
  transaction: VersionedTransaction;
  signature: string;
  /** Static keys, then writable, then read-only keys of lookup tables: the order instruction indexes count in. */
  keys: string[];
  loaded: { writable: string[]; readonly: string[] };
}

/** What running a transaction did, or would do. */
export interface Execution {
  err: TransactionError | null;
  logs: string[];
  units: number;
  meta: TransactionMetadata | null;
  accounts: ChainAccount[];
}

export interface Landed extends DecodedTransaction, Omit<Execution, 'accounts'> {
  slot: number;
  block_time: number;
  fee: bigint;
  before: Snapshot;
  after: Snapshot;
}

const HISTORY = 100_000n;

/** Loaded when a chain starts: a production run neither has nor needs it. */
async function newSvm(): Promise<LiteSVM> {
  const { LiteSVM } = await import('litesvm').catch((cause: unknown) => {
    throw new Error('The local Solana chain needs litesvm, a development package: install without --omit=dev, or set SOLANA_RPC_URL.', {
      cause,
    });
  });
  return new LiteSVM().withBlockhashCheck(false).withTransactionHistory(HISTORY);
}

function toChainAccount(account: EncodedAccount): ChainAccount {
  return {
    address: account.address,
    owner: account.programAddress,
    lamports: account.lamports,
    data: Uint8Array.from(account.data),
    executable: account.executable,
  };
}

/** The local chain's state: accounts and programs in LiteSVM, blockhashes and landed transactions kept here. */
export class SolanaBank {
  readonly clock = new SlotClock(randomBytes(32));
  readonly genesisHash = bs58.encode(this.clock.genesis);
  private readonly landed = new Map<string, Landed>();

  private constructor(private readonly svm: LiteSVM) {}

  static async open(): Promise<SolanaBank> {
    return new SolanaBank(await newSvm());
  }

  account(address: string): ChainAccount | undefined {
    const found = this.svm.getAccount(address as Address);
    return found.exists ? toChainAccount(found) : undefined;
  }

  setAccount(account: ChainAccount): void {
    const { address, owner, lamports, data, executable } = account;
    this.svm.setAccount({
      address,
      programAddress: owner,
      lamports,
      data,
      executable,
      space: BigInt(data.length),
    } as unknown as EncodedAccount);
  }

  programAccounts(program: string): ChainAccount[] {
    return this.svm.getProgramAccounts(program as Address).map(toChainAccount);
  }

  tokenAccount(address: string): TokenAccount | undefined {
    const account = this.account(address);
    return account && decodeTokenAccount(account.data, account.owner);
  }

  mint(address: string): Mint | undefined {
    const account = this.account(address);
    return account && decodeMint(account.data, account.owner);
  }

  rentExemption(bytes: number): bigint {
    return this.svm.minimumBalanceForRentExemption(BigInt(bytes));
  }

  find(signature: string): Landed | undefined {
    return this.landed.get(signature);
  }

  /** Newest first. */
  listLanded(): Landed[] {
    return [...this.landed.values()].reverse();
  }

  /** Throws RpcFailure when the bytes are no transaction, or not exactly one. */
  decode(wire: Uint8Array): DecodedTransaction {
    let transaction: VersionedTransaction;
    try {
      transaction = VersionedTransaction.deserialize(wire);
    } catch (error) {
      throw new RpcFailure(-32602, `failed to deserialize solana_transaction::versioned::VersionedTransaction: ${String(error)}`);
    }
    if (!Buffer.from(transaction.serialize()).equals(wire)) {
      throw new RpcFailure(-32602, 'failed to deserialize solana_transaction::versioned::VersionedTransaction: trailing bytes');
    }
    const signature = bs58.encode(transaction.signatures[0] ?? new Uint8Array(64));
    const loaded = this.lookUp(transaction);
    const keys = [...transaction.message.staticAccountKeys.map((key) => key.toBase58()), ...loaded.writable, ...loaded.readonly];
    return { wire, transaction, signature, keys, loaded };
  }

  /** Runs without effect. With `sigVerify`, a wrong signature is the error SignatureFailure. */
  simulate(decoded: DecodedTransaction, options: { sigVerify: boolean; checkBlockhash: boolean }): Execution {
    this.tick();
    this.svm.withSigverify(options.sigVerify);
    const result = this.svm.simulateTransaction(toWire(decoded));
    const failed = isFailed(result);
    const run: Execution = {
      ...describe(result.meta(), failed ? decodeError(result.err()) : null),
      accounts: failed ? [] : result.postAccounts().map(toChainAccount),
    };
    const stale =
      options.checkBlockhash && run.err !== 'SignatureFailure' && !this.clock.isValid(decoded.transaction.message.recentBlockhash);
    return stale ? { err: 'BlockhashNotFound', logs: [], units: 0, meta: null, accounts: [] } : run;
  }

  /** Runs for good. Undefined when it did not land: bad signature, dead blockhash, seen before, no lamports for the fee. */
  execute(decoded: DecodedTransaction): Landed | undefined {
    this.tick();
    if (!this.clock.isValid(decoded.transaction.message.recentBlockhash)) return undefined;
    if (this.landed.has(decoded.signature)) return undefined;
    const before = this.snapshot(decoded.keys);
    this.svm.withSigverify(true);
    const result = this.svm.sendTransaction(toWire(decoded));
    const after = this.snapshot(decoded.keys);
    const fee = sum(before.lamports) - sum(after.lamports);
    // A transaction that never entered a block paid no fee.
    if (isFailed(result) && fee === 0n) return undefined;
    const run = isFailed(result) ? describe(result.meta(), decodeError(result.err())) : describe(result, null);
    const landed: Landed = { ...decoded, ...run, slot: this.clock.slot(), block_time: this.clock.unixTime(), fee, before, after };
    this.landed.set(decoded.signature, landed);
    return landed;
  }

  private tick(): void {
    const clock = this.svm.getClock();
    clock.slot = BigInt(this.clock.slot());
    clock.unixTimestamp = BigInt(this.clock.unixTime());
    this.svm.setClock(clock);
  }

  private lookUp(transaction: VersionedTransaction): { writable: string[]; readonly: string[] } {
    const loaded = { writable: [] as string[], readonly: [] as string[] };
    for (const lookup of transaction.message.addressTableLookups) {
      const table = this.account(lookup.accountKey.toBase58());
      const addresses = table === undefined ? [] : AddressLookupTableAccount.deserialize(table.data).addresses;
      const pick = (indexes: number[]): string[] => indexes.map((index) => (addresses[index] ?? PublicKey.default).toBase58());
      loaded.writable.push(...pick(lookup.writableIndexes));
      loaded.readonly.push(...pick(lookup.readonlyIndexes));
    }
    return loaded;
  }

  private snapshot(keys: string[]): Snapshot {
    const accounts = keys.map((key) => this.account(key));
    const tokens = accounts.flatMap((account, index) => {
      const token = account && decodeTokenAccount(account.data, account.owner);
      const mint = token && this.mint(token.mint);
      return account && token && mint ? [{ ...token, account_index: index, decimals: mint.decimals, program: account.owner }] : [];
    });
    return { lamports: accounts.map((account) => account?.lamports ?? 0n), tokens };
  }
}

const sum = (values: bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

function isFailed(result: object): result is FailedTransactionMetadata {
  return 'err' in result;
}

function describe(meta: TransactionMetadata, err: TransactionError | null): Omit<Execution, 'accounts'> {
  return { err, logs: meta.logs(), units: Number(meta.computeUnitsConsumed()), meta };
}

function toWire({ transaction }: DecodedTransaction): WireTransaction {
  const signers = transaction.message.staticAccountKeys.slice(0, transaction.message.header.numRequiredSignatures);
  const signatures = Object.fromEntries(signers.map((key, index) => [key.toBase58(), transaction.signatures[index]]));
  return { messageBytes: transaction.message.serialize(), signatures } as unknown as WireTransaction;
}
