import type { Pool } from 'pg';
import { inTransaction } from '../db/transaction';
import { HOUR_MS } from '../lib/time';
import type { PaymentRecord, ProtocolName } from './protocol';
import { FREED, LEFT_TURN } from './statements';

interface LookRow {
  id: string;
  protocol: ProtocolName;
  payer: string;
  amount: string;
  transaction: string;
  details: PaymentRecord['details'];
  settle_by: Date | null;
  created_at: Date;
}

const recordOf = (row: LookRow): PaymentRecord => ({ ...row, id: String(row.id), amount: BigInt(row.amount), raw: null });

// Statements over many rows skip what others hold: two processes that tidy up never wait for each other.
const leftBehind = (states: string): string => `
  SELECT id FROM payment p WHERE state = ANY (${states})
  AND (NOT EXISTS (SELECT 1 FROM payment_instance i WHERE i.id = p.instance) OR p.moved_at < now() - $1 * interval '1 millisecond')
  FOR UPDATE SKIP LOCKED`;
const HISTORY =
  "INSERT INTO payment_step (payment_id, step, state, note) SELECT id, step, state, 'the process that held it is gone' FROM moved";

// A stored key begins with its kind.
const OWE_RELEASED = `
  WITH claimed AS (
    INSERT INTO payment_claim (key, kind, payment_id) SELECT proof_key, 'proof', id FROM payment WHERE id = $1 AND state = 'RELEASED'
    ON CONFLICT DO NOTHING RETURNING payment_id
  ), moved AS (
    UPDATE payment SET state = 'OWED', owed = true, step = step + 1, moved_at = now(), look_at = NULL
    WHERE id IN (SELECT payment_id FROM claimed) RETURNING id, step, state, secrets
  ), written AS (
    INSERT INTO payment_step (payment_id, step, state, note) SELECT id, step, state, 'broadcast by the buyer' FROM moved
  ), collecting AS (
    INSERT INTO payment_claim (key, kind, payment_id)
    SELECT key, split_part(key, ':', 1), id FROM moved, unnest(secrets) AS key ON CONFLICT DO NOTHING
  ) SELECT id FROM moved`;

/** Whether the proof of payment $1 is held by one that was not sent, and may not be. */
const CLAIMED_AGAIN = `
  SELECT FROM payment old JOIN payment_claim claim ON claim.key = old.proof_key JOIN payment holder ON holder.id = claim.payment_id
  WHERE old.id = $1 AND old.state = 'RELEASED' AND holder.state = ANY ('{RESERVED,EXECUTING,RESULT_READY}')`;

const PURGE_EVERY_MS = HOUR_MS;
const PURGE_BATCH = 5_000;
// Older than a week, the proof of a released payment is long past its offer: it cannot be presented again. One that was refused before
// anything was done for it, as anybody can make for nothing, owes nobody anything. What may still be looked up on the chain is not touched.
const PURGE_UNPAID = `
  WITH gone AS (
    DELETE FROM payment WHERE id IN (
      SELECT id FROM payment WHERE state IN ('RELEASED', 'EXPIRED', 'REJECTED_ONCHAIN') AND look_at IS NULL AND NOT owed
      AND moved_at < now() - CASE WHEN state <> 'RELEASED' THEN interval '30 days' WHEN details ? 'admitted' THEN interval '7 days'
        ELSE interval '1 hour' END
      AND moved_at < now() - interval '1 hour' ORDER BY moved_at LIMIT $1 FOR UPDATE SKIP LOCKED
    ) RETURNING id
  ), claims AS (
    DELETE FROM payment_claim WHERE payment_id IN (SELECT id FROM gone)
  ), steps AS (
    DELETE FROM payment_step WHERE payment_id IN (SELECT id FROM gone)
  ) SELECT 1 FROM gone`;

const UNRESOLVED = "state = 'UNKNOWN' AND look_at IS NOT NULL";
const UNFINAL = "state = ANY ('{CONFIRMED,DELIVERED}') AND final_at IS NULL";

/** Takes what is confirmed for final, before chains begin anew as a sandbox's do: those that knew it are gone, and the new ones would deny it. */
export async function takeForFinal(pool: Pool): Promise<void> {
  await pool.query(`UPDATE payment SET final_at = now(), look_at = NULL WHERE ${UNFINAL}`);
}

