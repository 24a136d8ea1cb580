import type { Pool, QueryResult, QueryResultRow } from 'pg';
import { isAnswer } from '../db/reach';
import { AppError } from '../errors';
import { FailureThrottle } from '../lib/failure-throttle';
import type { Claim, ClaimKeys, FaultLimit, HeldPayment, PaymentState } from './claims';
import { Deliveries, type Delivery } from './deliveries';
import { MissedSteps } from './missed-steps';
import {
  type JsonObject,
  type PaymentLog,
  type PaymentRecord,
  type ProtocolName,
  type Sale,
  TRANSACTION_EXPIRED,
  type ValidProof,
} from './protocol';
import {
  ADOPT_DEBT,
  CLAIM,
  CLAIMED_FOR,
  DELIVERED,
  HELD,
  LAST_SETTLEMENTS,
  MOVES,
  type NamedStatement,
  PASS_KEYS,
  SUM_OPEN,
  WRITE_AHEAD,
} from './statements';

interface Row {
  id: string;
  protocol: ProtocolName;
  payer: string;
  amount: string;
  request_hash: string;
  state: PaymentState;
  transaction: string | null;
  raw: string | null;
  details: JsonObject;
  settle_by: Date | null;
  created_at: Date;
  settled_at: Date | null;
  reason: string | null;
  /** Where it is told. */
  answer?: string | null;
}

const RUNNING: PaymentState[] = ['RESERVED', 'EXECUTING', 'RESULT_READY'];
const UNIQUE_VIOLATION = '23505';
const LEDGER_RETRY_S = 5;
/** Whoever sends no buyers where none can be served sends some again after so long. */
const UNWRITTEN_MS = 15_000;

/** A payment on record, and the JSON text of its answer. */
export interface Answered {
  record: PaymentRecord;
  answer: string;
}

/** The work of a payment, done: its answer as JSON text. */
export interface FinishedWork {
  answer: string;
  began_at: Date;
  done_at: Date;
}

interface ClaimRow {
  made: string | null;
  faults: number;
  open_sum: string | null;
  kept: number | null;
  waiting: string | null;
  unserved: string | null;
  owed: string | null;
  unsettled: string | null;
  undecided: number;
}

function recordOf(row: Row): PaymentRecord {
  const { id, protocol, payer, raw, details, settle_by, created_at } = row;
  return {
    id: String(id),
    protocol,
    payer,
    amount: BigInt(row.amount),
    transaction: row.transaction ?? '',
    raw,
    details,
    settle_by,
    created_at,
  };
}

/**
 * Payments on record in PostgreSQL, shared by all processes. A method that moves a payment resolves to false or null when
 * it was not where it had to be: somebody else has it, and the caller must not go on.
 */
