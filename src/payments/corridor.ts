import { AppError, type ErrorCode } from '../errors';
import { pause, withDeadline } from '../lib/deadline';
import { lruOf } from '../lib/lru';
import { Earlier } from './earlier';
import { type HeldVerdict, judgeHeld } from './held';
import { findKnown } from './known';
import { type Claim, type ClaimKeys, claimKeysOf, newCollectKey } from './claims';
import { DELIVERED_AFTER_MS } from './deliveries';
import { challengeOf, findPresented, idempotencyKeyOf } from './present';
import type { Admission, Credential, Outcome, PaymentRecord, Protocol, Sale, ValidProof, Work } from './protocol';
import { Settler } from './settler';
import { type Admitted, type CorridorParts, InFlight, inFlight, pending, SWITCHED_OFF_RETRY_S, type Visit } from './visit';
import { runWithin } from './work';

/** Told to who shows the transaction alone, which anybody can copy once it is sent. */
const PENDING_ELSEWHERE =
  'The payment was sent but is not confirmed yet. Its answer is collected with what came with the payment, or was told of it: its quote, or its Idempotency-Key.';
/** Work that takes longer is on record while it runs; shorter work is written down with its result. */
const RECORD_AFTER_MS = 100;
/** Processes report four times as often as they may be silent: one that has not for this share of the time may be dead. */
const SILENT_SHARE = 0.5;
/** Proofs of which this process remembers that it has seen them. */
const SEEN_PROOFS = 20_000;

/** Challenge, validate, claim, execute, settle: money moves in the last step only, and only for an answer. */
export class Corridor {
  private readonly settler: Settler;
  private readonly earlier: Earlier;
  private readonly seen = lruOf<true>(SEEN_PROOFS);

  constructor(private readonly parts: CorridorParts) {
    this.settler = new Settler(parts);
    this.earlier = new Earlier(parts, this.settler, (visit, payment) => this.serveDebt(visit, payment));
  }

  /** Never throws for a consumer's fault, nor for ours: what is not an AppError is logged and becomes `internal`. */
  async charge(sale: Sale, work: Work): Promise<Outcome> {
    const visit: Visit = { sale, work, presented: null, payer: null, collect_by: null };
    try {
      return await this.enter(visit);
    } catch (error) {
      if (error instanceof InFlight) return inFlight(error, visit.collect_by);
      return this.refusal(visit, this.settler.tell(error, sale));
    }
  }

  // ---- doors one and two: read, validate ----

  private async enter(visit: Visit): Promise<Outcome> {
    const { sale, work } = visit;
    const { protocols, config } = this.parts;
    if (protocols.length === 0) throw new AppError('payments_unavailable', { retry_after_s: SWITCHED_OFF_RETRY_S });
    visit.presented = findPresented(protocols, sale);
    if (visit.presented === null) throw new AppError('payment_required');
    const { protocol, credential } = visit.presented;
    let idempotencyKey: string | null = null;
    let proof: ValidProof;
    try {
      if (work.refuse !== null) throw work.refuse;
      idempotencyKey = idempotencyKeyOf(sale);
      proof = await protocol.validate(credential, sale);
    } catch (error) {
      const known = await this.answerKnown(visit, protocol, credential, error);
      if (known !== null) return known;
      throw error;
    }
    visit.payer = proof.payer;
    const madeUp = idempotencyKey === null && proof.secrets.length + proof.buyer_keys.length === 0 ? newCollectKey() : null;
    const keys = claimKeysOf(proof, idempotencyKey ?? madeUp);
    const expires = proof.offer_expires_at;
    if (expires === null || expires.getTime() + config.clock_skew_ms > Date.now()) return this.claim(visit, protocol, proof, keys, madeUp);
    // An answer outlives its invitation.
    const held = await this.answerHeld(visit, proof, keys);
    if (held !== null) return held;
    throw new AppError('payment_expired', { reason: 'challenge_expired' });
  }

  // ---- door three: claim ----

