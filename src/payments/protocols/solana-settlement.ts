import bs58 from 'bs58';
import { RpcUnavailable } from '../../chains/rpc';
import { associatedTokenAddress, BLOCKHASH_BLOCKS, SLOT_MS, type SolanaChain } from '../../chains/solana';
import type { TokenAccount } from '../../chains/solana-replies';
import { AppError } from '../../errors';
import type { SolanaPaymentConfig } from '../config';
import type {
  Admission,
  JsonObject,
  Marks,
  PaymentFigures,
  PaymentLog,
  PaymentRecord,
  Prepared,
  Settlement,
  Settling,
  ValidProof,
} from '../protocol';
import { reachable } from './reachable';
import { SolanaLanding } from './solana-landing';
import { refuse } from './solana-refusals';
import { SolanaSponsor } from './solana-sponsor';
import type { SolanaTransfer } from './solana-transfer';
import { signatureOffset } from './solana-wire';

// The last stretch of a blockhash's life is kept for broadcast and confirmation.
const SETTLE_RESERVE_MS = 12_000;
const LEAST_QUERY_MS = 3_000;
const RESIMULATE_AFTER_MS = 5_000;
const SAMPLE_MS = 2_000;
const OFFER_BLOCKHASH_AGE_MS = 5_000;

/** Solana is set up in a way that cannot work, whatever is tried again. */
class SolanaMisconfigured extends Error {}

/** What x402 and MPP `solana` share between admission and receipt. Records carry the details this class writes. */
export class SolanaSettlement implements Settling {
  /** Pays network fees for x402 buyers; null: they pay themselves. */
  readonly sponsor: SolanaSponsor | null;
  /** The merchant's token account. */
  readonly destination: string;
  private readonly landing: SolanaLanding;
  private chainChecked = false;
  private started = 0;

  constructor(
    private readonly config: SolanaPaymentConfig,
    readonly chain: SolanaChain,
    private readonly log: PaymentLog,
    figures: Pick<PaymentFigures, 'sponsor'>,
  ) {
    this.sponsor = config.sponsor_key === false ? null : new SolanaSponsor(config.sponsor_key, log, figures);
    if (this.sponsor?.address === config.pay_to) throw new SolanaMisconfigured('The fee sponsor must not be the wallet that is paid.');
    this.destination = associatedTokenAddress(config.pay_to, config.mint);
    this.landing = new SolanaLanding(chain, this.destination, log);
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
    await this.checkChain(signal);
    const asked = Date.now();
    const [account] = await Promise.all([this.chain.findTokenAccount(this.destination, signal), this.sponsor?.check(this.chain, signal)]);
    if (account === undefined) {
      throw new SolanaMisconfigured(
        `The merchant's USDC account ${this.destination} (of ${this.config.pay_to}) does not exist; create it before selling.`,
      );
    }
    if (account.frozen || account.owner !== this.config.pay_to || account.mint !== this.config.mint) {
      throw new SolanaMisconfigured(`The merchant's USDC account ${this.destination} cannot receive.`);
    }
    return { latency_ms: Date.now() - asked };
  }

  /** Until every provider has told once which chain it serves. */
  private async checkChain(signal?: AbortSignal): Promise<void> {
    const { genesis_hash } = this.config;
    if (this.chainChecked || genesis_hash === null) return;
    const told = await this.chain.listGenesisHashes(signal);
    const other = told.find((hash) => hash !== genesis_hash);
    if (other !== undefined)
      throw new SolanaMisconfigured(
        `A Solana RPC serves the chain ${other}, not ${genesis_hash}: SOLANA_RPC_URL, or SOLANA_NETWORK with SOLANA_GENESIS_HASH, must be another.`,
      );
    this.chainChecked = told.length === this.chain.providers;
  }

  /** Blockhash to put into an offer, so that its life is known and the buyer needs no RPC. */
  offerBlockhash(): { blockhash: string; last_valid_block_height: number } | undefined {
    return this.chain.freshBlockhash(OFFER_BLOCKHASH_AGE_MS);
  }

  /** What later steps need besides the raw bytes, as JSON: of the wallet that is paid too, which may be another by then. */
  detailsOf({ blockhash, source, destination, sponsored }: SolanaTransfer): JsonObject {
    return { blockhash, source, destination, sponsored };
  }

  /** By what a payment whose transaction has this message is found again. */
  marksOf(message_hash: string, secrets: string[]): Marks {
    return { proof_key: `sol:${message_hash}`, secrets, buyer_keys: [] };
  }

  async admit(proof: ValidProof, signal: AbortSignal): Promise<Admission> {
    return reachable(async (): Promise<Admission> => {
      const [landed, simulated, life] = await Promise.all([
        this.landed(proof, signal),
        this.simulate(proof, signal),
        this.life(String(proof.details.blockhash), LEAST_QUERY_MS, signal),
      ]);
      const { verdict, after } = simulated;
      if (landed || verdict === 'landed') return { balance: null, settle_by: null, landed: true, details: {} };
      let balance = after === undefined ? null : after.amount + proof.amount;
      if (verdict !== null || balance === null) {
        const account = await this.chain.findTokenAccount(String(proof.details.source), signal);
        balance = checkAccount(account, proof.amount);
      }
      if (life === 'over' || verdict === 'expired') throw new AppError('payment_expired', { reason: 'blockhash_expired' });
      if (verdict !== null) throw simulationFailed('verification_failed', verdict);
      return {
        balance,
        settle_by: life.settle_by,
        landed: false,
        details: { last_valid_block_height: life.last_valid_block_height },
      };
    });
  }

