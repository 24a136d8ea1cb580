import type { Keypair } from '@solana/web3.js';
import type { Pool } from 'pg';
import { AppError } from '../../src/errors';
import { createPayments } from '../../src/payments/charge';
import type { Outcome, Payments, Sale } from '../../src/payments/protocol';
import { fundedBuyer, openTill, saleOf, signedHeaders, type Till, told, until, workOf } from './till';

/** Which statement of a corridor does not come through, by the beginning of its name or text: it never arrives, or its reply is lost. */
interface Loss {
  statement: string | null;
  of: 'the statement' | 'its reply';
}

describe('a statement of the ledger is lost, once, and the buyer comes back with the same proof', () => {
  let till: Till;
  let lossy: Pool;
  let payments: Payments;
  const loss: Loss = { statement: null, of: 'the statement' };
  beforeAll(async () => {
    till = await openTill({ settings: { settle_patience_ms: 1_000, reconcile_ms: 3_600_000 } });
    const { pool } = till.database;
    const query = async (statement: string | { name: string }, values?: unknown[]): Promise<unknown> => {
      const name = typeof statement === 'string' ? statement : statement.name;
      const lost = loss.statement !== null && name.startsWith(loss.statement);
      if (lost) loss.statement = null;
      const reply = lost && loss.of === 'the statement' ? null : await pool.query(statement as string, values);
      if (lost) throw new Error('Connection terminated unexpectedly');
      return reply;
    };
    lossy = { query, connect: () => pool.connect() } as unknown as Pool;
    payments = await createPayments(till.settings, { pool: lossy, heart: pool, logger: till.logger });
  });
  afterAll(async () => {
    await payments.stop();
    await till.stop();
  });
  afterEach(async () => {
    till.solana.faults.clear();
    // What was handed out last is not what the next one loses.
    await until(async () => (await till.database.pool.query("SELECT FROM payment WHERE state = 'BROADCASTING'")).rowCount === 0);
  });

  const lose = (statement: string, of: Loss['of'] = 'the statement'): void => void Object.assign(loss, { statement, of });
  const charge = (headers: Record<string, string>, work = workOf(), sale: Partial<Sale> = {}): Promise<Outcome> =>
    payments.charge(saleOf({ headers, ...sale }), work);
  const spent = async (buyer: Keypair): Promise<bigint> =>
    (5_000_000n - (await till.solana.usdcBalance(buyer.publicKey.toBase58()))) / 20_000n;

  async function buyerWithProof() {
    const buyer = await fundedBuyer(till);
    return { buyer, headers: await signedHeaders(till, buyer) };
  }

  /** What the buyer is told who comes back once the ledger is tidied up, and how many prices it has paid by then. */
  async function comesBack({ buyer, headers }: Awaited<ReturnType<typeof buyerWithProof>>): Promise<[string, bigint]> {
    expect(loss.statement).toBeNull();
    await payments.reconcile();
    const again = told(await charge(headers));
    return [again, await spent(buyer)];
  }

  /** The buyer sends the payment itself, which the chain then has. */
  async function broadcast(headers: Record<string, string>): Promise<void> {
    const { payload } = JSON.parse(Buffer.from(headers['PAYMENT-SIGNATURE'] as string, 'base64').toString()) as {
      payload: { transaction: string };
    };
    const params = [payload.transaction, { encoding: 'base64', skipPreflight: true }];
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params });
    await fetch(till.solana.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }

  it.each<[string, string, Loss['of']]>([
    ['the reply to the claim', 'payment_claim', 'its reply'],
    ['the reply to the write-ahead record', 'payment_write_ahead', 'its reply'],
  ])('%s: nothing was charged, and the proof is good', async (_, statement, of) => {
    const bought = await buyerWithProof();
    lose(statement, of);
    expect(await charge(bought.headers)).toMatchObject({ kind: 'refused', charged: false, error: { code: 'payments_unavailable' } });
    // A database that answers, and has no room to write in, sells nothing.
    expect((await payments.health()).x402.status).toBe('down');
    expect(await comesBack(bought)).toEqual(['200', 1n]);
    expect((await payments.health()).x402.status).toBe('ok');
  });

  it('the note that it was delivered: it is collected again', async () => {
    const bought = await buyerWithProof();
    lose('payment_delivered');
    expect(told(await charge(bought.headers))).toBe('200');
    await until(() => loss.statement === null);
    // What is sold next can be written down for all that is known.
    expect((await payments.health()).x402.status).toBe('ok');
    expect(await comesBack(bought)).toEqual(['200 replayed', 1n]);
  });

  it('the note that it was delivered, by a process that stops while it works for it: it is written down by then', async () => {
    const stopping = await createPayments(till.settings, { pool: lossy, heart: till.database.pool, logger: till.logger });
    const { buyer, headers } = await buyerWithProof();
    let finish: (answer: unknown) => void = () => undefined;
    const work = workOf(() => new Promise((resolve) => (finish = resolve)));
    const charging = stopping.charge(saleOf({ headers }), work);
    await until(() => work.runs() === 1);
    lose('payment_delivered');
    const stopped = stopping.stop();
    finish('data');
    expect(told(await charging)).toBe('200');
    await stopped;
    const { rows } = await till.database.pool.query('SELECT state FROM payment WHERE payer = $1', [buyer.publicKey.toBase58()]);
    expect([loss.statement, rows]).toEqual([null, [{ state: 'DELIVERED' }]]);
  });

  it('that nothing was sold: the proof is good', async () => {
    const bought = await buyerWithProof();
    lose('payment_release');
    const empty = workOf(() => Promise.reject(new AppError('empty_result')));
    expect(await charge(bought.headers, empty)).toMatchObject({ kind: 'refused', charged: false, error: { code: 'payments_unavailable' } });
    expect(await comesBack(bought)).toEqual(['200', 1n]);
  });

  it('that it failed on the chain: told why when it is asked for again', async () => {
    const { buyer, headers } = await buyerWithProof();
    const drained = workOf(() => till.solana.setUsdc(buyer.publicKey.toBase58(), { amount: 0n }));
    lose('payment_failed');
    expect(await charge(headers, drained)).toMatchObject({ kind: 'refused', charged: 'pending' });
    const [again] = await comesBack({ buyer, headers });
    expect(again).toMatch(/^402 settlement_failed invalid_exact_svm_transaction_failed/);
  });

  it('that an answer no longer waits, when it is paid for: it is handed out', async () => {
    const { buyer, headers } = await buyerWithProof();
    const { request_hash } = saleOf();
    await till.database.pool.query(
      "INSERT INTO payment_rechallenge (payer, request_hash, answer, kept_until) VALUES ($1, $2, '\"waits\"', now() + interval '1 minute')",
      [buyer.publicKey.toBase58(), request_hash],
    );
    lose('DELETE FROM payment_rechallenge');
    expect(await charge(headers)).toMatchObject({ kind: 'paid', answer: 'waits' });
    expect(await comesBack({ buyer, headers })).toEqual(['200 replayed', 1n]);
  });

  it('the note that its buyer left before the end of the answer: who signs afresh is given it', async () => {
    const { buyer, headers } = await buyerWithProof();
    const gone = new AbortController();
    expect(told(await charge(headers, workOf(), { client_gone: gone.signal }))).toBe('200');
    lose('payment_take_back');
    gone.abort();
    await until(() => loss.statement === null);
    expect(await comesBack({ buyer, headers: await signedHeaders(till, buyer) })).toEqual(['200 replayed', 1n]);
  });

  it('the note that it was delivered, and its buyer leaves before the end of the answer: who signs afresh is given it', async () => {
    const { buyer, headers } = await buyerWithProof();
    const gone = new AbortController();
    lose('payment_delivered');
    expect(told(await charge(headers, workOf(), { client_gone: gone.signal }))).toBe('200');
    await until(() => loss.statement === null);
    gone.abort();
    // Nobody has looked after what was missed by then.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await comesBack({ buyer, headers: await signedHeaders(till, buyer) })).toEqual(['200 replayed', 1n]);
  });

  it('the confirmation of an answer whose buyer hung up: it is collected', async () => {
    const bought = await buyerWithProof();
    const gone = new AbortController();
    till.solana.faults.inject('sendTransaction', { kind: 'delay', ms: 300 }, 1);
    till.solana.faults.forgetCalls();
    lose('payment_confirmed');
    const charging = charge(bought.headers, workOf(), { client_gone: gone.signal });
    await until(() => till.solana.faults.calls('sendTransaction') > 0);
    gone.abort();
    expect(await charging).toMatchObject({ kind: 'refused', charged: 'pending' });
    expect(await comesBack(bought)).toEqual(['200 replayed', 1n]);
  });

  it('the note that the chain is silent: sent and asked again', async () => {
    const bought = await buyerWithProof();
    const silence = workOf(async () => {
      for (const method of ['getSignatureStatuses', 'getTransaction']) till.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'data';
    });
    lose('payment_unknown');
    expect(await charge(bought.headers, silence)).toMatchObject({ kind: 'refused', charged: 'pending' });
    till.solana.faults.clear();
    expect(await comesBack(bought)).toEqual(['200 replayed', 1n]);
  });

  it('that a fresh proof collects what was sent for an earlier one: it is collected by that', async () => {
    const { buyer, headers } = await buyerWithProof();
    const silence = workOf(async () => {
      for (const method of ['getSignatureStatuses', 'getTransaction']) till.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'data';
    });
    expect(await charge(headers, silence)).toMatchObject({ kind: 'refused', charged: 'pending' });
    till.solana.faults.clear();
    const fresh = { buyer, headers: await signedHeaders(till, buyer) };
    lose('payment_pass_keys');
    expect(told(await charge(fresh.headers))).toBe('200 replayed');
    expect(await comesBack(fresh)).toEqual(['200 replayed', 1n]);
  });

  describe('of a payment that its buyer broadcast', () => {
    const failing = (headers: Record<string, string>) =>
      workOf(async () => {
        await broadcast(headers);
        throw new AppError('empty_result');
      });

    it('the debt, when the work failed: it is served', async () => {
      const bought = await buyerWithProof();
      lose('payment_owe');
      expect(await charge(bought.headers, failing(bought.headers))).toMatchObject({ kind: 'refused', charged: 'pending' });
      expect(await comesBack(bought)).toEqual(['200', 1n]);
    });

    it('nothing, when the debt is called in by a fresh proof with its key, and the work fails again: it is still owed', async () => {
      const bought = await buyerWithProof();
      const key = { 'Idempotency-Key': 'a-purchase' };
      await charge({ ...bought.headers, ...key }, failing(bought.headers));
      const fresh = { buyer: bought.buyer, headers: { ...(await signedHeaders(till, bought.buyer)), ...key } };
      const empty = workOf(() => Promise.reject(new AppError('empty_result')));
      expect(await charge(fresh.headers, empty)).toMatchObject({ kind: 'refused', charged: 'pending', error: { code: 'empty_result' } });
      expect(await comesBack(fresh)).toEqual(['200', 1n]);
    });

    it('that a fresh proof collects it, when it is served to one: it is collected by that', async () => {
      const bought = await buyerWithProof();
      await charge(bought.headers, failing(bought.headers));
      const fresh = { buyer: bought.buyer, headers: await signedHeaders(till, bought.buyer) };
      lose('payment_pass_keys');
      expect(told(await charge(fresh.headers))).toBe('200');
      expect(await comesBack(fresh)).toEqual(['200 replayed', 1n]);
    });

    it('the search for a kept answer, when the debt is to be served: it is served', async () => {
      const bought = await buyerWithProof();
      await charge(bought.headers, failing(bought.headers));
      lose('SELECT answer FROM payment_rechallenge');
      expect(told(await charge(bought.headers))).toBe('200');
      expect(await comesBack(bought)).toEqual(['200 replayed', 1n]);
    });

    it('by a process that ended before it wrote anything down: it is served', async () => {
      const bought = await buyerWithProof();
      const { pool } = till.database;
      await charge(
        bought.headers,
        workOf(async () => {
          await broadcast(bought.headers);
          await pool.query("UPDATE payment SET moved_at = now() - interval '1 hour' WHERE payer = $1", [bought.buyer.publicKey.toBase58()]);
          await till.payments.reconcile();
          throw new AppError('empty_result');
        }),
      );
      expect(await comesBack(bought)).toEqual(['200', 1n]);
    });
  });

  it.each<Loss['of']>(['the statement', 'its reply'])(
    'the hand-out of what was paid for by an earlier proof, %s: nothing more is paid',
    async (of) => {
      const earlier = await buyerWithProof();
      const silence = workOf(async () => {
        for (const method of ['getSignatureStatuses', 'getTransaction']) till.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
        return 'paid for';
      });
      await charge(earlier.headers, silence);
      till.solana.faults.clear();
      await payments.reconcile('all');
      const bought = { buyer: earlier.buyer, headers: await signedHeaders(till, earlier.buyer) };
      lose('payment_hand_out', of);
      expect(await charge(bought.headers)).toMatchObject({ kind: 'refused', charged: false, error: { code: 'payments_unavailable' } });
      expect(await comesBack(bought)).toEqual(['200 replayed', 1n]);
    },
  );
});
