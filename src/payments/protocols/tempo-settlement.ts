import { type Hex, pad, parseAbiItem, toEventSelector } from 'viem';
import { EXPIRING_NONCE_KEY, type TempoAccessKey, type TempoChain, type TempoHead, type TempoReceipt } from '../../chains/tempo';
import { type Landing, type TempoTransaction, landTransaction, traceTransaction } from '../../chains/tempo-landing';
import { RecentTempo } from '../../chains/tempo-recent';
import { AppError } from '../../errors';
import {
  FINAL_AFTER_MS,
  FORGOTTEN_AFTER_MS,
  ageOf,
  type Admission,
  type JsonObject,
  type PaymentLog,
  type PaymentRecord,
  type Settlement,
  type Settling,
  TRANSACTION_EXPIRED,
  type ValidProof,
} from '../protocol';
import { Complaints } from './complaints';
import { reachable } from './reachable';
import { type TempoTransfer, assertTimely, maxFee } from './tempo-transfer';

/** What admission asks the chain, and a record keeps: the transfer as text, and the terms it was judged by. */
interface TempoDetails extends Omit<TempoTransfer, 'hash' | 'sign_payload' | 'kind'> {
  token: string;
  recipient: string;
}

/** The pool refuses the last 3 seconds before `validBefore`, and the way there takes time. */
const SETTLE_RESERVE_S = 4;
/** No date is later (ECMA-262, 21.4.1.1): what is valid beyond it never runs out. */
const LAST_DATE_S = 8_640_000_000_000;
const RECHECK_AFTER_MS = 5_000;
const ACCESS_KEY_MS = 4_000;
/** What was prepared longer ago may have been sent before, by a process that died. */
const FRESH_MS = 5_000;
/** How a pool refuses a transaction whose time is over, or nearly. */
const EXPIRED = /valid_?before|expired/i;
const TRANSFER_TOPIC = toEventSelector(parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 amount)'));

const REFUSALS = {
  insufficient_funds: 'The balance does not cover the price and the network fee.',
  insufficient_fee_balance: 'The balance of the fee token does not cover the network fee.',
  nonce_mismatch: 'The nonce of the transaction is not the next one of its account.',
  fee_cap_too_low: 'The fee cap of the transaction is below the base fee of the network.',
  access_key: 'The access key is not authorised for this payment.',
  transaction_failed: 'The transaction was already mined, and failed.',
} as const;

/** A Tempo payment between admission and receipt. */
export class TempoSettlement implements Settling {
  private readonly complaints: Complaints;
  private readonly recent: RecentTempo;

  constructor(
    private readonly chain: TempoChain,
    log: PaymentLog,
  ) {
    this.complaints = new Complaints(log);
    this.recent = new RecentTempo(chain);
  }

  /** What later steps need besides the raw bytes, as JSON. */
  detailsOf(transfer: TempoTransfer, terms: { token: string; recipient: string }): JsonObject {
    const { sender, access_key, nonce_key, nonce, valid_before, valid_after, gas, max_fee_per_gas, fee_token, call_data, memo } = transfer;
    const numbers = {
      nonce_key: nonce_key.toString(),
      nonce: nonce.toString(),
      gas: gas.toString(),
      max_fee_per_gas: max_fee_per_gas.toString(),
    };
    return {
      ...numbers,
      sender,
      access_key,
      valid_before,
      valid_after,
      fee_token,
      call_data,
      memo,
      token: terms.token,
      recipient: terms.recipient,
    };
  }

  /** Throws verification_failed unless the chain lists `key` among the sender's access keys, payments_unavailable when it cannot be asked. */
  async assertAccessKey(sender: string, key: string, token: string): Promise<void> {
    const signal = AbortSignal.timeout(ACCESS_KEY_MS);
    if (!(await reachable(() => this.recent.listsAccessKey(sender, key, token, nowSeconds(), signal)))) throw refusal('access_key');
  }

  /** Looks how the chain's clock runs. Throws as TempoChain. */
  async watchClock(signal: AbortSignal): Promise<void> {
    await this.recent.head(signal);
  }

  /** Every question the chain can answer before a broadcast. */
  async admit(proof: ValidProof, signal: AbortSignal): Promise<Admission> {
    const details = readDetails(proof.details);
    return reachable(async (): Promise<Admission> => {
      const { receipt, head, balance, obstacle } = await this.survey(proof, details, signal);
      if (receipt !== null) {
        if (!receipt.succeeded) throw refusal('transaction_failed');
        return { balance: null, settle_by: null, landed: true, details: {} };
      }
      assertTimely(details, this.chainNow(head));
      if (obstacle !== null) throw obstacle;
      return { balance, settle_by: this.settleBy(details), landed: false, details: { block: head.number.toString() } };
    });
  }

