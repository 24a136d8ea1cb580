import bs58 from 'bs58';
import { isBase58Address } from '../../src/lib/address';

test('an address is base58 of 32 bytes, however often it is asked for', () => {
  const addresses = [bs58.encode(Buffer.alloc(32, 7)), '11111111111111111111111111111111'];
  const others = [bs58.encode(Buffer.alloc(31, 255)), bs58.encode(Buffer.alloc(33, 0)), 'l'.repeat(40), ''];
  for (let asked = 0; asked < 2; asked += 1) {
    expect(addresses.map(isBase58Address)).toEqual([true, true]);
    expect(others.map(isBase58Address)).toEqual([false, false, false, false]);
  }
});
