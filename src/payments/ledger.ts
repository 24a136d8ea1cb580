import type { Pool, QueryResultRow } from 'pg';
import type { ClaimKeys, HeldPayment, PaymentState } from './claims';
import type { JsonObject, PaymentRecord, Prepared, ProtocolName, Sale, ValidProof } from './protocol';
import { ADOPT_DEBT, COUNT_FAULTS, HELD, LAST_SETTLEMENTS, MOVES, type NamedStatement, RESERVE, SUM_OPEN } from './statements';

interface Row extends QueryResultRow {
  id: string;
  protocol: ProtocolName;
  payer: string;
  amount: string;
  request_hash: string;
  state: PaymentState;
  owed: boolean;
  transaction: string | null;
  raw: string | null;
  details: JsonObject;
  settle_by: Date | null;
  created_at: Date;
  answer: string | null;
  settled_at: Date | null;
  reason: string | null;
}

const RUNNING: PaymentState[] = ['RESERVED', 'EXECUTING', 'RESULT_READY'];
/** States in which a payment may still take money from its payer. */
const OPEN: PaymentState[] = [...RUNNING, 'BROADCASTING', 'UNKNOWN'];
const UNIQUE_VIOLATION = '23505';

/** A paid payment and when it was settled. */
export interface SettledPayment {
  record: PaymentRecord;
  settled_at: Date;
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
  constructor(
    private readonly pool: Pool,
    private readonly instance: string,
  ) {}

  /** Payments that hold any of the keys, newest first. */
  async listHeld(keys: ClaimKeys): Promise<HeldPayment[]> {
    const { rows } = await this.pool.query<Row & { by: HeldPayment['by'] }>(HELD, [keys.keys]);
    return rows.map((row) => {
      const { state, request_hash, owed, answer, settled_at, reason, by } = row;
      return { record: recordOf(row), state, request_hash, owed, answer, settled_at, reason, by };
    });
  }

  /** Claims every key or none; the id of the new payment, or null when another payment holds one. */
  async reserve(proof: ValidProof, sale: Sale, keys: ClaimKeys): Promise<string | null> {
    const { protocol, payer, amount, proof_key, transaction, details } = proof;
    const what = [protocol, payer, amount.toString(), sale.request_id, sale.path, sale.request_hash];
    const by = [this.instance, proof_key, keys.collecting, transaction, JSON.stringify(details), keys.keys, keys.kinds];
    try {
      const { rows } = await this.pool.query<{ id: string }>(RESERVE, [...what, ...by]);
      return String(rows[0]?.id);
    } catch (error) {
      if ((error as { code?: string }).code === UNIQUE_VIOLATION) return null;
      throw error;
    }
  }

  /** Micro-USDC that the payer may still have to pay, up to and including payment `id`. */
  async sumOpen(payer: string, id: string): Promise<bigint> {
    const { rows } = await this.pool.query<{ sum: string | null }>(SUM_OPEN, [payer, OPEN, id]);
    return BigInt(rows[0]?.sum ?? 0);
  }

  /** Settlements that failed by the payer's doing since `since`. */
  async countFaults(payer: string, since: Date): Promise<number> {
    const { rows } = await this.pool.query<{ count: string }>(COUNT_FAULTS, [payer, since]);
    return Number(rows[0]?.count);
  }

  /** True when the landed transaction of payment `id` was presented before, by somebody with the same secret, and released unserved. */
  async adoptDebt(id: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(ADOPT_DEBT, [id]);
    return (rowCount ?? 0) > 0;
  }

  async executing(id: string, details: JsonObject): Promise<boolean> {
    return (await this.moved(MOVES.executing, id, ['RESERVED'], 'EXECUTING', null, [details])) !== null;
  }

  async resultReady(id: string): Promise<boolean> {
    return (await this.moved(MOVES.result_ready, id, ['EXECUTING'], 'RESULT_READY', null)) !== null;
  }

  /** The write-ahead record: committed before the first send. Null when the reservation is no longer ours. */
  writeAhead(id: string, prepared: Prepared, answer: string): Promise<PaymentRecord | null> {
    const { transaction, raw, details, settle_by } = prepared;
    return this.moved(MOVES.write_ahead, id, ['RESULT_READY'], 'BROADCASTING', null, [transaction, raw, details, settle_by, answer]);
  }

  /** Paid. The answer stays collectable for `keptMs`; `answer` replaces the one of the write-ahead record when given. */
  async confirmed(id: string, transaction: string, keptMs: number, answer: string | null = null): Promise<SettledPayment | null> {
    const values = [transaction, keptMs, answer];
    const row = await this.movedRow(MOVES.confirmed, id, ['BROADCASTING', 'UNKNOWN', 'RESULT_READY'], 'CONFIRMED', null, values);
    return row === undefined ? null : { record: recordOf(row), settled_at: row.settled_at as Date };
  }

  async delivered(id: string): Promise<void> {
    await this.moved(MOVES.delivered, id, ['CONFIRMED'], 'DELIVERED', null);
  }

  async unknown(id: string, note: string): Promise<void> {
    await this.moved(MOVES.unknown, id, ['BROADCASTING'], 'UNKNOWN', note);
  }

  /** Not paid and never will be. Keys the buyer chose are free again; the proof stays used. */
  async failed(id: string, state: 'REJECTED_ONCHAIN' | 'EXPIRED', reason: string): Promise<boolean> {
    return (await this.moved(MOVES.failed, id, ['BROADCASTING', 'UNKNOWN'], state, reason, [reason])) !== null;
  }

  /** Frees every key of a payment that was not broadcast by us; the proof may be used again. `fault`: it was the payer's doing. */
  async release(id: string, reason: string, fault = false): Promise<boolean> {
    return (await this.moved(MOVES.release, id, RUNNING, 'RELEASED', reason, [fault, reason])) !== null;
  }

  /** The payer's own broadcast landed and nothing was served: the same request with the same secret is served without paying again. */
  async owe(id: string, transaction: string, reason: string): Promise<boolean> {
    return (await this.moved(MOVES.owe, id, RUNNING, 'OWED', reason, [transaction, reason])) !== null;
  }

  /** Takes a debt up again; null when somebody else is at it. */
  serveDebt(id: string): Promise<PaymentRecord | null> {
    return this.moved(MOVES.take, id, ['OWED'], 'EXECUTING', 'served again', [this.instance]);
  }

  /** Takes an unresolved settlement over, to send and ask again; null when somebody else is at it. */
  takeOver(id: string): Promise<PaymentRecord | null> {
    return this.moved(MOVES.take, id, ['UNKNOWN'], 'BROADCASTING', 'taken up again by the buyer', [this.instance]);
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
    const { rows } = await this.pool.query<Row>(statement, [id, from, to, note, ...values]);
    return rows[0];
  }
}
