import { AppError } from '../errors';
import { withDeadline } from '../lib/deadline';
import { FeeCredit } from './fee-credit';
import {
  type PaymentRecord,
  type Protocol,
  type ProtocolName,
  type Outcome,
  type Sale,
  type Settlement,
  TRANSACTION_EXPIRED,
} from './protocol';
import { type Admitted, type CorridorParts, InFlight, pending, SWITCHED_OFF_RETRY_S, type Visit } from './visit';
import { assertBuyerThere, BuyerGone } from './work';

const OWN_BROADCAST_LOOK_MS = 1_500;

/** An admitted payment under the id it has, or will have, on chain: nothing of it is ready to be broadcast. */
function recordOf({ id, proof, admitted_at }: Admitted, transaction: string): PaymentRecord {
  const { protocol, payer, amount, details } = proof;
  return { id, protocol, payer, amount, transaction, raw: null, details, settle_by: null, created_at: admitted_at };
}

const hasLeft = ({ sale }: Visit): boolean => sale.client_gone?.aborted === true;

/** The last door: the only room where money moves, and where a sale that brings nothing is undone. */
export class Settler {
  private readonly byName: ReadonlyMap<ProtocolName, Protocol>;
  private readonly feeCredit: FeeCredit;

  constructor(private readonly parts: CorridorParts) {
    this.byName = new Map(parts.protocols.map((protocol) => [protocol.name, protocol]));
    this.feeCredit = new FeeCredit(parts.config.payer_failures);
  }

  /** The protocol of a payment on record. Throws when it is no longer configured. */
  protocolOf(record: PaymentRecord): Protocol {
    const protocol = this.byName.get(record.protocol);
    if (protocol === undefined)
      throw new AppError('payments_unavailable', {
        message: `Payments by ${record.protocol} are switched off.`,
        retry_after_s: SWITCHED_OFF_RETRY_S,
      });
    return protocol;
  }

  /** An error for the consumer; what is not one is logged and becomes `internal`. */
  tell(error: unknown, sale: Sale): AppError {
    if (error instanceof AppError) return error;
    if (!(error instanceof BuyerGone))
      this.parts.log.error(
        { request_id: sale.request_id, error: (error as Error).message, stack: (error as Error).stack },
        'a paid request failed',
      );
    return new AppError('internal', { cause: error });
  }

  /** Settles a sale whose work is done. Throws AppErrors for what was not charged, InFlight for what may be. */
  settle(admitted: Admitted, answer: unknown): Promise<Outcome> {
    const { payer, transaction } = admitted.proof;
    // Its fee is ours until it has an id.
    if (transaction === null) return this.feeCredit.run(payer, () => this.bring(admitted, answer));
    return this.bring(admitted, answer);
  }

  private async bring(admitted: Admitted, answer: unknown): Promise<Outcome> {
    const { ledger, config, rechallenge } = this.parts;
    const { visit, protocol, proof } = admitted;
    let record: PaymentRecord;
    try {
      const kept = this.keepable(answer);
      if (admitted.landed !== null) return await this.adopted(visit, recordOf(admitted, admitted.landed), answer, kept);
      const done_at = new Date();
      const prepared = await withDeadline(config.admission_ms, (signal) =>
        protocol.settlement.prepare(proof, admitted.admitted_at, signal),
      );
      assertBuyerThere(visit.sale.client_gone);
      record = { ...recordOf(admitted, prepared.transaction), ...prepared };
      const work = { answer: kept, began_at: admitted.began_at ?? done_at, done_at };
      if (!(await ledger.writeAhead(record, proof.proof_key, work))) throw new Error('the reservation was taken away before the broadcast');
    } catch (error) {
      return this.giveUp(admitted, error, answer);
    }
    const outcome = await this.broadcast(visit, record, answer, false);
    // Left lying it expires by itself.
    if (admitted.waiting !== null) await rechallenge.drop(proof.payer, visit.sale.request_hash).catch(() => undefined);
    return outcome;
  }

  /** From here on money may move: whatever goes wrong is told as pending until the chain has spoken. */
  async broadcast(visit: Visit, record: PaymentRecord, answer: unknown, replayed: boolean): Promise<Outcome> {
    const { client_gone } = visit.sale;
    // Whoever does not wait may come again, while we do: that one finds it as one whose end nobody heard.
    const leave = (): void => void this.parts.ledger.unknown(record.id, 'its buyer left').catch(() => undefined);
    client_gone?.addEventListener('abort', leave, { once: true });
    if (hasLeft(visit)) leave();
    try {
      const settlement = await withDeadline(this.parts.config.settle_patience_ms, (signal) =>
        this.protocolOf(record).settlement.settle(record, signal),
      );
      return await this.settled(visit, record, settlement, answer, replayed);
    } catch (error) {
      if (error instanceof InFlight || (error instanceof AppError && error.code === 'settlement_failed')) throw error;
      this.parts.log.error(
        { request_id: visit.sale.request_id, payment: record.id, transaction: record.transaction, error: (error as Error).message },
        'a settlement could not be written down',
      );
      throw new InFlight(pending(), record.transaction);
    } finally {
      client_gone?.removeEventListener('abort', leave);
    }
  }

