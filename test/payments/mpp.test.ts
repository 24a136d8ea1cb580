import fc from 'fast-check';
import { Challenge, Credential, Errors, Receipt } from 'mppx';
import { Json as OxJson } from 'ox';
import { AppError, type ErrorCode } from '../../src/errors';
import type { Json, JsonObject, Sale } from '../../src/payments/protocol';
import { canonicalJson, decodeJson, encodeJson } from '../../src/payments/protocols/canonical-json';
import {
  type MppSettings,
  assertMppSettings,
  challengeId,
  checkChallenge,
  issueChallenge,
  problemOf,
  readCredential,
  receiptHeader,
} from '../../src/payments/protocols/mpp';
import { type EchoedChallenge, decodeCredential, paymentCredentials } from '../../src/payments/protocols/mpp-wire';

const CASES = Number(process.env.PROPERTY_CASES ?? 500);
const SECRET = '0123456789abcdef0123456789abcdef';
const settings: MppSettings = { realm: 'api.example.com', secrets: [SECRET], offer_ms: 300_000 };
const request: JsonObject = {
  amount: '20000',
  currency: '0x20C000000000000000000000b9537d11c60E8b50',
  recipient: '0x742d35Cc6634C0532925a3b844Bc9e7595f8fE00',
  externalId: 'req_1',
  methodDetails: { chainId: 4217, supportedModes: ['pull'] },
};
const now = new Date('2030-01-01T00:00:00.000Z');

function saleOf(over: Partial<Sale> = {}): Sale {
  return {
    request_id: 'req_1',
    method: 'GET',
    path: '/api/v1/markets/trending',
    url: 'https://api.example.com/api/v1/markets/trending?limit=5',
    description: 'Markets with highest recent volume',
    media_type: 'application/json',
    amount: 20_000n,
    request_hash: 'a'.repeat(64),
    sent_hash: 'c'.repeat(64),
    raw_headers: [],
    ...over,
  };
}

const issue = (sale = saleOf(), by = settings) => issueChallenge(by, sale, { method: 'tempo', request, now });
const authorized = (value: string): Sale => saleOf({ raw_headers: ['Host', 'api.example.com', 'Authorization', value] });

/** The challenge as a client echoes it, read from the emitted header. */
function echoOf(header: string): EchoedChallenge {
  const params = Object.fromEntries([...header.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  return params as unknown as EchoedChallenge;
}

function credentialOf(header: string): string {
  const payload = { type: 'transaction', signature: '0x76' };
  return `Payment ${encodeJson({ challenge: echoOf(header) as unknown as JsonObject, payload, source: 'did:pkh:eip155:4217:0x0000000000000000000000000000000000000001' })}`;
}

function codeOf(run: () => unknown): { code: ErrorCode; reason: string | undefined } | null {
  try {
    run();
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: error.code, reason: error.context.reason };
  }
}

describe('challenge id', () => {
  const vector = {
    realm: 'api.example.com',
    method: 'tempo',
    intent: 'charge',
    request: encodeJson({
      amount: '10000',
      currency: '0x20c000000000000000000000b9537d11c60e8b50',
      methodDetails: { chainId: 4217, supportedModes: ['pull'] },
      recipient: '0x742d35cc6634c0532925a3b844bc9e7595f8fe00',
    }),
    expires: '2030-01-01T00:05:00.000Z',
    opaque: encodeJson({ rq: 'abc', ep: 'GET /v1/x' }),
  };

  it('is the published test vector', () => {
    expect(vector.request).toBe(
      'eyJhbW91bnQiOiIxMDAwMCIsImN1cnJlbmN5IjoiMHgyMGMwMDAwMDAwMDAwMDAwMDAwMDAwMDBiOTUzN2QxMWM2MGU4YjUwIiwibWV0aG9kRGV0YWlscyI6eyJjaGFpbklkIjo0MjE3LCJzdXBwb3J0ZWRNb2RlcyI6WyJwdWxsIl19LCJyZWNpcGllbnQiOiIweDc0MmQzNWNjNjYzNGMwNTMyOTI1YTNiODQ0YmM5ZTc1OTVmOGZlMDAifQ',
    );
    expect(vector.opaque).toBe('eyJlcCI6IkdFVCAvdjEveCIsInJxIjoiYWJjIn0');
    expect(challengeId(SECRET, vector)).toBe('5akKRA6fyJhLooto0LfTPeSFOyf6TMGGRyHZgDBmanY');
  });

  it('is what mppx computes, for any request and any optional slots', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()),
        fc.boolean(),
        fc.boolean(),
        (raw, withExpires, withDigest) => {
          const body = JSON.parse(JSON.stringify(raw)) as JsonObject;
          const expires = withExpires ? '2030-01-01T00:05:00.000Z' : undefined;
          const digest = withDigest ? 'sha-256=:abc:' : undefined;
          const theirs = Challenge.from({
            secretKey: SECRET,
            realm: 'h',
            method: 'solana',
            intent: 'charge',
            request: body,
            expires,
            digest,
          });
          expect(challengeId(SECRET, { realm: 'h', method: 'solana', intent: 'charge', request: encodeJson(body), expires, digest })).toBe(
            theirs.id,
          );
        },
      ),
      { numRuns: CASES },
    );
  });
});

