import crypto from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { openKeyedPool } from '../../src/db/keyed-pool';
import { AppError } from '../../src/errors';
import { createPayments } from '../../src/payments/charge';
import type { SolanaPaymentConfig } from '../../src/payments/config';
import { Ledger } from '../../src/payments/ledger';
import type { Outcome, Payments, Work } from '../../src/payments/protocol';
import { listUnsettled, Upkeep, takeForFinal } from '../../src/payments/upkeep';
import {
  broadcast,
  challengeOf,
  fundedBuyer,
  openTill,
  requirementOf,
  saleOf,
  signedHeaders,
  type Till,
  told,
  until,
  untilSampled,
  workOf,
} from './till';

// Patience for a machine that stands still: a payment that was not even sent has no end that a look could find. Nor is a look
// that was late the last one.
const UNHURRIED = { settle_patience_ms: 3_000, reconcile_ms: 3_600_000 };

describe('what is looked after when nobody asks', () => {
  let till: Till;
  let quick: Payments;
  beforeAll(async () => {
    till = await openTill({ settings: { settle_patience_ms: 3_000 } });
    quick = await createPayments(
      { ...till.settings, kept_answer_ms: 300, rechallenge_ms: 300 },
      { pool: till.database.pool, logger: till.logger },
    );
  });
  afterAll(async () => {
    await quick.stop();
    await till.stop();
  });
  beforeEach(() => till.solana.faults.clear());

  const sql = async <T>(text: string, values: unknown[] = []): Promise<T[]> => (await till.database.pool.query(text, values)).rows as T[];
  const stateOf = async (payer: string): Promise<string | undefined> =>
    (await sql<{ state: string }>('SELECT state FROM payment WHERE payer = $1 ORDER BY id DESC LIMIT 1', [payer]))[0]?.state;
  const delivered = (payer: string): Promise<void> => until(async () => (await stateOf(payer)) === 'DELIVERED');
  const due = (): Promise<unknown> => sql("UPDATE payment SET look_at = now() - interval '1 second' WHERE look_at IS NOT NULL");

  it('tells its figures what became of a payment whose end nobody heard, and how many wait', async () => {
    // Of its own: nobody else looks at its payments.
    const own = await openTill({ settings: UNHURRIED });
    const heard: string[] = [];
    const counted = await createPayments(own.settings, {
      pool: own.database.pool,
      logger: own.logger,
      figures: {
        payment: (event, { protocol, amount }) => void heard.push(`${protocol} ${event} ${amount}`),
        unresolved: (count) => void heard.push(`unresolved ${count}`),
        sponsor: () => undefined,
      },
    });
    const silence = workOf(async () => {
      for (const method of ['getSignatureStatuses', 'getTransaction']) own.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'paid for';
    });
    const headers = await signedHeaders(own, await fundedBuyer(own));
    expect(told(await counted.charge(saleOf({ headers }), silence))).toBe('503 settlement_pending');
    const look = async (): Promise<void> => {
      await own.database.pool.query("UPDATE payment SET look_at = now() - interval '1 second'");
      await counted.reconcile();
    };
    await look();
    own.solana.faults.clear();
    await until(async () => {
      await look();
      return heard.at(-1) === 'unresolved 0';
    });
    await counted.stop();
    await own.stop();
    expect([...new Set(heard)]).toEqual(['x402 pending 20000', 'unresolved 1', 'x402 settled 20000', 'unresolved 0']);
  });

  it('names what is not at its end: sent and not confirmed, owed, paid and handed out to nobody', async () => {
    const own = await openTill({ settings: { ...UNHURRIED, reconcile_ms: 3_600_000 } });
    type Proof = Record<string, string>;
    const sell = async (headers: Proof, run: Work['run'], gone?: AbortSignal): Promise<Outcome> =>
      own.payments.charge(saleOf({ headers, client_gone: gone }), workOf(run));
    const buyers = await Promise.all([fundedBuyer(own), fundedBuyer(own), fundedBuyer(own), fundedBuyer(own)]);
    const proofs = await Promise.all(buyers.map((buyer) => signedHeaders(own, buyer)));
    const [served, left, owed, silent] = proofs as [Proof, Proof, Proof, Proof];
    const gone = new AbortController();
    expect(told(await sell(served, async () => 'served'))).toBe('200');
    await sell(left, async () => 'served', gone.signal);
    gone.abort();
    await sell(owed, async () => {
      await broadcast(own, owed);
      throw new Error('no luck');
    });
    await sell(silent, async () => {
      for (const method of ['getSignatureStatuses', 'getTransaction']) own.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'not yet served';
    });
    await own.payments.reconcile('all');
    await until(async () => (await listUnsettled(own.database.pool)).length === 3);
    const list = await listUnsettled(own.database.pool);
    expect(list.map(({ state, payer }) => [state, payer])).toEqual(
      ['CONFIRMED', 'OWED', 'UNKNOWN'].map((state, index) => [state, buyers[index + 1]?.publicKey.toBase58()]),
    );
    for (const one of list)
      expect(one).toMatchObject({
        protocol: 'x402',
        micro_usdc: '20000',
        path: saleOf().path,
        transaction: expect.stringMatching(/^\w{80,90}$/),
      });
    own.solana.faults.clear();
    await own.stop();
  });

  it('asks whether the wallet that was paid got its money, whoever is paid by now', async () => {
    const own = await openTill({ settings: UNHURRIED });
    const silence = workOf(async () => {
      for (const method of ['getSignatureStatuses', 'getTransaction']) own.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'paid for';
    });
    const sale = saleOf({ headers: await signedHeaders(own, await fundedBuyer(own)) });
    expect(told(await own.payments.charge(sale, silence))).toBe('503 settlement_pending');
    own.solana.faults.clear();
    const pay_to = Keypair.generate().publicKey.toBase58();
    await own.solana.fund(pay_to, { usdc: 0n });
    const solana = { ...(own.settings.solana as SolanaPaymentConfig), pay_to };
    const moved = await createPayments({ ...own.settings, solana }, { pool: own.database.pool, logger: own.logger });
    await until(async () => (await moved.reconcile('all')).open === 0);
    const { rows } = await own.database.pool.query('SELECT state, reason FROM payment');
    const collected = told(await moved.charge(sale, workOf()));
    await moved.stop();
    await own.stop();
    expect([rows, collected]).toEqual([[{ state: 'CONFIRMED', reason: null }], '200 replayed']);
  });

  it('asks about all when it is told to, beside a process that has just asked; what stays open is told', async () => {
    const own = await openTill({ settings: UNHURRIED });
    const silence = workOf(async () => {
      for (const method of ['getSignatureStatuses', 'getTransaction']) own.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'paid for';
    });
    expect(told(await own.payments.charge(saleOf({ headers: await signedHeaders(own, await fundedBuyer(own)) }), silence))).toBe(
      '503 settlement_pending',
    );
    const seldom = (): Promise<unknown> => own.database.pool.query("UPDATE payment SET look_at = now() + interval '5 minutes'");
    await seldom();
    expect(await own.payments.reconcile('all')).toMatchObject({ confirmed: 0, open: 1 });
    own.solana.faults.clear();
    let confirmed = 0;
    await until(async () => {
      await seldom();
      const report = await own.payments.reconcile('all');
      confirmed += report.confirmed;
      return report.open === 0;
    });
    expect(confirmed).toBe(1);
    await own.stop();
  });

  it('marks confirmed payments final once the chain does', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    expect(told(await till.payments.charge(saleOf({ headers: await signedHeaders(till, buyer) }), workOf()))).toBe('200');
    await delivered(payer);
    await due();
    await till.payments.reconcile();
    expect(await sql('SELECT final_at FROM payment WHERE payer = $1', [payer])).toEqual([{ final_at: null }]);
    till.solana.advanceSlots(40);
    await due();
    await till.payments.reconcile();
    expect(await sql('SELECT final_at FROM payment WHERE payer = $1', [payer])).toEqual([{ final_at: expect.any(Date) }]);
  });

  it('looks in one pass at all that is due, however much has piled up', async () => {
    const own = await openTill({ settings: UNHURRIED });
    const pile = async (state: string, many = 120): Promise<unknown> =>
      own.database.pool.query(
        `INSERT INTO payment (protocol, payer, amount, request_id, path, request_hash, state, instance, proof_key, details, transaction, look_at)
         SELECT 'x402', 'somebody', 1, '', '', '', $1, '', 'sol:' || $1 || n, '{}', $1 || n, now() FROM generate_series(1, $2) n`,
        [state, many],
      );
    for (const state of ['DELIVERED', 'RELEASED', 'UNKNOWN']) await pile(state);
    await pile('CONFIRMED', 1);
    const failed = { confirmationStatus: 'finalized', confirmations: null, err: 'AccountNotFound', status: {} };
    own.solana.faults.inject('getSignatureStatuses', { kind: 'answer', result: { context: { slot: 10 ** 9 }, value: [failed] } }, Infinity);
    expect(await own.payments.reconcile()).toMatchObject({ failed: 120, open: 0 });
    const { rows } = await own.database.pool.query(
      'SELECT state, count(*)::int FROM payment WHERE look_at IS NULL GROUP BY state ORDER BY state',
    );
    await own.stop();
    // What was handed out to nobody is taken back as well.
    const counts = { REJECTED_ONCHAIN: 120, RELEASED: 120, ROLLED_BACK: 121 };
    expect(rows).toEqual(Object.entries(counts).map(([state, count]) => ({ state, count })));
  });

  it('reports a confirmed payment that the chain took back', async () => {
    await untilSampled(till);
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('200');
    await delivered(payer);
    till.solana.advanceSlots(250);
    till.solana.faults.inject('getSignatureStatuses', { kind: 'answer', result: { context: { slot: 10 ** 9 }, value: [null] } }, Infinity);
    await due();
    await till.payments.reconcile();
    expect(await stateOf(payer)).toBe('ROLLED_BACK');
    expect(till.logged.filter((line) => line.includes('rolled back by the chain'))).toHaveLength(1);
    // Its proof stays used.
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('402 payment_replayed invalid_challenge');
  });

  it('asks a chain that begins anew about nothing that was confirmed before', async () => {
    await untilSampled(till);
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const reports = (): number => till.logged.filter((line) => line.includes('rolled back by the chain')).length;
    const before = reports();
    expect(told(await till.payments.charge(saleOf({ headers: await signedHeaders(till, buyer) }), workOf()))).toBe('200');
    await delivered(payer);
    await takeForFinal(till.database.pool);
    till.solana.advanceSlots(250);
    till.solana.faults.inject('getSignatureStatuses', { kind: 'answer', result: { context: { slot: 10 ** 9 }, value: [null] } }, Infinity);
    await due();
    await till.payments.reconcile();
    expect([await stateOf(payer), reports()]).toEqual(['DELIVERED', before]);
  });

  it('empties answers and frees buyers’ keys after their time; the proof stays used', async () => {
    await untilSampled(till);
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = { 'Idempotency-Key': 'short-lived', ...(await signedHeaders(till, buyer)) };
    expect(told(await quick.charge(saleOf({ headers }), workOf()))).toBe('200');
    expect(told(await quick.charge(saleOf({ headers }), workOf()))).toBe('200 replayed');
    await new Promise((resolve) => setTimeout(resolve, 350));
    await quick.reconcile();
    expect(await sql('SELECT answer FROM payment WHERE payer = $1', [payer])).toEqual([{ answer: null }]);
    expect(told(await quick.charge(saleOf({ headers }), workOf()))).toBe('402 payment_replayed invalid_challenge');
    const fresh = { 'Idempotency-Key': 'short-lived', ...(await signedHeaders(till, buyer)) };
    expect(told(await quick.charge(saleOf({ headers: fresh }), workOf()))).toBe('200');
  });

  it('keeps an answer that nobody was handed until its buyer comes for it, and for its time from then on', async () => {
    await untilSampled(till);
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = { 'Idempotency-Key': 'away-for-long', ...(await signedHeaders(till, buyer)) };
    const silence = workOf(async () => {
      for (const method of ['getSignatureStatuses', 'getTransaction']) till.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'paid for';
    });
    expect(told(await quick.charge(saleOf({ headers }), silence))).toBe('503 settlement_pending');
    till.solana.faults.clear();
    await until(async () => {
      await quick.reconcile('all');
      return (await stateOf(payer)) === 'CONFIRMED';
    });
    const later = async (): Promise<string> => {
      await new Promise((resolve) => setTimeout(resolve, 350));
      await quick.reconcile();
      return told(await quick.charge(saleOf({ headers }), workOf()));
    };
    expect(await later()).toBe('200 replayed');
    await delivered(payer);
    expect(await later()).toBe('402 payment_replayed invalid_challenge');
    expect(await till.solana.usdcBalance(payer)).toBe(4_980_000n);
  });

  it('releases what its process could not write the end of', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    const spy = jest.spyOn(Ledger.prototype, 'release').mockRejectedValueOnce(new Error('the database is away'));
    expect(
      told(
        await till.payments.charge(
          saleOf({ headers }),
          workOf(() => Promise.reject(new Error('also broken'))),
        ),
      ),
    ).toBe('500 internal');
    spy.mockRestore();
    expect(await stateOf(payer)).toBe('RESERVED');
    await sql("UPDATE payment SET moved_at = now() - interval '10 minutes' WHERE payer = $1", [payer]);
    await till.payments.reconcile();
    expect(await stateOf(payer)).toBe('RELEASED');
    expect(till.logged.join()).toContain('a process ended with payments in flight');
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('200');
  });

  it('of a clock that was set back it waits for nothing: a process that ended ahead of it is gone, what was to be looked at then is looked at', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    const spy = jest.spyOn(Ledger.prototype, 'release').mockRejectedValueOnce(new Error('the process is gone'));
    const broken = workOf(() => Promise.reject(new Error('killed')));
    expect(told(await till.payments.charge(saleOf({ headers }), broken))).toBe('500 internal');
    spy.mockRestore();
    const gone = crypto.randomUUID();
    await sql("INSERT INTO payment_instance (id, seen_at) VALUES ($1, now() + interval '1 hour')", [gone]);
    const ahead = "created_at = created_at + interval '1 hour', moved_at = moved_at + interval '1 hour'";
    await sql(`UPDATE payment SET instance = $2, ${ahead} WHERE payer = $1`, [payer, gone]);
    await till.payments.reconcile();
    // It may only have stood still, and says so within its time.
    expect(await stateOf(payer)).toBe('RESERVED');
    await sql("UPDATE payment_instance SET seen_at = seen_at - interval '11 seconds' WHERE id = $1", [gone]);
    await till.payments.reconcile();
    expect(await stateOf(payer)).toBe('RELEASED');

    const unheard = workOf(async () => {
      for (const method of ['getSignatureStatuses', 'getTransaction']) till.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'paid for';
    });
    expect(told(await till.payments.charge(saleOf({ headers }), unheard))).toBe('503 settlement_pending');
    till.solana.faults.clear();
    const late = `UPDATE payment SET look_at = now() + interval '1 hour', ${ahead} WHERE payer = $1 AND look_at IS NOT NULL`;
    await sql(late, [payer]);
    await till.payments.reconcile();
    expect(await stateOf(payer)).toBe('CONFIRMED');
    await sql(late, [payer]);
    till.solana.advanceSlots(40);
    await till.payments.reconcile();
    expect(await sql('SELECT final_at IS NOT NULL AS final FROM payment WHERE payer = $1 ORDER BY id DESC LIMIT 1', [payer])).toEqual([
      { final: true },
    ]);
  });

  it('the database fails after the broadcast: the answer is handed out, the record found by the chain’s word, paid once', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    const spy = jest.spyOn(Ledger.prototype, 'delivered').mockImplementationOnce(() => undefined);
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('200');
    spy.mockRestore();
    expect(await stateOf(payer)).toBe('BROADCASTING');
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toMatch(/^409 payment_in_progress/);
    await sql("UPDATE payment SET moved_at = now() - interval '10 minutes' WHERE payer = $1", [payer]);
    await till.payments.reconcile();
    expect(await stateOf(payer)).toBe('CONFIRMED');
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('200 replayed');
    expect(await till.solana.usdcBalance(payer)).toBe(4_980_000n);
  });

  it('whoever asks about a payment waits for deliveries up to now, not for those that never cease', async () => {
    const written: string[] = [];
    const together: number[] = [];
    const query = async (_: unknown, [ids]: [string[]]): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      together.push(ids.length);
      written.push(...ids);
    };
    const ledger = new Ledger({ query } as unknown as ConstructorParameters<typeof Ledger>[0], crypto.randomUUID(), till.logger);
    let id = 0;
    const deliver = (): void => ledger.delivered({ id: String((id += 1)), transaction: 'tx', settled_at: new Date() }, 1_000);
    const traffic = setInterval(deliver, 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    deliver();
    const mine = String(id);
    const waited = await Promise.race([ledger.flush(), new Promise((resolve) => setTimeout(() => resolve('too long'), 2_000).unref())]);
    const known = written.includes(mine);
    clearInterval(traffic);
    await ledger.flush();
    expect([waited, known, written]).toEqual([undefined, true, Array.from({ length: id }, (_, index) => String(index + 1))]);
    expect([Math.min(...together) > 0, together.length < id]).toEqual([true, true]);
  });

  it('the database fails when deliveries are written down: told in the log, with their ids', async () => {
    const query = async (): Promise<never> => Promise.reject(new Error('the database is away'));
    const ledger = new Ledger({ query } as unknown as ConstructorParameters<typeof Ledger>[0], crypto.randomUUID(), till.logger);
    ledger.delivered({ id: '4711', transaction: 'tx', settled_at: new Date() }, 1_000);
    await ledger.flush();
    expect(till.logged.filter((line) => line.includes('deliveries could not be written down') && line.includes('4711'))).toHaveLength(1);
  });

  it('a buyer who spends the last of its money at once is not told that it is reserved: here, and in another process', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const amount = 1_600_000n;
    const buy = async (shop: Payments): Promise<string> => {
      const headers = await signedHeaders(till, buyer, {}, saleOf({ amount }));
      return told(await shop.charge(saleOf({ headers, amount }), workOf()));
    };
    // 5 USDC: the third time the first two would not be covered as well.
    expect([await buy(till.payments), await buy(quick), await buy(till.payments)]).toEqual(['200', '200', '200']);
    expect(await buy(quick)).toMatch(/insufficient_funds/);
    expect(await till.solana.usdcBalance(payer)).toBe(200_000n);
  });

  it('the database fails at the write-ahead record: nothing is broadcast', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    till.solana.faults.forgetCalls();
    const spy = jest.spyOn(Ledger.prototype, 'writeAhead').mockRejectedValueOnce(new Error('the database is away'));
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('500 internal');
    spy.mockRestore();
    expect(till.solana.faults.calls('sendTransaction')).toBe(0);
    // Only an answer whose proof ran out waits for the next one.
    const again = workOf();
    expect([told(await till.payments.charge(saleOf({ headers }), again)), again.runs()]).toEqual(['200', 1]);
  });

  it('the database fails while the work runs: nothing is broadcast', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    till.solana.faults.forgetCalls();
    const spy = jest.spyOn(Ledger.prototype, 'executing').mockRejectedValueOnce(new Error('the database is away'));
    const slow = workOf(() => new Promise((resolve) => setTimeout(() => resolve('too late'), 300)));
    expect(told(await till.payments.charge(saleOf({ headers }), slow))).toBe('500 internal');
    spy.mockRestore();
    expect(till.solana.faults.calls('sendTransaction')).toBe(0);
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('200');
  });

  it.each([
    ['and fails the work', 0],
    ['during short work', 1],
    ['during long work', 300],
  ])('the database goes away %s: come back later, nothing is charged, and the proof is good as soon as it is back', async (_, ms) => {
    const own = await openTill({ settings: { reconcile_ms: 50 } });
    try {
      const buyer = await fundedBuyer(own);
      const sale = saleOf({ headers: await signedHeaders(own, buyer) });
      own.solana.faults.forgetCalls();
      let reopen: () => Promise<void> = () => Promise.resolve();
      const work = workOf(async () => {
        reopen = await own.database.shut();
        if (ms === 0) throw new Error('the work asks the same database');
        await new Promise((resolve) => setTimeout(resolve, ms));
        return 'data';
      });
      const outcome = await own.payments.charge(sale, work);
      await reopen();
      expect([told(outcome), outcome]).toEqual([
        '503 payments_unavailable',
        expect.objectContaining({ kind: 'refused', charged: false, transaction: null }),
      ]);
      expect(outcome.kind === 'refused' && outcome.error.context.retry_after_s).toBeGreaterThan(0);
      expect(own.solana.faults.calls('sendTransaction')).toBe(0);
      await until(async () => {
        const again = told(await own.payments.charge(sale, workOf()));
        return again === '200' || (expect(again).toMatch(/^(409 payment_in_progress|503 payments_unavailable)/), false);
      });
      expect(await own.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
    } finally {
      await own.stop();
    }
  });

  it('the database goes away while a payment is sent, of which the chain says nothing: pending, and collected later', async () => {
    const own = await openTill({ settings: { settle_patience_ms: 1_000, reconcile_ms: 50 } });
    try {
      const buyer = await fundedBuyer(own);
      const headers = await signedHeaders(own, buyer);
      const sale = saleOf({ headers });
      const silence = workOf(async () => {
        for (const method of ['getSignatureStatuses', 'getTransaction']) own.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
        return 'data';
      });
      const charging = own.payments.charge(sale, silence);
      await until(() => own.solana.faults.calls('sendTransaction') > 0);
      const reopen = await own.database.shut();
      expect(await charging).toMatchObject({ kind: 'refused', charged: 'pending', error: { code: 'settlement_pending' } });
      const log = own.logged.join();
      const { payload } = JSON.parse(Buffer.from(String(headers['PAYMENT-SIGNATURE']), 'base64').toString()) as {
        payload: { transaction: string };
      };
      expect([log.includes('a settlement could not be written down'), log.includes(payload.transaction)]).toEqual([true, false]);
      await reopen();
      own.solana.faults.clear();
      await own.database.pool.query("UPDATE payment SET moved_at = now() - interval '10 minutes' WHERE state = 'BROADCASTING'");
      await until(async () => told(await own.payments.charge(sale, workOf())) === '200 replayed');
      expect(await own.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
    } finally {
      await own.stop();
    }
  });

  it.each([
    ['a reservation taken away while the work runs', "state = 'RELEASED'"],
    ['a reservation whose id a crash of the database gave to another', "proof_key = 'sol:another'"],
  ])('%s is never broadcast', async (_, change) => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    till.solana.faults.forgetCalls();
    const work = workOf(async () => {
      await sql(`UPDATE payment SET ${change} WHERE payer = $1`, [buyer.publicKey.toBase58()]);
      return 'too late';
    });
    expect(told(await till.payments.charge(saleOf({ headers }), work))).toBe('500 internal');
    expect(till.solana.faults.calls('sendTransaction')).toBe(0);
  });

  it('a pass that fails is told, and the next ones come', async () => {
    const own = await openTill({ settings: { reconcile_ms: 50 } });
    try {
      const reopen = await own.database.shut();
      await until(() => own.logged.join().includes('reconciliation failed'));
      await reopen();
      await own.database.pool.query("INSERT INTO payment_instance (id, seen_at) VALUES (gen_random_uuid(), now() - interval '1 day')");
      await until(async () => (await own.database.pool.query('SELECT FROM payment_instance')).rowCount === 1);
    } finally {
      await own.stop();
    }
  });

  it('tells how the chains are even while the database is not', async () => {
    const spy = jest.spyOn(Ledger.prototype, 'lastSettlements').mockRejectedValueOnce(new Error('the database is away'));
    expect(await till.payments.health()).toMatchObject({ x402: { status: 'ok', last_settlement_at: null }, mpp_tempo: { status: 'off' } });
    spy.mockRestore();
  });

  it('a released payment that may land for ever is asked about ever less often', async () => {
    const buyer = await fundedBuyer(till);
    const about = [buyer.publicKey.toBase58()];
    const headers = await signedHeaders(till, buyer);
    const empty = workOf(() => Promise.reject(new AppError('empty_result')));
    expect(told(await till.payments.charge(saleOf({ headers }), empty))).toBe('404 empty_result');
    till.solana.faults.inject('getSignatureStatuses', { kind: 'refuse' }, Infinity);
    await sql("UPDATE payment SET created_at = now() - interval '10 hours', look_at = now() - interval '1 second' WHERE payer = $1", about);
    await till.payments.reconcile();
    // Whoever of the processes that look was first.
    const later = "SELECT FROM payment WHERE payer = $1 AND look_at BETWEEN now() + interval '30 minutes' AND now() + interval '1 hour'";
    await until(async () => (await sql(later, about)).length === 1);
    // After a day no more.
    await sql("UPDATE payment SET created_at = now() - interval '25 hours', look_at = now() - interval '1 second' WHERE payer = $1", about);
    await till.payments.reconcile();
    await until(async () => (await sql('SELECT FROM payment WHERE payer = $1 AND look_at IS NULL', about)).length === 1);
  });

  it('two processes never look at the same question at once', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    till.solana.faults.inject('sendTransaction', { kind: 'refuse' }, Infinity);
    expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('503 settlement_pending');
    await due();
    const taken = jest.spyOn(Upkeep.prototype, 'takeUnresolved');
    const reports = await Promise.all([till.payments.reconcile(), quick.reconcile(), till.payments.reconcile()]);
    expect((await Promise.all(taken.mock.results.map(({ value }) => value as Promise<unknown[]>))).flat()).toHaveLength(1);
    taken.mockRestore();
    expect(reports.map(({ open }) => open)).toEqual([1, 1, 1]);
    // A young question stays one, and is asked again soon.
    const about = "SELECT state, look_at < now() + interval '3 seconds' AS soon FROM payment WHERE payer = $1";
    expect(await sql(about, [buyer.publicKey.toBase58()])).toEqual([{ state: 'UNKNOWN', soon: true }]);
  });

  it('a debt that the database kept waiting leaves no transaction open: what is written next is committed', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const empty = workOf(() => Promise.reject(new AppError('empty_result')));
    await till.payments.charge(saleOf({ headers: await signedHeaders(till, buyer) }), empty);
    const [row] = await sql<{ id: string }>('SELECT id FROM payment WHERE payer = $1', [payer]);
    const pool = await openKeyedPool(till.database.url, { query_timeout: 200, max: 1 });
    const holder = await till.database.pool.connect();
    await holder.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtext('payment'), hashtext('${payer}'))`);
    await expect(new Upkeep(pool, crypto.randomUUID()).owed(String(row?.id))).rejects.toThrow();
    await holder.query('COMMIT');
    holder.release();
    await pool.query("UPDATE payment SET reason = 'written' WHERE payer = $1", [payer]);
    expect(await sql('SELECT reason FROM payment WHERE payer = $1', [payer])).toEqual([{ reason: 'written' }]);
    await pool.end();
  });

  it('a process that stood still does not take itself for dead, nor a payment for left behind whose work took as long as it may', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    const still = workOf(async () => {
      await sql("UPDATE payment_instance SET seen_at = now() - interval '1 hour'");
      await sql("UPDATE payment SET moved_at = now() - interval '100 seconds' WHERE payer = $1", [buyer.publicKey.toBase58()]);
      await till.payments.reconcile();
      return 'late';
    });
    expect(told(await till.payments.charge(saleOf({ headers }), still))).toBe('200');
  });

  it('a process whose connections are all busy does not pass for dead', async () => {
    const [pool, heart] = await Promise.all([1, 1].map((max) => openKeyedPool(till.database.url, { max })));
    const settings = { ...till.settings, instance_stale_ms: 1_000, reconcile_ms: 3_600_000 };
    const busy = await createPayments(settings, { pool: pool!, heart: heart!, logger: till.logger });
    const other = await createPayments(settings, { pool: till.database.pool, logger: till.logger });
    const buyer = await fundedBuyer(till);
    const work = workOf(async () => {
      const taken = await pool!.connect();
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      await other.reconcile();
      taken.release();
      return 'late';
    });
    expect(told(await busy.charge(saleOf({ headers: await signedHeaders(till, buyer) }), work))).toBe('200');
    await Promise.all([busy.stop(), other.stop()]);
    await Promise.all([pool!.end(), heart!.end()]);
  });

  it('a process is known to live from its first moment until it stops', async () => {
    const living = async (): Promise<string[]> => (await sql<{ id: string }>('SELECT id FROM payment_instance')).map(({ id }) => id);
    const others = await living();
    const one = await createPayments(till.settings, { pool: till.database.pool, logger: till.logger });
    const [id, ...more] = (await living()).filter((each) => !others.includes(each));
    await one.stop();
    expect([id, more]).toEqual([expect.anything(), []]);
    expect(await living()).not.toContain(id);
  });

  it('a payer who leaves answers lying loses the privilege of long queries', async () => {
    await untilSampled(till);
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    await sql(
      "INSERT INTO payment_rechallenge (payer, request_hash, answer, kept_until) SELECT $1, 'r' || n, '1', now() - interval '1 second' FROM generate_series(1, 3) n",
      [payer],
    );
    await till.payments.reconcile();
    expect(await sql('SELECT answer FROM payment_rechallenge WHERE payer = $1', [payer])).toEqual([
      { answer: null },
      { answer: null },
      { answer: null },
    ]);
    const long = await createPayments({ ...till.settings, deadline_ms: 600_000 }, { pool: till.database.pool, logger: till.logger });
    await long.start();
    const headers = await signedHeaders({ ...till, payments: long }, buyer);
    // Of 150 slots some 50 are left, 12 s of them reserved; with the privilege the work could take 10 minutes.
    const offered = async (): Promise<number> =>
      Number(requirementOf(await challengeOf({ ...till, payments: long })).extra.lastValidBlockHeight ?? 0);
    const height = await offered();
    till.solana.advanceSlots(95);
    await until(async () => (await offered()) >= height + 95);
    const ran = jest.fn();
    const outcome = await long.charge(
      saleOf({ headers }),
      workOf(() => new Promise(() => setTimeout(ran, 200))),
    );
    expect([told(outcome), ran.mock.calls.length]).toEqual(['504 query_timeout', 1]);
    await sql("UPDATE payment_rechallenge SET kept_until = now() - interval '2 hours' WHERE payer = $1", [payer]);
    await till.payments.reconcile();
    expect(await sql('SELECT 1 FROM payment_rechallenge WHERE payer = $1', [payer])).toEqual([]);
    await long.stop();
  });
});
