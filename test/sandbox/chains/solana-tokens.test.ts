import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { PublicKey } from '@solana/web3.js';
import { TOKEN_PROGRAM } from '../../../src/chains/solana-replies';
import { INSTRUCTION_ERRORS, TRANSACTION_ERRORS } from '../../../src/sandbox/chains/solana-errors';
import {
  SOLANA_USDC,
  TOKEN_2022_PROGRAM,
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

test('the names of errors stand where the numbers LiteSVM gives point', () => {
  const declared = fs.readFileSync(path.join(path.dirname(require.resolve('litesvm')), 'internal.d.ts'), 'utf8');
  const numbered = (name: string): string[] => {
    const body = declared.split(`const enum ${name} {`)[1]?.split('}')[0] ?? '';
    return [...body.matchAll(/(\w+) = (\d+)/g)].sort((a, b) => Number(a[2]) - Number(b[2])).map((match) => match[1] as string);
  };
  expect(TRANSACTION_ERRORS).toEqual(numbered('TransactionErrorFieldless'));
  expect(INSTRUCTION_ERRORS).toEqual(numbered('InstructionErrorFieldless'));
});
