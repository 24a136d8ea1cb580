import { AppError } from '../errors';
import { type HeldVerdict, judgeHeld } from './held';
import { type ClaimKeys, claimKeysOf } from './claims';
import { challengeOf, findPresented, idempotencyKeyOf } from './present';
import type { Outcome, Protocol, Sale, ValidProof, Work } from './protocol';
import { Settler } from './settler';
import { type Admitted, type CorridorParts, InFlight, PENDING_RETRY_S, type Visit } from './visit';
import { runWithin } from './work';

const PENDING_HEADER = { 'X-Payment-Settlement': 'pending' };

/** Challenge, validate, claim, execute, settle: money moves in the last step only, and only for an answer. */
export class Corridor {
  private readonly settler: Settler;

  constructor(private readonly parts: CorridorParts) {
    this.settler = new Settler(parts);
  }

  /** Never throws for a consumer's fault, nor for ours: what is not an AppError is logged and becomes `internal`. */
  async charge(sale: Sale, work: Work): Promise<Outcome> {
    const visit: Visit = { sale, work, presented: null, payer: null };
    try {
      return await this.enter(visit);
    } catch (error) {
      if (error instanceof InFlight) return this.inFlight(error);
      return this.refusal(visit, this.settler.tell(error, sale));
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
    if (proof.offer_expires_at !== null && proof.offer_expires_at.getTime() + config.clock_skew_ms <= Date.now())
      throw new AppError('payment_expired', { reason: 'challenge_expired' });
    const faults = await ledger.countFaults(proof.payer, new Date(Date.now() - config.payer_failure_window_ms));
    if (faults >= config.payer_failures) {
      throw new AppError('rate_limited', {
        reason: 'settlements_failed',
        message: 'Too many payments of this wallet failed at settlement.',
        retry_after_s: Math.ceil(config.payer_failure_window_ms / 1000),
      });
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
      return this.settler.giveUp(admitted, error);
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
    if (balance !== null && open > balance)
      throw new AppError('verification_failed', {
        reason: 'insufficient_funds',
        message: 'The balance is already reserved by other requests of this wallet.',
      });
    if (open > this.parts.config.payer_reserved_cap) throw new AppError('rate_limited', { reason: 'payer_reserved_cap', retry_after_s: 5 });
  }

  // ---- door four: execute ----

  private async serve(admitted: Admitted, deadlineMs: number): Promise<Outcome> {
    let answer: unknown;
    try {
      answer = await this.execute(admitted, deadlineMs);
    } catch (error) {
      return this.settler.giveUp(admitted, error);
    }
    return this.settler.settle(admitted, answer);
  }

  private async execute({ visit, proof, id }: Admitted, deadlineMs: number): Promise<unknown> {
    const { rechallenge, ledger } = this.parts;
    const { sale, work } = visit;
    const waiting = await rechallenge.find(proof.payer, sale.request_hash);
    const answer =
      waiting === undefined ? await runWithin(work, proof.payer, deadlineMs, sale.client_gone) : (JSON.parse(waiting) as unknown);
    if (!(await ledger.resultReady(id))) throw new Error('the reservation was taken away while the work ran');
    return answer ?? null;
  }

  // ---- requests whose keys are already held ----

  private async answerHeld(visit: Visit, protocol: Protocol, proof: ValidProof, keys: ClaimKeys): Promise<Outcome | null> {
    const verdict = judgeHeld(await this.parts.ledger.listHeld(keys), proof.payer, visit.sale.request_hash);
    return verdict.kind === 'free' ? null : this.handHeld(visit, protocol, proof, verdict);
  }

  private async handHeld(
    visit: Visit,
    protocol: Protocol,
    proof: ValidProof,
    verdict: Exclude<HeldVerdict, { kind: 'free' }>,
  ): Promise<Outcome> {
    const { ledger, config } = this.parts;
    if (verdict.kind === 'refuse') throw verdict.error;
    const { record, settled_at } = verdict.held;
    if (verdict.kind === 'replay') {
      const headers = this.settler.protocolOf(record).receipt(record, settled_at ?? record.created_at);
      return { kind: 'paid', answer: JSON.parse(verdict.answer), replayed: true, headers };
    }
    if (verdict.kind === 'pending')
      throw new InFlight(new AppError('settlement_pending', { retry_after_s: PENDING_RETRY_S }), record.transaction);
    const inProgress = new AppError('payment_in_progress', { retry_after_s: 1 });
    if (verdict.kind === 'serve') {
      if ((await ledger.serveDebt(record.id)) === null) throw inProgress;
      const debt = { visit, protocol, proof, id: record.id, admitted_at: new Date(), executing: true, landed: record.transaction };
      return this.serve(debt, config.deadline_ms);
    }
    const taken = await ledger.takeOver(record.id);
    if (taken === null) throw inProgress;
    const answer = JSON.parse(verdict.answer) as unknown;
    return this.settler.broadcast(visit, taken, answer, true);
  }

  // ---- how it is told ----

  private inFlight({ error, transaction }: InFlight): Outcome {
    return { kind: 'refused', error, charged: 'pending', transaction, headers: PENDING_HEADER };
  }

  private async refusal(visit: Visit, error: AppError): Promise<Outcome> {
    if (error.status !== 402) return { kind: 'refused', error, charged: false, transaction: null, headers: {} };
    const { presented, payer, sale } = visit;
    const headers = presented === null ? {} : presented.protocol.failureReceipt(presented.credential, payer, error);
    return { kind: 'challenge', error, challenge: await challengeOf(this.parts.offered(), sale, error), headers };
  }
}