  /** Throws payment_expired when the transaction can no longer make it, settlement_failed when it would fail by now. */
  async prepare(proof: ValidProof, admittedAt: Date, signal: AbortSignal): ReturnType<Settling['prepare']> {
    const details = readDetails(proof.details);
    const settle_by = this.settleBy(details);
    const recheck = Date.now() - admittedAt.getTime() > RECHECK_AFTER_MS;
    const late = settle_by !== null && settle_by.getTime() < Date.now();
    if (recheck || late)
      await reachable(async () => {
        const { receipt, obstacle } = await this.survey(proof, details, signal);
        // The buyer's own broadcast settles like ours.
        if (receipt !== null) return;
        if (late) throw new AppError('payment_expired', { reason: 'valid_before' });
        if (obstacle !== null)
          throw new AppError('settlement_failed', { reason: obstacle.context.reason ?? obstacle.code, message: obstacle.message });
      });
    return { transaction: proof.transaction as string, raw: proof.raw, details: { ...proof.details, prepared_at: Date.now() }, settle_by };
  }

  async settle(record: PaymentRecord, signal: AbortSignal): Promise<Settlement> {
    // Another process's clock may have been ahead.
    const fresh = Math.abs(Date.now() - Number(record.details.prepared_at ?? 0)) < FRESH_MS;
    return this.judged(record, (transaction) => landTransaction(this.chain, transaction, record.raw, fresh, signal));
  }

  async lookup(record: PaymentRecord, signal: AbortSignal): Promise<Settlement> {
    return this.judged(record, (transaction) => traceTransaction(this.chain, transaction, signal));
  }

  /** Blocks are final once they exist: a receipt is the end. */
  async finality(record: PaymentRecord, signal: AbortSignal): Promise<'final' | 'pending' | 'lost'> {
    const { status } = await this.lookup(record, signal);
    if (status === 'unknown') return ageOf(record) > FINAL_AFTER_MS ? 'final' : 'pending';
    return status === 'confirmed' ? 'final' : 'lost';
  }

  /** The later of the newest block's time and ours, set right by the chain's: one without traffic stands still. */
  private chainNow(head: TempoHead): number {
    return Math.max(head.time, Math.floor((Date.now() - this.recent.clockError()) / 1000));
  }

  /** By our clock, whatever is wrong with it. */
  private settleBy({ valid_before }: Pick<TempoDetails, 'valid_before'>): Date | null {
    if (valid_before === null || valid_before > LAST_DATE_S) return null;
    return new Date((valid_before - SETTLE_RESERVE_S) * 1000 + this.recent.clockError());
  }

  /** Receipt, newest block, the payer's USDC.e, and what stands in the way of the payment (null: nothing). */
  private async survey(
    proof: ValidProof,
    details: TempoDetails,
    signal: AbortSignal,
  ): Promise<{ receipt: TempoReceipt | null; head: TempoHead; balance: bigint; obstacle: AppError | null }> {
    const { chain } = this;
    const { sender, token, access_key } = details;
    const [receipt, head, balance, nonce, feeToken, failure, key] = await Promise.all([
      chain.receipt(proof.transaction as string, signal),
      this.recent.head(signal),
      chain.balance(token, sender, signal),
      details.nonce_key === EXPIRING_NONCE_KEY ? null : chain.nonce(sender, details.nonce_key, signal),
      details.fee_token ?? this.recent.feeToken(sender, signal),
      chain.simulate({ from: sender, to: token, data: details.call_data, gas: details.gas }, signal),
      access_key === null ? null : chain.accessKey(sender, access_key, token, nowSeconds(), signal),
    ]);
    const { base_fee } = details.max_fee_per_gas < head.base_fee ? await chain.head(signal) : head;
    const fee = maxFee(details);
    const feeInToken = feeToken === null || feeToken.toLowerCase() === token;
    const due = proof.amount + (feeInToken ? fee : 0n);
    const [feeBalance, feeFailure] = feeInToken || receipt !== null ? [fee, null] : await this.surveyFee(details, feeToken, signal);
    const obstacle = (): AppError | null => {
      if (nonce !== null && nonce !== details.nonce) return refusal('nonce_mismatch');
      if (balance < due) return refusal('insufficient_funds');
      if (feeBalance < fee) return refusal('insufficient_fee_balance');
      if (details.max_fee_per_gas < base_fee) return refusal('fee_cap_too_low');
      if (key !== null && !maySpend(key, details, due)) return refusal('access_key');
      const said = failure ?? feeFailure;
      return said === null
        ? null
        : new AppError('verification_failed', { reason: 'simulation_failed', message: `The chain would refuse this payment: ${said}` });
    };
    return { receipt, head, balance, obstacle: obstacle() };
  }

