import type { Keypair } from '@solana/web3.js';
import { createPayments } from '../../src/payments/charge';
import { Ledger } from '../../src/payments/ledger';
import type { Outcome, Sale } from '../../src/payments/protocol';
import {
  broadcast,
  challengeOf,
  fundedBuyer,
  openTill,
  proofFor,
  requirementOf,
  saleOf,
  signedHeaders,
  type Till,
  told,
  until,
  untilSampled,
  workOf,
} from './till';

// Paid, and the connection or the process broke before the answer: most buyers do not repeat their proof, they begin anew.

describe('a payment that was settled and handed out to nobody', () => {
  let till: Till;
  let buyer: Keypair;
  beforeAll(async () => {
    till = await openTill({ settings: { settle_patience_ms: 1_000, reconcile_ms: 3_600_000 } });
  });
  afterAll(() => till.stop());
  beforeEach(async () => {
    buyer = await fundedBuyer(till);
  });
  afterEach(() => till.solana.faults.clear());

  const charge = (headers: Record<string, string>, work = workOf(), sale: Partial<Sale> = {}): Promise<Outcome> =>
    till.payments.charge(saleOf({ headers, ...sale }), work);
  const afresh = async (more: Record<string, string> = {}, by = buyer): Promise<string> =>
    told(await charge({ ...(await signedHeaders(till, by)), ...more }));
  const spent = async (by = buyer): Promise<bigint> => (5_000_000n - (await till.solana.usdcBalance(by.publicKey.toBase58()))) / 20_000n;
  const settled = (): Promise<void> =>
    until(async () => {
      await till.payments.reconcile('all');
      const { rows } = await till.database.pool.query<{ state: string }>(
        "SELECT state FROM payment WHERE payer = $1 AND state <> 'RELEASED'",
        [buyer.publicKey.toBase58()],
      );
      return rows.every(({ state }) => state === 'CONFIRMED');
    });

  /** Pays, and hears nothing: the chain is silent, now and for longer than the buyer's patience. Returns the transaction. */
  async function payIntoSilence(headers: Record<string, string>, ...methods: string[]): Promise<string> {
    const silence = workOf(async () => {
      for (const method of ['getTransaction', ...methods]) till.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'paid for';
    });
    const outcome = await charge(headers, silence);
    expect(told(outcome)).toBe('503 settlement_pending');
    return (outcome as Outcome & { kind: 'refused' }).transaction as string;
  }

  /** The same, and the chain speaks again when the buyer has left. */
  async function payUnheard(headers: Record<string, string>): Promise<void> {
    await payIntoSilence(headers);
    till.solana.faults.clear();
    await settled();
  }

  /** The next step of this kind is taken, and its buyer has left before anybody hears of it. */
  function leavesAfter(step: 'handOut' | 'writeAhead', gone: AbortController): jest.SpyInstance {
    const take = Ledger.prototype[step] as (...args: unknown[]) => Promise<unknown>;
    return jest.spyOn(Ledger.prototype, step).mockImplementationOnce(async function (this: Ledger, ...args: unknown[]) {
      const taken = await take.apply(this, args);
      gone.abort();
      return taken as never;
    });
  }

  it('is what its buyer gets who signs afresh, once, without paying again; a version 1 proof alone never gets it', async () => {
    const proof = { 'X-PAYMENT': proofFor(buyer, requirementOf(await challengeOf(till)), { version: 1 }) };
    await payUnheard(proof);
    expect(told(await charge(proof))).toBe('402 payment_replayed invalid_challenge');
    const work = workOf();
    const headers = await signedHeaders(till, buyer);
    expect(await charge(headers, work)).toMatchObject({ kind: 'paid', replayed: true, answer: 'paid for' });
    expect([work.runs(), await spent()]).toEqual([0, 1n]);
    // Should that be lost on its way, the same proof is shown again.
    expect(await charge(headers, work)).toMatchObject({ kind: 'paid', replayed: true, answer: 'paid for' });
    expect([work.runs(), await spent()]).toEqual([0, 1n]);
    expect([await afresh(), await spent()]).toEqual(['200', 2n]);
  });

  it('waits for a buyer who hung up after the broadcast', async () => {
    const gone = new AbortController();
    till.solana.faults.inject('sendTransaction', { kind: 'delay', ms: 300 }, 1);
    till.solana.faults.forgetCalls();
    const charging = charge(await signedHeaders(till, buyer), workOf(), { client_gone: gone.signal });
    await until(() => till.solana.faults.calls('sendTransaction') > 0);
    gone.abort();
    await charging;
    await settled();
    expect([await afresh(), await spent()]).toEqual(['200 replayed', 1n]);
    expect([await afresh(), await spent()]).toEqual(['200', 2n]);
  });

  it('is not given to who shows a payment of its buyer that the chain has already, and anybody can copy', async () => {
    await payUnheard(await signedHeaders(till, buyer));
    const landed = await signedHeaders(till, buyer);
    await broadcast(till, landed);
    expect(told(await charge(landed))).toBe('402 payment_replayed duplicate_settlement');
    till.solana.faults.inject('getSignatureStatuses', { kind: 'refuse' }, Infinity);
    expect(told(await charge(landed))).toBe('503 payments_unavailable');
    till.solana.faults.clear();
    // Nor of one that failed there.
    const failed = { confirmationStatus: 'finalized', confirmations: null, err: 'AccountNotFound', status: {} };
    till.solana.faults.inject(
      'getSignatureStatuses',
      { kind: 'answer', result: { context: { slot: 10 ** 9 }, value: [failed] } },
      Infinity,
    );
    expect(told(await charge(await signedHeaders(till, buyer)))).toBe('402 verification_failed invalid_exact_svm_transaction_failed');
    till.solana.faults.clear();
    expect([await afresh(), await spent()]).toEqual(['200 replayed', 2n]);
  });

  it('is given to a buyer who has nothing left to pay with', async () => {
    const poor = await fundedBuyer(till, 20_000n);
    const fresh = await signedHeaders(till, poor);
    await payUnheard(await signedHeaders(till, poor));
    await until(async () => (await till.payments.reconcile('all')).open === 0);
    expect(told(await charge(fresh))).toBe('200 replayed');
  });

  it('is not given to a request whose sender has left by then', async () => {
    await payUnheard(await signedHeaders(till, buyer));
    await charge(await signedHeaders(till, buyer), workOf(), { client_gone: AbortSignal.abort() });
    // Nor to one whose sender leaves while it is handed out.
    const gone = new AbortController();
    const leaving = leavesAfter('handOut', gone);
    await charge(await signedHeaders(till, buyer), workOf(), { client_gone: gone.signal });
    leaving.mockRestore();
    await settled();
    expect([await afresh(), await spent()]).toEqual(['200 replayed', 1n]);
  });

  it('waits for a buyer whose connection broke before the end of the answer, whether it paid now or began anew', async () => {
    const gone = new AbortController();
    expect(told(await charge(await signedHeaders(till, buyer), workOf(), { client_gone: gone.signal }))).toBe('200');
    gone.abort();
    await settled();
    const again = new AbortController();
    expect(told(await charge(await signedHeaders(till, buyer), workOf(), { client_gone: again.signal }))).toBe('200 replayed');
    again.abort();
    await settled();
    expect([await afresh(), await spent()]).toEqual(['200 replayed', 1n]);
    expect([await afresh(), await spent()]).toEqual(['200', 2n]);
  });

  it('is given once, however many ask at once', async () => {
    await payUnheard(await signedHeaders(till, buyer));
    const proofs = await Promise.all(Array.from({ length: 5 }, () => signedHeaders(till, buyer)));
    const outcomes = await Promise.all(proofs.map(async (headers) => told(await charge(headers))));
    expect(outcomes.sort()).toEqual(['200', '200', '200', '200', '200 replayed']);
    expect(await spent()).toBe(5n);
  });

  it('is nobody else’s, of no other request, of no purchase with a name of its own, and of none much later', async () => {
    await payUnheard(await signedHeaders(till, buyer));
    const other = await fundedBuyer(till);
    expect([await afresh({}, other), await spent(other)]).toEqual(['200', 1n]);
    const path = '/api/v1/markets/other';
    const elsewhere = { path, request_hash: saleOf({ path }).request_hash };
    expect(told(await charge(await signedHeaders(till, buyer, {}, saleOf(elsewhere)), workOf(), elsewhere))).toBe('200');
    expect([await afresh({ 'Idempotency-Key': 'another-purchase' }), await spent()]).toEqual(['200', 3n]);
    expect(told(await charge(await signedHeaders(till, buyer, { identifier: 'yet-another-purchase' })))).toBe('200');
    const age = "UPDATE payment SET settled_at = settled_at - interval '11 minutes' WHERE payer = $1";
    await till.database.pool.query(age, [buyer.publicKey.toBase58()]);
    expect([await afresh(), await spent()]).toEqual(['200', 5n]);
  });

  describe('while the chain has not judged it', () => {
    it('nothing more is paid by its buyer who signs afresh; once the chain speaks, that one is given the answer', async () => {
      const transaction = await payIntoSilence(await signedHeaders(till, buyer));
      const [headers, next, work] = [await signedHeaders(till, buyer), await signedHeaders(till, buyer), workOf()];
      expect(await charge(headers, work)).toMatchObject({ error: { code: 'settlement_pending' }, charged: 'pending', transaction });
      till.solana.faults.clear();
      expect(await charge(headers, work)).toMatchObject({ kind: 'paid', replayed: true, answer: 'paid for' });
      // It is at its end: who asks for the same again at once buys it again.
      expect([told(await charge(next)), work.runs(), await spent()]).toEqual(['200', 0, 2n]);
      expect(await charge(headers, work)).toMatchObject({ kind: 'paid', replayed: true, answer: 'paid for' });
      expect([work.runs(), await spent()]).toEqual([0, 2n]);
      expect([await afresh(), await spent()]).toEqual(['200', 3n]);
    });

    it.each([
      ['once it is sent', false],
      ['while it is written down', true],
    ])('and its buyer does not wait so long, but hangs up %s and signs afresh', async (_, early) => {
      const patient = await createPayments(
        { ...till.settings, settle_patience_ms: 60_000 },
        { pool: till.database.pool, logger: till.logger },
      );
      const gone = new AbortController();
      till.solana.faults.inject('getTransaction', { kind: 'refuse' }, Infinity);
      const headers = await signedHeaders(till, buyer);
      const leaving = early ? leavesAfter('writeAhead', gone) : null;
      const charging = patient.charge(saleOf({ headers, client_gone: gone.signal }), workOf());
      await until(async () => (await spent()) === 1n);
      leaving?.mockRestore();
      gone.abort();
      await until(async () => {
        const { rows } = await till.database.pool.query('SELECT FROM payment WHERE payer = $1 AND state = $2', [
          buyer.publicKey.toBase58(),
          'UNKNOWN',
        ]);
        return rows.length === 1;
      });
      expect([await afresh(), await spent()]).toEqual(['503 settlement_pending', 1n]);
      till.solana.faults.clear();
      await charging;
      expect([await afresh(), await spent()]).toEqual(['200 replayed', 1n]);
      await patient.stop();
    });

    it('and its process has fallen silent after it was written down: nothing more is paid until somebody has taken it over', async () => {
      await payIntoSilence(await signedHeaders(till, buyer));
      const { pool } = till.database;
      const [holder, payer] = [`holder of ${buyer.publicKey.toBase58()}`, buyer.publicKey.toBase58()];
      const heldSince = async (silence: string): Promise<void> => {
        await pool.query('DELETE FROM payment_step WHERE step > 4 AND payment_id = (SELECT min(id) FROM payment WHERE payer = $1)', [
          payer,
        ]);
        await pool.query(
          "UPDATE payment SET state = 'BROADCASTING', step = 4, instance = $2 WHERE id = (SELECT min(id) FROM payment WHERE payer = $1)",
          [payer, holder],
        );
        await pool.query('INSERT INTO payment_instance (id, seen_at) VALUES ($1, now() - $2::interval)', [holder, silence]);
      };
      await heldSince('7 seconds');
      till.solana.faults.clear();
      const [headers, work] = [await signedHeaders(till, buyer), workOf()];
      expect(told(await charge(headers, work))).toBe('409 payment_in_progress');
      await pool.query("UPDATE payment_instance SET seen_at = now() - interval '11 seconds' WHERE id = $1", [holder]);
      await settled();
      expect([told(await charge(headers, work)), work.runs(), await spent()]).toEqual(['200 replayed', 0, 1n]);
      // Of one that lives the buyer asks for two at once.
      await heldSince('1 second');
      expect([await afresh(), await spent()]).toEqual(['200', 2n]);
    });

    it('who shows nothing to collect by is told no key of a proof that was not used', async () => {
      const version1 = async () => ({ 'X-PAYMENT': proofFor(buyer, requirementOf(await challengeOf(till)), { version: 1 }) });
      await payIntoSilence(await version1());
      const outcome = await charge(await version1());
      expect(told(outcome)).toBe('503 settlement_pending');
      expect(JSON.stringify(outcome)).not.toContain('Idempotency-Key');
    });

    it('one at a time asks what became of it, the others are told to wait', async () => {
      await payIntoSilence(await signedHeaders(till, buyer));
      const proofs = await Promise.all(Array.from({ length: 4 }, () => signedHeaders(till, buyer)));
      const outcomes = await Promise.all(proofs.map((headers) => charge(headers)));
      expect(outcomes.map(told).sort()).toEqual([...Array<string>(3).fill('409 payment_in_progress'), '503 settlement_pending']);
      expect(outcomes.every((outcome) => outcome.kind === 'refused' && Number(outcome.error.context.retry_after_s) > 0)).toBe(true);
      expect(await spent()).toBe(1n);
    });

    it('and never will have it, the fresh one pays for the answer that is there', async () => {
      await payIntoSilence(await signedHeaders(till, buyer), 'sendTransaction');
      till.solana.faults.clear();
      till.solana.advanceSlots(250);
      await untilSampled(till);
      const work = workOf();
      expect(await charge(await signedHeaders(till, buyer), work)).toMatchObject({ kind: 'paid', replayed: false, answer: 'paid for' });
      expect([work.runs(), await spent()]).toEqual([0, 1n]);
    });

    it('nobody else waits for it, no other request, no purchase with a name of its own, and nobody for ever', async () => {
      await payIntoSilence(await signedHeaders(till, buyer));
      const other = await fundedBuyer(till);
      const path = '/api/v1/markets/other';
      const elsewhere = { path, request_hash: saleOf({ path }).request_hash };
      const fresh = [
        [await signedHeaders(till, other), {}],
        [await signedHeaders(till, buyer, {}, saleOf(elsewhere)), elsewhere],
        [{ ...(await signedHeaders(till, buyer)), 'Idempotency-Key': 'another-purchase' }, {}],
        [await signedHeaders(till, buyer, { identifier: 'yet-another-purchase' }), {}],
      ] as const;
      const served: string[] = [];
      for (const [headers, sale] of fresh) {
        till.solana.faults.clear();
        const before = await till.solana.usdcBalance(till.merchant.publicKey.toBase58());
        // Of the earlier one nothing is heard all the while.
        await till.database.pool.query("UPDATE payment SET state = 'UNKNOWN' WHERE id = (SELECT min(id) FROM payment WHERE payer = $1)", [
          buyer.publicKey.toBase58(),
        ]);
        served.push(told(await charge(headers, workOf(), sale)));
        expect((await till.solana.usdcBalance(till.merchant.publicKey.toBase58())) - before).toBe(20_000n);
      }
      expect(served).toEqual(['200', '200', '200', '200']);
      const age = "UPDATE payment SET created_at = created_at - interval '11 minutes' WHERE payer = $1";
      await till.database.pool.query(age, [buyer.publicKey.toBase58()]);
      expect(await afresh()).toBe('200');
    });
  });
});
