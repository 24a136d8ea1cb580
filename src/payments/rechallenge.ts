import type { Pool } from 'pg';
import type { PaymentsConfig } from './config';

/**
 * Answers whose proof ran out while they were made. The next good proof of the same payer for the same request settles at
 * once and receives the answer. A payer who often leaves them lying loses the privilege.
 */
export class Rechallenge {
  constructor(
    private readonly pool: Pool,
    private readonly config: Pick<PaymentsConfig, 'rechallenge_ms' | 'rechallenge_max'>,
  ) {}

  /** Whether this payer's work may go on after its proof has run out: few answers waiting or lately abandoned. */
  async mayKeep(payer: string): Promise<boolean> {
    const { rows } = await this.pool.query<{ count: string }>('SELECT count(*) AS count FROM payment_rechallenge WHERE payer = $1', [
      payer,
    ]);
    return Number(rows[0]?.count) < this.config.rechallenge_max;
  }

  /** Keeps the JSON text of an answer, one per payer and request. */
  async keep(payer: string, requestHash: string, answer: string): Promise<void> {
    await this.pool.query(
      `INSERT INTO payment_rechallenge (payer, request_hash, answer, kept_until) VALUES ($1, $2, $3, now() + $4 * interval '1 millisecond')
       ON CONFLICT (payer, request_hash) DO UPDATE SET answer = excluded.answer, kept_until = excluded.kept_until`,
      [payer, requestHash, answer, this.config.rechallenge_ms],
    );
  }

  async find(payer: string, requestHash: string): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ answer: string }>(
      'SELECT answer FROM payment_rechallenge WHERE payer = $1 AND request_hash = $2 AND answer IS NOT NULL AND kept_until > now()',
      [payer, requestHash],
    );
    return rows[0]?.answer;
  }

  /** It was paid for: nothing waits any more. */
  async drop(payer: string, requestHash: string): Promise<void> {
    await this.pool.query('DELETE FROM payment_rechallenge WHERE payer = $1 AND request_hash = $2', [payer, requestHash]);
  }

  /** Empties answers nobody came for; the empty rows count against their payers for an hour. */
  async expire(): Promise<void> {
    await this.pool.query('UPDATE payment_rechallenge SET answer = NULL WHERE answer IS NOT NULL AND kept_until <= now()');
    await this.pool.query("DELETE FROM payment_rechallenge WHERE kept_until < now() - interval '1 hour'");
  }
}
