import { AppError } from '../../errors';
import { isBase58Address } from '../../lib/address';
import type { PaymentsConfig, SolanaPaymentConfig } from '../config';
import { headerValues } from '../headers';
import type { Credential, Json, JsonObject, Marks, Offer, PaymentMethod, PaymentRecord, Protocol, Sale, ValidProof } from '../protocol';
import { findMemo, findToken, isMemoOfOurs, memoOf, newQuoteId, type Quote, tokenOf } from '../quote-token';
import type { SolanaSettlement } from './solana-settlement';
import { refuse, refuseAmount, type SolanaRefusal } from './solana-refusals';
import { type SolanaTransfer, messageHashOf, verifySolanaTransfer } from './solana-transfer';
import { decodePayment, failureReason, PAYMENT_IDENTIFIER, PROOF_HEADERS, responseHeaders, type X402Payment } from './x402-wire';

/** CAIP-2 ids (first 32 characters of the genesis hash) and the names version 1 used. */
const NETWORKS = {
  mainnet: { caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', v1: 'solana' },
  devnet: { caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', v1: 'solana-devnet' },
} as const;

/** Query and settlement together; the stock client does not enforce it. */
const MAX_TIMEOUT_SECONDS = 90;

/** x402 `exact` on Solana, versions 1 and 2: the buyer pays the network fee itself, or a configured sponsor does. */
export class X402 implements Protocol {
  readonly name = 'x402';
  private readonly network: (typeof NETWORKS)[keyof typeof NETWORKS];

  constructor(
    private readonly config: Pick<PaymentsConfig, 'secrets' | 'body_mode' | 'offer_ms'>,
    private readonly solana: SolanaPaymentConfig,
    readonly settlement: SolanaSettlement,
  ) {
    this.network = NETWORKS[solana.network];
  }

  method(): PaymentMethod {
    return {
      protocol: 'x402',
      method: 'exact',
      network: this.network.caip2,
      asset: this.solana.mint,
      decimals: 6,
      recipient: this.solana.pay_to,
      fees_paid_by: this.settlement.sponsor === null ? 'client' : 'server',
    };
  }

  async offer(sale: Sale, error: AppError): Promise<Offer> {
    const quote: Quote = {
      id: newQuoteId(),
      expires_at: new Date(Math.floor((Date.now() + this.config.offer_ms) / 1000) * 1000),
      amount: sale.amount,
      request_hash: sale.request_hash,
    };
    const requirement = this.requirement(quote, sale);
    const resource = { url: sale.url, description: sale.description, mimeType: sale.media_type };
    const reason = error.code === 'payment_required' ? 'Payment required' : (error.context.reason ?? error.code);
    const common = { error: reason, resource, extensions: { [PAYMENT_IDENTIFIER.key]: PAYMENT_IDENTIFIER.declaration } };
    const described = {
      ...requirement,
      maxAmountRequired: requirement.amount,
      resource: sale.url,
      description: sale.description,
      mimeType: sale.media_type,
    };
    // Version 1 clients take an output schema or none, and refuse null.
    const body =
      this.config.body_mode === 'v2'
        ? { x402Version: 2, ...common, accepts: [{ ...described, outputSchema: null }] }
        : { x402Version: 1, ...common, accepts: [{ ...described, network: this.network.v1 }] };
    return {
      www_authenticate: null,
      x402: { required: { x402Version: 2, ...common, accepts: [requirement] }, body },
      expires_at: quote.expires_at,
    };
  }

  read(sale: Sale): Credential | null {
    const proofs = PROOF_HEADERS.flatMap((header) => headerValues(sale.raw_headers, header).map((value) => ({ header, value })));
    const [proof] = proofs;
    if (proof === undefined) return null;
    if (proofs.some(({ value }) => value !== proof.value)) throw new AppError('ambiguous_payment');
    return { payload: decodePayment(proof.value, proof.header) };
  }

  async validate(credential: Credential, sale: Sale): Promise<ValidProof> {
    const payment = credential.payload as X402Payment;
    const quote = this.quoteOf(payment, sale);
    const amount = quote?.amount ?? this.amountOf(payment, sale);
    this.checkTerms(payment, amount);
    const transfer = verifySolanaTransfer(payment.transaction, {
      mint: this.solana.mint,
      destination: this.settlement.destination,
      amount,
      sponsor: this.settlement.sponsor?.address ?? null,
    });
    const offer = this.checkMemo(payment, transfer, quote, amount, sale);
    return {
      protocol: this.name,
      payer: transfer.payer,
      amount,
      ...this.settlement.marksOf(transfer.message_hash, secretsOf(payment)),
      claim_keys: offer === null ? [] : [`quote:${offer.id}`],
      buyer_keys: buyerKeysOf(payment),
      transaction: transfer.transaction_id,
      offer_expires_at: offer?.expires_at ?? null,
      raw: payment.transaction,
      details: { x402_version: payment.version, ...this.settlement.detailsOf(transfer) },
    };
  }

  marksOf(credential: Credential): Marks {
    const payment = credential.payload as X402Payment;
    return { ...this.settlement.marksOf(messageHashOf(payment.transaction), secretsOf(payment)), buyer_keys: buyerKeysOf(payment) };
  }

  receipt(record: PaymentRecord): Record<string, string> {
    return responseHeaders({
      success: true,
      payer: record.payer,
      transaction: record.transaction,
      network: this.networkName(record.details.x402_version),
      amount: record.amount.toString(),
    });
  }

  failureReceipt(credential: Credential, payer: string | null, error: AppError): Record<string, string> {
    const { version } = credential.payload as X402Payment;
    return responseHeaders({
      success: false,
      errorReason: failureReason(error),
      ...(payer === null ? {} : { payer }),
      transaction: '',
      network: this.networkName(version),
    });
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

  private networkName(version: Json | undefined): string {
    return version === 1 ? this.network.v1 : this.network.caip2;
  }

  private requirement(quote: Quote, sale: Sale): JsonObject & { amount: string } {
    const [secret] = this.config.secrets as [string];
    const hint = headerValues(sale.raw_headers, 'x-payer')[0];
    const feePayer = hint !== undefined && isBase58Address(hint) ? hint : this.offeredSponsor();
    const blockhash = this.settlement.offerBlockhash();
    const extra: JsonObject = { memo: memoOf(quote, secret), quote: tokenOf(quote, secret) };
    if (feePayer !== null) extra.feePayer = feePayer;
    if (blockhash !== undefined)
      Object.assign(extra, { recentBlockhash: blockhash.blockhash, lastValidBlockHeight: String(blockhash.last_valid_block_height) });
    return {
      scheme: 'exact',
      network: this.network.caip2,
      amount: quote.amount.toString(),
      asset: this.solana.mint,
      payTo: this.solana.pay_to,
      maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
      extra,
    };
  }

  private offeredSponsor(): string | null {
    const { sponsor } = this.settlement;
    return sponsor?.solvent === true ? sponsor.address : null;
  }

  /** The quote a version 2 proof echoes; null when it echoes none. A quote of another request is a refusal. */
  private quoteOf(payment: X402Payment, sale: Sale): Quote | null {
    if (payment.quote === null) return null;
    const quote = findToken(payment.quote, sale.request_hash, this.config.secrets);
    return quote ?? refuseOther(this.amountOf(payment, sale), sale, 'invalid_challenge');
  }

  /** Without a quote: today's price, or the price that a memo of ours in the transaction was made for. */
  private amountOf(payment: X402Payment, sale: Sale): bigint {
    const claimed = payment.accepted?.amount;
    if (claimed === undefined || claimed === sale.amount.toString() || !/^\d{1,15}$/.test(claimed)) return sale.amount;
    // The memo's MAC covers the amount; checkMemo refuses when it does not fit.
    return BigInt(claimed);
  }

  private checkTerms(payment: X402Payment, amount: bigint): void {
    if (payment.scheme !== 'exact') refuse('invalid_exact_svm_unsupported_scheme');
    if (payment.network !== (payment.version === 1 ? this.network.v1 : this.network.caip2)) refuse('invalid_exact_svm_network_mismatch');
    const { accepted } = payment;
    if (accepted === null) return;
    if (accepted.asset !== this.solana.mint) refuse('invalid_exact_svm_payload_mint_mismatch');
    if (accepted.payTo !== this.solana.pay_to) refuse('invalid_exact_svm_payload_recipient_mismatch');
    if (accepted.amount !== amount.toString()) refuseAmount(Number(accepted.amount), amount);
  }

  /** The offer that the transaction's memo binds it to, or else the quote that is echoed; null only for version 1 clients that send neither. */
  private checkMemo(payment: X402Payment, transfer: SolanaTransfer, quote: Quote | null, amount: bigint, sale: Sale): Quote | null {
    const [memo] = transfer.memos;
    if (transfer.memos.length > 1) return refuse('invalid_exact_svm_payload_memo_count');
    // @x402/svm before 2.10 writes a number of its own where the offer's text belongs, other clients nothing: what they echo binds them as well.
    if (quote !== null && (memo === undefined || !isMemoOfOurs(memo))) return quote;
    if (memo === undefined) return payment.version === 1 ? null : refuse('invalid_exact_svm_payload_memo_count');
    const bound = findMemo(memo, amount, sale.request_hash, this.config.secrets);
    if (bound === undefined) return refuseOther(amount, sale, 'invalid_exact_svm_payload_memo_mismatch');
    if (quote !== null && quote.id !== bound.id) return refuse('invalid_exact_svm_payload_memo_mismatch');
    return bound;
  }
}

/** The quote that it echoes, which nobody but its buyer was told. */
const secretsOf = ({ quote }: X402Payment): string[] => (quote === null ? [] : [`quote:${quote}`]);

const buyerKeysOf = ({ identifier }: X402Payment): string[] => (identifier === null ? [] : [`pid:${identifier}`]);

/** Refuses an offer that was made for another request: of a cheaper one it is told that it pays too little. */
function refuseOther(amount: bigint, sale: Sale, reason: SolanaRefusal): never {
  if (amount >= sale.amount) return refuse(reason);
  throw new AppError('payment_insufficient', { reason: 'other_request', message: 'The offer was made for a cheaper request.' });
}
