import crypto from 'node:crypto';
import bs58 from 'bs58';
import { toBase58 } from './encode';

/** An address as the 32 bytes that events hold, and as text. */
export class Key {
  private written: string | undefined;
  constructor(readonly bytes: Buffer) {}

  get text(): string {
    return (this.written ??= toBase58(this.bytes));
  }
}

/** An address of the pretended chain, the same for the same name. */
export function keyOf(...name: (string | number)[]): Key {
  return new Key(
    crypto
      .createHash('sha256')
      .update(`smart-money-sandbox/lp/${name.join('/')}`)
      .digest(),
  );
}

/** A real address: programs and tokens that every Solana user knows. */
export function knownKey(text: string): Key {
  return new Key(Buffer.from(bs58.decode(text)));
}

export const DLMM = knownKey('LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo');
export const DAMM_V2 = knownKey('cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG');
export const DCA = knownKey('DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M');
export const ROUTER = knownKey('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4');
export const COMPUTE_BUDGET = knownKey('ComputeBudget111111111111111111111111111111');
/** The program of the pretended operator of this service. */
export const OPERATOR = keyOf('program', 'operator');
