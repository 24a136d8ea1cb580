import { PublicKey } from '@solana/web3.js';
import { lruOf } from '../lib/lru';
import { JsonRpcNode, type PostJson } from './json-rpc';
import { RPC_DEFAULTS, RpcPool, type RpcPoolOptions, RpcUnavailable } from './rpc';
import {
  type AccountJson,
  type EpochJson,
  type InContext,
  isVerdict,
  type LandedJson,
  type SimulationJson,
  type StatusJson,
  TOKEN_PROGRAM,
  type TokenAccount,
  type TokenBalanceJson,
  tokenAccountOf,
} from './solana-replies';

export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

/** A blockhash outlives this many blocks (MAX_PROCESSING_AGE of the Solana runtime). */
export const BLOCKHASH_BLOCKS = 150;
/** Target slot time of Solana, milliseconds. */
export const SLOT_MS = 400;

const SAMPLE_KEPT_MS = 180_000;
/** Samples of the highest block that no other has reached for as long are not believed. */
const ALONE_MS = 10_000;

// Deriving one takes curve arithmetic; the same wallets come again.
const derived = lruOf<string>(20_000);

/** The associated token account of a wallet for a mint of the classic Token program: PDA of [owner, token program, mint]. */
export function associatedTokenAddress(owner: string, mint: string): string {
  const known = derived.get(`${owner} ${mint}`);
  if (known !== undefined) return known;
  const address = deriveTokenAddress(owner, mint);
  derived.set(`${owner} ${mint}`, address);
  return address;
}

function deriveTokenAddress(owner: string, mint: string): string {
  const seeds = [new PublicKey(owner).toBuffer(), new PublicKey(TOKEN_PROGRAM).toBuffer(), new PublicKey(mint).toBuffer()];
  return PublicKey.findProgramAddressSync(seeds, new PublicKey(ASSOCIATED_TOKEN_PROGRAM))[0].toBase58();
}

/** What one provider knows about a transaction, and how far it has read. */
export interface SignatureView {
  slot: number;
  /** Null: this provider has never seen it. */
  status: { level: 'processed' | 'confirmed' | 'finalized'; err: unknown } | null;
}

/** With the height of the newest block that was read before; null where nobody told, or what was asked had not read so far itself, or has forgotten what was long ago. */
export interface DatedView extends SignatureView {
  height: number | null;
}

export interface BlockhashSample {
  blockhash: string;
  last_valid_block_height: number;
  /** Slot the sample was taken at. */
  slot: number;
  /** By the clock that nobody sets, in milliseconds. */
  sampled_at: number;
}

export interface SolanaChainOptions extends RpcPoolOptions {
  /** How calls are sent; over HTTP by default. */
  post?: PostJson | undefined;
}

const CONFIRMED = { commitment: 'confirmed' };

/** Solana over JSON-RPC, by polling only. Every method throws RpcUnavailable when no provider answers. */
export class SolanaChain {
  private readonly pool: RpcPool<JsonRpcNode>;
  private readonly samples = new Map<string, BlockhashSample>();
  private newest: BlockhashSample | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(rpcUrls: readonly string[], options: SolanaChainOptions = RPC_DEFAULTS) {
    this.pool = new RpcPool(
      rpcUrls.map((url) => new JsonRpcNode(url, options)),
      options,
    );
  }

  get providers(): number {
    return this.pool.size;
  }

  /** Which chain each provider that answers serves. */
  async listGenesisHashes(signal?: AbortSignal): Promise<string[]> {
    return answered(await this.pool.all((rpc) => ask<string>(rpc, 'getGenesisHash', []), signal));
  }

  /** Height of the newest block; where who tells it has not read up to `slot`, the most that it can be there: a slot has one block at most. */
  async getBlockHeight(slot = 0, signal?: AbortSignal): Promise<number> {
    const read = await this.pool.first((rpc) => ask<EpochJson>(rpc, 'getEpochInfo', [CONFIRMED]), signal);
    return read.blockHeight + Math.max(0, slot - read.absoluteSlot);
  }

  /** A slot at which a blockhash is valid by now; undefined where it is not. */
  async findValidSlot(blockhash: string, signal?: AbortSignal): Promise<number | undefined> {
    const { context, value } = await this.pool.first(
      (rpc) => ask<InContext<boolean>>(rpc, 'isBlockhashValid', [blockhash, CONFIRMED]),
      signal,
    );
    return value ? context.slot : undefined;
  }

