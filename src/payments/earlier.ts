import { AppError } from '../errors';
import type { Claim } from './claims';
import { type Admission, FAILED_ON_CHAIN, type JsonObject, type Outcome, type PaymentRecord } from './protocol';
import type { Settler } from './settler';
import { type Admitted, type CorridorParts, InFlight, inFlight, pending, type Visit } from './visit';
import { assertBuyerThere } from './work';

const SENT = 'An earlier payment of this wallet for the same request was sent and is not confirmed yet. This one was not used.';
const BEING_SETTLED = 'An earlier payment of this wallet for the same request is being settled. This one was not used.';
const BEING_SETTLED_RETRY_S = 2;

/**
 * What a payer gets who begins anew: who paid and was told nothing, because the connection, the process or the chain fell silent, does so as a rule, with
 * a fresh offer and a fresh signature, which shows that it is the payer. It is given what it has paid for, and its new claim is let go of.
 */
export class Earlier {
  /** `serveDebt` answers a visit for a payment that is owed; null while somebody else does. */
  constructor(
    private readonly parts: Pick<CorridorParts, 'ledger' | 'config' | 'rechallenge'>,
    private readonly settler: Settler,
    private readonly serveDebt: (visit: Visit, payment: Pick<PaymentRecord, 'id' | 'payer'>) => Promise<Outcome | null>,
  ) {}

  /** Null when there is no earlier payment that counts: none was made, somebody else was given its answer, the chain will never have it. */
  async answer(admitted: Admitted, { unserved, owed, unsettled }: Claim, admission: () => Promise<Admission>): Promise<Outcome | null> {
    const { id, proof, visit } = admitted;
    if (unserved === null && owed === null && unsettled === null) return null;
    const fresh = await lookedAt(admission());
    if (fresh.isPublic) return null;
    assertBuyerThere(visit.sale.client_gone);
    const outcome =
      (unserved === null ? null : await this.handOut(unserved, visit, id)) ??
      (owed === null ? null : await this.serve(admitted, owed)) ??
      (unsettled === null ? null : await this.settle(admitted, unsettled));
    if (outcome !== null) await this.parts.ledger.answeredBefore(id, proof.proof_key, fresh.details).catch(() => undefined);
    return outcome;
  }

  private async handOut(id: string, visit: Visit, to: string): Promise<Outcome | null> {
    const { ledger, config } = this.parts;
    const earlier = await ledger.handOut(id, config.kept_answer_ms, to);
    if (earlier === null) return null;
    const { record, answer, settled_at } = earlier;
    this.settler.watchEnd(visit, id);
    const headers = this.settler.protocolOf(record).receipt(record, settled_at);
    return { kind: 'paid', answer: JSON.parse(answer), replayed: true, headers };
  }

  private async serve({ id, proof, visit }: Admitted, owed: string): Promise<Outcome | null> {
    try {
      const outcome = await this.serveDebt(visit, { id: owed, payer: proof.payer });
      if (outcome !== null) await this.parts.ledger.passKeys(id, owed).catch(() => undefined);
      return outcome;
    } catch (error) {
      if (error instanceof InFlight) return inFlight(error, null);
      throw error;
    }
  }

  /** Sends and asks the chain again. Throws payment_in_progress while somebody else does. */
  private async settle(admitted: Admitted, id: string): Promise<Outcome | null> {
    const { ledger, rechallenge } = this.parts;
    const { visit, proof } = admitted;
    const taken = await ledger.takeOver(id);
    if (taken === null) throw new AppError('payment_in_progress', { message: BEING_SETTLED, retry_after_s: BEING_SETTLED_RETRY_S });
    try {
      const outcome = await this.settler.broadcast(visit, taken.record, JSON.parse(taken.answer), true);
      await ledger.passKeys(admitted.id, id).catch(() => undefined);
      return outcome;
    } catch (error) {
      if (error instanceof InFlight) return inFlight(new InFlight(pending(SENT), error.transaction), null);
      if (!(error instanceof AppError && error.code === 'settlement_failed')) throw error;
      // What was made for it may wait for this one.
      admitted.waiting ??= (await rechallenge.find(proof.payer, visit.sale.request_hash).catch(() => undefined)) ?? null;
      return null;
    }
  }
}

/**
 * Whether the chain has the fresh transaction: then it shows nothing, for anybody can copy it. Its buyer may broadcast it while it waits for the answer:
 * `details` are what it is found by then, null where the chain refuses it. Throws payments_unavailable when the chain cannot be asked.
 */
async function lookedAt(admission: Promise<Admission>): Promise<{ isPublic: boolean; details: JsonObject | null }> {
  try {
    const { landed, details } = await admission;
    return { isPublic: landed, details: { ...details, admitted: true } };
  } catch (error) {
    // Whatever else speaks against it, its signature shows its payer.
    if (!(error instanceof AppError && error.status === 402)) throw error;
    return { isPublic: FAILED_ON_CHAIN.has(error.context.reason ?? ''), details: null };
  }
}
