import { Connection } from '@solana/web3.js';
import { createPayments } from '../../src/payments/charge';
import type { Outcome, Payments } from '../../src/payments/protocol';
import { startLocalSolana } from '../../src/sandbox/chains/solana';
import { fundedBuyer, openTill, saleOf, signedHeaders, type Till, told, until, withoutQuote, workOf } from './till';

describe('a chain whose RPC misbehaves', () => {
  let till: Till;
  beforeEach(async () => {
    till = await openTill({ settings: { settle_patience_ms: 1_500, reconcile_ms: 200 } });
  });
  afterEach(() => till.stop());

  const charge = (headers: Record<string, string>, work = workOf()): Promise<Outcome> => till.payments.charge(saleOf({ headers }), work);
  const stateOf = async (payer: string): Promise<string | undefined> =>
    (await till.database.pool.query<{ state: string }>('SELECT state FROM payment WHERE payer = $1 ORDER BY id DESC LIMIT 1', [payer]))
      .rows[0]?.state;

  it.each(['getSignatureStatuses', 'simulateTransaction'])(
    '%s down at admission: 503, reservation released, nothing run',
    async (method) => {
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      till.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      const work = workOf();
      expect(told(await charge(headers, work))).toBe('503 payments_unavailable');
      expect(work.runs()).toBe(0);
      expect(await stateOf(buyer.publicKey.toBase58())).toBe('RELEASED');
      till.solana.faults.clear();
      expect(told(await charge(headers, work))).toBe('200');
    },
  );

  it('an admission that hangs is given up after its budget', async () => {
    const quick = await createPayments({ ...till.settings, admission_ms: 400 }, { pool: till.database.pool, logger: till.logger });
    await quick.start();
    const headers = await signedHeaders(till, await fundedBuyer(till));
    till.solana.faults.inject('simulateTransaction', { kind: 'delay', ms: 3_000 }, Infinity);
    expect(told(await quick.charge(saleOf({ headers }), workOf()))).toBe('503 payments_unavailable');
    till.solana.faults.clear();
    await quick.stop();
  });

  it('the RPC dies while the query runs: nothing is broadcast, the answer is withheld, the proof stays good', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    // A long query, so that preparation simulates again.
    const work = workOf(async () => {
      till.solana.faults.inject('simulateTransaction', { kind: 'refuse' }, Infinity);
      await new Promise((resolve) => setTimeout(resolve, 5_200));
      return 'late';
    });
    expect(told(await charge(headers, work))).toBe('503 payments_unavailable');
    expect(till.solana.faults.calls('sendTransaction')).toBe(0);
    till.solana.faults.clear();
    expect(told(await charge(headers))).toBe('200');
  });

  it.each([
    ['the reply is lost', { kind: 'drop' }],
    ['the node says "already processed"', { kind: 'already_processed' }],
    ['the node answers late', { kind: 'delay', ms: 1_000 }],
  ] as const)('sendTransaction: %s: settled by what the chain says, once', async (_, fault) => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    till.solana.faults.inject('sendTransaction', fault, 1);
    expect(told(await charge(headers))).toBe('200');
    expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
  });

  it('sendTransaction never gets through: 503 pending without data, then expired, 402, and nothing was charged', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    till.solana.faults.inject('sendTransaction', { kind: 'refuse' }, Infinity);
    const outcome = await charge(headers);
    expect(outcome).toMatchObject({
      kind: 'refused',
      charged: 'pending',
      error: { code: 'settlement_pending', status: 503, context: { retry_after_s: 3 } },
      headers: { 'X-Payment-Settlement': 'pending' },
    });
    expect(outcome).not.toHaveProperty('challenge');
    till.solana.advanceSlots(250);
    await until(async () => (await stateOf(payer)) === 'EXPIRED');
    till.solana.faults.clear();
    expect(told(await charge(headers))).toBe('402 settlement_failed transaction_expired');
    // Not the payer's doing.
    expect((await till.database.pool.query('SELECT fault FROM payment')).rows).toEqual([{ fault: false }]);
    expect(await till.solana.usdcBalance(payer)).toBe(5_000_000n);
  });

  it('statuses go silent after the send: 503 pending; the reconciler hears the end, and the buyer collects without paying again', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    const silence = workOf(async () => {
      for (const method of ['getSignatureStatuses', 'getTransaction']) till.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'paid for';
    });
    expect(told(await charge(headers, silence))).toBe('503 settlement_pending');
    expect(await stateOf(payer)).toBe('UNKNOWN');
    // Asked again in the dark: still pending, never a 402.
    expect(told(await charge(headers))).toBe('503 settlement_pending');
    till.solana.faults.clear();
    await until(async () => (await stateOf(payer)) === 'CONFIRMED');
    expect(await charge(headers)).toMatchObject({ kind: 'paid', answer: 'paid for', replayed: true });
    expect(await till.solana.usdcBalance(payer)).toBe(4_980_000n);
  });

  it('one url, several servers: the status of a laggard beside the height of another ends nothing', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    const lagging = workOf(async () => {
      till.solana.faults.inject('getSignatureStatuses', { kind: 'answer', result: { context: { slot: 1 }, value: [null] } }, Infinity);
      till.solana.faults.inject('getTransaction', { kind: 'answer', result: null }, Infinity);
      return 'paid for';
    });
    const charging = charge(headers, lagging);
    await until(async () => (await till.solana.usdcBalance(payer)) === 4_980_000n);
    till.solana.advanceSlots(250);
    expect(told(await charging)).toBe('503 settlement_pending');
    // Looked at by those who look when nobody is there, too.
    const looks = till.solana.faults.calls('getEpochInfo');
    await until(() => till.solana.faults.calls('getEpochInfo') > looks);
    expect(await stateOf(payer)).toBe('UNKNOWN');
    till.solana.faults.clear();
    await until(async () => (await stateOf(payer)) === 'CONFIRMED');
    expect(told(await charge(headers))).toBe('200 replayed');
  });

  it('landed, but its record tells no balances: 503 pending, never "not charged"; collected once they are told', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer);
    const meta = { err: null, preTokenBalances: null, postTokenBalances: null };
    const bare = { slot: 5, transaction: { message: { accountKeys: [] }, signatures: [] }, meta };
    const work = workOf(async () => {
      till.solana.faults.inject('getTransaction', { kind: 'answer', result: bare }, Infinity);
      return 'paid for';
    });
    expect(told(await charge(headers, work))).toBe('503 settlement_pending');
    till.solana.faults.clear();
    await until(async () => (await stateOf(payer)) === 'CONFIRMED');
    expect(told(await charge(headers))).toBe('200 replayed');
    expect(await till.solana.usdcBalance(payer)).toBe(4_980_000n);
  });

  it.each([
    ['version 1', { version: 1 as const }],
    ['version 2 that echoes no quote', { edit: withoutQuote }],
  ])('%s, pending: its buyer is told a key to collect the answer by, and nobody collects it without', async (_, proof) => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const headers = await signedHeaders(till, buyer, proof);
    const silence = workOf(async () => {
      for (const method of ['getSignatureStatuses', 'getTransaction']) till.solana.faults.inject(method, { kind: 'refuse' }, Infinity);
      return 'paid for';
    });
    const keyOf = (outcome: Outcome): unknown =>
      outcome.kind === 'refused' ? outcome.error.context.suggestion?.['Idempotency-Key'] : null;
    const first = await charge(headers, silence);
    expect([told(first), keyOf(first)]).toEqual(['503 settlement_pending', expect.stringMatching(/^[\w-]{24}$/)]);
    const bare = await charge(headers);
    expect([told(bare), keyOf(bare)]).toEqual(['503 settlement_pending', undefined]);
    till.solana.faults.clear();
    await until(async () => (await stateOf(payer)) === 'CONFIRMED');
    expect(told(await charge(headers))).toBe('402 payment_replayed invalid_challenge');
    expect(told(await charge({ ...headers, 'Idempotency-Key': String(keyOf(first)) }))).toBe('200 replayed');
    expect(await till.solana.usdcBalance(payer)).toBe(4_980_000n);
  });

  it('pending, asked without the secret: told that it is pending, and nothing more', async () => {
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    till.solana.faults.inject('sendTransaction', { kind: 'refuse' }, Infinity);
    await charge(headers);
    const proof = JSON.parse(Buffer.from(headers['PAYMENT-SIGNATURE'] as string, 'base64').toString()) as {
      accepted: { extra: Record<string, unknown> };
    };
    delete proof.accepted.extra.quote;
    const bare = { 'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(proof)).toString('base64') };
    expect(told(await charge(bare))).toBe('503 settlement_pending');
  });

  it('drained between validation and settlement: failed on chain, 402, withheld; three times and the payer is turned away', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    for (let time = 0; time < 3; time += 1) {
      await till.solana.setUsdc(payer, { amount: 5_000_000n });
      const drain = workOf(async () => {
        await till.solana.setUsdc(payer, { amount: 0n });
        return 'withheld';
      });
      const outcome = await charge(await signedHeaders(till, buyer), drain);
      expect(told(outcome)).toContain('402 settlement_failed invalid_exact_svm_transaction_failed');
      expect(outcome).toMatchObject({ kind: 'challenge', headers: { 'PAYMENT-RESPONSE': expect.any(String) } });
    }
    await till.solana.setUsdc(payer, { amount: 5_000_000n });
    const work = workOf();
    const refused = await charge(await signedHeaders(till, buyer), work);
    expect([told(refused), refused]).toMatchObject(['429 rate_limited settlements_failed', { error: { context: { retry_after_s: 600 } } }]);
    expect(work.runs()).toBe(0);
  });

  it('drained during a long query: found by simulating again, nothing is broadcast', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const work = workOf(async () => {
      await till.solana.setUsdc(payer, { amount: 0n });
      await new Promise((resolve) => setTimeout(resolve, 5_200));
      return 'withheld';
    });
    expect(told(await charge(await signedHeaders(till, buyer), work))).toBe(
      '402 settlement_failed invalid_exact_svm_transaction_simulation_failed',
    );
    expect(till.solana.faults.calls('sendTransaction')).toBe(0);
    // Three of these are too many, too.
    expect((await till.database.pool.query('SELECT fault FROM payment WHERE payer = $1', [payer])).rows).toEqual([{ fault: true }]);
  });

  it('drained while the claim waited for another of the same payer: found by simulating again', async () => {
    const buyer = await fundedBuyer(till);
    const payer = buyer.publicKey.toBase58();
    const other = await till.database.pool.connect();
    await other.query("BEGIN; SELECT pg_advisory_xact_lock(hashtext('payment'), hashtext('" + payer + "'))");
    const charging = charge(await signedHeaders(till, buyer));
    await until(() => till.solana.faults.calls('simulateTransaction') === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await till.solana.setUsdc(payer, { amount: 0n });
    await new Promise((resolve) => setTimeout(resolve, 5_500));
    await other.query('COMMIT');
    other.release();
    expect(told(await charging)).toBe('402 settlement_failed invalid_exact_svm_transaction_simulation_failed');
    expect(till.solana.faults.calls('sendTransaction')).toBe(0);
  });
});