describe('canonical JSON', () => {
  it('agrees with another implementation of RFC 8785', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(canonicalJson(value as Json)).toBe(OxJson.canonicalize(value));
        expect(JSON.parse(canonicalJson(value as Json))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: CASES },
    );
  });

  it('orders keys by UTF-16 code unit and leaves undefined members out', () => {
    expect(canonicalJson({ '\u20ac': 1, '\r': 2, '1': 3, '\ud83d\ude00': 4, '\ufb33': 5, a: undefined as unknown as Json })).toBe(
      '{"\\r":2,"1":3,"\u20ac":1,"\ud83d\ude00":4,"\ufb33":5}',
    );
  });
});

describe('challenge header', () => {
  it('is read by mppx, signature included', () => {
    const { header, id, expires_at } = issue();
    const read = Challenge.deserialize(header);
    expect(read).toMatchObject({
      id,
      realm: 'api.example.com',
      method: 'tempo',
      intent: 'charge',
      request,
      description: 'Markets with highest recent volume',
      expires: '2030-01-01T00:05:00.000Z',
    });
    expect(Challenge.verify(read, { secretKey: SECRET })).toBe(true);
    expect(Challenge.verify(read, { secretKey: 'another secret of at least 32 bytes' })).toBe(false);
    expect(expires_at).toEqual(new Date('2030-01-01T00:05:00.000Z'));
  });

  it('stands beside another one on joined lines', () => {
    const tempo = issue();
    const solana = issueChallenge(settings, saleOf(), { method: 'solana', request: { amount: '20000' }, now });
    const list = Challenge.deserializeList(`${tempo.header}, ${solana.header}`);
    expect(list.map((challenge) => challenge.method)).toEqual(['tempo', 'solana']);
    expect(list.every((challenge) => Challenge.verify(challenge, { secretKey: SECRET }))).toBe(true);
  });

  it('survives naive parsers whatever the description says', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('say "hi"', 'a\\b', 'x, Payment id="y"', 'é\r\nSet-Cookie: a')),
        (description) => {
          const { header, id } = issue(saleOf({ description }));
          expect(header).toMatch(/^Payment (?:[a-z]+="[\x20-\x21\x23-\x5b\x5d-\x7e]*"(?:, |$)){8}$/);
          expect(header.split(', Payment ')).toHaveLength(1);
          expect(echoOf(header).id).toBe(id);
        },
      ),
      { numRuns: CASES },
    );
  });

  it('never repeats, and carries what it was issued for', () => {
    const offers = Array.from({ length: 50 }, () => issue());
    expect(new Set(offers.map((offer) => offer.id)).size).toBe(50);
    const carried = decodeJson(echoOf(offers[0]?.header as string).opaque as string);
    expect(carried).toMatchObject({ ep: 'GET /api/v1/markets/trending', rq: 'a'.repeat(64) });
  });
});

