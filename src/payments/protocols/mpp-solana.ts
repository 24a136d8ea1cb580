import { TOKEN_PROGRAM } from '../../chains/solana-replies';
import type { SolanaPaymentConfig } from '../config';
import type { Credential, JsonObject, Marks, Offer, PaymentMethod, PaymentRecord, Protocol, Sale, ValidProof } from '../protocol';
import {
  assertMppSettings,
  challengeKey,
  checkChallenge,
  issueChallenge,
  type MppSettings,
  type PulledPayment,
  readPulled,
  receiptHeader,
} from './mpp';
import { memoOf, newQuoteId } from '../quote-token';
import type { SolanaSettlement } from './solana-settlement';
import { refuse } from './solana-refusals';
import { messageHashOf, verifySolanaTransfer } from './solana-transfer';

/** MPP `solana`, intent `charge`, pull mode only: the buyer signs a USDC transfer and pays its network fee, we broadcast. */
export class MppSolana implements Protocol {
  readonly name = 'mpp_solana';

  /** Throws on settings that cannot work: short secrets, a realm that cannot be quoted. */
  constructor(
    private readonly mpp: MppSettings,
    private readonly solana: SolanaPaymentConfig,
    readonly settlement: SolanaSettlement,
  ) {
    assertMppSettings(mpp);
  }

  method(): PaymentMethod {
    const { network, mint, pay_to } = this.solana;
    return { protocol: 'mpp', method: 'solana', network, asset: mint, decimals: 6, recipient: pay_to, fees_paid_by: 'client' };
  }

  async offer(sale: Sale): Promise<Offer> {
    const now = new Date();
    const expires_at = new Date(now.getTime() + this.mpp.offer_ms);
    // Without a memo two equal payments are the same bytes. The text is that of x402; the challenge id itself must not go on chain.
    const externalId = memoOf(
      { id: newQuoteId(), expires_at, amount: sale.amount, request_hash: sale.request_hash },
      this.mpp.secrets[0] as string,
    );
    const blockhash = this.settlement.offerBlockhash()?.blockhash;
    const { methodDetails, ...terms } = this.terms();
    const request = {
      ...terms,
      amount: sale.amount.toString(),
      externalId,
      methodDetails: blockhash === undefined ? methodDetails : { ...methodDetails, recentBlockhash: blockhash },
    };
    const issued = issueChallenge(this.mpp, sale, { method: 'solana', request, now });
    return { www_authenticate: issued.header, x402: null, expires_at: issued.expires_at };
  }

  read(sale: Sale): Credential | null {
    return readPulled(sale, 'solana', 'transaction', ['signature', 'hash', 'bundle']);
  }

  async validate(credential: Credential, sale: Sale): Promise<ValidProof> {
    const { challenge: echoed, transaction: raw, source } = credential.payload as PulledPayment;
    const challenge = checkChallenge(this.mpp, echoed, sale, { method: 'solana', request: this.terms() });
    const transfer = verifySolanaTransfer(raw, {
      mint: this.solana.mint,
      destination: this.settlement.destination,
      amount: challenge.amount,
      sponsor: null,
    });
    const externalId = String(challenge.request.externalId);
    // The client SHOULD add the memo; a transaction without one is unique by its own hash only.
    if (transfer.memos.length > 1) refuse('invalid_exact_svm_payload_memo_count');
    if (transfer.memos.length === 1 && transfer.memos[0] !== externalId) refuse('invalid_exact_svm_payload_memo_mismatch');
    checkSource(source, transfer.payer);
    return {
      protocol: this.name,
      payer: transfer.payer,
      amount: challenge.amount,
      ...this.settlement.marksOf(transfer.message_hash, [challengeKey(challenge)]),
      claim_keys: [challengeKey(challenge)],
      transaction: transfer.transaction_id,
      offer_expires_at: challenge.expires_at,
      raw,
      details: {
        challenge_id: challenge.id,
        external_id: externalId,
        ...this.settlement.detailsOf(transfer),
      },
    };
  }

  marksOf(credential: Credential): Marks {
    const { challenge, transaction } = credential.payload as PulledPayment;
    return this.settlement.marksOf(messageHashOf(transaction), [challengeKey(challenge)]);
  }

  receipt(record: PaymentRecord, at: Date): Record<string, string> {
    const { challenge_id, external_id } = record.details;
    return receiptHeader({
      method: 'solana',
      reference: record.transaction,
      at,
      challenge_id: String(challenge_id),
      external_id: String(external_id),
    });
  }

  /** MPP tells failures by status and problem type; a receipt exists on success only. */
  failureReceipt(): Record<string, string> {
    return {};
  }

  probe(signal: AbortSignal): Promise<{ latency_ms: number }> {
    return this.settlement.probe(signal);
  }

  start(): Promise<void> {
    return this.settlement.start();
  }

  async stop(): Promise<void> {
    this.settlement.stop();
  }

  /** The request object of every offer, without what differs per offer. */
  private terms(): JsonObject & { methodDetails: JsonObject } {
    const { mint, pay_to, network } = this.solana;
    return { currency: mint, recipient: pay_to, methodDetails: { network, decimals: 6, tokenProgram: TOKEN_PROGRAM } };
  }
}

/** `did:pkh:solana:<chain>:<address>`: untrusted and optional; one that names somebody else is a refusal, anything unreadable is ignored. */
function checkSource(source: string | undefined, payer: string): void {
  const named = /^did:pkh:solana:[^:]+:([1-9A-HJ-NP-Za-km-z]{32,44})$/.exec(source ?? '')?.[1];
  if (named !== undefined && named !== payer) refuse('source_mismatch');
}
