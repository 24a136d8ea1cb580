import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { AddressLookupTableAccount, PublicKey, VersionedTransaction } from '@solana/web3.js';
import type { Account, FailedTransactionMetadata, LiteSvm, SimulatedTransactionInfo, TransactionMetadata } from 'litesvm/dist/internal.js';
import { BLOCKHASH_BLOCKS } from '../../chains/solana';
import { solanaAddressBytes, solanaAddressOf } from '../../lib/solana-address';
import { type TransactionError, RpcFailure, decodeError } from './solana-errors';
import { SlotClock } from './solana-slots';
import { type Mint, type TokenAccount, decodeMint, decodeTokenAccount, isTokenProgram } from './solana-tokens';

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

/** What running a transaction did. */
interface Execution {
  err: TransactionError | null;
  logs: string[];
  units: number;
  meta: TransactionMetadata | null;
}

/** What running a transaction would do. */
export interface Simulation extends Execution {
  /** The accounts it names as it would leave them; none when it would fail. */
  accounts(): Map<string, ChainAccount>;
}

export interface Landed extends DecodedTransaction, Execution {
  slot: number;
  block_time: number;
  fee: bigint;
  before: Snapshot;
  after: Snapshot;
}

/** Transactions that a chain remembers: each takes some 30 KB, most of it the library's. */
const REMEMBERED = 10_000;

/** LiteSVM without its outer face, which spells every address and copies the bytes of every program a transaction names. */
type Library = typeof import('litesvm/dist/internal.js');

/** Loaded when a chain starts: a production run neither has nor needs it. */
function loadLibrary(): Promise<Library> {
  return import('litesvm/dist/internal.js').catch((cause: unknown) => {
    throw new Error('The local Solana chain needs litesvm, a development package: install without --omit=dev, or set SOLANA_RPC_URL.', {
      cause,
    });
  });
}

function toChainAccount(address: string, account: Account): ChainAccount {
  return {
    address,
    owner: solanaAddressOf(account.owner()),
    lamports: account.lamports(),
    data: account.data(),
    executable: account.executable(),
  };
}

/** The local chain's state: accounts and programs in LiteSVM, blockhashes and landed transactions kept here. */
export class SolanaBank {
  readonly clock = new SlotClock(randomBytes(32));
  readonly genesisHash = bs58.encode(this.clock.genesis);
  /** Oldest first. */
  private readonly landed = new Map<string, Landed>();
  /** How many transactions landed since the start. */
  count = 0;
  /** Nothing is remembered of the slots before. */
  firstSlot = 0;

  private readonly svm: LiteSvm;

  private constructor(
    private readonly library: Library,
    private readonly remembered: number,
  ) {
    this.svm = new library.LiteSvm();
    this.svm.setBlockhashCheck(false);
    this.svm.setTransactionHistory(BigInt(remembered));
  }

  /** A chain that remembers so many of its newest transactions, and all that could be sent again. */
  static async open(remembered = REMEMBERED): Promise<SolanaBank> {
    return new SolanaBank(await loadLibrary(), remembered);
  }

  account(address: string): ChainAccount | undefined {
    const found = this.svm.getAccount(solanaAddressBytes(address));
    return found === null ? undefined : toChainAccount(address, found);
  }

  setAccount(account: ChainAccount): void {
    const { address, owner, lamports, data, executable } = account;
    this.svm.setAccount(solanaAddressBytes(address), new this.library.Account(lamports, data, solanaAddressBytes(owner), executable, 0n));
  }

  programAccounts(program: string): ChainAccount[] {
    return this.svm
      .getProgramAccounts(solanaAddressBytes(program))
      .map((found) => toChainAccount(solanaAddressOf(found.address), found.account()));
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
    const keys = [
      ...transaction.message.staticAccountKeys.map((key) => solanaAddressOf(key.toBytes())),
      ...loaded.writable,
      ...loaded.readonly,
    ];
    // A landed transaction is kept: a piece of a buffer would keep the whole of it, 64 KB for each.
    return { wire: Uint8Array.from(wire), transaction, signature, keys, loaded };
  }

  /** Runs without effect. With `sigVerify`, a wrong signature is the error SignatureFailure. */
  simulate(decoded: DecodedTransaction, options: { sigVerify: boolean; checkBlockhash: boolean }): Simulation {
    this.tick();
    this.svm.setSigverify(options.sigVerify);
    const { wire, transaction } = decoded;
    const result =
      transaction.version === 'legacy' ? this.svm.simulateLegacyTransaction(wire) : this.svm.simulateVersionedTransaction(wire);
    const run = describe(result.meta(), isFailed(result) ? decodeError(result.err()) : null);
    if (options.checkBlockhash && run.err !== 'SignatureFailure' && !this.clock.isValid(transaction.message.recentBlockhash))
      return { err: 'BlockhashNotFound', logs: [], units: 0, meta: null, accounts: () => new Map() };
    return { ...run, accounts: () => new Map(isFailed(result) ? [] : postAccounts(result)) };
  }

  /** Runs for good. Undefined when it did not land: bad signature, dead blockhash, seen before, no lamports for the fee. */
  execute(decoded: DecodedTransaction): Landed | undefined {
    this.tick();
    const { wire, transaction, signature } = decoded;
    if (!this.clock.isValid(transaction.message.recentBlockhash)) return undefined;
    if (this.landed.has(signature)) return undefined;
    const before = this.snapshot(decoded.keys);
    this.svm.setSigverify(true);
    const result = transaction.version === 'legacy' ? this.svm.sendLegacyTransaction(wire) : this.svm.sendVersionedTransaction(wire);
    const after = this.snapshot(decoded.keys);
    const fee = sum(before.lamports) - sum(after.lamports);
    // A transaction that never entered a block paid no fee.
    if (isFailed(result) && fee === 0n) return undefined;
    const run = isFailed(result) ? describe(result.meta(), decodeError(result.err())) : describe(result, null);
    const landed: Landed = { ...decoded, ...run, slot: this.clock.slot(), block_time: this.clock.unixTime(), fee, before, after };
    this.landed.set(signature, landed);
    this.count += 1;
    this.forget();
    return landed;
  }

  private forget(): void {
    for (const [signature, { slot }] of this.landed) {
      // While its blockhash lives it would land a second time.
      if (this.landed.size <= this.remembered || this.clock.slot() - slot <= BLOCKHASH_BLOCKS) return;
      this.landed.delete(signature);
      this.firstSlot = slot + 1;
    }
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
    const accounts = keys.map((key) => this.svm.getAccount(solanaAddressBytes(key)));
    const tokens = accounts.flatMap((account, account_index) => {
      const program = account === null ? '' : solanaAddressOf(account.owner());
      // Of other programs not even the bytes are read: those of a program are copied for longer than a transaction runs.
      const token = account === null || !isTokenProgram(program) ? undefined : decodeTokenAccount(account.data(), program);
      const mint = token && this.mint(token.mint);
      return token && mint ? [{ ...token, account_index, decimals: mint.decimals, program }] : [];
    });
    return { lamports: accounts.map((account) => account?.lamports() ?? 0n), tokens };
  }
}

const sum = (values: bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

function isFailed(result: object): result is FailedTransactionMetadata {
  return 'err' in result;
}

function describe(meta: TransactionMetadata, err: TransactionError | null): Execution {
  return { err, logs: meta.logs(), units: Number(meta.computeUnitsConsumed()), meta };
}

function postAccounts(result: SimulatedTransactionInfo): [string, ChainAccount][] {
  return result.postAccounts().map((found) => {
    const address = solanaAddressOf(found.address);
    return [address, toChainAccount(address, found.account())];
  });
}