describe('settings', () => {
  it.each([
    ['no secret', { secrets: [] }],
    ['a short secret', { secrets: [SECRET, 'x'.repeat(31)] }],
    ['a realm with a quote', { realm: 'a"b' }],
    ['a realm with a pipe', { realm: 'a|b' }],
    ['a realm with a comma', { realm: 'a,b' }],
    ['a realm with a backslash', { realm: 'a\\b' }],
    ['an empty realm', { realm: '' }],
  ])('refuse %s', (_, over) => {
    expect(() => assertMppSettings({ ...settings, ...over })).toThrow();
    expect(() => assertMppSettings(settings)).not.toThrow();
  });
});

describe('checkChallenge', () => {
  const check = (challenge: EchoedChallenge, sale = saleOf(), by = settings, expected = request) =>
    checkChallenge(by, challenge, sale, { method: 'tempo', request: expected });

  it('accepts its own challenge and returns what it says', () => {
    const { header, id } = issue();
    expect(check(echoOf(header))).toMatchObject({ id, request, amount: 20_000n, expires_at: new Date('2030-01-01T00:05:00.000Z') });
  });

  it('does not judge the time: an answer outlives its challenge', () => {
    const old = issueChallenge(settings, saleOf(), { method: 'tempo', request, now: new Date('2001-01-01T00:00:00Z') });
    expect(check(echoOf(old.header)).expires_at).toEqual(new Date('2001-01-01T00:05:00Z'));
  });

  it('honours a bound quote when the price list changed', () => {
    const { header } = issue();
    expect(check(echoOf(header), saleOf({ amount: 90_000n }), settings, { ...request, amount: '90000' }).amount).toBe(20_000n);
  });

  it('accepts old secrets, signs with the first', () => {
    const fresh = 'f'.repeat(32);
    const rotated = { ...settings, secrets: [fresh, SECRET] };
    expect(check(echoOf(issue().header), saleOf(), rotated).amount).toBe(20_000n);
    const signed = issue(saleOf(), rotated);
    expect(challengeId(fresh, echoOf(signed.header))).toBe(signed.id);
    expect(codeOf(() => check(echoOf(signed.header), saleOf(), settings))).toEqual({
      code: 'verification_failed',
      reason: 'invalid_challenge',
    });
  });

  it('refuses a challenge of another service or another method, though it was made with our secret', () => {
    const refused = { code: 'verification_failed', reason: 'invalid_challenge' };
    expect(codeOf(() => check(echoOf(issue(saleOf(), { ...settings, realm: 'other.example.com' }).header)))).toEqual(refused);
    const { header } = issueChallenge(settings, saleOf(), { method: 'solana', request, now });
    expect(codeOf(() => check(echoOf(header)))).toEqual(refused);
  });

  it.each<[string, Partial<Sale>, ErrorCode]>([
    ['another path', { path: '/api/v1/markets/search' }, 'verification_failed'],
    ['another method', { method: 'POST' }, 'verification_failed'],
    ['other parameters', { request_hash: 'b'.repeat(64) }, 'verification_failed'],
    ['a dearer request', { request_hash: 'b'.repeat(64), amount: 50_000n }, 'payment_insufficient'],
  ])('refuses a challenge for %s', (_, over, code) => {
    expect(codeOf(() => check(echoOf(issue().header), saleOf(over)))?.code).toBe(code);
  });

  it.each<[string, JsonObject]>([
    ['recipient', { ...request, recipient: '0x0000000000000000000000000000000000000002' }],
    ['token', { ...request, currency: '0x20c0000000000000000000000000000000000000' }],
    ['chain', { ...request, methodDetails: { chainId: 42431, supportedModes: ['pull'] } }],
  ])('refuses a challenge whose %s is no longer ours', (_, today) => {
    expect(codeOf(() => check(echoOf(issue().header), saleOf(), settings, today))).toEqual({
      code: 'verification_failed',
      reason: 'invalid_challenge',
    });
  });

  it('compares neither externalId nor recentBlockhash: they are new in every challenge', () => {
    const solana = { ...request, methodDetails: { network: 'mainnet', recentBlockhash: 'one' } };
    const { header } = issueChallenge(settings, saleOf(), { method: 'solana', request: solana, now });
    const expected = { ...request, externalId: 'req_2', methodDetails: { network: 'mainnet', recentBlockhash: 'two' } };
    expect(checkChallenge(settings, echoOf(header), saleOf(), { method: 'solana', request: expected }).amount).toBe(20_000n);
  });

  it('refuses every change of a bound field', () => {
    const { header } = issue();
    const fields = ['id', 'realm', 'method', 'intent', 'request', 'expires', 'opaque', 'digest'] as const;
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.string(), fc.nat(200), (field, text, at) => {
        const echoed = echoOf(header);
        const value = echoed[field] ?? '';
        const changed = value.slice(0, at % (value.length + 1)) + text + value.slice((at % (value.length + 1)) + 1);
        fc.pre(changed !== value);
        expect(codeOf(() => check({ ...echoed, [field]: changed }))).toEqual({ code: 'verification_failed', reason: 'invalid_challenge' });
      }),
      { numRuns: CASES },
    );
  });

  it('does not bind the description, which is only shown', () => {
    expect(check({ ...echoOf(issue().header), description: 'anything' } as EchoedChallenge).amount).toBe(20_000n);
  });
});