  async getLamports(address: string, signal?: AbortSignal): Promise<number> {
    return this.pool.first(async (rpc) => (await ask<InContext<number>>(rpc, 'getBalance', [address, CONFIRMED])).value, signal);
  }

  /** The token account at `address`, undefined when there is none (or it is not one of the classic Token program). */
  async findTokenAccount(address: string, signal?: AbortSignal): Promise<TokenAccount | undefined> {
    const params = [address, { ...CONFIRMED, encoding: 'base64' }];
    const { value } = await this.pool.first((rpc) => ask<InContext<AccountJson | null>>(rpc, 'getAccountInfo', params), signal);
    return tokenAccountOf(value);
  }

  /**
   * Runs a transaction (base64) without landing it: null, or what the runtime says against it. With `verify_signatures` the
   * signatures are checked by the node too. A node that has not seen `min_context_slot` yet is passed over. `after` is the
   * token account `watch` as the transaction would leave it; undefined when it would fail.
   */
  simulate(
    transaction: string,
    options: { verify_signatures: boolean; min_context_slot?: number; watch: string },
    signal?: AbortSignal,
  ): Promise<{ err: unknown; after: TokenAccount | undefined }> {
    const config = {
      ...CONFIRMED,
      encoding: 'base64',
      sigVerify: options.verify_signatures,
      replaceRecentBlockhash: false,
      minContextSlot: options.min_context_slot,
      accounts: { encoding: 'base64', addresses: [options.watch] },
    };
    return this.pool.first(async (rpc) => {
      try {
        const { value } = await ask<InContext<SimulationJson>>(rpc, 'simulateTransaction', [transaction, config]);
        return { err: value.err, after: tokenAccountOf(value.accounts?.[0] ?? null) };
      } catch (error) {
        if (isVerdict(error)) return { err: (error as Error).message, after: undefined };
        throw error;
      }
    }, signal);
  }

  /** Hands the bytes (base64) to every provider, skipping their preflight. Returns how many took them, none where nobody answers; what a node says against them is told by the status, not here. */
  async broadcast(wire: string, signal?: AbortSignal): Promise<number> {
    const params = [wire, { encoding: 'base64', skipPreflight: true, maxRetries: 0 }];
    return answered(await this.pool.all((rpc) => ask<string>(rpc, 'sendTransaction', params), signal)).length;
  }

  /** What each provider that answers knows about a signature (its history included). */
  async listSignatureViews(signature: string, signal?: AbortSignal): Promise<SignatureView[]> {
    return answered(await this.pool.all((rpc) => viewOf(rpc, signature), signal));
  }

  /**
   * The same, each asked first how far it has read. Behind one url stand several servers: the one that knows nothing of a signature may be a laggard. Given
   * a time `since`, each that knows nothing is asked as well whether it knows blocks that are as old: nodes keep those of some days.
   */
  async listDatedViews(signature: string, since: Date | null, signal?: AbortSignal): Promise<DatedView[]> {
    const dated = async (rpc: JsonRpcNode): Promise<DatedView> => {
      const read = await ask<EpochJson>(rpc, 'getEpochInfo', [CONFIRMED]).catch(() => null);
      const view = await viewOf(rpc, signature);
      const counts =
        read !== null && view.slot >= read.absoluteSlot && (since === null || view.status !== null || (await recalls(rpc, since)));
      return { ...view, height: counts ? read.blockHeight : null };
    };
    return answered(await this.pool.all(dated, signal));
  }

  /** How a landed transaction changed the token balance of `account`, in atomic units; undefined while no provider has it, with its balances. */
  async findTokenChange(signature: string, account: string, signal?: AbortSignal): Promise<{ err: unknown; change: bigint } | undefined> {
    const params = [signature, { ...CONFIRMED, encoding: 'json', maxSupportedTransactionVersion: 0 }];
    const landed = await this.pool
      .first(async (rpc) => {
        const found = await ask<LandedJson | null>(rpc, 'getTransaction', params);
        if (!isReadable(found?.meta)) throw new RpcUnavailable('the transaction is not there yet');
        return { ...found, meta: found.meta };
      }, signal)
      .catch((error: unknown) => {
        if (error instanceof RpcUnavailable) return undefined;
        throw error;
      });
    if (landed === undefined) return undefined;
    const { meta, transaction } = landed;
    const index = transaction.message.accountKeys.indexOf(account);
    const balance = (entries: TokenBalanceJson[] | null | undefined): bigint =>
      BigInt(entries?.find((entry) => entry.accountIndex === index)?.uiTokenAmount.amount ?? '0');
    return { err: meta.err, change: balance(meta.postTokenBalances) - balance(meta.preTokenBalances) };
  }

