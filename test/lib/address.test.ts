import bs58 from 'bs58';
import { isBase58Address } from '../../src/lib/address';

test('an address is base58 of 32 bytes, however often it is asked for', () => {
  const addresses = [bs58.encode(Buffer.alloc(32, 7)), '11111111111111111111111111111111'];
  const lengths = [bs58.encode(Buffer.alloc(31, 255)), bs58.encode(Buffer.alloc(33, 0)), 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyT'];
  const others = [...lengths, '0x742d35cc6634c0532925a3b844bc9e7595f8fe00', 'l'.repeat(44), ''];
  for (let asked = 0; asked < 2; asked += 1) {
    expect(addresses.map(isBase58Address)).toEqual([true, true]);
    expect(others.filter(isBase58Address)).toEqual([]);
  }
});