test('sponsored, and drained while the query ran: refused before it is sent, and the sponsor pays no fee', async () => {
  const till = await openTill({ sponsored: true });
  const buyer = await fundedBuyer(till);
  const payer = buyer.publicKey.toBase58();
  const fees = (): Promise<number> => new Connection(till.solana.url).getBalance(till.sponsor.publicKey, 'confirmed');
  const before = await fees();
  const drain = workOf(async () => {
    await till.solana.setUsdc(payer, { amount: 0n });
    return 'withheld';
  });
  const outcome = await till.payments.charge(saleOf({ headers: await signedHeaders(till, buyer) }), drain);
  const [sent, after] = [till.solana.faults.calls('sendTransaction'), await fees()];
  await till.stop();
  expect([told(outcome), sent, after]).toEqual(['402 settlement_failed invalid_exact_svm_transaction_simulation_failed', 0, before]);
});

test('sponsored, many at once, and drained when the first are on their way: the sponsor pays for no more of them than may fail one by one', async () => {
  const till = await openTill({ sponsored: true });
  const buyer = await fundedBuyer(till);
  const payer = buyer.publicKey.toBase58();
  const proofs = await Promise.all(Array.from({ length: 8 }, () => signedHeaders(till, buyer)));
  till.solana.faults.inject('sendTransaction', { kind: 'delay', ms: 2_500, before: true }, Infinity);
  const charging = proofs.map((headers) => till.payments.charge(saleOf({ headers }), workOf()));
  await until(() => till.solana.faults.calls('sendTransaction') >= 3);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await till.solana.setUsdc(payer, { amount: 0n });
  await Promise.all(charging);
  const { rows } = await till.database.pool.query('SELECT state, count(*)::int FROM payment GROUP BY state ORDER BY state');
  await till.stop();
  expect(rows).toEqual([
    { state: 'REJECTED_ONCHAIN', count: 3 },
    { state: 'RELEASED', count: 5 },
  ]);
});

describe('several providers', () => {
  let till: Till;
  let second: Awaited<ReturnType<typeof startLocalSolana>>;
  let payments: Payments;
  beforeAll(async () => {
    till = await openTill();
    second = await startLocalSolana();
  });
  afterAll(async () => {
    await payments.stop();
    await Promise.all([till.stop(), second.stop()]);
  });

  it('goes on with the second when the first is down', async () => {
    if (till.settings.solana === false || till.settings.solana === undefined) throw new Error('unreachable');
    // A dead address in front of the living one.
    const dead = second.url;
    await second.faults.down();
    payments = await createPayments(
      { ...till.settings, solana: { ...till.settings.solana, rpc_urls: [dead, till.solana.url] } },
      { pool: till.database.pool, logger: till.logger },
    );
    await payments.start();
    const buyer = await fundedBuyer(till);
    const headers = await signedHeaders(till, buyer);
    expect(told(await payments.charge(saleOf({ headers }), workOf()))).toBe('200');
    expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
  });
});
