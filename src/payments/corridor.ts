import { AppError } from '../errors';
import type { PaymentsConfig } from './config';
import { type HeldVerdict, judgeHeld } from './held';
import { type ClaimKeys, claimKeysOf, type Ledger } from './ledger';
import { challengeOf, findPresented, idempotencyKeyOf, type Presented } from './present';
import { type Outcome, type PaymentLog, type PaymentRecord, type Protocol, type ProtocolName, type Sale, type Settlement, TRANSACTION_EXPIRED, type ValidProof, type Work } from './protocol';
import type { Rechallenge } from './rechallenge';
import { assertBuyerThere, BuyerGone, runWithin } from './work';

export interface CorridorParts {
  config: PaymentsConfig;
  protocols: readonly Protocol[];
  ledger: Ledger;
  rechallenge: Rechallenge;
  log: PaymentLog;
}

/** One request on its way; filled in as doors open. */
interface Visit {
  sale: Sale;
  work: Work;
  presented: Presented | null;
  payer: string | null;
}

/** A visit whose proof is valid and whose keys are reserved. */
interface Admitted {
  visit: Visit;
  protocol: Protocol;
  proof: ValidProof;
  id: string;
  admitted_at: Date;
  executing: boolean;
  /** Id of the buyer's own broadcast that already paid: nothing is left to settle. Null as a rule. */
  landed: string | null;
}

/** Thrown when money may have moved: the outcome is told as it stands, never as a 402. */
class InFlight extends Error {
  constructor(
    readonly error: AppError,
    readonly transaction: string,
  ) {
    super(error.message);
  }
}

const PENDING_HEADER = { 'X-Payment-Settlement': 'pending' };
const PENDING_RETRY_S = 3;
const OWN_BROADCAST_LOOK_MS = 1_500;

/** Challenge, validate, claim, execute, settle: money moves in the last step only, and only for an answer. */
export class Corridor {
  private readonly byName: ReadonlyMap<ProtocolName, Protocol>;

  constructor(private readonly parts: CorridorParts) {
    this.byName = new Map(parts.protocols.map((protocol) => [protocol.name, protocol]));
  }

  /** Never throws for a consumer's fault, nor for ours: what is not an AppError is logged and becomes `internal`. */
  async charge(sale: Sale, work: Work): Promise<Outcome> {
    const visit: Visit = { sale, work, presented: null, payer: null };
    try {
      return await this.enter(visit);
    } catch (error) {
      if (error instanceof InFlight) return this.inFlight(error);
      return this.refusal(visit, this.appError(error, sale));
    }
  }

  // ---- doors one and two: read, validate ----

  private async enter(visit: Visit): Promise<Outcome> {
    const { sale, work } = visit;
    if (this.parts.protocols.length === 0) throw new AppError('payments_unavailable');
    visit.presented = findPresented(this.parts.protocols, sale);
    if (visit.presented === null) throw new AppError('payment_required');
    if (work.refuse !== null) throw work.refuse;
    const { protocol, credential } = visit.presented;
    const idempotencyKey = idempotencyKeyOf(sale);
    const proof = await protocol.validate(credential, sale);
    visit.payer = proof.payer;
    const keys = claimKeysOf(proof, idempotencyKey);
    return (await this.answerHeld(visit, protocol, proof, keys)) ?? (await this.claim(visit, protocol, proof, keys));
  }

  // ---- door three: claim ----

  private async claim(visit: Visit, protocol: Protocol, proof: ValidProof, keys: ClaimKeys): Promise<Outcome> {
    const { ledger, config } = this.parts;
    if (proof.offer_expires_at !== null && proof.offer_expires_at.getTime() <= Date.now()) throw new AppError('payment_expired', { reason: 'challenge_expired' });
    const faults = await ledger.countFaults(proof.payer, new Date(Date.now() - config.payer_failure_window_ms));
    if (faults >= config.payer_failures) {
      throw new AppError('rate_limited', { reason: 'settlements_failed', message: 'Too many payments of this wallet failed at settlement.', retry_after_s: Math.ceil(config.payer_failure_window_ms / 1000) });
    }
    const id = await ledger.reserve(proof, visit.sale, keys);
    if (id === null) {
      const held = await this.answerHeld(visit, protocol, proof, keys);
      if (held !== null) return held;
      // The holder let go in between.
      throw new AppError('payment_in_progress', { retry_after_s: 1 });
    }
    const admitted: Admitted = { visit, protocol, proof, id, admitted_at: new Date(), executing: false, landed: null };
    let deadline: number;
    try {
      deadline = await this.admit(admitted);
    } catch (error) {
      return this.giveUp(admitted, error);
    }
    return this.serve(admitted, deadline);
  }

