import { AppError } from '../../src/errors';
import { type ClaimKeys, type HeldPayment, type PaymentState, claimKeysOf } from '../../src/payments/claims';
import { judgeHeld } from '../../src/payments/held';
import { findKnown } from '../../src/payments/known';
import type { Ledger } from '../../src/payments/ledger';
import type { Credential, Marks, Protocol, Sale } from '../../src/payments/protocol';

const payment = (change: Partial<HeldPayment> & { payer?: string; words?: string } = {}): HeldPayment => {
  const { payer = 'payer', words = '', ...rest } = change;
  const record = {
    id: '1',
    protocol: 'x402' as const,
    payer,
    amount: 1n,
    transaction: 'tx',
    raw: null,
    details: { sent_hash: words },
    settle_by: null,
    created_at: new Date(0),
  };
  return {
    record,
    state: 'CONFIRMED',
    request_hash: 'request',
    answer: '{}',
    settled_at: null,
    reason: null,
    by: ['proof', 'secret'],
    ...rest,
  };
};
const verdict = (...held: HeldPayment[]): string => {
  const judged = judgeHeld(held, 'payer', { request_hash: 'request', sent_hash: 'words' });
  return judged.kind === 'refuse' ? `${judged.error.status} ${judged.error.code}` : judged.kind;
};

describe('a request whose keys are already held', () => {
  // state: with the secret, without it
  it.each<[PaymentState, string, string]>([
    ['RESERVED', '409 payment_in_progress', '409 payment_in_progress'],
    ['EXECUTING', '409 payment_in_progress', '409 payment_in_progress'],
    ['RESULT_READY', '409 payment_in_progress', '409 payment_in_progress'],
    ['BROADCASTING', '409 payment_in_progress', '409 payment_in_progress'],
    ['UNKNOWN', 'resume', 'pending'],
    ['CONFIRMED', 'replay', '402 payment_replayed'],
    ['DELIVERED', 'replay', '402 payment_replayed'],
    ['OWED', 'serve', '402 payment_replayed'],
    ['REJECTED_ONCHAIN', '402 settlement_failed', '402 payment_replayed'],
    ['EXPIRED', '402 settlement_failed', '402 payment_replayed'],
    ['ROLLED_BACK', '402 payment_replayed', '402 payment_replayed'],
  ])('%s', (state, withSecret, without) => {
    expect(verdict(payment({ state }))).toBe(withSecret);
    expect(verdict(payment({ state, by: ['buyer'] }))).toBe(withSecret);
    expect(verdict(payment({ state, by: ['proof'] }))).toBe(without);
    // The secret alone is nothing: another payer, another request.
    expect(verdict(payment({ state, payer: 'somebody else' }))).toBe(without);
    expect(verdict(payment({ state, request_hash: 'other', by: ['proof', 'secret'] }))).toBe(without);
    // The same words, which another version understood otherwise.
    expect(verdict(payment({ state, request_hash: 'other', words: 'words' }))).toBe(withSecret);
    expect(verdict(payment({ state, request_hash: 'other', words: 'others' }))).toBe(without);
  });

  it('nothing held: free', () => expect(verdict()).toBe('free'));

  it('a key the buyer chose conflicts on another request, whatever else is held', () => {
    expect(verdict(payment(), payment({ request_hash: 'other', by: ['buyer'] }))).toBe('409 idempotency_conflict');
    expect(verdict(payment({ request_hash: 'other', by: ['buyer'], state: 'RESERVED' }))).toBe('409 idempotency_conflict');
  });

  it('an answer that is no longer kept cannot be collected', () => {
    expect(verdict(payment({ answer: null }))).toBe('402 payment_replayed');
    expect(verdict(payment({ state: 'UNKNOWN', answer: null }))).toBe('pending');
  });

  it('a turn alone is another payment of the same wallet; the same proof shown again is none', () => {
    expect([verdict(payment({ by: ['turn'] })), verdict(payment({ state: 'EXECUTING', by: ['turn'] }))]).toEqual([
      '402 verification_failed',
      '409 payment_in_progress',
    ]);
    expect(verdict(payment({ by: ['proof', 'turn'] }))).toBe('402 payment_replayed');
    expect(verdict(payment({ state: 'UNKNOWN', by: ['proof', 'turn'] }))).toBe('pending');
  });

  it('what can be collected goes before what cannot', () =>
    expect(verdict(payment({ by: ['proof'], payer: 'x' }), payment({ by: ['buyer'] }))).toBe('replay'));
});

