import type { Pool, QueryResultRow } from 'pg';
import type { ClaimKeys, HeldPayment, PaymentState } from './claims';
import type { JsonObject, PaymentRecord, ProtocolName, Sale, ValidProof } from './protocol';

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

const COLUMNS =
  'p.id, p.protocol, p.payer, p.amount, p.request_hash, p.state, p.owed, p.transaction, p.raw, p.details, p.settle_by, p.created_at, p.answer, p.settled_at, p.reason';
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

/** Moves a payment from one of `$2` to `$3` with note `$4` and a row of history; `set` is what else changes, `also` what else happens if it moves. */
const move = (set = '', also = ''): string => `
  WITH moved AS (
    UPDATE payment p SET state = $3, step = step + 1, moved_at = now()${set === '' ? '' : `, ${set}`} WHERE id = $1 AND state = ANY ($2) RETURNING p.*
  ), written AS (
    INSERT INTO payment_step (payment_id, step, state, note) SELECT id, step, state, $4 FROM moved
  )${also === '' ? '' : `, also AS (${also})`}
  SELECT ${COLUMNS} FROM moved p`;

const OF_MOVED = 'payment_id IN (SELECT id FROM moved)';

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
    const { rows } = await this.pool.query<Row & { by: HeldPayment['by'] }>(
      `SELECT ${COLUMNS}, array_agg(DISTINCT c.kind) AS by FROM payment_claim c JOIN payment p ON p.id = c.payment_id
       WHERE c.key = ANY ($1) AND (c.expires_at IS NULL OR c.expires_at > now()) GROUP BY p.id ORDER BY p.id DESC`,
      [keys.keys],
    );
    return rows.map((row) => ({
      record: recordOf(row),
      state: row.state,
      request_hash: row.request_hash,
      owed: row.owed,
      answer: row.answer,
      settled_at: row.settled_at,
      reason: row.reason,
      by: row.by,
    }));
  }

  /** Claims every key or none; the id of the new payment, or null when another payment holds one. */
  async reserve(proof: ValidProof, sale: Sale, keys: ClaimKeys): Promise<string | null> {
    try {
      const { rows } = await this.pool.query<{ id: string }>(
        'SELECT reserve_payment($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) AS id',
        [
          proof.protocol,
          proof.payer,
          proof.amount.toString(),
          sale.request_id,
          sale.path,
          sale.request_hash,
          this.instance,
          proof.proof_key,
          keys.collecting,
          proof.transaction,
          JSON.stringify(proof.details),
          keys.keys,
          keys.kinds,
        ],
      );
      return String(rows[0]?.id);
    } catch (error) {
      if ((error as { code?: string }).code === UNIQUE_VIOLATION) return null;
      throw error;
    }
  }

  /** Micro-USDC that the payer may still have to pay, up to and including payment `id`. */
  async sumOpen(payer: string, id: string): Promise<bigint> {
    const { rows } = await this.pool.query<{ sum: string | null }>(
      'SELECT sum(amount) AS sum FROM payment WHERE payer = $1 AND state = ANY ($2) AND NOT owed AND id <= $3',
      [payer, OPEN, id],
    );
    return BigInt(rows[0]?.sum ?? 0);
  }

  /** Settlements that failed by the payer's doing since `since`. */
  async countFaults(payer: string, since: Date): Promise<number> {
    const { rows } = await this.pool.query<{ count: string }>(
      `SELECT count(*) AS count FROM payment WHERE payer = $1 AND state = ANY ('{RELEASED,REJECTED_ONCHAIN,EXPIRED}') AND fault AND created_at > $2`,
      [payer, since],
    );
    return Number(rows[0]?.count);
  }

  /** True when the landed transaction of payment `id` was presented before, by somebody with the same secret, and released unserved. */
  async adoptDebt(id: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `UPDATE payment p SET owed = true FROM payment old
       WHERE p.id = $1 AND old.proof_key = p.proof_key AND old.state = 'RELEASED' AND old.payer = p.payer AND old.request_hash = p.request_hash AND old.secrets && p.secrets`,
      [id],
    );
    return (rowCount ?? 0) > 0;
  }

  async executing(id: string, details: JsonObject): Promise<boolean> {
    return (await this.moved(move('details = p.details || $5'), id, ['RESERVED'], 'EXECUTING', null, [details])) !== null;
  }

  async resultReady(id: string): Promise<boolean> {
    return (await this.moved(move(), id, ['EXECUTING'], 'RESULT_READY', null)) !== null;
  }

  /** The write-ahead record: committed before the first send. Null when the reservation is no longer ours. */
  writeAhead(
    id: string,
    prepared: { transaction: string; raw: string; details: JsonObject; settle_by: Date | null },
    answer: string,
  ): Promise<PaymentRecord | null> {
    const { transaction, raw, details, settle_by } = prepared;
    return this.moved(
      move('transaction = $5, raw = $6, details = p.details || $7, settle_by = $8, answer = $9'),
      id,
      ['RESULT_READY'],
      'BROADCASTING',
      null,
      [transaction, raw, details, settle_by, answer],
    );
  }

  /** Paid. The answer stays collectable for `keptMs`; `answer` replaces the one of the write-ahead record when given. */
  async confirmed(id: string, transaction: string, keptMs: number, answer: string | null = null): Promise<SettledPayment | null> {
    const set = `transaction = $5, raw = NULL, settled_at = now(), look_at = now() + interval '30 seconds', owed = false, reason = NULL,
      answer_until = now() + $6 * interval '1 millisecond', answer = coalesce($7, p.answer)`;
    const also = `UPDATE payment_claim SET expires_at = now() + $6 * interval '1 millisecond' WHERE kind = 'buyer' AND ${OF_MOVED}`;
    const row = await this.movedRow(move(set, also), id, ['BROADCASTING', 'UNKNOWN', 'RESULT_READY'], 'CONFIRMED', null, [
      transaction,
      keptMs,
      answer,
    ]);
    return row === undefined ? null : { record: recordOf(row), settled_at: row.settled_at as Date };
  }

  async delivered(id: string): Promise<void> {
    await this.moved(move(), id, ['CONFIRMED'], 'DELIVERED', null);
  }

  async unknown(id: string, note: string): Promise<void> {
    await this.moved(move("look_at = now() + interval '2 seconds'"), id, ['BROADCASTING'], 'UNKNOWN', note);
  }

  /** Not paid and never will be. Keys the buyer chose are free again; the proof stays used. */
  async failed(id: string, state: 'REJECTED_ONCHAIN' | 'EXPIRED', reason: string): Promise<boolean> {
    const set = 'raw = NULL, answer = NULL, fault = true, reason = $5, look_at = NULL';
    const text = move(set, `DELETE FROM payment_claim WHERE kind = 'buyer' AND ${OF_MOVED}`);
    return (await this.moved(text, id, ['BROADCASTING', 'UNKNOWN'], state, reason, [reason])) !== null;
  }

  /**
   * Frees every key of a payment that was not broadcast by us; the proof may be used again. One that its buyer could have
   * broadcast is looked at again when it should have expired.
   */
  async release(id: string, reason: string, fault = false): Promise<boolean> {
    const set = `raw = NULL, answer = NULL, fault = $5, reason = $6,
      look_at = CASE WHEN p.state <> 'RESERVED' AND p.transaction IS NOT NULL THEN now() + interval '90 seconds' END`;
    const text = move(set, `DELETE FROM payment_claim WHERE ${OF_MOVED}`);
    return (await this.moved(text, id, RUNNING, 'RELEASED', reason, [fault, reason])) !== null;
  }

  /** The payer's own broadcast landed and nothing was served: the same request with the same secret is served without paying again. */
  async owe(id: string, transaction: string, reason: string): Promise<boolean> {
    return (
      (await this.moved(move('owed = true, transaction = $5, raw = NULL, reason = $6'), id, RUNNING, 'OWED', reason, [
        transaction,
        reason,
      ])) !== null
    );
  }

  /** Takes a debt up again; null when somebody else is at it. */
  serveDebt(id: string): Promise<PaymentRecord | null> {
    return this.moved(move('instance = $5'), id, ['OWED'], 'EXECUTING', 'served again', [this.instance]);
  }

  /** Takes an unresolved settlement over, to send and ask again; null when somebody else is at it. */
  takeOver(id: string): Promise<PaymentRecord | null> {
    return this.moved(move('instance = $5'), id, ['UNKNOWN'], 'BROADCASTING', 'taken up again by the buyer', [this.instance]);
  }

  async lastSettlements(): Promise<Map<ProtocolName, Date>> {
    const { rows } = await this.pool.query<{ protocol: ProtocolName; at: Date }>(
      `SELECT protocol, at FROM unnest('{x402,mpp_tempo,mpp_solana}'::text[]) AS protocol,
       LATERAL (SELECT max(settled_at) AS at FROM payment WHERE payment.protocol = protocol.protocol) newest WHERE at IS NOT NULL`,
    );
    return new Map(rows.map(({ protocol, at }) => [protocol, at]));
  }

  private async moved(...change: Parameters<Ledger['movedRow']>): Promise<PaymentRecord | null> {
    const row = await this.movedRow(...change);
    return row === undefined ? null : recordOf(row);
  }

  private async movedRow(
    text: string,
    id: string,
    from: PaymentState[],
    to: PaymentState,
    note: string | null,
    values: unknown[] = [],
  ): Promise<Row | undefined> {
    const { rows } = await this.pool.query<Row>(text, [id, from, to, note, ...values]);
    return rows[0];
  }
}
