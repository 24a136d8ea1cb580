import { createPayments } from '../../src/payments/charge';
import type { Payments } from '../../src/payments/protocol';
import { dieIn, type DyingOrders } from './dying';
import { fundedBuyer, openTill, saleOf, signedHeaders, type Till, told, workOf } from './till';

describe('a process killed at every step', () => {
  let till: Till;
  beforeAll(async () => {
    till = await openTill();
  });
  afterAll(() => till.stop());

  /** Sells once in a process of its own; null when that was killed in the state, else how the sale ended. */
  async function die(headers: Record<string, string>, state: DyingOrders['die']): Promise<string | null> {
    const sale = { ...saleOf({ headers }), amount: '20000' };
    const [end] = await dieIn({ die: state, sales: [{ column: 0, database_url: till.database.url, settings: till.settings, sale }] });
    return end as string | null;
  }

  /** The process that comes up after the dead one has gone stale. */
  async function successor(): Promise<Payments> {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const payments = await createPayments(
      { ...till.settings, instance_stale_ms: 400, reconcile_ms: 100 },
      { pool: till.database.pool, logger: till.logger },
    );
    await payments.start();
    return payments;
  }

  const historyOf = async (payer: string): Promise<string[]> =>
    (
      await till.database.pool.query<{ state: string }>(
        'SELECT s.state FROM payment_step s JOIN payment p ON p.id = s.payment_id WHERE payer = $1 ORDER BY p.id, s.step',
        [payer],
      )
    ).rows.map(({ state }) => state);

  const before = ['RECEIVED', 'VALIDATED', 'RESERVED', 'EXECUTING', 'RESULT_READY'] as const;
  it.each(before)('%s: released, nothing charged; the same proof buys once', async (state) => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    expect(await die(headers, state)).toBeNull();
    const claimed = state !== 'RECEIVED' && state !== 'VALIDATED';
    if (claimed) expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('409 payment_in_progress');
    const next = await successor();
    expect((await historyOf(payer)).at(-1)).toBe(claimed ? 'RELEASED' : undefined);
    expect(await till.solana.usdcBalance(payer)).toBe(5_000_000n);
    const work = workOf(async () => 'from the living');
    expect(await next.charge(saleOf({ headers }), work)).toMatchObject({ kind: 'paid', answer: 'from the living', replayed: false });
    expect(await till.solana.usdcBalance(payer)).toBe(4_980_000n);
    await next.stop();
  });

  it('after the write-ahead record, before the first send: the buyer who comes back sets it going again and collects', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    expect(await die(headers, 'BROADCASTING')).toBeNull();
    const next = await successor();
    expect((await historyOf(payer)).at(-1)).toBe('UNKNOWN');
    expect(await till.solana.usdcBalance(payer)).toBe(5_000_000n);
    const work = workOf();
    expect(await next.charge(saleOf({ headers }), work)).toMatchObject({
      kind: 'paid',
      answer: 'from the process that died',
      replayed: true,
    });
    expect(work.runs()).toBe(0);
    expect(await till.solana.usdcBalance(payer)).toBe(4_980_000n);
    await next.stop();
  });

  it.each(['SENT', 'CONFIRMED'] as const)('%s: paid once, and the answer is collected with the secret', async (state) => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    expect(await die(headers, state)).toBeNull();
    const next = await successor();
    expect((await historyOf(payer)).at(-1)).toBe('CONFIRMED');
    const work = workOf();
    const outcome = await next.charge(saleOf({ headers }), work);
    expect(outcome).toMatchObject({
      kind: 'paid',
      answer: 'from the process that died',
      replayed: true,
      headers: { 'PAYMENT-RESPONSE': expect.any(String) },
    });
    expect(work.runs()).toBe(0);
    expect(await till.solana.usdcBalance(payer)).toBe(4_980_000n);
    await next.stop();
  });

  it('a process that lives to the end leaves nothing behind', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    expect(await die(headers, 'never')).toBe('200');
    expect((await historyOf(buyer.publicKey.toBase58())).at(-1)).toBe('DELIVERED');
  });

  // Last: it moves the chain's time on.
  it('after the write-ahead record, and nobody comes back: expires unsent, nothing charged', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    await die(headers, 'BROADCASTING');
    till.solana.faults.forgetCalls();
    till.solana.advanceSlots(400);
    const next = await successor();
    expect(await historyOf(payer)).toEqual(['RESERVED', 'EXECUTING', 'RESULT_READY', 'BROADCASTING', 'UNKNOWN', 'EXPIRED']);
    expect(till.solana.faults.calls('sendTransaction')).toBe(0);
    const { rows } = await till.database.pool.query('SELECT raw, answer FROM payment WHERE payer = $1', [payer]);
    expect(rows).toEqual([{ raw: null, answer: null }]);
    expect(told(await next.charge(saleOf({ headers }), workOf()))).toBe('402 settlement_failed transaction_expired');
    expect(await till.solana.usdcBalance(payer)).toBe(5_000_000n);
    await next.stop();
  });
});
