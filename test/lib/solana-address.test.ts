import bs58 from 'bs58';
import fc from 'fast-check';
import { solanaAddressBytes, solanaAddressOf } from '../../src/lib/solana-address';

test('any address is written as the library writes it, also as part of a longer text', () => {
  const bytes = fc.uint8Array({ minLength: 40, maxLength: 40 });
  const place = (each: Uint8Array, at: number): Uint8Array => each.subarray(at, at + 32);
  fc.assert(fc.property(bytes, fc.nat(8), (each, at) => solanaAddressOf(place(each, at)) === bs58.encode(place(each, at))));
});

test('an address is written and read back, the first time and from memory', () => {
  const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  const system = '1'.repeat(32);
  for (const address of [usdc, system, usdc, system]) expect(solanaAddressOf(solanaAddressBytes(address))).toBe(address);
  expect([...solanaAddressBytes(system)]).toEqual(Array(32).fill(0));
  expect(() => solanaAddressBytes('0OIl')).toThrow();
});
