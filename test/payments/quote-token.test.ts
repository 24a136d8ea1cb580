import fc from 'fast-check';
import { findMemo, findToken, memoOf, newQuoteId, type Quote, tokenOf } from '../../src/payments/quote-token';

const secret = 'the first secret, thirty-two bytes or more';
const other = 'the other secret, thirty-two bytes or more';

const quotes = fc.record({
  id: fc.constant(0).map(() => newQuoteId()),
  expires_at: fc.integer({ min: 1_600_000_000, max: 4_000_000_000 }).map((seconds) => new Date(seconds * 1000)),
  amount: fc.bigInt({ min: 0n, max: 10n ** 15n }),
  request_hash: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex')),
});

describe('quotes', () => {
  it('are read back from both texts under any of the secrets', () => {
    fc.assert(
      fc.property(quotes, (quote) => {
        const [memo, token] = [memoOf(quote, secret), tokenOf(quote, secret)];
        expect(findMemo(memo, quote.amount, quote.request_hash, [other, secret])).toEqual(quote);
        expect(findToken(token, quote.request_hash, [other, secret])).toEqual(quote);
        expect(Buffer.byteLength(memo)).toBeLessThan(64);
      }),
    );
  });

  it('bind id, expiry, amount, request and secret', () => {
    const different = (quote: Quote): Quote[] => [
      { ...quote, amount: quote.amount + 1n },
      { ...quote, request_hash: quote.request_hash.replace(/^./, (digit) => (digit === 'a' ? 'b' : 'a')) },
    ];
    fc.assert(
      fc.property(quotes, (quote) => {
        for (const changed of different(quote))
          expect(findMemo(memoOf(quote, secret), changed.amount, changed.request_hash, [secret])).toBeUndefined();
        expect(findToken(tokenOf(quote, secret), different(quote)[1]!.request_hash, [secret])).toBeUndefined();
        expect(findMemo(memoOf(quote, secret), quote.amount, quote.request_hash, [other])).toBeUndefined();
        expect(findToken(tokenOf(quote, secret), quote.request_hash, [other])).toBeUndefined();
      }),
    );
  });

  it('survive no change of a single character', () => {
    const characters = [...'abcXYZ019-_.'];
    fc.assert(
      fc.property(quotes, fc.nat(), fc.constantFrom(...characters), (quote, at, character) => {
        const edit = (text: string): string => text.slice(0, at % text.length) + character + text.slice((at % text.length) + 1);
        const [memo, token] = [memoOf(quote, secret), tokenOf(quote, secret)];
        if (edit(memo) !== memo) expect(findMemo(edit(memo), quote.amount, quote.request_hash, [secret])).toBeUndefined();
        if (edit(token) !== token) expect(findToken(edit(token), quote.request_hash, [secret])).toBeUndefined();
      }),
    );
  });

  it('are spelled one way: an expiry with a nought before it is none of ours', () => {
    fc.assert(
      fc.property(quotes, (quote) => {
        const longer = (text: string): string => text.replace(/^(.{16})/, '$10');
        expect(findMemo(longer(memoOf(quote, secret)), quote.amount, quote.request_hash, [secret])).toBeUndefined();
        expect(findToken(longer(tokenOf(quote, secret)), quote.request_hash, [secret])).toBeUndefined();
      }),
    );
  });

  it('show nothing of the token in the memo', () => {
    fc.assert(
      fc.property(quotes, (quote) => {
        const macOf = (text: string): string => text.split('.').at(-1) as string;
        expect(macOf(tokenOf(quote, secret)).startsWith(macOf(memoOf(quote, secret)))).toBe(false);
      }),
    );
  });

  it('are never the same twice', () => {
    expect(new Set(Array.from({ length: 10_000 }, newQuoteId)).size).toBe(10_000);
  });
});