describe('readCredential', () => {
  it('reads what mppx serialises', () => {
    const { header } = issue();
    const challenge = Challenge.deserialize(header);
    const sent = Credential.serialize({
      challenge,
      payload: { type: 'transaction', signature: '0x7601' },
      source: 'did:pkh:eip155:4217:0xabc',
    });
    const read = readCredential(authorized(sent), 'tempo');
    const { description: _shown, ...bound } = echoOf(header) as EchoedChallenge & { description: string };
    expect(read).toEqual({ challenge: bound, payload: { type: 'transaction', signature: '0x7601' }, source: 'did:pkh:eip155:4217:0xabc' });
    expect(checkChallenge(settings, read?.challenge as EchoedChallenge, saleOf(), { method: 'tempo', request }).id).toBe(challenge.id);
  });

  it('reads the opaque object of older clients', () => {
    const { header } = issue();
    const echoed = echoOf(header);
    const opaque = JSON.parse(Buffer.from(echoed.opaque as string, 'base64url').toString()) as JsonObject;
    const sent = `Payment ${encodeJson({ challenge: { ...echoed, opaque } as unknown as JsonObject, payload: {} })}`;
    expect(
      checkChallenge(settings, readCredential(authorized(sent), 'tempo')?.challenge as EchoedChallenge, saleOf(), {
        method: 'tempo',
        request,
      }).amount,
    ).toBe(20_000n);
  });

  it('is null without one, and for the other method', () => {
    expect(readCredential(saleOf(), 'tempo')).toBeNull();
    expect(readCredential(authorized('Bearer abc'), 'tempo')).toBeNull();
    expect(readCredential(authorized(credentialOf(issue().header)), 'solana')).toBeNull();
  });

  it('finds it among other schemes and in any case', () => {
    const sent = credentialOf(issue().header).replace('Payment', 'payment');
    expect(readCredential(saleOf({ raw_headers: ['AUTHORIZATION', `Bearer abc, ${sent}`] }), 'tempo')).not.toBeNull();
  });

  it.each([
    ['two fields', (sent: string) => ['Authorization', sent, 'authorization', sent]],
    ['one joined field', (sent: string) => ['Authorization', `${sent}, ${sent}`]],
    ['one of them broken', (sent: string) => ['Authorization', `${sent}, Payment !`]],
  ])('refuses several: %s', (_, headers) => {
    expect(codeOf(() => readCredential(saleOf({ raw_headers: headers(credentialOf(issue().header)) }), 'tempo'))?.code).toBe(
      'ambiguous_payment',
    );
  });

  it.each([
    ['method', { method: 'stripe' }],
    ['intent', { intent: 'session' }],
  ])('refuses a %s nobody sells', (_, over) => {
    const sent = `Payment ${encodeJson({ challenge: { ...echoOf(issue().header), ...over } as unknown as JsonObject, payload: {} })}`;
    expect(codeOf(() => readCredential(authorized(sent), 'tempo'))?.code).toBe('method_unsupported');
  });

  const challenge = echoOf(issue().header) as unknown as JsonObject;
  const nested = (levels: number): string => Buffer.from(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`).toString('base64url');
  it.each([
    ['nothing after the scheme', '', 'encoding'],
    ['padding', `${Buffer.from('{"challenge":{},"payload":{}}').toString('base64url')}=`, 'encoding'],
    [
      'the standard alphabet',
      Buffer.from(JSON.stringify({ challenge, payload: {}, x: '???>>>' }))
        .toString('base64')
        .replace(/=+$/, ''),
      'encoding',
    ],
    ['stray bits in the last character', `${Buffer.from('{}').toString('base64url').slice(0, -1)}1`, 'encoding'],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]).toString('base64url'), 'encoding'],
    ['a mark of byte order', Buffer.from('\ufeff{}').toString('base64url'), 'json'],
    ['no JSON', Buffer.from('{"challenge":').toString('base64url'), 'json'],
    ['no object', Buffer.from('[1]').toString('base64url'), 'json'],
    ['too deep', nested(9), 'too_deep'],
    ['a bomb of brackets', Buffer.from('['.repeat(12_000)).toString('base64url'), 'too_deep'],
    ['too large', 'a'.repeat(16_385), 'too_large'],
    ['no challenge', encodeJson({ payload: {} }), 'challenge'],
    ['no payload', encodeJson({ challenge }), 'payload'],
    ['a payload that is a list', encodeJson({ challenge, payload: [] }), 'payload'],
    ['a number for an id', encodeJson({ challenge: { ...challenge, id: 1 }, payload: {} }), 'challenge.id'],
    ['an empty realm', encodeJson({ challenge: { ...challenge, realm: '' }, payload: {} }), 'challenge.realm'],
    ['a request that is an object', encodeJson({ challenge: { ...challenge, request }, payload: {} }), 'challenge.request'],
    ['a source that is no text', encodeJson({ challenge, payload: {}, source: {} }), 'source'],
  ])('refuses %s', (_, encoded, reason) => {
    expect(codeOf(() => decodeCredential(encoded))).toEqual({ code: 'malformed_credential', reason });
  });

  it('shows the beginning of a method nobody sells', () => {
    const sent = `Payment ${encodeJson({ challenge: { ...challenge, method: `"${'x'.repeat(5_000)}` }, payload: {} })}`;
    expect(() => readCredential(authorized(sent), 'tempo')).toThrow(`The payment method "'${'x'.repeat(31)}" is not accepted.`);
  });

  it('keeps a digest, which a challenge of ours has not, and takes null for nothing', () => {
    const read = (over: JsonObject) => decodeCredential(encodeJson({ challenge: { ...challenge, ...over }, payload: {}, source: null }));
    expect(read({ digest: 'sha-256=:abc:', expires: null })).toEqual({
      challenge: { ...read({}).challenge, digest: 'sha-256=:abc:', expires: undefined },
      payload: {},
    });
  });

  it('takes 16 KiB, and eight levels', () => {
    expect(decodeJson(nested(8))).toEqual(JSON.parse(Buffer.from(nested(8), 'base64url').toString()));
    const padded = (text: string): string => encodeJson({ challenge, payload: { text } });
    // Three bytes make four characters.
    const encoded = padded('x'.repeat(12_288 - Buffer.from(padded(''), 'base64url').length));
    expect([encoded.length, decodeCredential(encoded).challenge.id]).toEqual([16_384, challenge.id]);
  });

  it('decodes or refuses any bytes, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String(),
          fc.json().map((text) => Buffer.from(text).toString('base64url')),
        ),
        (text) => {
          const outcome = codeOf(() => decodeCredential(text));
          expect(outcome === null || outcome.code === 'malformed_credential').toBe(true);
        },
      ),
      { numRuns: CASES },
    );
  });

  it('is not slowed down by blanks', () => {
    const blank = ' '.repeat(15_000);
    expect(paymentCredentials(['Authorization', `Payment a${blank}b${blank}`])).toEqual([`a${blank}b`]);
    expect(paymentCredentials(['Authorization', `Payment${blank}`])).toEqual(['']);
  });

  it('takes quoted brackets for what they are', () => {
    const payload = { note: '[{"\\'.repeat(50) };
    expect(decodeCredential(encodeJson({ challenge, payload })).payload).toEqual(payload);
    expect(paymentCredentials(['authorization', 'Paymentx abc', 'x-authorization', 'Payment abc'])).toEqual([]);
  });
});

describe('receipt and problems', () => {
  it('writes a receipt mppx reads', () => {
    const at = new Date('2030-01-01T00:00:01.000Z');
    const { 'Payment-Receipt': value } = receiptHeader({ method: 'tempo', reference: '0xabc', at, external_id: 'req_1' });
    expect(Receipt.deserialize(value as string)).toEqual({
      method: 'tempo',
      reference: '0xabc',
      status: 'success',
      timestamp: '2030-01-01T00:00:01.000Z',
      externalId: 'req_1',
    });
    expect(value).toMatch(/^[A-Za-z0-9_-]+$/);
    const { 'Payment-Receipt': named } = receiptHeader({
      method: 'solana',
      reference: 'sig',
      at,
      challenge_id: 'ch_1',
      external_id: 'req_1',
    });
    expect(decodeJson(named as string)).toMatchObject({ challengeId: 'ch_1', externalId: 'req_1' });
  });

  it.each<[ErrorCode, { type: string; title: string; status: number }]>([
    ['payment_required', new Errors.PaymentRequiredError()],
    ['malformed_credential', new Errors.MalformedCredentialError()],
    ['verification_failed', new Errors.VerificationFailedError()],
    ['payment_expired', new Errors.PaymentExpiredError()],
    ['payment_insufficient', new Errors.PaymentInsufficientError()],
    ['method_unsupported', new Errors.PaymentMethodUnsupportedError()],
    ['ambiguous_payment', new Errors.BadRequestError()],
    ['payment_replayed', new Errors.InvalidChallengeError()],
  ])('%s is the problem mppx knows', (code, theirs) => {
    expect(problemOf(new AppError(code))).toMatchObject({ type: theirs.type, title: theirs.title, status: theirs.status });
  });

  it('calls a refused challenge invalid, a failed settlement a failed verification, the rest no problem of payments', () => {
    expect(problemOf(new AppError('verification_failed', { reason: 'invalid_challenge' }))?.type).toBe(
      'https://paymentauth.org/problems/invalid-challenge',
    );
    expect(problemOf(new AppError('settlement_failed'))?.type).toBe('https://paymentauth.org/problems/verification-failed');
    expect(problemOf(new AppError('at_capacity'))).toBeNull();
  });
});