  /**
   * The payer's balance of another token to pay fees in, and why the chain would not take them from it: a pool accepts what pays fees in a token that
   * nobody exchanges, and no block ever does.
   */
  private surveyFee(details: TempoDetails, token: string, signal: AbortSignal): Promise<[bigint, string | null]> {
    const { sender: from, token: to, call_data: data, gas, max_fee_per_gas: max_per_gas } = details;
    return Promise.all([
      this.chain.balance(token, from, signal),
      // A node that knows no such question leaves it to the pool.
      this.chain.simulate({ from, to, data, gas, fee: { token, max_per_gas } }, signal).catch(() => null),
    ]);
  }

  /** The meaning of what the chain said; whatever cannot be read is unknown. */
  private async judged(record: PaymentRecord, ask: (transaction: TempoTransaction) => Promise<Landing>): Promise<Settlement> {
    const { transaction } = record;
    try {
      const landing = await ask(transactionOf(record));
      if (landing.status === 'open') return { status: 'unknown', transaction };
      if (landing.status === 'dead')
        return { status: 'failed', reason: landing.reason === 'expired' ? TRANSACTION_EXPIRED : 'transaction_superseded' };
      if (landing.status === 'refused')
        return { status: 'failed', reason: EXPIRED.test(landing.reason) ? TRANSACTION_EXPIRED : landing.reason };
      if (!landing.receipt.succeeded) return { status: 'failed', reason: 'transaction_reverted' };
      if (brought(landing.receipt, record)) return { status: 'confirmed', transaction };
      // Its bytes were verified: a receipt that says otherwise speaks against who gave it.
      this.complaints.about(transaction, 'a mined payment did not bring its price', { amount: record.amount.toString() });
    } catch (error) {
      this.complaints.about(transaction, 'a Tempo settlement could not be judged', { error: (error as Error).message });
    }
    return { status: 'unknown', transaction };
  }
}

/** Whether the receipt holds the Transfer of exactly the price from the payer to the merchant. */
function brought(receipt: TempoReceipt, record: PaymentRecord): boolean {
  const { token, recipient } = readDetails(record.details);
  return receipt.logs.some((log) => {
    const [topic, from, to] = log.topics;
    if (log.address.toLowerCase() !== token || topic !== TRANSFER_TOPIC) return false;
    return (
      from?.toLowerCase() === pad(record.payer as Hex) && to?.toLowerCase() === pad(recipient as Hex) && BigInt(log.data) === record.amount
    );
  });
}

/** Whether the access key may make this call and spend `due` micro-units of the token. */
function maySpend(key: TempoAccessKey, details: TempoDetails, due: bigint): boolean {
  if (!key.authorized || (key.limit !== null && key.limit < due)) return false;
  if (key.scopes === null) return true;
  const selector = details.call_data.slice(0, 10);
  const target = key.scopes.find((scope) => scope.target.toLowerCase() === details.token);
  if (target === undefined) return false;
  if (target.selectorRules.length === 0) return true;
  const rule = target.selectorRules.find((candidate) => candidate.selector.toLowerCase() === selector);
  return (
    rule !== undefined && (rule.recipients.length === 0 || rule.recipients.some((address) => address.toLowerCase() === details.recipient))
  );
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

function transactionOf(record: PaymentRecord): TempoTransaction {
  const { nonce_key, nonce, valid_before } = readDetails(record.details);
  const forgotten_from = ageOf(record) > FORGOTTEN_AFTER_MS ? BigInt((record.details.block as string | undefined) ?? 0) : null;
  return { hash: record.transaction, sender: record.payer, nonce_key, nonce, valid_before, forgotten_from };
}

function readDetails(details: JsonObject): TempoDetails {
  const number = (name: string): bigint => BigInt(details[name] as string);
  const texts = details as unknown as Omit<TempoDetails, 'nonce_key' | 'nonce' | 'gas' | 'max_fee_per_gas'>;
  return {
    ...texts,
    nonce_key: number('nonce_key'),
    nonce: number('nonce'),
    gas: number('gas'),
    max_fee_per_gas: number('max_fee_per_gas'),
  };
}

function refusal(reason: keyof typeof REFUSALS): AppError {
  return new AppError('verification_failed', { reason, message: REFUSALS[reason] });
}
