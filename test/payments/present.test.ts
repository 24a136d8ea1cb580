import { carriesProof } from '../../src/payments/present';

test.each([
  [['PAYMENT-SIGNATURE', 'abc'], true],
  [['x-payment', 'abc'], true],
  [['Authorization', 'Payment abc'], true],
  [['authorization', 'Bearer abc', 'AUTHORIZATION', 'payment abc'], true],
  [['Authorization', 'Bearer abc, Payment abc'], true],
  [['Authorization', 'Bearer payments'], false],
  [['Accept-Payment', 'tempo/charge'], false],
  [[], false],
])('%j carries a proof: %s', (headers, expected) => expect(carriesProof(headers)).toBe(expected));
