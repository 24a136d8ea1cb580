import { Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { pause, RpcUnavailable } from '../../chains/rpc';
import { associatedTokenAddress, SLOT_MS, type SignatureView, type SolanaChain, type TokenAccount } from '../../chains/solana';
import { AppError } from '../../errors';
import type { SolanaPaymentConfig } from '../config';
import { type Admission, type JsonObject, type PaymentLog, type PaymentRecord, type Settlement, TRANSACTION_EXPIRED, type ValidProof } from '../protocol';

// The last stretch of a blockhash's life is kept for broadcast and confirmation.
const SETTLE_RESERVE_MS = 12_000;
const LEAST_QUERY_MS = 3_000;
const RESIMULATE_AFTER_MS = 5_000;
const RESEND_MS = 1_500;
const POLL_MS = 400;
/** Blocks past the last valid one before "not seen" counts as "never": forks and lagging status indexes. */
const EXPIRY_MARGIN_BLOCKS = 32;
const SAMPLE_MS = 2_000;
const OFFER_BLOCKHASH_AGE_MS = 5_000;

/** Solana is set up in a way that cannot work, whatever is tried again. */
export class SolanaMisconfigured extends Error {}

/** What x402 and MPP `solana` share between admission and receipt. Records carry the details this class writes. */
export class SolanaSettlement {
  readonly sponsor: Keypair | null;
  readonly destination: string;
  private chainChecked = false;
  private started = 0;

  constructor(
    private readonly config: SolanaPaymentConfig,
    readonly chain: SolanaChain,
    private readonly log: PaymentLog,
  ) {
    this.sponsor = config.sponsor_key === false ? null : Keypair.fromSecretKey(bs58.decode(config.sponsor_key));
    this.destination = associatedTokenAddress(config.pay_to, config.mint);
  }

  async start(): Promise<void> {
    this.started += 1;
    if (this.started > 1) return;
    try {
      await this.probe();
      await this.chain.sampleBlockhash();
    } catch (error) {
      if (error instanceof SolanaMisconfigured) throw error;
      this.log.warn({ error: (error as Error).message }, 'Solana cannot be reached; payments over it are refused until it can');
    }
    this.chain.startSampling(SAMPLE_MS);
  }

  stop(): void {
    this.started = Math.max(0, this.started - 1);
    if (this.started === 0) this.chain.stopSampling();
  }

  /** Throws SolanaMisconfigured for a wrong chain or a merchant account that cannot receive, RpcUnavailable when nobody answers. */
  async probe(signal?: AbortSignal): Promise<{ latency_ms: number }> {
    const asked = Date.now();
    if (!this.chainChecked && this.config.genesis_hash !== null) {
      const genesis = await this.chain.getGenesisHash(signal);
      if (genesis !== this.config.genesis_hash) throw new SolanaMisconfigured(`The Solana RPC serves the chain ${genesis}, not ${this.config.genesis_hash}.`);
    }
    this.chainChecked = true;
    const account = await this.chain.findTokenAccount(this.destination, signal);
    if (account === undefined) {
      throw new SolanaMisconfigured(`The merchant's USDC account ${this.destination} (of ${this.config.pay_to}) does not exist; create it before selling.`);
    }
    if (account.frozen || account.owner !== this.config.pay_to || account.mint !== this.config.mint) {
      throw new SolanaMisconfigured(`The merchant's USDC account ${this.destination} cannot receive.`);
    }
    return { latency_ms: Date.now() - asked };
  }

  /** Blockhash to put into an offer, so that its life is known and the buyer needs no RPC. */
  offerBlockhash(): { blockhash: string; last_valid_block_height: number } | undefined {
    return this.chain.freshBlockhash(OFFER_BLOCKHASH_AGE_MS);
  }

  async admit(proof: ValidProof, signal: AbortSignal): Promise<Admission> {
    const transaction = VersionedTransaction.deserialize(Buffer.from(proof.raw, 'base64'));
    return this.reachable(async (): Promise<Admission> => {
      const [landed, account, simulated, life] = await Promise.all([
        this.landed(proof, signal),
        this.chain.findTokenAccount(String(proof.details.source), signal),
        this.simulate(transaction, proof, signal),
        this.life(transaction.message.recentBlockhash, LEAST_QUERY_MS, signal),
      ]);
      if (landed || simulated === 'landed') return { balance: null, settle_by: null, landed: true, details: {} };
      checkAccount(account, proof.amount);
      if (life === 'over' || simulated === 'expired') throw new AppError('payment_expired', { reason: 'blockhash_expired' });
      if (simulated !== null) throw simulationFailed('verification_failed', simulated);
      return { balance: account?.amount ?? null, settle_by: life.settle_by, landed: false, details: { last_valid_block_height: life.last_valid_block_height } };
    });
  }

  async prepare(proof: ValidProof, admittedAt: Date, signal: AbortSignal): Promise<{ transaction: string; raw: string; details: JsonObject; settle_by: Date | null }> {
    const transaction = VersionedTransaction.deserialize(Buffer.from(proof.raw, 'base64'));
    const blockhash = transaction.message.recentBlockhash;
    const life = await this.reachable(async () => {
      if (Date.now() - admittedAt.getTime() <= RESIMULATE_AFTER_MS) return this.life(blockhash, 0, signal);
      const [again, simulated] = await Promise.all([this.life(blockhash, 0, signal), this.simulate(transaction, proof, signal)]);
      if (simulated === 'expired') return 'over';
      // "Already processed" is the buyer's own broadcast: it settles like ours.
      if (simulated !== null && simulated !== 'landed') throw simulationFailed('settlement_failed', simulated);
      return again;
    });
    if (life === 'over') throw new AppError('payment_expired', { reason: 'blockhash_expired' });
    if (proof.details.sponsored === true) transaction.sign([this.sponsor as Keypair]);
    return {
      transaction: bs58.encode(transaction.signatures[0] as Uint8Array),
      raw: Buffer.from(transaction.serialize()).toString('base64'),
      details: { ...proof.details, last_valid_block_height: life.last_valid_block_height },
      settle_by: life.settle_by,
    };
  }

  async settle(record: PaymentRecord, signal: AbortSignal): Promise<Settlement> {
    const wire = Buffer.from(record.raw ?? '', 'base64');
    let sentAt = 0;
    while (!signal.aborted) {
      if (Date.now() - sentAt >= RESEND_MS && wire.length > 0) {
        sentAt = Date.now();
        // A provider that is slow to take it must not keep us from hearing what the others know.
        await Promise.race([this.chain.broadcast(wire, signal).catch(() => undefined), pause(POLL_MS, signal)]);
      }
      const seen = await this.lookup(record, signal);
      if (seen.status !== 'unknown') return seen;
      await pause(POLL_MS, signal);
    }
    return { status: 'unknown', transaction: record.transaction };
  }

  async lookup(record: PaymentRecord, signal: AbortSignal): Promise<Settlement> {
    const unknown: Settlement = { status: 'unknown', transaction: record.transaction };
    try {
      // Height before status: "not seen" only counts when it was asked after the end of the blockhash.
      const overAt = this.expiryHeight(record);
      const view = furthest(await this.chain.listSignatureViews(record.transaction, signal));
      if (view?.status !== null && view !== undefined) {
        if (view.status.level === 'processed') return unknown;
        if (view.status.err !== null) return { status: 'failed', reason: `invalid_exact_svm_transaction_failed: ${JSON.stringify(view.status.err)}` };
        return await this.confirmed(record, signal);
      }
      return overAt !== null && (await this.neverLanded(record, overAt, signal)) ? { status: 'failed', reason: TRANSACTION_EXPIRED } : unknown;
    } catch {
      return unknown;
    }
  }

  async finality(record: PaymentRecord, signal: AbortSignal): Promise<'final' | 'pending' | 'lost'> {
    const view = furthest(await this.chain.listSignatureViews(record.transaction, signal));
    if (view?.status?.level === 'finalized') return view.status.err === null ? 'final' : 'lost';
    const overAt = this.expiryHeight(record);
    return view?.status === null && overAt !== null && (await this.neverLanded(record, overAt, signal)) ? 'lost' : 'pending';
  }

  /** Reads the landed transaction again: no error, and the merchant's account really grew by the price. */
  private async confirmed(record: PaymentRecord, signal: AbortSignal): Promise<Settlement> {
    const landed = await this.chain.findTokenChange(record.transaction, this.destination, signal);
    if (landed === undefined) return { status: 'unknown', transaction: record.transaction };
    if (landed.err === null && landed.change === record.amount) return { status: 'confirmed', transaction: record.transaction };
    this.log.error({ transaction: record.transaction, expected: record.amount.toString(), received: landed.change.toString() }, 'a landed payment did not bring its price');
    return { status: 'failed', reason: 'balance_change_mismatch' };
  }

  private async neverLanded(record: PaymentRecord, overAt: number, signal: AbortSignal): Promise<boolean> {
    const witnesses = Math.min(2, this.chain.providers);
    const past = (await this.chain.listBlockHeights(signal)).filter((height) => height > overAt);
    if (past.length < witnesses) return false;
    const views = await this.chain.listSignatureViews(record.transaction, signal);
    return views.length >= witnesses && views.every(({ status }) => status === null);
  }

  private expiryHeight(record: PaymentRecord): number | null {
    const height = record.details.last_valid_block_height;
    return typeof height === 'number' ? height + EXPIRY_MARGIN_BLOCKS : null;
  }

  /** A transaction that waits for the sponsor cannot have landed; its id does not exist yet. */
  private async landed(proof: ValidProof, signal: AbortSignal): Promise<boolean> {
    if (proof.transaction === null) return false;
    const views = await this.chain.listSignatureViews(proof.transaction, signal);
    if (views.length === 0) throw new RpcUnavailable('no provider told the status of the transaction');
    const status = views.find((view) => view.status !== null)?.status ?? null;
    if (status !== null && status.err !== null) throw new AppError('verification_failed', { reason: 'invalid_exact_svm_transaction_failed' });
    return status !== null;
  }

  /**
   * Null when it would go through. A sponsored one is simulated unsigned, so that nothing that could be broadcast leaves
   * us before the work is done; the buyer's signature was verified offline.
   */
  private async simulate(transaction: VersionedTransaction, proof: ValidProof, signal: AbortSignal): Promise<string | null> {
    const slot = this.chain.findBlockhash(transaction.message.recentBlockhash)?.slot;
    const { err } = await this.chain.simulate(transaction, { verify_signatures: proof.details.sponsored !== true, min_context_slot: slot }, signal);
    if (err === null || err === undefined) return null;
    const text = typeof err === 'string' ? err : JSON.stringify(err);
    if (/blockhash ?not ?found/i.test(text)) return 'expired';
    return /already ?(been )?processed/i.test(text) ? 'landed' : text;
  }

  /** How long the blockhash lives: exact for those we saw being born, else an upper bound of its height and no time. */
  private async life(blockhash: string, leastMs: number, signal: AbortSignal): Promise<'over' | { last_valid_block_height: number; settle_by: Date | null }> {
    const sample = this.chain.findBlockhash(blockhash);
    const height = this.chain.estimateBlockHeight();
    if (sample !== undefined && height !== undefined) {
      const left = (sample.last_valid_block_height - height) * SLOT_MS - SETTLE_RESERVE_MS;
      return left < leastMs ? 'over' : { last_valid_block_height: sample.last_valid_block_height, settle_by: new Date(Date.now() + left) };
    }
    const valid = await this.chain.isBlockhashValid(blockhash, signal);
    if (!valid) return 'over';
    return { last_valid_block_height: (await this.chain.getBlockHeight(signal)) + 150, settle_by: null };
  }

  private async reachable<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError('payments_unavailable', { retry_after_s: 5, cause: error });
    }
  }
}

function checkAccount(account: TokenAccount | undefined, amount: bigint): void {
  if (account === undefined || account.amount < amount) throw new AppError('verification_failed', { reason: 'insufficient_funds' });
  if (account.frozen) throw new AppError('verification_failed', { reason: 'account_frozen' });
}

function simulationFailed(code: 'verification_failed' | 'settlement_failed', detail: string): AppError {
  return new AppError(code, { reason: 'invalid_exact_svm_transaction_simulation_failed', message: `The chain would refuse this payment: ${detail}` });
}

/** The word of the provider that has read furthest; a laggard does not know what it has not seen. */
function furthest(views: SignatureView[]): SignatureView | undefined {
  return views.reduce<SignatureView | undefined>((best, view) => (best === undefined || view.slot > best.slot || (view.slot === best.slot && best.status === null) ? view : best), undefined);
}