  async prepare(proof: ValidProof, admittedAt: Date, signal: AbortSignal): Promise<Prepared> {
    const blockhash = String(proof.details.blockhash);
    const life = await reachable(async () => {
      // A sponsored one that fails costs us its fee, however soon after its admission.
      const recent = proof.details.sponsored !== true && Date.now() - admittedAt.getTime() <= RESIMULATE_AFTER_MS;
      if (recent) return this.life(blockhash, 0, signal);
      const [again, { verdict }] = await Promise.all([this.life(blockhash, 0, signal), this.simulate(proof, signal)]);
      if (verdict === 'expired') return 'over';
      // "Already processed" is the buyer's own broadcast: it settles like ours.
      if (verdict !== null && verdict !== 'landed') throw simulationFailed('settlement_failed', verdict);
      return again;
    });
    if (life === 'over') throw new AppError('payment_expired', { reason: 'blockhash_expired' });
    return {
      ...this.signed(proof),
      details: { ...proof.details, last_valid_block_height: life.last_valid_block_height },
      settle_by: life.settle_by,
    };
  }

  settle(record: PaymentRecord, signal: AbortSignal): Promise<Settlement> {
    return this.landing.settle(record, signal);
  }

  lookup(record: PaymentRecord, signal: AbortSignal): Promise<Settlement> {
    return this.landing.lookup(record, signal);
  }

  finality(record: PaymentRecord, signal: AbortSignal): ReturnType<Settling['finality']> {
    return this.landing.finality(record, signal);
  }

  /** The transaction as it can be broadcast, and its id: the signature of whoever pays the fee. */
  private signed(proof: ValidProof): { transaction: string; raw: string } {
    const { transaction, raw } = proof;
    if (transaction !== null) return { transaction, raw };
    if (this.sponsor === null) throw new AppError('settlement_failed', { reason: 'sponsor_missing' });
    const wire = Buffer.from(raw, 'base64');
    const signature = this.sponsor.sign(wire.subarray(signatureOffset(2)));
    signature.copy(wire, signatureOffset(0));
    return { transaction: bs58.encode(signature), raw: wire.toString('base64') };
  }

  /** A transaction that waits for the sponsor cannot have landed; its id does not exist yet. */
  private async landed(proof: ValidProof, signal: AbortSignal): Promise<boolean> {
    if (proof.transaction === null) return false;
    const views = await this.chain.listSignatureViews(proof.transaction, signal);
    if (views.length === 0) throw new RpcUnavailable('no provider told the status of the transaction');
    const status = views.find((view) => view.status !== null)?.status ?? null;
    if (status !== null && status.err !== null) refuse('invalid_exact_svm_transaction_failed');
    return status !== null;
  }

  /**
   * The verdict is null when it would go through; `after` is the payer's token account then. A sponsored one is simulated
   * unsigned, so that nothing that could be broadcast leaves us before the work is done; the buyer's signature was verified offline.
   */
  private async simulate(proof: ValidProof, signal: AbortSignal): Promise<{ verdict: string | null; after: TokenAccount | undefined }> {
    const slot = this.chain.findBlockhash(String(proof.details.blockhash))?.slot;
    const { err, after } = await this.chain.simulate(
      proof.raw,
      { verify_signatures: proof.details.sponsored !== true, min_context_slot: slot, watch: String(proof.details.source) },
      signal,
    );
    if (err === null || err === undefined) return { verdict: null, after };
    const text = typeof err === 'string' ? err : JSON.stringify(err);
    if (/blockhash ?not ?found/i.test(text)) return { verdict: 'expired', after };
    return { verdict: /already ?(been )?processed/i.test(text) ? 'landed' : text, after };
  }

  /** How long the blockhash lives: exact for those we saw being born, upper bounds for others. */
  private async life(
    blockhash: string,
    leastMs: number,
    signal: AbortSignal,
  ): Promise<'over' | { last_valid_block_height: number; settle_by: Date | null }> {
    const sample = this.chain.findBlockhash(blockhash);
    const height = this.chain.estimateBlockHeight();
    if (sample !== undefined && height !== undefined) {
      const left = (sample.last_valid_block_height - height) * SLOT_MS - SETTLE_RESERVE_MS;
      return left < leastMs ? 'over' : { last_valid_block_height: sample.last_valid_block_height, settle_by: new Date(Date.now() + left) };
    }
    const valid_at = await this.chain.findValidSlot(blockhash, signal);
    if (valid_at === undefined) return 'over';
    // At best it was made this moment.
    const settle_by = new Date(Date.now() + BLOCKHASH_BLOCKS * SLOT_MS - SETTLE_RESERVE_MS);
    return { last_valid_block_height: (await this.chain.getBlockHeight(valid_at, signal)) + BLOCKHASH_BLOCKS, settle_by };
  }
}

/** The balance of an account that can pay. */
function checkAccount(account: TokenAccount | undefined, amount: bigint): bigint {
  if (account === undefined || account.amount < amount) refuse('insufficient_funds');
  if (account.frozen) refuse('account_frozen');
  return account.amount;
}

function simulationFailed(code: 'verification_failed' | 'settlement_failed', detail: string): AppError {
  return new AppError(code, {
    reason: 'invalid_exact_svm_transaction_simulation_failed',
    message: `The chain would refuse this payment: ${detail}`,
  });
}
