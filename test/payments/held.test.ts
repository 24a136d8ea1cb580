import { type HeldPayment, type PaymentState, claimKeysOf } from '../../src/payments/claims';
import { judgeHeld } from '../../src/payments/held';
import { findKnown } from '../../src/payments/known';
import type { Credential, Protocol, Sale } from '../../src/payments/protocol';

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
  const found = async (...held: HeldPayment[]): Promise<string | undefined> => {
    const protocol = { marksOf: () => ({ proof_key: 'tx', secrets: ['offer'], buyer_keys: [] }) } as unknown as Protocol;
    const sale = { request_hash: 'request', sent_hash: 'words', raw_headers: [] } as unknown as Sale;
    return (await findKnown({ listHeld: async () => held }, protocol, {} as Credential, sale))?.kind;
  };

  it('is one on record where it comes with a secret of it', async () =>
    expect([await found(payment()), await found(payment({ by: ['proof'] })), await found()]).toEqual(['replay', undefined, undefined]));

  it('collects no other payment, whatever else is known of that one', async () =>
    expect(await found(payment({ by: ['secret', 'buyer'] }), payment({ by: ['proof'] }))).toBeUndefined());
});
