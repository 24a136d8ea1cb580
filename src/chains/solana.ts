import { Connection, PublicKey, type VersionedTransaction } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { RpcPool, type RpcPoolOptions, RpcUnavailable } from './rpc';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

/** A blockhash outlives this many blocks (MAX_PROCESSING_AGE of the Solana runtime). */
export const BLOCKHASH_BLOCKS = 150;
/** Target slot time of Solana, milliseconds. */
export const SLOT_MS = 400;

const SAMPLE_KEPT_MS = 180_000;

// Deriving one takes curve arithmetic; the same wallets come again.
const derived = new LRUCache<string, string>({ max: 20_000 });

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

/** True for the base58 text of exactly 32 bytes. */
export function isSolanaAddress(text: string): boolean {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return false;
  try {
    return new PublicKey(text).toBase58() === text;
  } catch {
    return false;
  }
}

/** A token account of the classic Token program. */
export interface TokenAccount {
  mint: string;
  owner: string;
  /** Atomic units. */
  amount: bigint;
  frozen: boolean;
}

/** What one provider knows about a transaction, and how far it has read. */
export interface SignatureView {
  slot: number;
  /** Null: this provider has never seen it. */
  status: { level: 'processed' | 'confirmed' | 'finalized'; err: unknown } | null;
}

export interface BlockhashSample {
  blockhash: string;
  last_valid_block_height: number;
  /** Slot the sample was taken at. */
  slot: number;
  sampled_at: number;
}

/** Solana over JSON-RPC, by polling only. Every method throws RpcUnavailable when no provider answers. */
export class SolanaChain {
  private readonly pool: RpcPool<Connection>;
  private readonly samples = new Map<string, BlockhashSample>();
  private newest: BlockhashSample | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(rpcUrls: readonly string[], options: RpcPoolOptions = { try_ms: 2_000, max_in_flight: 128 }) {
    // web3.js never reports a failure that is not an Error of its own realm: wrapped, it is.
    const fetchInTime: typeof fetch = (input, init) =>
      fetch(input, { ...init, signal: AbortSignal.timeout(options.try_ms) }).catch((cause: Error) => {
        throw new Error(`${cause.message}${cause.cause instanceof Error ? `: ${cause.cause.message}` : ''}`, { cause });
      });
    const connect = (url: string): Connection =>
      new Connection(url, { commitment: 'confirmed', fetch: fetchInTime as never, httpAgent: false, disableRetryOnRateLimit: true });
    this.pool = new RpcPool(rpcUrls.map(connect), options);
  }

  get providers(): number {
    return this.pool.size;
  }

  getGenesisHash(signal?: AbortSignal): Promise<string> {
    return this.pool.first((rpc) => rpc.getGenesisHash(), signal);
  }

  getBlockHeight(signal?: AbortSignal): Promise<number> {
    return this.pool.first((rpc) => rpc.getBlockHeight('confirmed'), signal);
  }

  /** Block heights of all providers that answer. */
  async listBlockHeights(signal?: AbortSignal): Promise<number[]> {
    return answered(await this.pool.all((rpc) => rpc.getBlockHeight('confirmed'), signal));
  }

  isBlockhashValid(blockhash: string, signal?: AbortSignal): Promise<boolean> {
    return this.pool.first(async (rpc) => (await rpc.isBlockhashValid(blockhash, { commitment: 'confirmed' })).value, signal);
  }

  async getLamports(address: string, signal?: AbortSignal): Promise<number> {
    return this.pool.first((rpc) => rpc.getBalance(new PublicKey(address), 'confirmed'), signal);
  }

  /** The token account at `address`, undefined when there is none (or it is not one of the classic Token program). */
  async findTokenAccount(address: string, signal?: AbortSignal): Promise<TokenAccount | undefined> {
    const info = await this.pool.first((rpc) => rpc.getAccountInfo(new PublicKey(address), 'confirmed'), signal);
    if (info === null || info.owner.toBase58() !== TOKEN_PROGRAM) return undefined;
    return decodeTokenAccount(Buffer.from(info.data));
  }

  /**
   * Runs a transaction without landing it: null, or what the runtime says against it. With `verify_signatures` the
   * signatures are checked by the node too. A node that has not seen `min_context_slot` yet is passed over. `after` is the
   * token account `watch` as the transaction would leave it; undefined when it would fail.
   */
  simulate(
    transaction: VersionedTransaction,
    options: { verify_signatures: boolean; min_context_slot?: number; watch: string },
    signal?: AbortSignal,
  ): Promise<{ err: unknown; after: TokenAccount | undefined }> {
    return this.pool.first(async (rpc) => {
      try {
        const { value } = await rpc.simulateTransaction(transaction, {
          sigVerify: options.verify_signatures,
          replaceRecentBlockhash: false,
          commitment: 'confirmed',
          minContextSlot: options.min_context_slot,
          accounts: { encoding: 'base64', addresses: [options.watch] },
        });
        const [account] = value.accounts ?? [];
        const after = account?.owner === TOKEN_PROGRAM ? decodeTokenAccount(Buffer.from(account.data[0] ?? '', 'base64')) : undefined;
        return { err: value.err, after };
      } catch (error) {
        if (isVerdict(error)) return { err: (error as Error).message, after: undefined };
        throw error;
      }
    }, signal);
  }