  /** The chain's view before anything runs. Returns how long the work may take, in milliseconds. */
  private async admit(admitted: Admitted): Promise<number> {
    const { ledger, config, rechallenge } = this.parts;
    const { protocol, proof, id } = admitted;
    const admission = await protocol.admit(proof, AbortSignal.timeout(config.admission_ms));
    admitted.admitted_at = new Date();
    if (admission.landed) {
      if (!(await ledger.adoptDebt(id))) throw new AppError('payment_replayed', { reason: 'duplicate_settlement' });
      admitted.landed = proof.transaction;
    } else {
      await this.checkReserved(proof, id, admission.balance);
    }
    Object.assign(proof.details, admission.details);
    if (!(await ledger.executing(id, proof.details))) throw new Error('the reservation was taken away before the work began');
    admitted.executing = true;
    const left = admission.settle_by === null ? config.deadline_ms : admission.settle_by.getTime() - Date.now();
    if (left >= config.deadline_ms) return config.deadline_ms;
    // The work may outlast the proof where its answer can wait for a fresh one.
    return (await rechallenge.mayKeep(proof.payer)) ? config.deadline_ms : Math.max(left, 0);
  }

  /** Many proofs can be signed against one balance: what is reserved together must be there together. */
  private async checkReserved(proof: ValidProof, id: string, balance: bigint | null): Promise<void> {
    const open = await this.parts.ledger.sumOpen(proof.payer, id);
    if (balance !== null && open > balance) throw new AppError('verification_failed', { reason: 'insufficient_funds', message: 'The balance is already reserved by other requests of this wallet.' });
    if (open > this.parts.config.payer_reserved_cap) throw new AppError('rate_limited', { reason: 'payer_reserved_cap', retry_after_s: 5 });
  }

  // ---- door four: execute ----

  private async serve(admitted: Admitted, deadlineMs: number): Promise<Outcome> {
    let answer: unknown;
    try {
      answer = await this.execute(admitted, deadlineMs);
    } catch (error) {
      return this.giveUp(admitted, error);
    }
    return this.settle(admitted, answer);
  }

  private async execute({ visit, proof, id }: Admitted, deadlineMs: number): Promise<unknown> {
    const { rechallenge, ledger } = this.parts;
    const { sale, work } = visit;
    const waiting = await rechallenge.find(proof.payer, sale.request_hash);
    const answer = waiting === undefined ? await runWithin(work, proof.payer, deadlineMs, sale.client_gone) : (JSON.parse(waiting) as unknown);
    if (!(await ledger.resultReady(id))) throw new Error('the reservation was taken away while the work ran');
    return answer;
  }

  // ---- door five: settle ----

  private async settle(admitted: Admitted, answer: unknown): Promise<Outcome> {
    const { ledger, config } = this.parts;
    const { visit, protocol, proof, id } = admitted;
    const text = JSON.stringify(answer ?? null);
    const kept = Buffer.byteLength(text) <= config.kept_answer_max_bytes ? text : null;
    let record: PaymentRecord | null;
    try {
      if (admitted.landed !== null) return await this.paid(visit, await this.confirm(id, admitted.landed, kept), answer, false);
      const prepared = await protocol.prepare(proof, admitted.admitted_at, AbortSignal.timeout(config.admission_ms));
      assertBuyerThere(visit.sale.client_gone);
      record = await ledger.writeAhead(id, prepared, kept);
      if (record === null) throw new Error('the reservation was taken away before the broadcast');
    } catch (error) {
      return this.giveUp(admitted, error, answer);
    }
    return this.broadcast(visit, protocol, record, answer, false);
  }

