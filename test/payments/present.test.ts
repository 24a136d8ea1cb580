import { AppError } from '../../src/errors';
import { carriesProof, challengeOf, findPresented, idempotencyKeyOf } from '../../src/payments/present';
import type { Protocol } from '../../src/payments/protocol';
import { saleOf } from './till';

test.each([
  [['PAYMENT-SIGNATURE', 'abc'], true],
  [['x-payment', 'abc'], true],
  [['Authorization', 'Payment abc'], true],
  [['authorization', 'Bearer abc', 'AUTHORIZATION', 'payment abc'], true],
  [['Authorization', 'Bearer abc, Payment abc'], true],
  [['Authorization', 'Bearer payments'], false],
  [['Accept-Payment', 'tempo/charge'], false],
  [['X-Note', 'X-PAYMENT', 'abc', 'def'], false],
  [[], false],
])('%j carries a proof: %s', (headers, expected) => expect(carriesProof(headers)).toBe(expected));

/** As much of a protocol as offers and reads; nothing in a request is for it. */
const protocolOf = (protocol: 'x402' | 'mpp', method: string, lives_ms: number): Protocol =>
  ({
    method: () => ({ protocol, method }),
    offer: async () => ({
      www_authenticate: protocol === 'mpp' ? method : null,
      x402: protocol === 'x402' ? { required: {}, body: { of: 'x402' } } : null,
      expires_at: new Date(lives_ms),
    }),
    read: () => null,
  }) as unknown as Protocol;

const X402 = protocolOf('x402', 'exact', 3_000);
const ALL = [X402, protocolOf('mpp', 'tempo', 2_000), protocolOf('mpp', 'solana', 4_000)];
const required = new AppError('payment_required');

test.each([
  ['nothing', [], 'tempo solana', true],
  ['one', ['solana/charge'], 'solana', false],
  ['weights', ['tempo/charge;q=0.5, solana/charge'], 'solana tempo', false],
  ['weights in two lines', ['tempo/charge;q=0.5', 'solana/charge; q=0.6'], 'solana tempo', false],
  ['one that it does not take', ['solana/charge;q=0, tempo/charge'], 'tempo', false],
  ['none that is sold by', ['stripe/charge, lightning/charge;q=0.9'], 'tempo solana', true],
  ['one, and any other', ['solana/charge, */*;q=0.1'], 'tempo solana', true],
  ['nonsense', ['solana/charge;q=much, ;;,'], 'tempo solana', true],
])('Accept-Payment that names %s', async (_, values, methods, withX402) => {
  const sale = saleOf({ raw_headers: values.flatMap((value) => ['Accept-Payment', value]) });
  const { headers, x402, expires_at } = await challengeOf(ALL, sale, required);
  expect((headers['WWW-Authenticate'] as string[]).join(' ')).toBe(methods);
  expect(['PAYMENT-REQUIRED' in headers, 'X-PAYMENT-REQUIRED' in headers]).toEqual([withX402, withX402]);
  // The price is honoured as long as the shortest of the offers lives.
  expect([x402, expires_at.getTime()]).toEqual([{ of: 'x402' }, methods.includes('tempo') ? 2_000 : 3_000]);
});

test('nothing to pay by MPP: no WWW-Authenticate', async () => {
  expect(Object.keys((await challengeOf([X402], saleOf(), required)).headers)).toEqual(['PAYMENT-REQUIRED', 'X-PAYMENT-REQUIRED']);
});

test.each([
  [['x'.repeat(128)], 'x'.repeat(128)],
  [['!'], '!'],
  [['~'], '~'],
  [[], null],
  [['x'.repeat(129)], 'refused'],
  [[''], 'refused'],
  [['one', 'one'], 'refused'],
  [['one', 'other'], 'refused'],
])('the Idempotency-Key %j is %j', (values, expected) => {
  const read = (): string | null => idempotencyKeyOf(saleOf({ raw_headers: values.flatMap((value) => ['Idempotency-Key', value]) }));
  if (expected === 'refused') expect(read).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
  else expect(read()).toBe(expected);
});

test.each([
  ['Authorization', 'Payment abc'],
  ['PAYMENT-SIGNATURE', 'abc'],
])('a proof in %s that no protocol takes is refused, never overlooked', (...header) => {
  expect(() => findPresented([X402], saleOf({ raw_headers: header }))).toThrow(expect.objectContaining({ code: 'method_unsupported' }));
});

test('a proof that two protocols take is neither’s', () => {
  const taking = { ...X402, read: () => ({ payload: {} }) } as Protocol;
  const sale = saleOf({ raw_headers: ['PAYMENT-SIGNATURE', 'abc'] });
  expect(findPresented([taking, ...ALL], sale)).toMatchObject({ protocol: taking });
  expect(() => findPresented([taking, taking], sale)).toThrow(expect.objectContaining({ code: 'ambiguous_payment' }));
});