describe('the keys of a request', () => {
  const proof = { proof_key: 'tx', claim_keys: ['ch:offer'], secrets: ['ch:offer'], buyer_keys: ['pid:purchase'], turn: 'nonce 7' };
  const keysOf = (payer: string) => claimKeysOf({ ...proof, payer }, 'order-1');

  it('are stored so that nobody reads from them what collects an answer, each of its kind', () => {
    const { keys, kinds, collecting } = keysOf('payer');
    expect(kinds).toEqual(['proof', 'proof', 'secret', 'buyer', 'buyer', 'turn']);
    expect([new Set(keys).size, keys[0], collecting]).toEqual([kinds.length, 'tx', keys.slice(2, 5)]);
    expect(keys.join()).not.toMatch(/offer|purchase|order-1|nonce 7/);
  });

  it('that a buyer chose are its own, all others are met by whoever shows the same', () => {
    const [one, other] = [keysOf('payer').keys, keysOf('somebody else').keys];
    expect(one.map((key, place) => key === other[place])).toEqual([true, true, true, false, false, true]);
  });
});

describe('a proof that would not be taken any more', () => {
  const marks = { proof_key: 'tx', secrets: ['offer'], buyer_keys: [] };
  const find = async (listHeld: Ledger['listHeld'], raw_headers: string[] = [], marksOf: () => Marks = () => marks) => {
    const sale = { request_hash: 'request', sent_hash: 'words', raw_headers } as unknown as Sale;
    return (await findKnown({ listHeld }, { marksOf } as unknown as Protocol, {} as Credential, sale))?.kind;
  };
  const found = (...held: HeldPayment[]): Promise<string | undefined> => find(async () => held);

  /** A ledger that knows one payment, by these keys. */
  const holding =
    (kept: ClaimKeys): Ledger['listHeld'] =>
    async ({ keys, kinds }) => [payment({ by: kinds.filter((_, place) => kept.keys.includes(keys[place] as string)) })];

  it('is one on record where it comes with a secret of it', async () =>
    expect([await found(payment()), await found(payment({ by: ['proof'] })), await found()]).toEqual(['replay', undefined, undefined]));

  it('collects no other payment, whatever else is known of that one', async () => {
    expect(await found(payment({ by: ['secret', 'buyer'] }), payment({ by: ['proof'] }))).toBeUndefined();
    const listHeld = holding(claimKeysOf({ ...marks, proof_key: 'another tx', payer: 'payer', claim_keys: marks.secrets }, null));
    expect(await find(listHeld)).toBeUndefined();
  });

  it('is none of another request, nor anybody’s who holds its secret alone', async () => {
    expect(await found(payment({ request_hash: 'other' }))).toBeUndefined();
    expect(await found(payment({ payer: 'somebody else', by: ['secret'] }), payment())).toBe('replay');
  });

  it('is its buyer’s by the key that this one chose, whose it is the record tells; a key in no form is none', async () => {
    const listHeld = holding(claimKeysOf({ ...marks, secrets: ['an offer of before'], payer: 'payer', claim_keys: [] }, 'order-1'));
    const named = (...names: string[]) => names.flatMap((name) => ['Idempotency-Key', name]);
    expect([await find(listHeld, named('order-1')), await find(listHeld, named('order-2'))]).toEqual(['replay', undefined]);
    expect(await find(async () => [payment()], named('order-1', 'order-1'))).toBe('replay');
  });

  it('is none where it cannot be decoded; a fault of ours is told as such', async () => {
    const unread = (error: Error) => find(async () => [payment()], [], () => { throw error; }); // prettier-ignore
    expect(await unread(new AppError('malformed_payment'))).toBeUndefined();
    await expect(unread(new TypeError('of ours'))).rejects.toThrow(TypeError);
  });
});
