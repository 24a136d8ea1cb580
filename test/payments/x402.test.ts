import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Keypair } from '@solana/web3.js';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { x402HTTPClient } from '@x402/core/client';
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/client';
import { createPayments } from '../../src/payments/charge';
import type { Challenge, Payments, Sale } from '../../src/payments/protocol';
import { memoOf, tokenOf } from '../../src/payments/quote-token';
import { memo } from './solana-signing';
import { challengeOf, fundedBuyer, openTill, proofFor, requirementOf, saleOf, SECRET, type Till, told, withoutQuote, workOf } from './till';

type Body = {
  x402Version: number;
  accepts: Record<string, unknown>[];
  resource: unknown;
  error: string;
  extensions: Record<string, unknown>;
};

const headerOf = (challenge: Challenge): Body =>
  JSON.parse(Buffer.from(String(challenge.headers['PAYMENT-REQUIRED']), 'base64').toString()) as Body;
/** As clients make one: 16 random bytes. */
const NONCE = 'aabbccddeeff00112233445566778899';
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

describe('x402', () => {
  let till: Till;
  let buyer: Keypair;
  beforeAll(async () => {
    till = await openTill();
    buyer = await fundedBuyer(till, 100_000_000n);
  });
  afterAll(() => till.stop());

  const charge = async (
    headers: Record<string, string>,
    sale: Partial<Omit<Sale, 'headers'>> = {},
    payments: Payments = till.payments,
  ): Promise<string> => told(await payments.charge(saleOf({ headers, ...sale }), workOf()));
  const withSettings = async <T>(settings: object, use: (payments: Payments) => Promise<T>): Promise<T> => {
    const payments = await createPayments({ ...till.settings, ...settings }, { pool: till.database.pool, logger: till.logger });
    await payments.start();
    try {
      return await use(payments);
    } finally {
      await payments.stop();
    }
  };

  describe('the offer', () => {
    it('is a version 2 requirement with a unique memo, a quote and a fresh blockhash, under both header names', async () => {
      const sale = saleOf();
      const challenge = await challengeOf(till, sale);
      expect(challenge.headers['X-PAYMENT-REQUIRED']).toBe(challenge.headers['PAYMENT-REQUIRED']);
      const header = headerOf(challenge);
      expect(header).toEqual({
        x402Version: 2,
        error: 'Payment required',
        resource: { url: sale.url, description: sale.description, mimeType: 'application/json' },
        extensions: { 'payment-identifier': { info: { required: false }, schema: expect.any(Object) } },
        accepts: [
          {
            scheme: 'exact',
            network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
            amount: '20000',
            asset: till.solana.mint,
            payTo: till.merchant.publicKey.toBase58(),
            maxTimeoutSeconds: 90,
            extra: {
              memo: expect.stringMatching(/^q1\.[\w-]{12}\.[0-9a-z]+\.[\w-]{22}$/),
              quote: expect.any(String),
              recentBlockhash: expect.any(String),
              lastValidBlockHeight: expect.stringMatching(/^\d+$/),
            },
          },
        ],
      });
      const other = requirementOf(await challengeOf(till, sale)).extra;
      const mine = requirementOf(challenge).extra;
      expect(other.memo).not.toBe(mine.memo);
      expect(other.quote).not.toBe(mine.quote);
      expect(Buffer.byteLength(mine.memo)).toBeLessThan(64);
      expect(challenge.expires_at.getTime() - Date.now()).toBeGreaterThan(295_000);
    });

    it('has a body that hand-written and tolerant version 1 readers understand (mode v2), and is understood by the stock core', async () => {
      const challenge = await challengeOf(till);
      expect(challenge.x402).toMatchObject({
        x402Version: 2,
        accepts: [
          {
            amount: '20000',
            maxAmountRequired: '20000',
            resource: expect.any(String),
            description: expect.any(String),
            mimeType: 'application/json',
            outputSchema: null,
          },
        ],
      });
      const core = new x402HTTPClient(new x402Client());
      const understood = core.getPaymentRequiredResponse((name) => (challenge.headers[name] as string | undefined) ?? null, challenge.x402);
      expect(understood.accepts[0]).toMatchObject({ amount: '20000', network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' });
    });

    it('has a strict version 1 body in mode v1, while the header stays version 2', async () => {
      await withSettings({ body_mode: 'v1' }, async (payments) => {
        const outcome = await payments.charge(saleOf(), workOf());
        if (outcome.kind !== 'challenge') throw new Error(told(outcome));
        expect(outcome.challenge.x402).toMatchObject({
          x402Version: 1,
          accepts: [{ network: 'solana', maxAmountRequired: '20000', amount: '20000' }],
        });
        expect(headerOf(outcome.challenge)).toMatchObject({
          x402Version: 2,
          accepts: [{ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }],
        });
      });
    });

    it('names the payer of the fee: nobody, the hinted buyer, or the sponsor', async () => {
      const hint = { 'X-Payer': buyer.publicKey.toBase58() };
      const feePayer = async (payments: Payments, headers: Record<string, string>): Promise<string | undefined> => {
        const outcome = await payments.charge(saleOf({ headers }), workOf());
        return outcome.kind === 'challenge' ? requirementOf(outcome.challenge).extra.feePayer : undefined;
      };
      expect(await feePayer(till.payments, {})).toBeUndefined();
      expect(await feePayer(till.payments, hint)).toBe(buyer.publicKey.toBase58());
      expect(await feePayer(till.payments, { 'X-Payer': 'not an address' })).toBeUndefined();
      const sponsored = await openTill({ sponsored: true });
      expect(await feePayer(sponsored.payments, {})).toBe(sponsored.sponsor.publicKey.toBase58());
      expect(await feePayer(sponsored.payments, hint)).toBe(buyer.publicKey.toBase58());
      expect(sponsored.payments.methods()[0]).toMatchObject({ fees_paid_by: 'server' });
      await sponsored.stop();
    });

    it('says why a proof was refused', async () => {
      const proof = proofFor(buyer, requirementOf(await challengeOf(till)), { wish: { amount: 1n } });
      const outcome = await till.payments.charge(saleOf({ headers: { 'PAYMENT-SIGNATURE': proof } }), workOf());
      if (outcome.kind !== 'challenge') throw new Error(told(outcome));
      expect(headerOf(outcome.challenge).error).toBe('invalid_exact_svm_payload_amount_mismatch');
      expect(JSON.parse(Buffer.from(outcome.headers['PAYMENT-RESPONSE'] as string, 'base64').toString())).toEqual({
        success: false,
        errorReason: 'invalid_exact_svm_payload_amount_mismatch',
        transaction: '',
        network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      });
    });
  });

  it('tells who built the transaction by hand what is allowed, and how to be allowed more', async () => {
    const sponsored = await openTill({ sponsored: true });
    const requirement = requirementOf(await challengeOf(sponsored));
    const proof = proofFor(buyer, requirement, { wish: { limit: 50_000 } });
    const outcome = await sponsored.payments.charge(saleOf({ headers: { 'PAYMENT-SIGNATURE': proof } }), workOf());
    await sponsored.stop();
    expect(outcome).toMatchObject({
      error: {
        code: 'verification_failed',
        message:
          'The compute unit limit may be at most 40,000 where the server pays the fee, 200,000 where the buyer does (asked for by the X-Payer header).',
      },
    });
  });

  describe('reading', () => {
    it.each(['PAYMENT-SIGNATURE', 'X-PAYMENT', 'payment-signature'])('takes a proof from %s', async (name) => {
      expect(await charge({ [name]: proofFor(buyer, requirementOf(await challengeOf(till))) })).toBe('200');
    });

    it('takes base64url too, and the same proof under both names as one', async () => {
      const proof = proofFor(buyer, requirementOf(await challengeOf(till)));
      const lenient = proof.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
      expect(await charge({ 'PAYMENT-SIGNATURE': lenient, 'X-PAYMENT': lenient })).toBe('200');
    });

    it('refuses two different proofs, by name or by repetition, and one of each scheme', async () => {
      const requirement = requirementOf(await challengeOf(till));
      const [one, two] = [proofFor(buyer, requirement), proofFor(buyer, requirement, { wish: { price: 7 } })];
      expect(await charge({ 'PAYMENT-SIGNATURE': one, 'X-PAYMENT': two })).toBe('400 ambiguous_payment');
      expect(await charge({}, { raw_headers: ['X-PAYMENT', one, 'x-payment', two] })).toBe('400 ambiguous_payment');
      expect(await charge({ 'PAYMENT-SIGNATURE': one, Authorization: 'Payment e30' })).toBe('400 ambiguous_payment');
      expect(await charge({ 'PAYMENT-SIGNATURE': one, Authorization: 'Bearer x, Payment e30' })).toBe('400 ambiguous_payment');
    });

    const good = {
      x402Version: 2,
      accepted: { scheme: 'exact', network: 'n', amount: '1', asset: 'a', payTo: 'p' },
      payload: { transaction: 'AA==' },
    };
    const deep = `{"x402Version":2,"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    it.each<[name: string, header: string, reason?: string]>([
      ['empty', ''],
      ['not base64', '%%%'],
      ['not JSON', Buffer.from('hello').toString('base64')],
      ['an array', encode([1])],
      ['null', encode(null)],
      ['no version', encode({ ...good, x402Version: undefined })],
      ['version 3', encode({ ...good, x402Version: 3 })],
      ['no accepted', encode({ ...good, accepted: undefined })],
      ['amount as a number', encode({ ...good, accepted: { ...good.accepted, amount: 1 } })],
      ['no transaction', encode({ ...good, payload: {} })],
      ['transaction as an object', encode({ ...good, payload: { transaction: {} } })],
      ['extra as text', encode({ ...good, accepted: { ...good.accepted, extra: 'x' } })],
      ['quote as a number', encode({ ...good, accepted: { ...good.accepted, extra: { quote: 1 } } })],
      ['a short payment-identifier', encode({ ...good, extensions: { 'payment-identifier': { info: { id: 'short' } } } })],
      ['a long payment-identifier', encode({ ...good, extensions: { 'payment-identifier': { info: { id: 'x'.repeat(129) } } } })],
      ['deep JSON', Buffer.from(deep).toString('base64'), ' nested too deeply'],
      ['larger than 16 KiB', encode({ ...good, filler: 'a'.repeat(13_000) }), ' larger than 16 KiB'],
    ])('answers 400 malformed_payment: %s', async (_, header, reason = '') => {
      expect(await charge({ 'PAYMENT-SIGNATURE': header })).toContain(`400 malformed_payment${reason}`);
    });

    it('takes many things side by side: they are not deep', async () => {
      const edit = (payload: object): object => ({ ...payload, extensions: { other: Array.from({ length: 20 }, () => ({})) } });
      const proof = proofFor(buyer, requirementOf(await challengeOf(till)), { edit });
      expect(await charge({ 'PAYMENT-SIGNATURE': proof })).toBe('200');
    });

    it('refuses x402 proofs when only other protocols are on', async () => {
      const proof = proofFor(buyer, requirementOf(await challengeOf(till)));
      const tempo = {
        rpc_urls: ['http://127.0.0.1:1'],
        pay_to: '0x742d35cc6634c0532925a3b844bc9e7595f8fe00',
        chain_id: 4217,
        usdc: '0x20C000000000000000000000b9537d11c60E8b50',
      };
      const payments = await createPayments({ ...till.settings, solana: false, tempo }, { pool: till.database.pool, logger: till.logger });
      expect(await charge({ 'PAYMENT-SIGNATURE': proof }, {}, payments)).toBe('400 method_unsupported method_unsupported');
      await payments.stop();
    });
  });

  describe('terms', () => {
    const edited = async (change: Record<string, unknown>): Promise<string> => {
      const requirement = requirementOf(await challengeOf(till));
      return charge({
        'PAYMENT-SIGNATURE': proofFor(buyer, requirement, {
          edit: (payload) => ({ ...payload, accepted: { ...(payload.accepted as object), ...change } }),
        }),
      });
    };
    it.each<[Record<string, unknown>, string]>([
      [{ scheme: 'upto' }, '402 verification_failed invalid_exact_svm_unsupported_scheme'],
      [{ network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }, '402 verification_failed invalid_exact_svm_network_mismatch'],
      [{ network: 'solana' }, '402 verification_failed invalid_exact_svm_network_mismatch'],
      [{ asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' }, '402 verification_failed invalid_exact_svm_payload_mint_mismatch'],
      [{ payTo: Keypair.generate().publicKey.toBase58() }, '402 verification_failed invalid_exact_svm_payload_recipient_mismatch'],
      [{ amount: '10000' }, '402 payment_insufficient invalid_exact_svm_payload_amount_mismatch'],
      [{ amount: 'ten' }, '402 verification_failed invalid_exact_svm_payload_amount_mismatch'],
      [{ amount: '30000' }, '402 verification_failed invalid_exact_svm_payload_amount_mismatch'],
    ])('%j: %s', async (change, expected) => {
      expect(await edited(change)).toBe(expected);
    });

    it('ignores what it does not need of the echoed offer', async () => {
      expect(
        await edited({ maxTimeoutSeconds: 1, extra: { ...requirementOf(await challengeOf(till)).extra, memo: 'x', feePayer: 'y' } }),
      ).toContain('402 verification_failed');
      const requirement = requirementOf(await challengeOf(till));
      const headers = {
        'PAYMENT-SIGNATURE': proofFor(buyer, requirement, {
          edit: (payload) => ({
            ...payload,
            accepted: { ...requirement, scheme: 'exact', extra: { quote: requirement.extra.quote, feePayer: buyer.publicKey.toBase58() } },
          }),
        }),
      };
      expect(await charge(headers)).toBe('200');
    });
  });

  describe('binding', () => {
    it('refuses the proof of a cheaper or other request', async () => {
      const cheap = saleOf({ path: '/api/v1/cheap', amount: 10_000n });
      const proof = proofFor(buyer, requirementOf(await challengeOf(till, cheap)));
      expect(await charge({ 'PAYMENT-SIGNATURE': proof })).toBe('402 payment_insufficient other_request');
      expect(await charge({ 'PAYMENT-SIGNATURE': proof }, { amount: 10_000n })).toBe('402 verification_failed invalid_challenge');
      const bare = proofFor(buyer, requirementOf(await challengeOf(till, cheap)), { edit: withoutQuote });
      expect(await charge({ 'PAYMENT-SIGNATURE': bare })).toBe('402 payment_insufficient other_request');
      const same = saleOf({ path: '/api/v1/other' });
      const samePrice = proofFor(buyer, requirementOf(await challengeOf(till, same)), { edit: withoutQuote });
      expect(await charge({ 'PAYMENT-SIGNATURE': samePrice })).toBe('402 verification_failed invalid_exact_svm_payload_memo_mismatch');
    });

    it('refuses memos that are double, forged or of another offer, and, where no quote is echoed, missing or foreign', async () => {
      const attempt = async (wish: object, edit?: typeof withoutQuote): Promise<string> =>
        charge({ 'PAYMENT-SIGNATURE': proofFor(buyer, requirementOf(await challengeOf(till)), { wish, ...(edit ? { edit } : {}) }) });
      const [count, mismatch] = ['count', 'mismatch'].map((what) => `402 verification_failed invalid_exact_svm_payload_memo_${what}`);
      expect(await attempt({ extra: [memo('another')] })).toBe(count);
      expect(await attempt({ memo: 'q1.abcdefghijkl.zzzzzz.abcdefghijklmnopqrstuv' })).toBe(mismatch);
      expect(await attempt({ memo: requirementOf(await challengeOf(till)).extra.memo })).toBe(mismatch);
      expect(await attempt({ memo: undefined }, withoutQuote)).toBe(count);
      expect(await attempt({ memo: NONCE }, withoutQuote)).toBe(mismatch);
    });

    it.each([
      ['a number of its own for a memo, as @x402/svm before 2.10 writes', NONCE],
      ['no memo', undefined],
    ])('takes a proof with %s by the quote it echoes: once, and for its request alone', async (_, text) => {
      const requirement = requirementOf(await challengeOf(till));
      const wish = { memo: text, price: 9 };
      const proof = { 'PAYMENT-SIGNATURE': proofFor(buyer, requirement, { wish }) };
      expect(await charge(proof, { path: '/api/v1/other' })).toBe('402 verification_failed invalid_challenge');
      expect(await charge(proof)).toBe('200');
      expect(await charge(proof)).toBe('200 replayed');
      // The same transaction under an offer that somebody else asked for.
      const { extra } = requirementOf(await challengeOf(till));
      const stolen = { ...requirement, extra: { ...requirement.extra, quote: extra.quote } };
      expect(await charge({ 'PAYMENT-SIGNATURE': proofFor(buyer, stolen, { wish }) })).toBe('402 payment_replayed invalid_challenge');
    });

    it('honours an unexpired quote after the price has changed, and nothing after it has expired', async () => {
      const old = requirementOf(await challengeOf(till));
      expect(await charge({ 'PAYMENT-SIGNATURE': proofFor(buyer, old) }, { amount: 50_000n })).toBe('200');
      await withSettings({ offer_ms: 1_000, clock_skew_ms: 0 }, async (payments) => {
        const outcome = await payments.charge(saleOf(), workOf());
        if (outcome.kind !== 'challenge') throw new Error(told(outcome));
        const requirement = requirementOf(outcome.challenge);
        const bare = proofFor(buyer, requirement, { edit: withoutQuote, wish: { price: 5 } });
        await new Promise((resolve) => setTimeout(resolve, 1_100));
        for (const proof of [proofFor(buyer, requirement), bare])
          expect(await charge({ 'PAYMENT-SIGNATURE': proof }, {}, payments)).toBe('402 payment_expired challenge_expired');
      });
    });

    it('honours the price of an offer whose memo alone comes back, once, and no other that is named beside it', async () => {
      const single = requirementOf(await challengeOf(till));
      const old = proofFor(buyer, requirementOf(await challengeOf(till)), { edit: withoutQuote });
      expect(await charge({ 'PAYMENT-SIGNATURE': old }, { amount: 50_000n })).toBe('200');
      const [once, again] = [{ price: 6 }, { price: 7 }].map((wish) => proofFor(buyer, single, { edit: withoutQuote, wish }));
      expect(await charge({ 'PAYMENT-SIGNATURE': String(once) })).toBe('200');
      expect(await charge({ 'PAYMENT-SIGNATURE': String(again) })).toBe('402 payment_replayed invalid_challenge');
      const cheaper = { ...requirementOf(await challengeOf(till)), amount: '1' };
      const proof = proofFor(buyer, cheaper, { edit: withoutQuote });
      expect(await charge({ 'PAYMENT-SIGNATURE': proof })).toBe('402 payment_insufficient other_request');
    });

    it('takes proofs signed for an offer of the previous secret, and none of an unknown one', async () => {
      const proof = proofFor(buyer, requirementOf(await challengeOf(till)));
      const rotated = 'another secret, which signs from now on, 32+';
      await withSettings({ secrets: [rotated, SECRET] }, async (payments) =>
        expect(await charge({ 'PAYMENT-SIGNATURE': proof }, {}, payments)).toBe('200'),
      );
      const forged = proofFor(buyer, requirementOf(await challengeOf(till)), {
        wish: {
          memo: memoOf(
            { id: 'abcdefghijkl', expires_at: new Date(Date.now() + 60_000), amount: 20_000n, request_hash: saleOf().request_hash },
            rotated,
          ),
        },
        edit: withoutQuote,
      });
      expect(await charge({ 'PAYMENT-SIGNATURE': forged })).toBe('402 verification_failed invalid_exact_svm_payload_memo_mismatch');
      const token = tokenOf(
        { id: 'abcdefghijkl', expires_at: new Date(Date.now() + 60_000), amount: 1n, request_hash: saleOf().request_hash },
        rotated,
      );
      const requirement = requirementOf(await challengeOf(till));
      expect(
        await charge({ 'PAYMENT-SIGNATURE': proofFor(buyer, { ...requirement, extra: { ...requirement.extra, quote: token } }) }),
      ).toBe('402 verification_failed invalid_challenge');
    });
  });

  describe('version 1', () => {
    it('takes a payload with and without our memo, and answers in version 1 words', async () => {
      for (const memo of [undefined, requirementOf(await challengeOf(till)).extra.memo]) {
        const requirement = requirementOf(await challengeOf(till));
        const headers = { 'X-PAYMENT': proofFor(buyer, requirement, { version: 1, wish: { memo, price: memo === undefined ? 3 : 4 } }) };
        const outcome = await till.payments.charge(saleOf({ headers }), workOf());
        expect(told(outcome)).toBe('200');
        const receipt = JSON.parse(Buffer.from(outcome.headers['PAYMENT-RESPONSE'] as string, 'base64').toString()) as object;
        expect(receipt).toEqual({
          success: true,
          payer: buyer.publicKey.toBase58(),
          transaction: expect.any(String),
          network: 'solana',
          amount: '20000',
        });
        // It carries no secret: used is used.
        expect(told(await till.payments.charge(saleOf({ headers }), workOf()))).toBe('402 payment_replayed invalid_challenge');
      }
    });

    it('refuses foreign memos and other networks', async () => {
      const requirement = requirementOf(await challengeOf(till));
      expect(await charge({ 'X-PAYMENT': proofFor(buyer, requirement, { version: 1, wish: { memo: 'hello' } }) })).toBe(
        '402 verification_failed invalid_exact_svm_payload_memo_mismatch',
      );
      expect(
        await charge({
          'X-PAYMENT': proofFor(buyer, requirement, { version: 1, edit: (payload) => ({ ...payload, network: 'solana-devnet' }) }),
        }),
      ).toBe('402 verification_failed invalid_exact_svm_network_mismatch');
    });

    it('collects by Idempotency-Key, the one secret it has', async () => {
      const headers = {
        'Idempotency-Key': 'v1-order-7',
        'X-PAYMENT': proofFor(buyer, requirementOf(await challengeOf(till)), { version: 1, wish: { price: 5 } }),
      };
      expect(await charge(headers)).toBe('200');
      expect(await charge(headers)).toBe('200 replayed');
    });

    it('sells to the stock version 1 client through a version 1 body alone', async () => {
      const sponsored = await openTill({ sponsored: true, settings: { body_mode: 'v1' } });
      const client = await fundedBuyer(sponsored);
      const server = http.createServer((request, response) => {
        const url = `http://${request.headers.host}${request.url}`;
        void sponsored.payments.charge(saleOf({ path: request.url, url, raw_headers: request.rawHeaders }), workOf()).then((outcome) => {
          if (outcome.kind === 'paid') return void response.writeHead(200, outcome.headers).end(JSON.stringify(outcome.answer));
          // Without the version 2 header the client reads the body.
          response
            .writeHead(outcome.error.status, { 'content-type': 'application/json' })
            .end(JSON.stringify(outcome.kind === 'challenge' ? outcome.challenge.x402 : {}));
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const signer = await createKeyPairSignerFromBytes(client.secretKey);
      const stock = new x402Client().registerV1('solana', new ExactSvmSchemeV1(signer, { rpcUrl: sponsored.solana.url }));
      const response = await wrapFetchWithPayment(fetch, stock)(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/v1`);
      expect(response.status).toBe(200);
      expect(await sponsored.solana.usdcBalance(client.publicKey.toBase58())).toBe(4_980_000n);
      await new Promise((resolve) => server.close(resolve));
      await sponsored.stop();
    });
  });
});
