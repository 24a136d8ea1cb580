import crypto from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import type { SolanaChain } from '../../chains/solana';
import type { PaymentFigures, PaymentLog } from '../protocol';

/** A sponsored payment costs about 10,000 lamports; below ten of them the sponsor is no longer offered, below a thousand it is mentioned. */
const EMPTY_LAMPORTS = 100_000;
const LOW_LAMPORTS = 10_000_000;

// RFC 8410 prefix of a raw Ed25519 seed in PKCS #8. OpenSSL signs in a tenth of the time of curve arithmetic in JavaScript.
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The wallet that pays network fees for x402 buyers. */
export class SolanaSponsor {
  readonly address: string;
  private readonly key: crypto.KeyObject;
  private lamports = Number.POSITIVE_INFINITY;

  /** `secretKey`: base58 of 64 bytes. Throws one clear sentence when it is not. */
  constructor(
    secretKey: string,
    private readonly log: PaymentLog,
    private readonly figures: Pick<PaymentFigures, 'sponsor'>,
  ) {
    let account: Keypair;
    try {
      account = Keypair.fromSecretKey(bs58.decode(secretKey));
    } catch {
      throw new Error('SPONSOR_KEY must be the base58 text of a 64-byte Solana secret key.');
    }
    this.address = account.publicKey.toBase58();
    const der = Buffer.concat([ED25519_PKCS8, account.secretKey.subarray(0, 32)]);
    this.key = crypto.createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  }

  /** False while it cannot pay. */
  get solvent(): boolean {
    return this.lamports >= EMPTY_LAMPORTS;
  }

  /** Its signature (64 bytes) over a message. Beside the buyer's it makes a transaction that can be broadcast by anybody who holds it. */
  sign(message: Buffer): Buffer {
    return crypto.sign(null, message, this.key);
  }

  /** Reads its balance, and reports once when it runs low or out. */
  async check(chain: SolanaChain, signal?: AbortSignal): Promise<void> {
    const before = this.lamports;
    this.lamports = await chain.getLamports(this.address, signal);
    this.figures.sponsor(this.lamports);
    const fell = (level: number): boolean => this.lamports < level && before >= level;
    const about = { sponsor: this.address, lamports: this.lamports };
    if (fell(EMPTY_LAMPORTS)) this.log.error(about, 'the fee sponsor is empty; buyers pay their own fee');
    else if (fell(LOW_LAMPORTS)) this.log.warn(about, 'the fee sponsor is running low');
  }
}