/** A payment that is not at its end, as an operator reads it. */
export interface Unsettled {
  payment: string;
  /** UNKNOWN: sent, without the chain's word. OWED, CONFIRMED: paid, by its buyer's own broadcast or by ours, and answered to nobody. */
  state: 'UNKNOWN' | 'OWED' | 'CONFIRMED';
  protocol: ProtocolName;
  payer: string;
  micro_usdc: string;
  transaction: string;
  path: string;
  created_at: Date;
}

/** Oldest first. */
export async function listUnsettled(pool: Pool): Promise<Unsettled[]> {
  const { rows } = await pool.query<Unsettled>(
    `SELECT id AS payment, state, protocol, payer, amount AS micro_usdc, transaction, path, created_at FROM payment
     WHERE (state = 'UNKNOWN' AND look_at IS NOT NULL) OR state = 'OWED' OR state = 'CONFIRMED' ORDER BY id`,
  );
  return rows;
}

/** The ledger's housekeeping: which processes live, what dead ones left behind, what is due for a look at the chain. */
export class Upkeep {
  private purgedAt = 0;

  constructor(
    private readonly pool: Pool,
    private readonly instance: string,
    private readonly heart: Pool = pool,
  ) {}

  /** Reports this process as alive. */
  async beat(): Promise<void> {
    await this.heart.query('INSERT INTO payment_instance (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET seen_at = now()', [this.instance]);
  }

  async leave(): Promise<void> {
    await this.pool.query('DELETE FROM payment_instance WHERE id = $1', [this.instance]);
  }

  /**
   * Settles what processes not heard of for `staleMs` left in flight, and what nobody moved for `leaseMs` (a process that
   * could not write the end of it): what was not broadcast is released (debts stay debts), what may have been waits for the
   * chain's word. Returns how many of each.
   */
  async takeLeftovers(staleMs: number, leaseMs: number): Promise<{ released: number; unresolved: number }> {
    // Reports by a clock that has been set back since are as of now: who lives makes another one.
    await this.pool.query('UPDATE payment_instance SET seen_at = now() WHERE seen_at > now()');
    await this.pool.query(`DELETE FROM payment_instance WHERE seen_at < now() - $1 * interval '1 millisecond'`, [staleMs]);
    const released = await this.pool.query(
      `WITH moved AS (
         UPDATE payment SET state = CASE WHEN owed THEN 'OWED' ELSE 'RELEASED' END, step = step + 1, moved_at = now(), reason = 'process_ended',
           look_at = CASE WHEN transaction IS NOT NULL THEN now() + interval '90 seconds' END
         WHERE id IN (${leftBehind("'{RESERVED,EXECUTING,RESULT_READY}'")}) RETURNING id, step, state
       ), written AS (${HISTORY}), freed AS (
         DELETE FROM payment_claim WHERE payment_id IN (SELECT id FROM moved WHERE state = 'RELEASED')
       ) SELECT id FROM moved`,
      [leaseMs],
    );
    const unresolved = await this.pool.query(
      `WITH moved AS (
         UPDATE payment SET state = 'UNKNOWN', step = step + 1, moved_at = now(), look_at = now()
         WHERE id IN (${leftBehind("'{BROADCASTING}'")}) RETURNING id, step, state
       ), written AS (${HISTORY}), let_go AS (${LEFT_TURN}) SELECT id FROM moved`,
      [leaseMs],
    );
    return { released: released.rowCount ?? 0, unresolved: unresolved.rowCount ?? 0 };
  }

  /** Unresolved settlements that are due; each is due again later, so that two processes do not ask twice. */
  takeUnresolved(limit: number): Promise<PaymentRecord[]> {
    // Older questions are asked less often: a tenth of their age, at least 2 s, at most 5 min.
    const wait = "least(greatest((now() - created_at) / 10, interval '2 seconds'), interval '5 minutes')";
    return this.take("state = 'UNKNOWN'", wait, '6 minutes', limit);
  }

  /** Makes every unresolved settlement due, whatever the clock does until they are taken; returns how many there are. */
  async hasten(): Promise<number> {
    const { rowCount } = await this.pool.query(
      `UPDATE payment SET look_at = created_at WHERE id IN (SELECT id FROM payment WHERE ${UNRESOLVED} FOR UPDATE SKIP LOCKED)`,
    );
    return rowCount ?? 0;
  }