  // ---- blockhash samples: how long a proof lives is only known for blockhashes we have seen being born ----

  /** The newest sample not older than `maxAgeMs`, for offers. */
  freshBlockhash(maxAgeMs: number): BlockhashSample | undefined {
    return this.newest !== undefined && performance.now() - this.newest.sampled_at <= maxAgeMs ? this.newest : undefined;
  }

  findBlockhash(blockhash: string): BlockhashSample | undefined {
    return this.samples.get(blockhash);
  }

  /** Block height now, carried on from the newest sample at the target slot time; undefined before the first sample. */
  estimateBlockHeight(): number | undefined {
    if (this.newest === undefined) return undefined;
    return this.newest.last_valid_block_height - BLOCKHASH_BLOCKS + (performance.now() - this.newest.sampled_at) / SLOT_MS;
  }

  async sampleBlockhash(): Promise<BlockhashSample> {
    const { context, value } = await this.pool.first((rpc) =>
      ask<InContext<{ blockhash: string; lastValidBlockHeight: number }>>(rpc, 'getLatestBlockhash', [CONFIRMED]),
    );
    const sample = {
      blockhash: value.blockhash,
      last_valid_block_height: value.lastValidBlockHeight,
      slot: context.slot,
      sampled_at: performance.now(),
    };
    const { newest } = this;
    // A laggard does not replace who is ahead of it; but who stays alone with a height was wrong.
    if (
      newest === undefined ||
      sample.last_valid_block_height >= newest.last_valid_block_height ||
      sample.sampled_at - newest.sampled_at > ALONE_MS
    )
      this.newest = sample;
    this.samples.set(sample.blockhash, sample);
    for (const [hash, { sampled_at }] of this.samples) if (sampled_at < performance.now() - SAMPLE_KEPT_MS) this.samples.delete(hash);
    return sample;
  }

  /** Samples now and then every `everyMs` until stopped; failures are only noticed as missing samples. */
  startSampling(everyMs: number): void {
    if (this.timer !== undefined) return;
    const sample = (): void => void this.sampleBlockhash().catch(() => undefined);
    this.timer = setInterval(sample, everyMs);
    this.timer.unref();
    sample();
  }

  stopSampling(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

/** Whether a transaction's record tells what became of it; of one that failed, no balance matters. */
const isReadable = (meta: LandedJson['meta'] | undefined): meta is NonNullable<LandedJson['meta']> =>
  meta != null && (meta.err !== null || (meta.preTokenBalances != null && meta.postTokenBalances != null));

function answered<T>(replies: PromiseSettledResult<T>[]): T[] {
  return replies.flatMap((reply) => (reply.status === 'fulfilled' ? [reply.value] : []));
}

const ask = <T>(rpc: JsonRpcNode, method: string, params: readonly unknown[]): Promise<T> => rpc.call(method, params) as Promise<T>;

/** Whether a node still knows blocks of that time. */
async function recalls(rpc: JsonRpcNode, since: Date): Promise<boolean> {
  try {
    const time = await ask<number | null>(rpc, 'getBlockTime', [await ask<number>(rpc, 'getFirstAvailableBlock', [])]);
    return time !== null && time * 1_000 <= since.getTime();
  } catch {
    return false;
  }
}

async function viewOf(rpc: JsonRpcNode, signature: string): Promise<SignatureView> {
  const params = [[signature], { searchTransactionHistory: true }];
  const { context, value } = await ask<InContext<(StatusJson | null)[]>>(rpc, 'getSignatureStatuses', params);
  const [status = null] = value;
  if (status === null) return { slot: context.slot, status: null };
  const level = status.confirmationStatus ?? (status.confirmations === null ? 'finalized' : 'processed');
  return { slot: context.slot, status: { level, err: status.err } };
}
