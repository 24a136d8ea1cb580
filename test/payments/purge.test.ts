import { createPayments } from '../../src/payments/charge';
import { AppError } from '../../src/errors';
import { fundedBuyer, openTill, saleOf, signedHeaders, type Till, told, workOf } from './till';

// What payments leave behind, and for how long.

describe('purge', () => {
  let till: Till;
  beforeAll(async () => {
    till = await openTill();
  });
  afterAll(() => till.stop());

  const sql = async <T>(text: string, values: unknown[] = []): Promise<T[]> => (await till.database.pool.query(text, values)).rows as T[];

  /** As an hour later: a process that has not purged yet. */
  async function purge(): Promise<void> {
    const fresh = await createPayments(till.settings, { pool: till.database.pool, logger: till.logger });
    await fresh.reconcile();
    await fresh.stop();
  }

  /** A payment in a given state that last moved `days` ago, and its payer. */
  async function payment(state: string, days: number, look = false): Promise<string> {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    await till.payments.charge(
      saleOf({ headers: await signedHeaders(till, buyer) }),
      workOf(() => Promise.reject(new AppError('empty_result'))),
    );
    await sql(
      `UPDATE payment SET state = $2, moved_at = now() - $3 * interval '1 day', created_at = now() - $3 * interval '1 day',
       look_at = CASE WHEN $4 THEN now() + interval '1 minute' END WHERE payer = $1`,
      [payer, state, days, look],
    );
    return payer;
  }

  it.each([
    ['RELEASED', 6.9, false, 1],
    ['RELEASED', 7.1, false, 0],
    ['RELEASED', 7.1, true, 1],
    ['EXPIRED', 29.9, false, 1],
    ['EXPIRED', 30.1, false, 0],
    ['REJECTED_ONCHAIN', 29.9, false, 1],
    ['REJECTED_ONCHAIN', 30.1, false, 0],
    ['CONFIRMED', 4_000, false, 1],
    ['DELIVERED', 4_000, false, 1],
    ['OWED', 4_000, false, 1],
    ['UNKNOWN', 4_000, false, 1],
    ['ROLLED_BACK', 4_000, false, 1],
  ] as const)('%s for %d days (to be looked at: %s): %d left', async (state, days, look, left) => {
    const payer = await payment(state, days, look);
    const [{ id } = { id: '' }] = await sql<{ id: string }>('SELECT id FROM payment WHERE payer = $1', [payer]);
    await sql("INSERT INTO payment_claim (key, kind, payment_id) VALUES ($1, 'proof', $2)", [payer, id]);
    await purge();
    const rows = (table: string, column: string): Promise<unknown[]> => sql(`SELECT FROM ${table} WHERE ${column} = $1`, [id]);
    expect(await rows('payment', 'id')).toHaveLength(left);
    expect(await rows('payment_claim', 'payment_id')).toHaveLength(left);
    expect((await rows('payment_step', 'payment_id')).length > 0).toBe(left === 1);
    await sql('DELETE FROM payment WHERE payer = $1', [payer]);
  });

  it.each([
    ['30 minutes', 1],
    ['90 minutes', 0],
  ])('a proof that was refused before anything was done for it, %s ago: %d left', async (age, left) => {
    const buyer = await fundedBuyer(till, 0n);
    const about = [buyer.publicKey.toBase58()];
    const headers = await signedHeaders(till, buyer);
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('402 verification_failed insufficient_funds');
    expect(await sql('SELECT state FROM payment WHERE payer = $1', about)).toEqual([{ state: 'RELEASED' }]);
    await sql(`UPDATE payment SET moved_at = now() - interval '${age}' WHERE payer = $1`, about);
    await purge();
    expect(await sql('SELECT FROM payment WHERE payer = $1', about)).toHaveLength(left);
  });

  it('of a settled payment the answer goes after its time, the secret after two days, the used proof never', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = { ...(await signedHeaders(till, buyer)), 'Idempotency-Key': 'mine' };
    const again = (): Promise<string> => till.payments.charge(saleOf({ headers }), workOf()).then(told);
    const kept = async (): Promise<unknown> => {
      const claims = await sql<{ kind: string }>(
        'SELECT DISTINCT kind FROM payment_claim c JOIN payment p ON p.id = c.payment_id WHERE payer = $1 ORDER BY kind',
        [payer],
      );
      const rows = await sql<{ answer: string | null; state: string }>(
        'SELECT answer IS NOT NULL AS answer, state FROM payment WHERE payer = $1',
        [payer],
      );
      return [claims.map(({ kind }) => kind), rows.map(({ answer }) => answer)];
    };
    const pass = async (time: string): Promise<void> => {
      await sql(`UPDATE payment_claim SET expires_at = expires_at - interval '${time}'`);
      await sql(`UPDATE payment SET answer_until = answer_until - interval '${time}'`);
      await purge();
    };
    expect([await again(), await again()]).toEqual(['200', '200 replayed']);
    expect(await kept()).toEqual([['buyer', 'proof', 'secret'], [true]]);
    await pass('11 minutes');
    expect(await kept()).toEqual([['proof', 'secret'], [false]]);
    expect(await again()).toBe('402 payment_replayed invalid_challenge');
    await pass('49 hours');
    expect(await kept()).toEqual([['proof'], [false]]);
    expect(await again()).toBe('402 payment_replayed invalid_challenge');
    expect(await till.solana.usdcBalance(payer)).toBe(4_980_000n);
  });
});