  /** Settlements that wait for the chain's word. */
  async countUnresolved(): Promise<number> {
    const { rows } = await this.pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM payment WHERE ${UNRESOLVED}`);
    return rows[0]?.count ?? 0;
  }

  /** Confirmed payments that are not yet known to be final. */
  takeUnfinal(limit: number): Promise<PaymentRecord[]> {
    return this.take(UNFINAL, "interval '30 seconds'", '1 minute', limit);
  }

  /** Released payments that their buyers could have broadcast: asked about ever less often until it is certain, for a day at most. */
  takeReleased(limit: number): Promise<PaymentRecord[]> {
    // Some transactions never expire: a tenth of their age, at least a minute.
    const wait = "greatest((now() - created_at) / 10, interval '1 minute')";
    return this.take("state = 'RELEASED'", `CASE WHEN created_at > now() - interval '1 day' THEN ${wait} END`, '3 hours', limit);
  }

  /** Nothing more is asked about it. */
  async stopLooking(id: string): Promise<void> {
    await this.pool.query('UPDATE payment SET look_at = NULL WHERE id = $1', [id]);
  }

  /**
   * The buyer of a released payment broadcast it after all: it is owed an answer, unless the proof has been used again since. `claimed`: somebody is at
   * it just now, perhaps with a copy from the chain, and may let go of it again.
   */
  owed(id: string): Promise<'owed' | 'claimed' | 'used'> {
    return inTransaction(this.pool, async (client) => {
      // As in claim_payment: keys of one payer are claimed one at a time.
      await client.query("SELECT pg_advisory_xact_lock(hashtext('payment'), hashtext(payer)) FROM payment WHERE id = $1", [id]);
      if (((await client.query(OWE_RELEASED, [id])).rowCount ?? 0) > 0) return 'owed';
      return ((await client.query(CLAIMED_AGAIN, [id])).rowCount ?? 0) > 0 ? 'claimed' : 'used';
    });
  }

  async final(id: string): Promise<void> {
    await this.pool.query('UPDATE payment SET final_at = now(), look_at = NULL WHERE id = $1', [id]);
  }

  /** The chain took a confirmed payment back: kept for the operator, with its history, without its answer. Keys the buyer chose are free again. */
  async rolledBack(id: string): Promise<void> {
    await this.pool.query(
      `WITH moved AS (
         UPDATE payment SET state = 'ROLLED_BACK', step = step + 1, moved_at = now(), look_at = NULL, answer = NULL, answer_until = NULL
         WHERE id = $1 AND state = ANY ('{CONFIRMED,DELIVERED}') RETURNING id, step, state
       ), freed AS (${FREED})
       INSERT INTO payment_step (payment_id, step, state) SELECT id, step, state FROM moved`,
      [id],
    );
  }

  /**
   * Empties answers whose time is over, drops claims that are, and, once an hour, deletes payments that moved no money: refused ones
   * after an hour, released ones after a week, failed ones after a month, with their history. Rows of money that was settled or is owed stay.
   */
  async purge(): Promise<void> {
    await this.pool.query(
      'UPDATE payment SET answer = NULL, answer_until = NULL WHERE id IN (SELECT id FROM payment WHERE answer_until < now() FOR UPDATE SKIP LOCKED)',
    );
    await this.pool.query(
      'DELETE FROM payment_claim WHERE key IN (SELECT key FROM payment_claim WHERE expires_at < now() FOR UPDATE SKIP LOCKED)',
    );
    if (Date.now() - this.purgedAt < PURGE_EVERY_MS) return;
    this.purgedAt = Date.now();
    let deleted: number | null;
    do ({ rowCount: deleted } = await this.pool.query(PURGE_UNPAID, [PURGE_BATCH]));
    while (deleted === PURGE_BATCH);
  }

  /** What is put off for longer than the `longest` time was so by a clock that has been set back since: it is due as well. */
  private async take(which: string, wait: string, longest: string, limit: number): Promise<PaymentRecord[]> {
    const due = `${which} AND (look_at <= now() OR look_at > now() + interval '${longest}')`;
    const { rows } = await this.pool.query<LookRow>(
      `UPDATE payment p SET look_at = now() + ${wait} WHERE id IN (
         SELECT id FROM payment WHERE ${due} ORDER BY look_at LIMIT $1 FOR UPDATE SKIP LOCKED
       ) RETURNING p.id, p.protocol, p.payer, p.amount, p.transaction, p.details, p.settle_by, p.created_at`,
      [limit],
    );
    return rows.map(recordOf);
  }
}