  private async claim(visit: Visit, protocol: Protocol, proof: ValidProof, keys: ClaimKeys, madeUp: string | null): Promise<Outcome> {
    const { ledger, config } = this.parts;
    proof.details.sent_hash = visit.sale.sent_hash;
    const limit = { since: new Date(Date.now() - config.payer_failure_window_ms), most: config.payer_failures };
    const claiming = ledger.claim(proof, visit.sale, keys, limit, config.kept_answer_ms, config.instance_stale_ms * SILENT_SHARE);
    // The chain is asked about a new proof meanwhile. One that was seen before has to win its claim before it costs a question.
    let asked = this.seen.has(proof.proof_key) ? null : this.ask(protocol, proof);
    asked?.catch(() => undefined);
    this.seen.set(proof.proof_key, true);
    const claimed = await claiming;
    if (claimed.id === null) {
      const held = await this.answerHeld(visit, proof, keys);
      if (held !== null) return held;
      if (claimed.faults >= limit.most) throw tooManyFaults(config.payer_failure_window_ms);
      // The holder let go in between.
      throw new AppError('payment_in_progress', { retry_after_s: 1 });
    }
    visit.collect_by = madeUp;
    const { id, waiting } = claimed;
    // A purchase that has a name of its own is meant as another one.
    const unnamed = madeUp !== null || !keys.kinds.includes('buyer');
    const may_keep = claimed.kept < config.rechallenge_max;
    const admitted: Admitted = { visit, protocol, proof, id, admitted_at: new Date(), began_at: null, waiting, may_keep, landed: null };
    let deadline: number;
    try {
      const admission = (): NonNullable<typeof asked> => (asked ??= this.ask(protocol, proof));
      const earlier = unnamed ? await this.earlier.answer(admitted, claimed, admission) : null;
      if (earlier !== null) return earlier;
      if (claimed.undecided >= config.payer_undecided) throw tooManyUndecided();
      deadline = await this.admit(admitted, claimed, await admission());
    } catch (error) {
      return this.settler.giveUp(admitted, error);
    }
    return this.serve(admitted, deadline);
  }

  private async ask(protocol: Protocol, proof: ValidProof): Promise<Admission & { at: Date }> {
    const admission = await withDeadline(this.parts.config.admission_ms, (signal) => protocol.settlement.admit(proof, signal));
    return { ...admission, at: new Date() };
  }

  /** Judges the chain's view before anything runs. Returns how long the work may take, in milliseconds. */
  private async admit(admitted: Admitted, claimed: Claim, admission: Admission & { at: Date }): Promise<number> {
    const { ledger, config } = this.parts;
    const { proof, id } = admitted;
    // The claim may have waited longer than the chain.
    admitted.admitted_at = admission.at;
    if (admission.landed) {
      if (!(await ledger.adoptDebt(id))) throw new AppError('payment_replayed', { reason: 'duplicate_settlement' });
      admitted.landed = proof.transaction;
    } else {
      await this.checkReserved(admitted, claimed.open_sum, admission.balance);
      // Should it land unserved, this tells a debt of ours from a payment that was made before anybody asked.
      proof.details.admitted = true;
    }
    Object.assign(proof.details, admission.details);
    const left = admission.settle_by === null ? config.deadline_ms : admission.settle_by.getTime() - Date.now();
    // The work may outlast the proof where its answer can wait for a fresh one.
    return left >= config.deadline_ms || admitted.may_keep ? config.deadline_ms : Math.max(left, 0);
  }

