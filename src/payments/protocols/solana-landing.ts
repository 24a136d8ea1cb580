import type { SignatureView, SolanaChain } from '../../chains/solana';
import { pause } from '../../lib/deadline';
import {
  ageOf,
  FINAL_AFTER_MS,
  FORGOTTEN_AFTER_MS,
  type PaymentLog,
  type PaymentRecord,
  type Settlement,
  TRANSACTION_EXPIRED,
} from '../protocol';
import { Complaints } from './complaints';

const RESEND_MS = 1_500;
const POLL_MS = 400;
/** Blocks past the last valid one before "not seen" counts as "never": forks and lagging status indexes. */
const EXPIRY_MARGIN_BLOCKS = 32;

/** Brings a signed transaction onto Solana, and finds out what became of it. */
export class SolanaLanding {
  private readonly complaints: Complaints;

  constructor(
    private readonly chain: SolanaChain,
    /** The merchant's token account, where a record does not tell which one it paid. */
    private readonly destination: string,
    log: PaymentLog,
  ) {
    this.complaints = new Complaints(log);
  }

  /** Sends to every provider, again and again, until the chain has spoken or the signal aborts. */
  async settle(record: PaymentRecord, signal: AbortSignal): Promise<Settlement> {
    const wire = record.raw ?? '';
    let sentAt = Number.NEGATIVE_INFINITY;
    let first = true;
    while (!signal.aborted) {
      if (performance.now() - sentAt >= RESEND_MS && wire.length > 0) {
        sentAt = performance.now();
        // A provider that is slow to take it must not keep us from hearing what the others know.
        await Promise.race([this.chain.broadcast(wire, signal), pause(POLL_MS, signal)]);
      }
      // A single provider's transaction record says at once what its status and the record would say in turn.
      const seen = first && this.chain.providers === 1 ? await this.confirmedNow(record, signal) : await this.lookup(record, signal);
      first = false;
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
      const views = await this.chain.listSignatureViews(record.transaction, signal);
      const view = furthest(views);
      if (view?.status !== null && view !== undefined) {
        if (view.status.level === 'processed') return unknown;
        // A transaction fails for all or for none: one of two who contradict each other is wrong, whoever says to have read further, or its status or record.
        if (view.status.err !== null) return views.some(succeeded) ? unknown : transactionFailed(view.status.err);
        const landed = await this.confirmed(record, signal);
        return landed.status === 'failed' ? unknown : landed;
      }
      return overAt !== null && (await this.neverLanded(record, overAt, signal))
        ? { status: 'failed', reason: TRANSACTION_EXPIRED }
        : unknown;
    } catch {
      return unknown;
    }
  }

  async finality(record: PaymentRecord, signal: AbortSignal): Promise<'final' | 'pending' | 'lost'> {
    const views = await this.chain.listSignatureViews(record.transaction, signal);
    const view = furthest(views);
    if (view?.status?.level === 'finalized') {
      if (view.status.err === null) return 'final';
      return views.some(succeeded) ? 'pending' : 'lost';
    }
    if (view?.status !== null) return 'pending';
    const overAt = this.expiryHeight(record);
    if (overAt !== null && (await this.neverLanded(record, overAt, signal))) return 'lost';
    return ageOf(record) > FINAL_AFTER_MS ? 'final' : 'pending';
  }

  private async confirmedNow(record: PaymentRecord, signal: AbortSignal): Promise<Settlement> {
    try {
      return await this.confirmed(record, signal);
    } catch {
      return { status: 'unknown', transaction: record.transaction };
    }
  }

  /**
   * Reads the landed transaction again: no error, and the merchant's account really grew by the price. Its bytes were verified: one that landed
   * without error and is said to have brought something else speaks against who says so.
   */
  private async confirmed(record: PaymentRecord, signal: AbortSignal): Promise<Settlement> {
    const { destination = this.destination } = record.details;
    const landed = await this.chain.findTokenChange(record.transaction, String(destination), signal);
    if (landed === undefined) return { status: 'unknown', transaction: record.transaction };
    if (landed.err !== null) return transactionFailed(landed.err);
    if (landed.change === record.amount) return { status: 'confirmed', transaction: record.transaction };
    this.complaints.about(record.transaction, 'a landed payment did not bring its price', {
      expected: record.amount.toString(),
      received: landed.change.toString(),
    });
    return { status: 'unknown', transaction: record.transaction };
  }

  /** Nobody has seen it, and two who have not and would remember it (or the only one there is) had read past its end when they said so. */
  private async neverLanded(record: PaymentRecord, overAt: number, signal: AbortSignal): Promise<boolean> {
    const since = ageOf(record) > FORGOTTEN_AFTER_MS ? record.created_at : null;
    const views = await this.chain.listDatedViews(record.transaction, since, signal);
    const witnesses = views.filter(({ height }) => height !== null && height > overAt);
    return witnesses.length >= Math.min(2, this.chain.providers) && views.every(({ status }) => status === null);
  }

  private expiryHeight(record: PaymentRecord): number | null {
    const height = record.details.last_valid_block_height;
    return typeof height === 'number' ? height + EXPIRY_MARGIN_BLOCKS : null;
  }
}

const transactionFailed = (err: unknown): Settlement => ({
  status: 'failed',
  reason: `invalid_exact_svm_transaction_failed: ${JSON.stringify(err)}`,
});

const succeeded = ({ status }: SignatureView): boolean => status !== null && status.level !== 'processed' && status.err === null;

/** The word of the provider that has read furthest; a laggard does not know what it has not seen. */
function furthest(views: SignatureView[]): SignatureView | undefined {
  return views.reduce<SignatureView | undefined>(
    (best, view) => (best === undefined || view.slot > best.slot || (view.slot === best.slot && best.status === null) ? view : best),
    undefined,
  );
}
