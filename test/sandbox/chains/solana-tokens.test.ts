import fc from 'fast-check';
import { PublicKey } from '@solana/web3.js';
import { INSTRUCTION_ERRORS, TRANSACTION_ERRORS } from '../../../src/sandbox/chains/solana-errors';
import {
  SOLANA_USDC,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  decodeMint,
  decodeTokenAccount,
  encodeMint,
  encodeTokenAccount,
  uiTokenAmount,
} from '../../../src/sandbox/chains/solana-tokens';

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes).toBase58());

test('a token account survives its bytes, under both token programs and no other', () => {
  const account = fc.record({
    mint: address,
    owner: address,
    amount: u64,
    state: fc.constantFrom('initialized' as const, 'frozen' as const),
  });
  fc.assert(
    fc.property(account, (one) => {
      const bytes = encodeTokenAccount(one);
      expect(bytes).toHaveLength(165);
      expect(decodeTokenAccount(bytes, TOKEN_PROGRAM)).toEqual(one);
      expect(decodeTokenAccount(Buffer.concat([bytes, Buffer.from([2, 0])]), TOKEN_2022_PROGRAM)).toEqual(one);
      expect(decodeTokenAccount(bytes, SOLANA_USDC)).toBeUndefined();
      expect(decodeMint(bytes, TOKEN_PROGRAM)).toBeUndefined();
    }),
  );
});

test('a mint survives its bytes', () => {
  fc.assert(
    fc.property(u64, fc.integer({ min: 0, max: 18 }), (supply, decimals) => {
      const bytes = encodeMint({ supply, decimals });
      expect(decodeMint(bytes, TOKEN_PROGRAM)).toEqual({ supply, decimals });
      expect(decodeTokenAccount(bytes, TOKEN_PROGRAM)).toBeUndefined();
    }),
  );
});

test('amounts are written as the RPC writes them, and read back to the same integer', () => {
  expect(uiTokenAmount(10_000n, 6)).toEqual({ amount: '10000', decimals: 6, uiAmount: 0.01, uiAmountString: '0.01' });
  expect(uiTokenAmount(1_000_000_000n, 6)).toMatchObject({ uiAmountString: '1000' });
  expect(uiTokenAmount(7n, 0)).toMatchObject({ uiAmountString: '7' });
  fc.assert(
    fc.property(u64, fc.integer({ min: 0, max: 18 }), (amount, decimals) => {
      const [whole = '', fraction = ''] = String(uiTokenAmount(amount, decimals).uiAmountString).split('.');
      expect(BigInt(whole + fraction.padEnd(decimals, '0'))).toBe(amount);
    }),
  );
});

test('the names of errors stand in the order of the numbers LiteSVM gives', async () => {
  const numbered = (await import('litesvm/dist/internal')) as unknown as Record<string, Record<string, number>>;
  const inOrder = (table: Record<string, number> = {}): string[] =>
    Object.entries(table)
      .filter(([, value]) => typeof value === 'number')
      .sort(([, a], [, b]) => a - b)
      .map(([name]) => name);
  expect(TRANSACTION_ERRORS).toEqual(inOrder(numbered.TransactionErrorFieldless));
  expect(INSTRUCTION_ERRORS).toEqual(inOrder(numbered.InstructionErrorFieldless));
});
