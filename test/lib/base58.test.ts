import bs58 from 'bs58';
import fc from 'fast-check';
import { encodeBase58 } from '../../src/lib/base58';
import { solanaAddressBytes, solanaAddressOf } from '../../src/lib/solana-address';

test('any bytes are written as the library writes them, leading zeros and odd lengths included', () => {
  const bytes = fc
    .tuple(fc.nat(5), fc.uint8Array({ maxLength: 100 }))
    .map(([zeros, rest]) => Uint8Array.from([...Array<number>(zeros).fill(0), ...rest]));
  fc.assert(
    fc.property(bytes, (each) => encodeBase58(each) === bs58.encode(each)),
    { numRuns: 2_000 },
  );
});

test('an address is written and read back, the first time and from memory', () => {
  const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  const system = '1'.repeat(32);
  for (const address of [usdc, system, usdc, system]) expect(solanaAddressOf(solanaAddressBytes(address))).toBe(address);
  expect([...solanaAddressBytes(system)]).toEqual(Array(32).fill(0));
  expect(() => solanaAddressBytes('0OIl')).toThrow();
});
