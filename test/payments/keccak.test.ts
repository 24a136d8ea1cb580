import fc from 'fast-check';
import { Hash, Hex } from 'ox';
import { keccak256 } from '../../src/payments/protocols/keccak';

test('of nothing, as the Ethereum yellow paper has it (appendix C)', () => {
  expect(keccak256('')).toBe('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
});

test('of any bytes and any text, as a second library has it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), fc.string({ unit: 'binary', maxLength: 300 }), (bytes, text) => {
      expect(keccak256(bytes)).toBe(Hash.keccak256(bytes, { as: 'Hex' }));
      expect(keccak256(text)).toBe(Hash.keccak256(Hex.fromString(text)));
    }),
  );
});