export class Ledger {
  private readonly deliveries = new Deliveries((together, keptMs) => this.write(together, keptMs));
  private readonly missed = new MissedSteps();
  private readonly away = new FailureThrottle();
  /** When a purchase could not be written down, since the last that could. */
  private unwritten_at = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly pool: Pool,
    private readonly instance: string,
    private readonly log: PaymentLog,
  ) {}

  /** Throws payments_unavailable when the database does not answer. */
  private async ask<R extends QueryResultRow>(statement: NamedStatement, values: unknown[]): Promise<QueryResult<R>> {
    try {
      return await this.pool.query<R>(statement, values);
    } catch (error) {
      if (isAnswer(error)) throw error;
      if (statement === CLAIM || statement === WRITE_AHEAD) this.unwritten_at = performance.now();
      this.away.note(error, (untold) => this.log.error({ error: (error as Error).message, untold }, 'the ledger cannot be reached'));
      throw new AppError('payments_unavailable', { retry_after_s: LEDGER_RETRY_S, cause: error });
    }
  }

  /** Whether the last purchase could not be written down, a moment ago: a database without room on its disk answers, and writes nothing. */
  get isUnwritable(): boolean {
    return performance.now() - this.unwritten_at < UNWRITTEN_MS;
  }

  /** Takes the steps that the database did not answer. Throws payments_unavailable while it does not. */
  catchUp(): Promise<void> {
    return this.missed.catchUp();
  }

  /** Payments that hold any of the keys, newest first. */
  async listHeld(keys: ClaimKeys): Promise<HeldPayment[]> {
    await this.flush();
    const { rows } = await this.ask<Row & { answer: string | null; by: HeldPayment['by'] }>(HELD, [keys.keys]);
    return rows.map((row) => {
      const { state, request_hash, answer, settled_at, reason, by } = row;
      return { record: recordOf(row), state, request_hash, answer, settled_at, reason, by };
    });
  }

  /** Claims every key or none. What was settled more than `unservedMs` ago is not looked for; who was silent for `silentMs` may be dead. */
  async claim(proof: ValidProof, sale: Sale, keys: ClaimKeys, limit: FaultLimit, unservedMs: number, silentMs: number): Promise<Claim> {
    const { protocol, payer, amount, proof_key, transaction, details } = proof;
    const what = [protocol, payer, amount.toString(), sale.request_id, sale.path, sale.request_hash];
    const by = [this.instance, proof_key, keys.collecting, transaction, JSON.stringify(details), keys.keys, keys.kinds];
    try {
      const { rows } = await this.ask<ClaimRow>(CLAIM, [...what, ...by, limit.since, limit.most, unservedMs, silentMs]);
      const [{ made, open_sum, kept, ...told }] = rows as [ClaimRow];
      return { ...told, id: made === null ? null : String(made), open_sum: BigInt(open_sum ?? 0), kept: kept ?? 0 };
    } catch (error) {
      // The claim may stand, with nobody who would work for it.
      if (error instanceof AppError) this.missed.add(() => this.unclaim(proof_key, sale.request_id));
      // Claimed in the same moment by somebody who is, or says to be, another payer.
      if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
      return { id: null, faults: 0, open_sum: 0n, kept: 0, waiting: null, unserved: null, owed: null, unsettled: null, undecided: 0 };
    }
  }

  /** Micro-USDC that the payer may still have to pay, up to and including payment `id`. */
  async sumOpen(payer: string, id: string): Promise<bigint> {
    await this.flush();
    const { rows } = await this.ask<{ sum: string | null }>(SUM_OPEN, [payer, id]);
    return BigInt(rows[0]?.sum ?? 0);
  }

  /** True when the landed transaction of payment `id` was admitted before it landed, from somebody with the same secret, and released unserved. */
  async adoptDebt(id: string): Promise<boolean> {
    const { rowCount } = await this.ask(ADOPT_DEBT, [id]);
    return (rowCount ?? 0) > 0;
  }

  async executing(id: string, details: JsonObject): Promise<boolean> {
    return (await this.moved(MOVES.executing, id, ['RESERVED'], 'EXECUTING', null, [details])) !== null;
  }

  /** The write-ahead record: committed before the first send. False when the reservation is no longer that of this proof. */
  async writeAhead({ id, transaction, raw, details, settle_by }: PaymentRecord, proofKey: string, work: FinishedWork): Promise<boolean> {
    const values = [id, transaction, raw, details, settle_by, work.answer, work.began_at, work.done_at, proofKey];
    const { rowCount } = await this.ask(WRITE_AHEAD, values);
    this.unwritten_at = Number.NEGATIVE_INFINITY;
    return (rowCount ?? 0) > 0;
  }

  /** Paid; returns since when. The answer is kept until it is handed out; `answer` replaces the one of the write-ahead record when given. */
  async confirmed(id: string, transaction: string, answer: string | null = null): Promise<Date | null> {
    const from: PaymentState[] = ['BROADCASTING', 'UNKNOWN', ...RUNNING];
    const row = await this.missed.surely(() => this.movedRow(MOVES.confirmed, id, from, 'CONFIRMED', null, [transaction, answer]));
    return row?.settled_at ?? null;
  }

  /**
   * Paid, and the answer is handed out: collectable for `keptMs` more milliseconds. Written down a little later, with others; `flush` waits for it. The chain is the record until
   * then: whoever finds the payment unconfirmed asks there, as after a crash.
   */
  delivered(delivery: Delivery, keptMs: number): void {
    this.deliveries.add(delivery, keptMs);
  }

  /** Waits until everything that was handed out so far is written down. */
  flush(): Promise<void> {
    return this.deliveries.flush();
  }

  private async write(together: readonly Delivery[], keptMs: number): Promise<void> {
    const columns = [together.map(({ id }) => id), together.map((one) => one.transaction), together.map((one) => one.settled_at)];
    await this.missed
      .surely(() => this.ask(DELIVERED, [...columns, keptMs]))
      .catch((error: unknown) => {
        const { cause = error } = error as Error;
        this.log.error({ payments: columns[0], error: (cause as Error).message }, 'deliveries could not be written down');
      });
  }

  async unknown(id: string, note: string): Promise<void> {
    await this.missed.surely(() => this.moved(MOVES.unknown, id, ['BROADCASTING'], 'UNKNOWN', note));
  }

  /** Not paid and never will be. Keys the buyer chose are free again; the proof stays used. */
  async failed(id: string, reason: string): Promise<boolean> {
    const state = reason === TRANSACTION_EXPIRED ? 'EXPIRED' : 'REJECTED_ONCHAIN';
    const change = () => this.moved(MOVES.failed, id, ['BROADCASTING', 'UNKNOWN'], state, reason, [reason]);
    return (await this.missed.surely(change)) !== null;
  }

  /**
   * Frees every key of a payment that was not broadcast by us, though its record may have been written ahead; the proof may be used again.
   * `fault`: it was the payer's doing. `details`: of a proof that was worked for, so that its buyer's own broadcast is found; null of one
   * that was not.
   */
  async release(id: string, proofKey: string, reason: string, fault: boolean, details: JsonObject | null): Promise<boolean> {
    return (await this.missed.surely(() => this.released(id, proofKey, reason, fault, details))) !== null;
  }

  /** The same of a payment whose buyer is given what it has paid for before: keys that collect that were passed on by then. */
  answeredBefore(id: string, proofKey: string, details: JsonObject | null): Promise<void> {
    return this.missed.inTurn(() => this.released(id, proofKey, 'answered_before', false, details));
  }

  private released(id: string, proofKey: string, reason: string, fault: boolean, details: JsonObject | null) {
    return this.moved(MOVES.release, id, [...RUNNING, 'BROADCASTING'], 'RELEASED', reason, [fault, reason, details, proofKey]);
  }

  /** The payer's own broadcast landed and nothing was served: the same request with the same secret is served without paying again. */
  async owe(id: string, { proof_key, details }: ValidProof, transaction: string, reason: string): Promise<boolean> {
    const change = () => this.moved(MOVES.owe, id, RUNNING, 'OWED', reason, [transaction, reason, details, proof_key]);
    return (await this.missed.surely(change)) !== null;
  }

  private async unclaim(proofKey: string, requestId: string): Promise<void> {
    const { rows } = await this.ask<{ id: string }>(CLAIMED_FOR, [proofKey, requestId]);
    for (const { id } of rows) await this.moved(MOVES.release, id, RUNNING, 'RELEASED', 'unheard', [false, 'unheard', null, proofKey]);
  }

  /** Takes a debt up again; null when somebody else is at it. */
  serveDebt(id: string): Promise<PaymentRecord | null> {
    return this.moved(MOVES.take, id, ['OWED'], 'EXECUTING', 'served again', [this.instance]);
  }

  /** Takes an unresolved settlement over, to send and ask again; null when somebody else is at it. */
  async takeOver(id: string): Promise<Answered | null> {
    const row = await this.movedRow(MOVES.take, id, ['UNKNOWN'], 'BROADCASTING', 'taken up again by the buyer', [this.instance]);
    return row === undefined ? null : { record: recordOf(row), answer: row.answer as string };
  }

  /**
   * Marks what is paid as handed out now to the buyer of payment `to`, collectable for `keptMs` more milliseconds, by what would collect that one as well;
   * null when somebody else has handed it out.
   */
  async handOut(id: string, keptMs: number, to: string): Promise<(Answered & { settled_at: Date }) | null> {
    const row = await this.movedRow(MOVES.handOut, id, ['CONFIRMED'], 'DELIVERED', 'to a fresh proof of its buyer', [keptMs, to]);
    return row === undefined ? null : { record: recordOf(row), answer: row.answer as string, settled_at: row.settled_at as Date };
  }

  /** Its answer was handed out, and its buyer left before the end of it: as one that was handed out to nobody. */
  async takeBack(id: string): Promise<void> {
    await this.flush();
    // That it was handed out may have been missed: written down later it would stand.
    await this.missed.inTurn(() =>
      this.moved(MOVES.takeBack, id, ['DELIVERED'], 'CONFIRMED', 'its buyer left before the end of the answer'),
    );
  }

  /** What would collect payment `from` collects payment `to`, which is handed out to its buyer. */
  async passKeys(from: string, to: string): Promise<void> {
    await this.missed.surely(() => this.ask(PASS_KEYS, [from, to]));
  }

  async lastSettlements(): Promise<Map<ProtocolName, Date>> {
    const { rows } = await this.pool.query<{ protocol: ProtocolName; at: Date }>(LAST_SETTLEMENTS);
    return new Map(rows.map(({ protocol, at }) => [protocol, at]));
  }

  private async moved(...change: Parameters<Ledger['movedRow']>): Promise<PaymentRecord | null> {
    const row = await this.movedRow(...change);
    return row === undefined ? null : recordOf(row);
  }

  private async movedRow(
    statement: NamedStatement,
    id: string,
    from: PaymentState[],
    to: PaymentState,
    note: string | null,
    values: unknown[] = [],
  ): Promise<Row | undefined> {
    const { rows } = await this.ask<Row>(statement, [id, from, to, note, ...values]);
    return rows[0];
  }
}