  /** From here on money may move: whatever goes wrong is told as pending until the chain has spoken. */
  private async broadcast(visit: Visit, protocol: Protocol, record: PaymentRecord, answer: unknown, replayed: boolean): Promise<Outcome> {
    try {
      const settlement = await protocol.settle(record, AbortSignal.timeout(this.parts.config.settle_patience_ms));
      return await this.settled(visit, record, settlement, answer, replayed);
    } catch (error) {
      if (error instanceof AppError || error instanceof InFlight) throw error;
      this.parts.log.error({ request_id: visit.sale.request_id, payment: record.id, transaction: record.transaction, error: (error as Error).message }, 'a settlement could not be written down');
      throw new InFlight(new AppError('settlement_pending', { retry_after_s: PENDING_RETRY_S }), record.transaction);
    }
  }

  private async settled(visit: Visit, record: PaymentRecord, settlement: Settlement, answer: unknown, replayed: boolean): Promise<Outcome> {
    const { ledger, rechallenge, log } = this.parts;
    const about = { request_id: visit.sale.request_id, payment: record.id, protocol: record.protocol, payer: record.payer, amount: record.amount.toString(), transaction: record.transaction };
    if (settlement.status === 'confirmed') {
      const confirmed = await this.confirm(record.id, settlement.transaction, null);
      log.info(about, 'payment settled');
      return this.paid(visit, confirmed, answer, replayed);
    }
    if (settlement.status === 'unknown') {
      await ledger.unknown(record.id, 'patience ended');
      log.warn(about, 'payment sent, not confirmed yet');
      throw new InFlight(new AppError('settlement_pending', { retry_after_s: PENDING_RETRY_S }), record.transaction);
    }
    const expired = settlement.reason === TRANSACTION_EXPIRED;
    log.warn({ ...about, reason: settlement.reason }, 'payment failed');
    await ledger.failed(record.id, expired ? 'EXPIRED' : 'REJECTED_ONCHAIN', settlement.reason);
    if (expired && (await rechallenge.mayKeep(record.payer))) await this.keep(record.payer, visit.sale, answer);
    throw new AppError('settlement_failed', { reason: settlement.reason });
  }

  private async confirm(id: string, transaction: string, answer: string | null): Promise<PaymentRecord> {
    const record = await this.parts.ledger.confirmed(id, transaction, this.parts.config.kept_answer_ms, answer);
    if (record === null) throw new Error('the payment was not where a confirmation finds it');
    return record;
  }

  private async paid(visit: Visit, record: PaymentRecord, answer: unknown, replayed: boolean): Promise<Outcome> {
    const protocol = this.byName.get(record.protocol) as Protocol;
    await Promise.all([this.parts.ledger.delivered(record.id), this.parts.rechallenge.drop(record.payer, visit.sale.request_hash)]);
    return { kind: 'paid', answer, replayed, headers: protocol.receipt(record, new Date()) };
  }

  // ---- what ends without our broadcast ----

  /** Frees the proof and passes `error` on; unless the buyer broadcast the payment itself, which then counts. */
  private async giveUp(admitted: Admitted, cause: unknown, answer?: unknown): Promise<Outcome> {
    const { ledger, rechallenge } = this.parts;
    const { visit, proof, id } = admitted;
    const error = this.appError(cause, visit.sale);
    const transaction = admitted.landed ?? (await this.ownBroadcast(admitted));
    if (transaction !== null) {
      if (answer !== undefined && error.code === 'payment_expired') {
        return this.paid(visit, await this.confirm(id, transaction, JSON.stringify(answer ?? null)), answer, false);
      }
      await ledger.owe(id, transaction, error.code);
      throw new InFlight(error.status === 402 ? new AppError('settlement_pending', { retry_after_s: PENDING_RETRY_S }) : error, transaction);
    }
    if (answer !== undefined && error.code === 'payment_expired' && (await rechallenge.mayKeep(proof.payer))) await this.keep(proof.payer, visit.sale, answer);
    await ledger.release(id, error.code, error.code === 'settlement_failed');
    throw error;
  }

