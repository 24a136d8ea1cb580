import { openKeyedPool } from '../../src/db/keyed-pool';
import { AppError } from '../../src/errors';
import { createPayments } from '../../src/payments/charge';
import { Ledger } from '../../src/payments/ledger';
import { SolanaSettlement } from '../../src/payments/protocols/solana-settlement';
import { Rechallenge } from '../../src/payments/rechallenge';
import type { Outcome, Sale } from '../../src/payments/protocol';
import {
  broadcast,
  challengeOf,
  chargedAtOnce,
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
  withoutQuote,
  workOf,
} from './till';

const unhurried = { settings: { settle_patience_ms: 5_000 } };

describe('the corridor on a local Solana', () => {
  let till: Till;
  beforeAll(async () => {
    till = await openTill(unhurried);
  });
  afterAll(() => till.stop());
  beforeEach(() => {
    till.solana.faults.clear();
    till.solana.faults.forgetCalls();
  });

  const charge = (headers: Record<string, string>, work = workOf(), sale: Partial<Sale> = {}): Promise<Outcome> =>
    till.payments.charge(saleOf({ headers, ...sale }), work);
  const sent = (): number => till.solana.faults.calls('sendTransaction');
  const stateOf = async (address: string): Promise<string[]> =>
    (await till.database.pool.query<{ state: string }>('SELECT state FROM payment WHERE payer = $1 ORDER BY id', [address])).rows.map(
      ({ state }) => state,
    );
  const stepsOf = async (address: string): Promise<string[]> =>
    (
      await till.database.pool.query<{ state: string }>(
        'SELECT s.state FROM payment_step s JOIN payment p ON p.id = s.payment_id WHERE payer = $1 ORDER BY p.id, s.step',
        [address],
      )
    ).rows.map(({ state }) => state);

  it('challenges a request without a proof and stores nothing', async () => {
    const outcome = await charge({});
    expect(told(outcome)).toBe('402 payment_required');
    const { rows } = await till.database.pool.query('SELECT count(*)::int AS n FROM payment');
    expect(rows[0]).toEqual({ n: 0 });
  });

  it('asks for nothing while nothing is configured that could be paid with', async () => {
    const closed = await createPayments({ ...till.settings, solana: false }, { pool: till.database.pool, logger: till.logger });
    expect(await closed.charge(saleOf(), workOf())).toMatchObject({
      kind: 'refused',
      error: { code: 'payments_unavailable', context: { retry_after_s: 60 } },
    });
    await closed.stop();
  });

  it('settles, with every step on record, and erases the proof', async () => {
    const buyer = await fundedBuyer(till);
    const outcome = await charge(await signedHeaders(till, buyer));
    expect(outcome).toMatchObject({ kind: 'paid', replayed: false, answer: { data: [1, 2, 3] } });
    const address = buyer.publicKey.toBase58();
    await until(async () => (await stepsOf(address)).includes('DELIVERED'));
    expect(await stepsOf(address)).toEqual(['RESERVED', 'EXECUTING', 'RESULT_READY', 'BROADCASTING', 'CONFIRMED', 'DELIVERED']);
    const { rows } = await till.database.pool.query('SELECT raw, amount, protocol, answer FROM payment WHERE payer = $1', [address]);
    expect(rows).toEqual([{ raw: null, amount: '20000', protocol: 'x402', answer: '{"data":[1,2,3]}' }]);
    // What the buyer collects by runs out; the proof stays used for ever.
    const claims = 'SELECT kind FROM payment_claim c JOIN payment p ON p.id = payment_id WHERE payer = $1 AND expires_at IS NULL';
    expect((await till.database.pool.query<{ kind: string }>(claims, [address])).rows.map(({ kind }) => kind)).toEqual(['proof', 'proof']);
    expect(await till.solana.usdcBalance(address)).toBe(4_980_000n);
  });

  it('tells refusals of the request after the proof is read and before it is verified', async () => {
    const refuse = new AppError('invalid_parameter');
    expect(told(await charge({ 'PAYMENT-SIGNATURE': '!!' }, workOf(undefined, refuse)))).toContain('400 malformed_payment');
    const buyer = await fundedBuyer(till);
    const forged = await signedHeaders(till, buyer, { wish: { amount: 1n } });
    expect(told(await charge(forged, workOf(undefined, refuse)))).toBe('400 invalid_parameter');
    expect(told(await charge(forged))).toBe('402 payment_insufficient invalid_exact_svm_payload_amount_mismatch');
    expect(told(await charge({}, workOf(undefined, refuse)))).toBe('402 payment_required');
  });

  it('refuses while the ledger cannot be reached, which is logged once of each kind, and takes the same proof once it can', async () => {
    const own = await openTill(unhurried);
    try {
      const [buyer, work] = [await fundedBuyer(own), workOf()];
      const sale = saleOf({ headers: await signedHeaders(own, buyer) });
      const reopen = await own.database.shut();
      const refused = await own.payments.charge(sale, work);
      for (let again = 0; again < 3; again += 1) await own.payments.charge(sale, work);
      await reopen();
      expect([told(refused), refused]).toEqual(['503 payments_unavailable', expect.objectContaining({ kind: 'refused', charged: false })]);
      // A connection that is cut off says something else than a database that lets nobody in.
      const failures = own.logged
        .filter((line) => line.includes('the ledger cannot be reached'))
        .map((line) => /"error":"([^"]+)/.exec(line)?.[1]);
      expect(failures[0]).toEqual(expect.any(String));
      expect(failures).toEqual([...new Set(failures)]);
      expect(told(await own.payments.charge(sale, work))).toBe('200');
    } finally {
      await own.stop();
    }
  });

  it('stops though the ledger cannot be reached, and says so', async () => {
    const own = await openTill(unhurried);
    const payments = await createPayments(own.settings, { pool: own.database.pool, logger: own.logger });
    const reopen = await own.database.shut();
    await payments.stop();
    await reopen();
    expect(own.logged.join()).toContain('the ledger did not hear the end');
    await own.stop();
  });

  it('refuses when the ledger does not answer in time', async () => {
    const pool = await openKeyedPool(till.database.url, { query_timeout: 300 });
    const impatient = await createPayments(till.settings, { pool, logger: till.logger });
    const buyer = await fundedBuyer(till);
    const holder = await till.database.pool.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE payment_claim IN ACCESS EXCLUSIVE MODE');
      const refused = await impatient.charge(saleOf({ headers: await signedHeaders(till, buyer) }), workOf());
      expect([told(refused), refused]).toEqual(['503 payments_unavailable', expect.objectContaining({ charged: false })]);
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
      await impatient.stop();
      await pool.end();
    }
    expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(5_000_000n);
  });

  describe('work that brings nothing', () => {
    const hang = (): Promise<never> => new Promise(() => undefined);
    const cases: [string, () => Promise<unknown>, string][] = [
      ['empty', () => Promise.reject(new AppError('empty_result')), '404 empty_result'],
      ['unknown thing', () => Promise.reject(new AppError('not_found')), '404 not_found'],
      ['overload', () => Promise.reject(new AppError('at_capacity', { retry_after_s: 1 })), '503 at_capacity'],
      ['a bug', () => Promise.reject(new TypeError('x is not a function')), '500 internal'],
      [
        'a bug thrown at once',
        () => {
          throw new RangeError('no');
        },
        '500 internal',
      ],
      ['a hang', hang, '504 query_timeout'],
    ];
    it.each(cases)('%s: nothing is broadcast, the proof stays good', async (_, run, expected) => {
      const till2 = expected.startsWith('504') ? await openTill({ settings: { deadline_ms: 300 } }) : till;
      const buyer = await fundedBuyer(till2);
      const headers = await signedHeaders(till2, buyer);
      till2.solana.faults.forgetCalls();
      const outcome = await till2.payments.charge(saleOf({ headers }), workOf(run));
      expect(told(outcome)).toBe(expected);
      expect(outcome).toMatchObject({ kind: 'refused', charged: false, transaction: null });
      expect(till2.solana.faults.calls('sendTransaction')).toBe(0);
      // The same proof buys the answer when there is one.
      expect(told(await till2.payments.charge(saleOf({ headers }), workOf()))).toBe('200');
      expect(await till2.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
      if (till2 !== till) await till2.stop();
    });

    it('cancels work that takes too long through its signal', async () => {
      const quick = await openTill({ settings: { deadline_ms: 200 } });
      let reason: unknown;
      const work = workOf(
        ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject((reason = signal.reason)))),
      );
      const headers = await signedHeaders(quick, await fundedBuyer(quick));
      expect(told(await quick.payments.charge(saleOf({ headers }), work))).toBe('504 query_timeout');
      expect(reason).toMatchObject({ code: 'query_timeout' });
      // What comes of it within the moment it has to say more is late all the same, and so is what goes wrong.
      for (const outcome of ['late', Promise.reject(new Error('aborted'))]) {
        Promise.resolve(outcome).catch(() => undefined);
        const late = workOf(({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(outcome))));
        const fresh = await signedHeaders(quick, await fundedBuyer(quick));
        expect(told(await quick.payments.charge(saleOf({ headers: fresh }), late))).toBe('504 query_timeout');
      }
      expect(quick.solana.faults.calls('sendTransaction')).toBe(0);
      await quick.stop();
    });

    it('drops a sale whose buyer hangs up before the broadcast', async () => {
      const gone = new AbortController();
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      const work = workOf(async () => {
        gone.abort();
        return { data: [1] };
      });
      const outcome = await charge(headers, work, { client_gone: gone.signal });
      expect(outcome.kind).toBe('refused');
      expect(sent()).toBe(0);
      expect(await stateOf(buyer.publicKey.toBase58())).toEqual(['RELEASED']);
      // Its buyer may still send it: by this it is known when that is over.
      const ends = "SELECT FROM payment WHERE payer = $1 AND details ? 'last_valid_block_height'";
      expect((await till.database.pool.query(ends, [buyer.publicKey.toBase58()])).rowCount).toBe(1);
    });

    it('drops it as well when that is while the payment is made ready', async () => {
      const gone = new AbortController();
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      const { prepare } = SolanaSettlement.prototype;
      const spy = jest.spyOn(SolanaSettlement.prototype, 'prepare').mockImplementationOnce(async function (
        this: SolanaSettlement,
        ...args
      ) {
        gone.abort();
        return prepare.apply(this, args);
      });
      expect((await charge(headers, workOf(), { client_gone: gone.signal })).kind).toBe('refused');
      spy.mockRestore();
      expect(sent()).toBe(0);
      expect(await stateOf(buyer.publicKey.toBase58())).toEqual(['RELEASED']);
    });

    it('passes the verified payer to the work', async () => {
      const buyer = await fundedBuyer(till);
      const payers: string[] = [];
      await charge(
        await signedHeaders(till, buyer),
        workOf(async ({ payer }) => void payers.push(payer)),
      );
      expect(payers).toEqual([buyer.publicKey.toBase58()]);
    });
  });

  it('an answer that is too large to be kept is not sold: it could be paid and lost', async () => {
    const settings = { ...till.settings, kept_answer_max_bytes: 20 };
    const narrow = await createPayments(settings, { pool: till.database.pool, logger: till.logger });
    const headers = await signedHeaders(till, await fundedBuyer(till));
    // Two bytes each, and the quotes.
    const buy = async (letters: number): Promise<string> =>
      told(
        await narrow.charge(
          saleOf({ headers }),
          workOf(async () => 'ü'.repeat(letters)),
        ),
      );
    expect([await buy(10), sent(), await buy(9), sent()]).toEqual(['500 internal', 0, '200', 1]);
    await narrow.stop();
  });

  it('a refusal at admission is no failed settlement, however often it comes', async () => {
    const buyer = await fundedBuyer(till, 19_999n);
    for (let time = 0; time < 4; time += 1)
      expect(told(await charge(await signedHeaders(till, buyer)))).toBe('402 verification_failed insufficient_funds');
    await till.solana.setUsdc(buyer.publicKey.toBase58(), { amount: 20_000n });
    expect(told(await charge(await signedHeaders(till, buyer)))).toBe('200');
  });

  describe('collecting again', () => {
    it('hands out the kept answer to the same proof with its quote, without running or charging', async () => {
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      const first = await charge(headers);
      const work = workOf();
      const again = await charge(headers, work);
      expect(told(again)).toBe('200 replayed');
      expect(work.runs()).toBe(0);
      expect(again).toMatchObject({ answer: { data: [1, 2, 3] }, headers: (first as Outcome & { headers: object }).headers });
      expect(sent()).toBe(1);
    });

    it('whatever the chain answers that was asked meanwhile by a process that had not seen the proof', async () => {
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      await charge(headers);
      await until(async () => (await stateOf(buyer.publicKey.toBase58())).includes('DELIVERED'));
      const other = await createPayments(till.settings, { pool: till.database.pool, logger: till.logger });
      till.solana.faults.forgetCalls();
      till.solana.faults.inject('simulateTransaction', { kind: 'refuse' }, Infinity);
      const unheard = jest.fn();
      process.on('unhandledRejection', unheard);
      expect(told(await other.charge(saleOf({ headers }), workOf()))).toBe('200 replayed');
      await until(() => till.solana.faults.calls('simulateTransaction') > 0);
      await new Promise((resolve) => setTimeout(resolve, 500));
      process.off('unhandledRejection', unheard);
      expect(unheard).not.toHaveBeenCalled();
      await other.stop();
    });

    it('refuses the landed proof without its quote: anybody can copy it from the chain', async () => {
      const buyer = await fundedBuyer(till);
      const requirement = requirementOf(await challengeOf(till));
      const whole = proofFor(buyer, requirement);
      await charge({ 'PAYMENT-SIGNATURE': whole });
      const copied = JSON.parse(Buffer.from(whole, 'base64').toString()) as { accepted: { extra: Record<string, unknown> } };
      delete copied.accepted.extra.quote;
      const outcome = await charge({ 'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(copied)).toString('base64') });
      expect(told(outcome)).toBe('402 payment_replayed invalid_challenge');
      expect(outcome.kind === 'challenge' && outcome.headers['PAYMENT-RESPONSE']).toBeTruthy();
    });

    it('refuses the quote of somebody else', async () => {
      const [victim, thief] = [await fundedBuyer(till), await fundedBuyer(till)];
      const requirement = requirementOf(await challengeOf(till));
      await charge({ 'PAYMENT-SIGNATURE': proofFor(victim, requirement) });
      expect(told(await charge({ 'PAYMENT-SIGNATURE': proofFor(thief, requirement) }))).toBe('402 payment_replayed invalid_challenge');
      expect(sent()).toBe(1);
    });

    it('Idempotency-Key: a fresh proof is dropped and the stored answer given; another request conflicts', async () => {
      const buyer = await fundedBuyer(till);
      const key = { 'Idempotency-Key': 'purchase-1' };
      await charge({ ...key, ...(await signedHeaders(till, buyer)) });
      const fresh = { ...key, ...(await signedHeaders(till, buyer)) };
      expect(told(await charge(fresh))).toBe('200 replayed');
      const other = saleOf({ path: '/api/v1/markets/other' });
      const forOther = { ...key, ...(await signedHeaders(till, buyer, {}, other)) };
      expect(told(await till.payments.charge({ ...other, raw_headers: Object.entries(forOther).flat() }, workOf()))).toBe(
        '409 idempotency_conflict',
      );
      // The proof that was dropped is still good without the key.
      const { 'Idempotency-Key': _, ...alone } = fresh;
      expect(told(await charge(alone))).toBe('200');
      expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_960_000n);
    });

    it.each([1, 2] as const)(
      'Idempotency-Key collects after a new version has understood the same words otherwise: x402 version %d',
      async (version) => {
        const buyer = await fundedBuyer(till);
        const edit = version === 2 ? withoutQuote : undefined;
        const proof = proofFor(buyer, requirementOf(await challengeOf(till)), { version, edit });
        const headers = { 'Idempotency-Key': 'from-before', [version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE']: proof };
        expect(told(await charge(headers))).toBe('200');
        const work = workOf();
        const now = { request_hash: 'f'.repeat(64) };
        await until(async () => told(await charge(headers, work, now)) !== '409 payment_in_progress');
        for (const amount of [20_000n, 30_000n]) expect(told(await charge(headers, work, { ...now, amount }))).toBe('200 replayed');
        expect(told(await charge({ ...headers, 'Idempotency-Key': 'another' }, work, now))).toMatch(/^402 verification_failed/);
        const fresh = { ...(await signedHeaders(till, buyer, {}, saleOf(now))), 'Idempotency-Key': 'from-before' };
        expect(told(await charge(fresh, work, now))).toBe('200 replayed');
        expect(told(await charge(fresh, work, { ...now, sent_hash: 'e'.repeat(64) }))).toBe('409 idempotency_conflict');
        expect([sent(), work.runs()]).toEqual([1, 0]);
      },
    );

    it('not by a request that is refused, though what is right of it means the same', async () => {
      const headers = await signedHeaders(till, await fundedBuyer(till));
      expect(told(await charge(headers))).toBe('200');
      const wrong = workOf(undefined, new AppError('invalid_parameter'));
      expect(told(await charge(headers, wrong, { sent_hash: 'other words' }))).toBe('400 invalid_parameter');
      expect(told(await charge(headers, wrong))).toBe('200 replayed');
    });

    it('Idempotency-Key is each payer’s own, and free again after an uncharged end', async () => {
      const [one, two] = [await fundedBuyer(till), await fundedBuyer(till)];
      const key = { 'Idempotency-Key': 'shared-name' };
      const empty = workOf(() => Promise.reject(new AppError('empty_result')));
      expect(told(await charge({ ...key, ...(await signedHeaders(till, one)) }, empty))).toBe('404 empty_result');
      const other = saleOf({ path: '/api/v1/markets/other' });
      const headers = { ...key, ...(await signedHeaders(till, one, {}, other)) };
      expect(told(await till.payments.charge({ ...other, raw_headers: Object.entries(headers).flat() }, workOf()))).toBe('200');
      expect(told(await charge({ ...key, ...(await signedHeaders(till, two)) }))).toBe('200');
    });

    it.each(['', 'x'.repeat(129), 'with space', 'ümlaut'])('refuses the Idempotency-Key %j', async (key) => {
      const headers = { 'Idempotency-Key': key, ...(await signedHeaders(till, await fundedBuyer(till))) };
      expect(told(await charge(headers))).toBe('400 invalid_parameter');
    });

    it('payment-identifier works as a key, beside an Idempotency-Key too', async () => {
      const buyer = await fundedBuyer(till);
      const identifier = 'order-2026-11-21-0001';
      await charge({ ...(await signedHeaders(till, buyer, { identifier })), 'Idempotency-Key': 'the-same-by-another-name' });
      expect(told(await charge(await signedHeaders(till, buyer, { identifier })))).toBe('200 replayed');
      const other = saleOf({ path: '/api/v1/markets/other' });
      const headers = await signedHeaders(till, buyer, { identifier }, other);
      expect(told(await till.payments.charge({ ...other, raw_headers: Object.entries(headers).flat() }, workOf()))).toBe(
        '409 idempotency_conflict',
      );
      expect(sent()).toBe(1);
    });

    it('answers 409 with Retry-After while the first is running', async () => {
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      let finish: (value: unknown) => void = () => undefined;
      const work = workOf(() => new Promise((resolve) => (finish = resolve)));
      const slow = charge(headers, work);
      await until(async () => work.runs() === 1);
      const second = await charge(headers);
      expect(told(second)).toBe('409 payment_in_progress');
      expect(second).toMatchObject({ kind: 'refused', charged: false, error: { context: { retry_after_s: expect.any(Number) } } });
      finish({ data: ['late'] });
      expect(told(await slow)).toBe('200');
    });
  });

  describe('a proof that runs out while the query runs', () => {
    it('keeps the answer for a fresh proof of the same payer and request', async () => {
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      const work = workOf(async () => {
        till.solana.advanceSlots(200);
        await untilSampled(till);
        return { data: ['dear'] };
      });
      const late = await charge(headers, work);
      expect(told(late)).toBe('402 payment_expired blockhash_expired');
      expect(sent()).toBe(0);
      const idle = workOf();
      const outcome = await charge(await signedHeaders(till, buyer), idle);
      expect(outcome).toMatchObject({ kind: 'paid', answer: { data: ['dear'] }, replayed: false });
      expect([work.runs(), idle.runs()]).toEqual([1, 0]);
      expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
      // Paid for: the next one runs again.
      const next = workOf();
      await charge(await signedHeaders(till, buyer), next);
      expect(next.runs()).toBe(1);
    });

    it('may take as long as any: its answer can wait', async () => {
      const long = await createPayments({ ...till.settings, deadline_ms: 600_000 }, { pool: till.database.pool, logger: till.logger });
      const headers = await signedHeaders(till, await fundedBuyer(till));
      const timers = jest.spyOn(globalThis, 'setTimeout');
      expect(told(await long.charge(saleOf({ headers }), workOf()))).toBe('200');
      const times = timers.mock.calls.map(([, ms]) => ms);
      timers.mockRestore();
      expect(times).toContain(600_000);
      await long.stop();
    });

    it('is told so, and let go of, where the answer cannot be kept', async () => {
      const buyer = await fundedBuyer(till);
      const work = workOf(async () => {
        till.solana.advanceSlots(200);
        await untilSampled(till);
        return 'dear';
      });
      const keep = jest.spyOn(Rechallenge.prototype, 'keep').mockRejectedValueOnce(new Error('the database is away'));
      expect(told(await charge(await signedHeaders(till, buyer), work))).toBe('402 payment_expired blockhash_expired');
      keep.mockRestore();
      expect(await stateOf(buyer.publicKey.toBase58())).toEqual(['RELEASED']);
      expect(told(await charge(await signedHeaders(till, buyer)))).toBe('200');
    });

    it('is not kept for a payer of whom so many wait already', async () => {
      const buyer = await fundedBuyer(till);
      const payer = [buyer.publicKey.toBase58()];
      await till.database.pool.query(
        "INSERT INTO payment_rechallenge (payer, request_hash, answer, kept_until) SELECT $1, 'r' || n, '1', now() + interval '1 hour' FROM generate_series(1, 3) n",
        payer,
      );
      const work = workOf(async () => {
        till.solana.advanceSlots(200);
        await untilSampled(till);
        return 'one too many';
      });
      expect(told(await charge(await signedHeaders(till, buyer), work))).toBe('402 payment_expired blockhash_expired');
      expect((await till.database.pool.query('SELECT FROM payment_rechallenge WHERE payer = $1', payer)).rowCount).toBe(3);
    });

    it('does not hand it to another payer', async () => {
      const [one, two] = [await fundedBuyer(till), await fundedBuyer(till)];
      const path = '/api/v1/kept/for/one';
      const sale = saleOf({ path });
      const headers = await signedHeaders(till, one, {}, sale);
      const work = workOf(async () => {
        till.solana.advanceSlots(200);
        await untilSampled(till);
        return 'mine';
      });
      expect(told(await charge(headers, work, { path, request_hash: sale.request_hash }))).toContain('402 payment_expired');
      const others = workOf();
      const outcome = await charge(await signedHeaders(till, two, {}, sale), others, { path, request_hash: sale.request_hash });
      expect(outcome).toMatchObject({ kind: 'paid', answer: { data: [1, 2, 3] } });
      expect(others.runs()).toBe(1);
    });
  });

  describe('the buyer broadcasts the payment itself', () => {
    it('before asking: refused, pushed payments are not taken', async () => {
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      await broadcast(till, headers);
      const work = workOf();
      // Asked again it is no more of a debt than at first, whatever key comes with it, and whatever the chain could not tell before.
      till.solana.faults.inject('simulateTransaction', { kind: 'refuse' }, Infinity);
      expect(told(await charge(headers, work))).toBe('503 payments_unavailable');
      till.solana.faults.clear();
      // A laggard has not seen it; who simulates it has.
      till.solana.faults.inject('getSignatureStatuses', { kind: 'answer', result: { context: { slot: 1 }, value: [null] } }, Infinity);
      expect(told(await charge(headers, work))).toBe('402 payment_replayed duplicate_settlement');
      till.solana.faults.clear();
      const keyed = { 'Idempotency-Key': 'mine', ...headers };
      for (const again of [headers, keyed, keyed])
        expect(told(await charge(again, work))).toBe('402 payment_replayed duplicate_settlement');
      expect(work.runs()).toBe(0);
      // Nor is it looked for later, when it would be found.
      const looks = 'SELECT FROM payment WHERE payer = $1 AND look_at IS NOT NULL';
      expect((await till.database.pool.query(looks, [buyer.publicKey.toBase58()])).rowCount).toBe(0);
    });

    it('while the query runs, which succeeds: it is settled', async () => {
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      const outcome = await charge(
        headers,
        workOf(async () => (await broadcast(till, headers), 'served')),
      );
      expect(outcome).toMatchObject({ kind: 'paid', answer: 'served' });
      expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
    });

    it('while the query runs, which fails: owed, told with its id, and served to the same request with the secret', async () => {
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      const failing = workOf(async () => {
        await broadcast(till, headers);
        throw new AppError('internal');
      });
      const failed = await charge(headers, failing);
      expect(failed).toMatchObject({
        kind: 'refused',
        charged: 'pending',
        transaction: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/),
      });
      expect(await stateOf(buyer.publicKey.toBase58())).toEqual(['OWED']);
      // Failing again leaves the debt standing.
      expect(
        told(
          await charge(
            headers,
            workOf(() => Promise.reject(new AppError('empty_result'))),
          ),
        ),
      ).toBe('404 empty_result');
      expect(await stateOf(buyer.publicKey.toBase58())).toEqual(['OWED']);
      // By work that is long enough to be written down while it runs, too.
      const served = await charge(
        headers,
        workOf(() => new Promise((resolve) => setTimeout(() => resolve('served'), 300))),
      );
      expect(told(served)).toBe('200');
      expect(served.headers['PAYMENT-RESPONSE']).toBeTruthy();
      expect(told(await charge(headers))).toBe('200 replayed');
      expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
    });

    it('owed, and its buyer signs afresh: it is given what it has paid for, once, and pays nothing more', async () => {
      const buyer = await fundedBuyer(till);
      const owed = await signedHeaders(till, buyer);
      const failing = workOf(async () => {
        await broadcast(till, owed);
        throw new AppError('internal');
      });
      const { transaction } = (await charge(owed, failing)) as Outcome & { kind: 'refused' };
      const receiptOf = ({ headers }: Outcome): unknown =>
        JSON.parse(Buffer.from(String(headers['PAYMENT-RESPONSE']), 'base64').toString());
      // Failing again leaves the debt standing, and the fresh proof unused.
      const fresh = await signedHeaders(till, buyer);
      expect(
        await charge(
          fresh,
          workOf(() => Promise.reject(new AppError('empty_result'))),
        ),
      ).toMatchObject({
        error: { code: 'empty_result' },
        charged: 'pending',
        transaction,
      });
      expect(await stateOf(buyer.publicKey.toBase58())).toEqual(['OWED', 'RELEASED']);
      // The same request is dearer by now: the receipt tells what was paid.
      const dearer = saleOf({ amount: 30_000n });
      const later = await signedHeaders(till, buyer, {}, dearer);
      const served = await till.payments.charge(
        { ...dearer, raw_headers: Object.entries(later).flat() },
        workOf(async () => 'at last'),
      );
      expect(served).toMatchObject({ kind: 'paid', replayed: false, answer: 'at last' });
      expect(receiptOf(served)).toMatchObject({ transaction, amount: '20000' });
      for (const shown of [later, owed]) expect(await charge(shown)).toMatchObject({ kind: 'paid', replayed: true, answer: 'at last' });
      expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
      expect(told(await charge(await signedHeaders(till, buyer)))).toBe('200');
      expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_960_000n);
    });

    it('owed, and its buyer broadcasts the fresh proof as well while it is given that: the fresh one is owed then', async () => {
      const buyer = await fundedBuyer(till);
      const [owed, fresh] = [await signedHeaders(till, buyer), await signedHeaders(till, buyer)];
      const broadcasting = (headers: Record<string, string>, then: () => unknown): ReturnType<typeof workOf> =>
        workOf(async () => {
          await broadcast(till, headers);
          return then();
        });
      const failing = (): never => {
        throw new AppError('internal');
      };
      await charge(owed, broadcasting(owed, failing));
      expect(
        await charge(
          fresh,
          broadcasting(fresh, () => 'at last'),
        ),
      ).toMatchObject({ kind: 'paid', answer: 'at last' });
      await till.database.pool.query(
        "UPDATE payment SET look_at = now() - interval '1 second' WHERE state = 'RELEASED' AND look_at IS NOT NULL",
      );
      await till.payments.reconcile();
      await until(async () => (await stateOf(buyer.publicKey.toBase58()))[1] === 'OWED');
      expect(told(await charge(await signedHeaders(till, buyer)))).toBe('200');
      expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_960_000n);
    });

    it('owed, and another purchase of the same by a name of its own: sold, the debt stands', async () => {
      const buyer = await fundedBuyer(till);
      const owed = await signedHeaders(till, buyer);
      await charge(
        owed,
        workOf(async () => {
          await broadcast(till, owed);
          throw new AppError('internal');
        }),
      );
      expect(told(await charge({ ...(await signedHeaders(till, buyer)), 'Idempotency-Key': 'another-one' }))).toBe('200');
      await until(async () => (await stateOf(buyer.publicKey.toBase58())).at(-1) === 'DELIVERED');
      expect((await stateOf(buyer.publicKey.toBase58()))[0]).toBe('OWED');
      expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_960_000n);
    });

    it('later still, found by the reconciler: owed, unless the proof was used again', async () => {
      const [one, two] = [await fundedBuyer(till), await fundedBuyer(till)];
      const empty = workOf(() => Promise.reject(new AppError('empty_result')));
      const key = { 'Idempotency-Key': 'purchase-of-one' };
      const [pushed, reused] = [{ ...key, ...(await signedHeaders(till, one)) }, await signedHeaders(till, two)];
      for (const headers of [pushed, reused]) expect(told(await charge(headers, empty))).toBe('404 empty_result');
      await broadcast(till, pushed);
      expect(told(await charge(reused))).toBe('200');
      await till.database.pool.query(
        "UPDATE payment SET look_at = now() - interval '1 second' WHERE state = 'RELEASED' AND look_at IS NOT NULL",
      );
      await till.payments.reconcile();
      // Whoever of the processes that look was first.
      await until(async () => (await stateOf(one.publicKey.toBase58())).includes('OWED'));
      await until(async () => (await stateOf(two.publicKey.toBase58())).includes('DELIVERED'));
      expect(await stateOf(two.publicKey.toBase58())).toEqual(['RELEASED', 'DELIVERED']);
      // The key its buyer gave it names this purchase again, and no other.
      const { path, request_hash } = saleOf({ path: '/api/v1/markets/other' });
      const forOther = { ...key, ...(await signedHeaders(till, one, {}, saleOf({ path }))) };
      expect(told(await charge(forOther, workOf(), { path, request_hash }))).toBe('409 idempotency_conflict');
      expect(told(await charge(pushed))).toBe('200');
      expect(await till.solana.usdcBalance(one.publicKey.toBase58())).toBe(4_980_000n);
    });

    it('while the query runs, which ends in a 402: pending, for whoever is told to pay would pay again', async () => {
      const headers = await signedHeaders(till, await fundedBuyer(till));
      const failing = workOf(async () => {
        await broadcast(till, headers);
        throw new AppError('settlement_failed');
      });
      const outcome = await charge(headers, failing);
      expect([told(outcome), outcome]).toEqual(['503 settlement_pending', expect.objectContaining({ charged: 'pending' })]);
      expect(told(await charge(headers))).toBe('200');
    });

    it('after its release, and it fails on chain: no debt', async () => {
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      const work = workOf(() => Promise.reject(new AppError('empty_result')));
      expect(told(await charge(headers, work))).toBe('404 empty_result');
      await till.solana.setUsdc(buyer.publicKey.toBase58(), { amount: 0n });
      await broadcast(till, headers);
      expect(told(await charge(headers, work))).toBe('402 verification_failed invalid_exact_svm_transaction_failed');
      expect(work.runs()).toBe(1);
    });

    /** A charge whose work runs until it is told to end. */
    async function executing(address: string, headers: Record<string, string>): Promise<{ end(): ReturnType<typeof charge> }> {
      let finish: (value: unknown) => void = () => undefined;
      const work = workOf(() => new Promise((resolve) => (finish = resolve)));
      const outcome = charge(headers, work);
      await until(async () => (await stateOf(address))[0] === 'EXECUTING');
      return {
        end: () => {
          finish('too late');
          return outcome;
        },
      };
    }

    /** The buyer is owed, and served by another charge; the process that was taken for dead gives nothing when it ends after all. */
    async function servedInstead(
      address: string,
      headers: Record<string, string>,
      dying: Awaited<ReturnType<typeof executing>>,
    ): Promise<void> {
      await until(async () => (await stateOf(address))[0] === 'OWED');
      expect(told(await charge(headers))).toBe('200');
      expect(await dying.end()).toMatchObject({ kind: 'refused', charged: 'pending' });
      expect(await till.solana.usdcBalance(address)).toBe(4_980_000n);
    }

    it('after its process died, found by the reconciler: owed', async () => {
      const buyer = await fundedBuyer(till);
      const address = buyer.publicKey.toBase58();
      const headers = await signedHeaders(till, buyer);
      const dying = await executing(address, headers);
      await broadcast(till, headers);
      await till.database.pool.query('UPDATE payment SET instance = gen_random_uuid() WHERE payer = $1', [address]);
      await till.payments.reconcile();
      await until(async () => (await stateOf(address))[0] === 'RELEASED');
      await till.database.pool.query("UPDATE payment SET look_at = now() - interval '1 second' WHERE look_at > now() AND payer = $1", [
        address,
      ]);
      await till.payments.reconcile();
      await servedInstead(address, headers, dying);
    });

    it('owed, and served once by work that takes its time, however many ask at once', async () => {
      const buyer = await fundedBuyer(till);
      const headers = await signedHeaders(till, buyer);
      const failing = workOf(async () => {
        await broadcast(till, headers);
        throw new Error('broken');
      });
      expect(await charge(headers, failing)).toMatchObject({ kind: 'refused', charged: 'pending' });
      const { outcomes, runs } = await chargedAtOnce(5, 4, 'in the end', (work) => charge(headers, work));
      expect(outcomes.find(({ kind }) => kind === 'paid')).toMatchObject({ answer: 'in the end', replayed: false });
      expect(outcomes.map(told).sort()).toEqual(['200', ...Array.from({ length: 4 }, () => '409 payment_in_progress')]);
      expect(runs).toBe(1);
      expect(await till.solana.usdcBalance(buyer.publicKey.toBase58())).toBe(4_980_000n);
    });

    it('owed, and the process that serves it dies: still owed, to the one with the secret', async () => {
      const buyer = await fundedBuyer(till);
      const address = buyer.publicKey.toBase58();
      const headers = await signedHeaders(till, buyer);
      const failing = workOf(async () => {
        await broadcast(till, headers);
        throw new Error('broken');
      });
      expect(await charge(headers, failing)).toMatchObject({ kind: 'refused', charged: 'pending' });
      const dying = await executing(address, headers);
      await till.database.pool.query('UPDATE payment SET instance = gen_random_uuid() WHERE payer = $1', [address]);
      await till.payments.reconcile();
      await servedInstead(address, headers, dying);
    });

    it('looked for while somebody else tries it with a copy from the chain: owed at the next look', async () => {
      const buyer = await fundedBuyer(till);
      const address = buyer.publicKey.toBase58();
      const requirement = requirementOf(await challengeOf(till));
      const headers = { 'PAYMENT-SIGNATURE': proofFor(buyer, requirement) };
      const copied = { 'PAYMENT-SIGNATURE': proofFor(buyer, requirement, { edit: withoutQuote }) };
      expect(told(await charge(headers, workOf(() => Promise.reject(new AppError('empty_result')))))).toBe('404 empty_result'); // prettier-ignore
      await broadcast(till, headers);
      const look = async (): Promise<void> => {
        await till.database.pool.query('UPDATE payment SET look_at = created_at WHERE payer = $1 AND look_at IS NOT NULL', [address]);
        await till.payments.reconcile();
      };
      const meanwhile = jest.spyOn(Ledger.prototype, 'adoptDebt').mockImplementationOnce(async () => (await look(), false));
      expect(told(await charge(copied))).toBe('402 payment_replayed duplicate_settlement');
      meanwhile.mockRestore();
      await until(async () => {
        await look();
        return (await stateOf(address)).includes('OWED');
      });
      expect(told(await charge(headers))).toBe('200');
      expect(await till.solana.usdcBalance(address)).toBe(4_980_000n);
    });

    it('after a failed query and its release: still served, to the one with the secret', async () => {
      const buyer = await fundedBuyer(till);
      const requirement = requirementOf(await challengeOf(till));
      const whole = proofFor(buyer, requirement);
      expect(
        told(
          await charge(
            { 'PAYMENT-SIGNATURE': whole },
            workOf(() => Promise.reject(new AppError('empty_result'))),
          ),
        ),
      ).toBe('404 empty_result');
      await broadcast(till, { 'PAYMENT-SIGNATURE': whole });
      const bare = proofFor(buyer, requirement, { edit: withoutQuote });
      expect(told(await charge({ 'PAYMENT-SIGNATURE': bare }))).toBe('402 payment_replayed duplicate_settlement');
      expect(told(await charge({ 'PAYMENT-SIGNATURE': whole }))).toBe('200');
    });
  });
});