  /** Hands the bytes to every provider, skipping their preflight. Returns how many took them; what a node says against them is told by the status, not here. */
  async broadcast(wire: Uint8Array, signal?: AbortSignal): Promise<number> {
    const replies = await this.pool.all((rpc) => rpc.sendRawTransaction(wire, { skipPreflight: true, maxRetries: 0 }), signal);
    return answered(replies).length;
  }

  /** What each provider that answers knows about a signature (its history included). */
  async listSignatureViews(signature: string, signal?: AbortSignal): Promise<SignatureView[]> {
    const replies = await this.pool.all((rpc) => rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }), signal);
    return answered(replies).map(({ context, value }) => {
      const status = value[0] ?? null;
      return {
        slot: context.slot,
        status:
          status === null
            ? null
            : { level: status.confirmationStatus ?? (status.confirmations === null ? 'finalized' : 'processed'), err: status.err },
      };
    });
  }

  /** How a landed transaction changed the token balance of `account`, in atomic units; undefined while no provider has it. */
  async findTokenChange(signature: string, account: string, signal?: AbortSignal): Promise<{ err: unknown; change: bigint } | undefined> {
    const landed = await this.pool
      .first(async (rpc) => {
        const found = await rpc.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 });
        if (found === null) throw new RpcUnavailable('the transaction is not there yet');
        return found;
      }, signal)
      .catch((error: unknown) => {
        if (error instanceof RpcUnavailable) return undefined;
        throw error;
      });
    if (landed === undefined || landed.meta === null) return undefined;
    const index = landed.transaction.message.staticAccountKeys.findIndex((key) => key.toBase58() === account);
    const balance = (side: 'preTokenBalances' | 'postTokenBalances'): bigint =>
      BigInt(landed.meta?.[side]?.find((entry) => entry.accountIndex === index)?.uiTokenAmount.amount ?? '0');
    return { err: landed.meta.err, change: balance('postTokenBalances') - balance('preTokenBalances') };
  }

  // ---- blockhash samples: how long a proof lives is only known for blockhashes we have seen being born ----

  /** The newest sample not older than `maxAgeMs`, for offers. */
  freshBlockhash(maxAgeMs: number): BlockhashSample | undefined {
    return this.newest !== undefined && Date.now() - this.newest.sampled_at <= maxAgeMs ? this.newest : undefined;
  }

  findBlockhash(blockhash: string): BlockhashSample | undefined {
    return this.samples.get(blockhash);
  }

  /** Block height now, carried on from the newest sample at the target slot time; undefined before the first sample. */
  estimateBlockHeight(): number | undefined {
    if (this.newest === undefined) return undefined;
    return this.newest.last_valid_block_height - BLOCKHASH_BLOCKS + (Date.now() - this.newest.sampled_at) / SLOT_MS;
  }

  async sampleBlockhash(signal?: AbortSignal): Promise<BlockhashSample> {
    const { context, value } = await this.pool.first((rpc) => rpc.getLatestBlockhashAndContext('confirmed'), signal);
    const sample = {
      blockhash: value.blockhash,
      last_valid_block_height: value.lastValidBlockHeight,
      slot: context.slot,
      sampled_at: Date.now(),
    };
    if (this.newest === undefined || sample.last_valid_block_height >= this.newest.last_valid_block_height) this.newest = sample;
    this.samples.set(sample.blockhash, sample);
    for (const [hash, { sampled_at }] of this.samples) if (sampled_at < Date.now() - SAMPLE_KEPT_MS) this.samples.delete(hash);
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

function answered<T>(replies: PromiseSettledResult<T>[]): T[] {
  return replies.flatMap((reply) => (reply.status === 'fulfilled' ? [reply.value] : []));
}

/**
 * Whether an error reply speaks about the transaction itself (bad signature, not decodable) and not about the node. web3.js
 * keeps only the message of a simulation's error reply (texts: rpc-client-api custom_error.rs, rpc.rs decode_and_deserialize).
 */
function isVerdict(error: unknown): boolean {
  return /signature verification failure|failed to deserialize|failed to sanitize|invalid transaction/i.test((error as Error).message);
}

/** Token account layout (spl-token state.rs): mint 0, owner 32, u64 amount 64, state 108 (2 = frozen); 165 bytes. */
function decodeTokenAccount(data: Buffer): TokenAccount | undefined {
  if (data.length !== 165 || data[108] === 0) return undefined;
  return {
    mint: new PublicKey(data.subarray(0, 32)).toBase58(),
    owner: new PublicKey(data.subarray(32, 64)).toBase58(),
    amount: data.readBigUInt64LE(64),
    frozen: data[108] === 2,
  };
}