  /** The id under which the buyer itself landed the payment while we worked; null when it did not, or could not. */
  private async ownBroadcast({ protocol, proof, id, admitted_at, executing }: Admitted): Promise<string | null> {
    if (proof.transaction === null || !executing) return null;
    const record: PaymentRecord = { id, protocol: proof.protocol, payer: proof.payer, amount: proof.amount, transaction: proof.transaction, raw: null, details: proof.details, settle_by: null, created_at: admitted_at };
    const seen = await protocol.lookup(record, AbortSignal.timeout(OWN_BROADCAST_LOOK_MS));
    return seen.status === 'confirmed' ? seen.transaction : null;
  }

  private async keep(payer: string, sale: Sale, answer: unknown): Promise<void> {
    const text = JSON.stringify(answer ?? null);
    if (Buffer.byteLength(text) <= this.parts.config.kept_answer_max_bytes) await this.parts.rechallenge.keep(payer, sale.request_hash, text);
  }

  // ---- requests whose keys are already held ----

  private async answerHeld(visit: Visit, protocol: Protocol, proof: ValidProof, keys: ClaimKeys): Promise<Outcome | null> {
    const verdict = judgeHeld(await this.parts.ledger.listHeld(keys), proof.payer, visit.sale.request_hash);
    return verdict.kind === 'free' ? null : this.handHeld(visit, protocol, proof, verdict);
  }

  private async handHeld(visit: Visit, protocol: Protocol, proof: ValidProof, verdict: Exclude<HeldVerdict, { kind: 'free' }>): Promise<Outcome> {
    const { ledger, config } = this.parts;
    if (verdict.kind === 'refuse') throw verdict.error;
    const { record, settled_at } = verdict.held;
    if (verdict.kind === 'replay') {
      const receipt = this.byName.get(record.protocol)?.receipt(record, settled_at ?? record.created_at);
      return { kind: 'paid', answer: JSON.parse(verdict.answer), replayed: true, headers: receipt ?? {} };
    }
    if (verdict.kind === 'pending') throw new InFlight(new AppError('settlement_pending', { retry_after_s: PENDING_RETRY_S }), record.transaction);
    const inProgress = new AppError('payment_in_progress', { retry_after_s: 1 });
    if (verdict.kind === 'serve') {
      if ((await ledger.serveDebt(record.id)) === null) throw inProgress;
      const debt = { visit, protocol, proof, id: record.id, admitted_at: new Date(), executing: true, landed: record.transaction };
      return this.serve(debt, config.deadline_ms);
    }
    const taken = await ledger.takeOver(record.id);
    if (taken === null) throw inProgress;
    const answer = verdict.held.answer === null ? null : (JSON.parse(verdict.held.answer) as unknown);
    return this.broadcast(visit, this.byName.get(record.protocol) as Protocol, taken, answer, true);
  }

  // ---- how it is told ----

  private inFlight({ error, transaction }: InFlight): Outcome {
    return { kind: 'refused', error, charged: 'pending', transaction, headers: PENDING_HEADER };
  }

  private async refusal(visit: Visit, error: AppError): Promise<Outcome> {
    const { protocols } = this.parts;
    if (error.status !== 402) return { kind: 'refused', error, charged: false, transaction: null, headers: {} };
    const { presented, payer, sale } = visit;
    const headers = presented === null ? {} : presented.protocol.failureReceipt(presented.credential, payer, error);
    return { kind: 'challenge', error, challenge: await challengeOf(protocols, sale, error), headers };
  }

  private appError(error: unknown, sale: Sale): AppError {
    if (error instanceof AppError) return error;
    if (!(error instanceof BuyerGone)) this.parts.log.error({ request_id: sale.request_id, error: (error as Error).message, stack: (error as Error).stack }, 'a paid request failed');
    return new AppError('internal', { cause: error });
  }
}