  private async settled(visit: Visit, record: PaymentRecord, settlement: Settlement, answer: unknown, replayed: boolean): Promise<Outcome> {
    const { ledger, log, figures } = this.parts;
    const about = {
      request_id: visit.sale.request_id,
      payment: record.id,
      protocol: record.protocol,
      payer: record.payer,
      amount: record.amount.toString(),
      transaction: record.transaction,
    };
    if (settlement.status === 'confirmed') {
      log.info(about, 'payment settled');
      const shared = replayed || hasLeft(visit);
      if (!shared || (await this.heardFirst(visit, record.id, settlement.transaction))) figures.payment('settled', record);
      const outcome = this.paid(visit, { ...record, transaction: settlement.transaction }, answer, replayed, new Date());
      // What was taken up again counts as under way for its payer's next one.
      if (replayed) await ledger.flush();
      return outcome;
    }
    if (settlement.status === 'unknown') {
      figures.payment('pending', record);
      await ledger.unknown(record.id, 'patience ended');
      log.warn(about, 'payment sent, not confirmed yet');
      throw new InFlight(pending(), record.transaction);
    }
    log.warn({ ...about, reason: settlement.reason }, 'payment failed');
    const heard = ledger.failed(record.id, settlement.reason);
    // While the database is away nobody else would count it.
    if (await heard.catch(() => true)) figures.payment('failed', record);
    await heard;
    if (settlement.reason === TRANSACTION_EXPIRED) await this.keep(record.payer, visit.sale, answer);
    throw new AppError('settlement_failed', { reason: settlement.reason });
  }

  /** Puts on record what waits for a buyer who has left. False where somebody else has heard of its end, for who leaves may come again while we wait. */
  private async heardFirst(visit: Visit, id: string, transaction: string): Promise<boolean> {
    try {
      return (await this.parts.ledger.confirmed(id, transaction)) !== null;
    } catch (error) {
      if (hasLeft(visit)) throw error;
      return true;
    }
  }

  /** The chain has it, and the answer is handed out to a buyer who is there; what is on record for a broadcast of ours holds it. */
  paid(visit: Visit, record: PaymentRecord, answer: unknown, replayed: boolean, settled_at: Date): Outcome {
    const { id, transaction } = record;
    if (!hasLeft(visit)) {
      this.parts.ledger.delivered({ id, transaction, settled_at }, this.parts.config.kept_answer_ms);
      this.watchEnd(visit, id);
    }
    return { kind: 'paid', answer, replayed, headers: this.protocolOf(record).receipt(record, settled_at) };
  }

  /** A buyer whose connection breaks before the end of what it is handed has none of it. */
  watchEnd(visit: Visit, id: string): void {
    const takeBack = (): void => void this.parts.ledger.takeBack(id).catch(() => undefined);
    if (hasLeft(visit)) takeBack();
    else visit.sale.client_gone?.addEventListener('abort', takeBack, { once: true });
  }

  /** The buyer's own broadcast brought it onto the chain: on record with its answer, `kept`, before it is handed out. */
  private async adopted(visit: Visit, record: PaymentRecord, answer: unknown, kept: string): Promise<Outcome> {
    const { ledger } = this.parts;
    const settled_at = await ledger.confirmed(record.id, record.transaction, kept);
    if (settled_at === null) throw new Error('the payment was not where a confirmation finds it');
    this.parts.figures.payment('settled', record);
    return this.paid(visit, record, answer, false, settled_at);
  }

  /** Frees the proof and passes `error` on; unless the buyer broadcast the payment itself, which then counts. */
  async giveUp(admitted: Admitted, cause: unknown, answer?: unknown): Promise<Outcome> {
    const { ledger, figures, log } = this.parts;
    const { visit, proof, id } = admitted;
    const error = this.tell(cause, visit.sale);
    const transaction = admitted.landed ?? (await this.ownBroadcast(admitted));
    if (transaction !== null) {
      if (answer !== undefined && error.code === 'payment_expired') {
        return this.adopted(visit, recordOf(admitted, transaction), answer, this.keepable(answer));
      }
      // Whatever becomes of the record: it was paid, and is looked up again when the claim is left behind.
      if (await ledger.owe(id, proof, transaction, error.code).catch(() => false)) {
        figures.payment('owed', proof);
        const about = { payment: id, protocol: proof.protocol, payer: proof.payer, transaction, reason: error.code };
        log.warn(about, 'a payment that its buyer broadcast brought no answer: it is owed');
      }
      throw new InFlight(error.status === 402 ? pending() : error, transaction);
    }
    if (answer !== undefined && error.code === 'payment_expired') await this.keep(proof.payer, visit.sale, answer);
    const details = admitted.began_at === null ? null : proof.details;
    const fault = error.code === 'settlement_failed';
    if (await ledger.release(id, proof.proof_key, error.code, fault, details)) figures.payment('released', proof);
    throw error;
  }

  /** The id under which the buyer itself landed the payment while we worked; null when it did not, or could not. */
  private async ownBroadcast(admitted: Admitted): Promise<string | null> {
    const { protocol, proof, began_at } = admitted;
    if (proof.transaction === null || began_at === null) return null;
    const seen = await protocol.settlement.lookup(recordOf(admitted, proof.transaction), AbortSignal.timeout(OWN_BROADCAST_LOOK_MS));
    return seen.status === 'confirmed' ? seen.transaction : null;
  }

  /** For a fresh proof, where the payer may leave one more lying. One that cannot be kept is made again. */
  private async keep(payer: string, sale: Sale, answer: unknown): Promise<void> {
    const { rechallenge, log } = this.parts;
    try {
      if (await rechallenge.mayKeep(payer)) await rechallenge.keep(payer, sale.request_hash, this.keepable(answer));
    } catch (error) {
      log.error({ request_id: sale.request_id, error: (error as Error).message }, 'an answer could not be kept for a fresh proof');
    }
  }

  /** The JSON text of an answer. Throws when it is too large: what cannot be kept must not be sold, it could be paid and lost. */
  private keepable(answer: unknown): string {
    const text = JSON.stringify(answer);
    const limit = this.parts.config.kept_answer_max_bytes;
    if (Buffer.byteLength(text) > limit) throw new Error(`the answer is larger than ${limit} bytes and cannot be kept`);
    return text;
  }
}