  /** Many proofs can be signed against one balance: what is reserved together must be there together. */
  private async checkReserved({ protocol, proof, id }: Admitted, sum: bigint, balance: bigint | null): Promise<void> {
    const cap = this.parts.config.payer_reserved_cap;
    if (sum <= cap && (balance === null || sum <= balance)) return;
    // Some of it may be settled by now, in another process and not yet on record.
    await pause(2 * DELIVERED_AFTER_MS);
    const open = await this.parts.ledger.sumOpen(proof.payer, id);
    // In this order: what is not in the sum has left the balance.
    const left = balance === null ? null : (await this.ask(protocol, proof)).balance;
    if (left !== null && open > left)
      throw new AppError('verification_failed', {
        reason: 'insufficient_funds',
        message: 'The balance is already reserved by other requests of this wallet.',
      });
    if (open > cap) throw new AppError('rate_limited', { reason: 'payer_reserved_cap', retry_after_s: 5 });
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

  private async execute(admitted: Admitted, deadlineMs: number): Promise<unknown> {
    const { visit, proof, id } = admitted;
    admitted.began_at = new Date();
    if (admitted.waiting !== null) return JSON.parse(admitted.waiting) as unknown;
    let recorded = Promise.resolve(true);
    // A debt stays one whatever happens, and is on record as such.
    const record = setTimeout(() => {
      if (admitted.landed !== null) return;
      recorded = this.parts.ledger.executing(id, proof.details);
      recorded.catch(() => undefined);
    }, RECORD_AFTER_MS);
    const answer = await runWithin(visit.work, proof.payer, deadlineMs, visit.sale.client_gone).finally(() => clearTimeout(record));
    if (!(await recorded)) throw new Error('the reservation was taken away while the work ran');
    return answer ?? null;
  }

  // ---- requests whose keys are already held ----

  private async answerHeld(visit: Visit, proof: ValidProof, keys: ClaimKeys): Promise<Outcome | null> {
    const verdict = judgeHeld(await this.parts.ledger.listHeld(keys), proof.payer, visit.sale);
    return verdict.kind === 'free' ? null : this.handHeld(visit, verdict);
  }

  /**
   * Who is paid, the host, the secret and what a request stands for may change after a payment was claimed, and what was bought is still its buyer's: the
   * same transaction, valid when it was claimed, with the secret of the offer it answered or the buyer's own key. Null where no such payment is on record
   * for this request.
   */
  private async answerKnown(visit: Visit, protocol: Protocol, credential: Credential, refused: unknown): Promise<Outcome | null> {
    const { sale, work } = visit;
    if (!(refused instanceof AppError) || (refused !== work.refuse && !UNFIT.has(refused.code))) return null;
    // What is wrong with a request is left out of its meaning: one that is refused is known by its words alone.
    const asked = refused === work.refuse ? { ...sale, request_hash: '' } : sale;
    const known = await findKnown(this.parts.ledger, protocol, credential, asked);
    return known === null ? null : this.handHeld(visit, known);
  }

  private async handHeld(visit: Visit, verdict: Exclude<HeldVerdict, { kind: 'free' }>): Promise<Outcome> {
    const { ledger } = this.parts;
    if (verdict.kind === 'refuse') throw verdict.error;
    const { record, settled_at } = verdict.held;
    if (verdict.kind === 'replay') {
      // Confirmed when nobody was there: the time in which it can be collected again begins now.
      if (verdict.held.state === 'CONFIRMED')
        return this.settler.paid(visit, record, JSON.parse(verdict.answer), true, settled_at ?? new Date());
      const headers = this.settler.protocolOf(record).receipt(record, settled_at ?? record.created_at);
      return { kind: 'paid', answer: JSON.parse(verdict.answer), replayed: true, headers };
    }
    if (verdict.kind === 'pending') throw new InFlight(pending(PENDING_ELSEWHERE), record.transaction);
    const inProgress = new AppError('payment_in_progress', { retry_after_s: 1 });
    if (verdict.kind === 'serve') {
      const served = await this.serveDebt(visit, record);
      if (served === null) throw inProgress;
      return served;
    }
    const taken = await ledger.takeOver(record.id);
    if (taken === null) throw inProgress;
    return this.settler.broadcast(visit, taken.record, JSON.parse(taken.answer), true);
  }

  /** Answers for what the buyer's own broadcast has paid. Null while somebody else is at it. */
  private async serveDebt(visit: Visit, { id, payer }: Pick<PaymentRecord, 'id' | 'payer'>): Promise<Outcome | null> {
    const { ledger, config, rechallenge } = this.parts;
    // One that cannot be looked for is made again.
    const waiting = (await rechallenge.find(payer, visit.sale.request_hash).catch(() => undefined)) ?? null;
    const record = await ledger.serveDebt(id);
    if (record === null) return null;
    const now = new Date();
    const at = { admitted_at: now, began_at: now, waiting, may_keep: false, landed: record.transaction };
    return this.serve({ visit, protocol: this.settler.protocolOf(record), proof: proofOf(record), id, ...at }, config.deadline_ms);
  }

  // ---- how it is told ----

  private async refusal(visit: Visit, error: AppError): Promise<Outcome> {
    if (error.status !== 402) return { kind: 'refused', error, charged: false, transaction: null, headers: {} };
    const { presented, payer, sale } = visit;
    const headers = presented === null ? {} : presented.protocol.failureReceipt(presented.credential, payer, error);
    return { kind: 'challenge', error, challenge: await challengeOf(this.parts.offered(), sale, error), headers };
  }
}

/** Sent payments are looked for every few seconds. */
const UNDECIDED_RETRY_S = 5;

/** The proof of a payment on record, as far as serving it asks for. */
function proofOf({ protocol, payer, amount, transaction, details }: PaymentRecord): ValidProof {
  const keys = { proof_key: '', claim_keys: [], secrets: [], buyer_keys: [] };
  return { ...keys, offer_expires_at: null, raw: '', protocol, payer, amount, transaction, details };
}

/** Refusals of a proof that may have been good when it was claimed. */
const UNFIT: ReadonlySet<ErrorCode> = new Set(['verification_failed', 'payment_insufficient']);

function tooManyUndecided(): AppError {
  return new AppError('rate_limited', {
    reason: 'payments_undecided',
    message: 'Too many payments of this wallet were sent and are not confirmed yet.',
    retry_after_s: UNDECIDED_RETRY_S,
  });
}

function tooManyFaults(windowMs: number): AppError {
  return new AppError('rate_limited', {
    reason: 'settlements_failed',
    message: 'Too many payments of this wallet failed at settlement.',
    retry_after_s: Math.ceil(windowMs / 1000),
  });
}
